"""The command line as ``python -m regard``."""

import sys

from regard.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
