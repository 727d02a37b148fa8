"""``python -m fastsql.cli`` does what ``fastsql`` does."""

from __future__ import annotations

import sys

from fastsql.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
