"""The CUDA core on a card: `python benchmarks/gpu/run.py` builds, tests, checks and times it in one go.

The other scripts are its steps, each of which can be started alone; files that are no step say so.
"""
