"""One training run: its loop, rates, checkpoints, and what it shows. A run can be stopped at any moment and resumed."""
