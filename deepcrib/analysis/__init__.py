"""Results turned into tables and figures."""
