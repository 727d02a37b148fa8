"""Renders a program as SQL: a sqlglot tree first, then text in SQLite's dialect.

A class a concern, each the base of the next: values, conditions, queries.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp
from sqlglot.generators.sqlite import SQLiteGenerator

from fastsql.errors import DialectError
from fastsql.grammar.compile import Grammar, load_grammar
from fastsql.grammar.program import Program
from fastsql.grammar.render.queries import Renderer
from fastsql.grammar.render.values import CASTS, NOW, PARTS
from fastsql.grammar.tree import read_tree

if TYPE_CHECKING:
    from fastsql.schema import Schema

__all__ = ["CASTS", "NOW", "PARTS", "Renderer", "render"]


def render(
    program: Program,
    schema: Schema,
    *,
    dialect: str = "sqlite",
    now: str | None = None,
    grammar: Grammar | None = None,
) -> str:
    """SQL text of a complete program.

    `now` fixes the clock: a literal such as "2100-12-31 23:59:00" instead of the moment of execution.
    Raises DialectError for a dialect that fastsql does not write.
    """
    if dialect != "sqlite":
        raise DialectError(
            f"SQL cannot be rendered for dialect {dialect!r}", where="dialect", remedy="Use dialect='sqlite'."
        )
    tree = read_tree(program, grammar or load_grammar())
    sql: str = _Generator(dialect="sqlite").generate(Renderer(schema, now).query(tree))
    return sql


class _Generator(SQLiteGenerator):
    """Writes negation where people write it: `x IS NOT NULL`, `x NOT IN (...)`."""

    def not_sql(self, expression: exp.Not) -> str:
        inner = expression.this
        if isinstance(inner, exp.Is):
            return f"{self.sql(inner, 'this')} IS NOT {self.sql(inner, 'expression')}"
        if isinstance(inner, (exp.In, exp.Between, exp.Like)):
            left = self.sql(inner, "this")
            return f"{left} NOT{self.sql(inner).removeprefix(left)}"
        sql: str = super().not_sql(expression)
        return sql
