"""The command line: one module a command, each with `add` and `run`."""
