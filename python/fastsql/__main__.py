"""`python -m fastsql` is the program `fastsql`."""

from __future__ import annotations

import sys

from fastsql.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
