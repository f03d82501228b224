"""A champion that moves towards mutants which beat it (Pollack and Blair 1997)."""
