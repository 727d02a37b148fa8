"""The parts of a parse that are neither linking, model nor grammar: checks, what is kept ready, and what is written."""
