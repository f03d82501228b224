"""`python -m deepcrib <job> [overrides]`, the same as the console script."""

import sys

from deepcrib.cli import main

if __name__ == "__main__":
    sys.exit(main())
