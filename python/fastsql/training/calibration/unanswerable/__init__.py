"""Questions without an answer, made to look like those that have one: what a parser should refuse."""
