"""What no query goes beyond, whatever the step budget: the automaton keeps to these (`Bounds` of `csrc/grammar/views.h`)."""

from __future__ import annotations

from fastsql.schema.keys import FARTHEST

MAX_NESTING = 75
"""Entries on SQLite's parser stack that constructs nested in one another may take, by the weights of the grammar.
The stack has 100 (YYSTACKDEPTH); a flat query needs at most 22 of them, and 3 are left for other versions of SQLite.
It also keeps the nesting of parentheses far below 48."""
MAX_SOURCES = 8
"""Tables and derived tables in one FROM (SQLite joins at most 64, counted after it flattens subqueries)."""
MAX_COLUMNS = 1_000
"""Columns that `*` may select, over all operands of a set operation (SQLite's result sets have at most 2,000)."""
MAX_SPAN = 64
"""Tokens of a free span."""
MAX_HOPS = FARTHEST
"""Joins that one way along keys takes at most."""
LEAST_JOIN = 2
"""Actions that one more source costs at least: `cross_join` and a table."""
