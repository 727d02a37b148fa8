"""Converts SQL into programs of the action grammar, over sqlglot's tree.

Only what the grammar can say is converted; anything else raises ConversionError with the construct that stands in
the way, so that coverage can be counted by reason. What can be said in two ways becomes one program: conjuncts are put
into one order, equalities of columns stand with the join that they make possible, and aliases, positions in ORDER BY
and comma joins are spelled out. Paraphrases of a question then have one program, and a decoder need not learn choices
that mean nothing.

A class a concern, each the base of the next: names, values, conditions, sources of FROM, queries.
"""

from __future__ import annotations

from fastsql.grammar.convert.errors import ConversionError
from fastsql.grammar.convert.queries import sql_to_program, tree_to_program

__all__ = ["ConversionError", "sql_to_program", "tree_to_program"]
