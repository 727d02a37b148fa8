"""The CUDA core on a card: `python benchmarks/gpu/run.py` builds, tests, checks and times it in one go.

The other scripts are its steps, each of which can be started alone; files that are no step say so.
"""

from __future__ import annotations

if __name__ == "__main__":
    import sys
    from pathlib import Path

    sys.path.insert(0, str(Path(__file__).parents[1]))
    from parts import explain

    explain(__file__)
