"""Renders a program as SQL: a sqlglot tree first, then text of a dialect.

A class a concern, each the base of the next: values, conditions, queries. They write SQLite's SQL; `typed` derives from
them what dialects with types need.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.generator import Generator

from fastsql.errors import DialectError
from fastsql.grammar.compile import Grammar, load_grammar
from fastsql.grammar.inlining import inline
from fastsql.grammar.program import Node, Program
from fastsql.grammar.render.queries import Renderer
from fastsql.grammar.render.values import CASTS, NOW, PARTS
from fastsql.grammar.tree import inner_queries, read_tree
from fastsql.schema.dialects import plain_dialect

if TYPE_CHECKING:
    from fastsql.grammar.turns import Turn
    from fastsql.schema import Schema

DIALECTS = ("sqlite", "postgres", "duckdb", "mysql", "tsql")
"""Dialects that SQL is written for: SQLite, and those of `typed`, which is imported where one of them is asked for."""

__all__ = [
    "CASTS",
    "DIALECTS",
    "NOW",
    "PARTS",
    "Renderer",
    "render",
    "render_parts",
    "render_tree",
    "text_of",
    "tree_of",
    "write_tree",
]


def render(
    program: Program,
    schema: Schema,
    *,
    dialect: str = "sqlite",
    now: str | None = None,
    grammar: Grammar | None = None,
    turns: Sequence[Turn] = (),
) -> str:
    """SQL text of a complete program; the earlier `turns` that it refers to are written out.

    `now` fixes the clock: a literal such as "2100-12-31 23:59:00" instead of the moment of execution.
    Raises DialectError for a dialect that fastsql does not write, and for a program that a dialect cannot say.
    """
    dialect = plain_dialect(dialect)
    if dialect not in DIALECTS:
        raise DialectError(
            "cannot be written",
            where=f"dialect {dialect!r}",
            remedy=f"Use one of: {', '.join(DIALECTS)}.",
        )
    grammar = grammar or load_grammar()
    tree = read_tree(inline(program, turns, schema, grammar), grammar)
    return text_of(_renderer(dialect, schema, now).query(tree), dialect)


def tree_of(
    tree: Node, schema: Schema, dialect: str, now: str | None, results: Mapping[int, int] | None = None
) -> exp.Query:
    """The sqlglot tree of a derivation tree, for a dialect of `DIALECTS`.

    `results`: numbers by the `id` of nodes of queries; each of these says its own as `meta["turn"]`.
    """
    renderer = _renderer(dialect, schema, now)
    renderer.results = results or {}
    return renderer.query(tree)


def text_of(tree: exp.Expr, dialect: str) -> str:
    """The text of a tree, or of a part of one, which is used up."""
    sql: str = _generator(dialect).generate(tree, copy=False)
    return sql


def render_tree(program: Program, schema: Schema) -> exp.Query:
    """The sqlglot tree of a complete program of one turn, for SQLite; `write_tree` makes its text."""
    return Renderer(schema).query(read_tree(program, load_grammar()))


def write_tree(tree: exp.Query) -> str:
    """The text of a tree of `render_tree`, which has nothing in it that the generator would rewrite in place."""
    sql: str = _generator("sqlite").generate(tree, copy=False)
    return sql


def render_parts(
    program: Program, schema: Schema, *, dialect: str = "sqlite", now: str | None = None
) -> tuple[str, ...]:
    """SQL of each query inside a complete program, outermost first.

    All of them stand by themselves, since a column is one of the innermost FROM.

    Raises as `render` does.
    """
    dialect = plain_dialect(dialect)
    generator = _generator(dialect)
    return tuple(
        generator.generate(_renderer(dialect, schema, now).query(node), copy=False)
        for node in inner_queries(read_tree(program, load_grammar()))
    )


def _renderer(dialect: str, schema: Schema, now: str | None) -> Renderer:
    if dialect == "sqlite":
        return Renderer(schema, now)
    from fastsql.grammar.render.typed import TYPED_DIALECTS, TypedRenderer

    return TypedRenderer(schema, TYPED_DIALECTS[dialect], now)


def _write_not(generator: Generator, negation: exp.Not) -> str:
    """Negation where people write it: `x IS NOT NULL`, `x NOT IN (...)`."""
    inner = negation.this
    if isinstance(inner, exp.Is):
        return f"{generator.sql(inner, 'this')} IS NOT {generator.sql(inner, 'expression')}"
    if isinstance(inner, (exp.In, exp.Between, exp.Like, exp.ILike)):
        left = generator.sql(inner, "this")
        return f"{left} NOT{generator.sql(inner).removeprefix(left)}"
    return f"NOT {generator.sql(negation, 'this')}"


def _write_cast(generator: Generator, cast: exp.Cast) -> str:
    """CAST in SQLite, whose generator would first ask of each whether it makes a date, reading the names of six types."""
    return f"CAST({generator.sql(cast, 'this')} AS {generator.sql(cast, 'to')})"


def _generator(dialect: str) -> Generator:
    """The dialect's generator in sqlglot, but for negation, and for casts in SQLite."""
    generator = Dialect.get_or_raise(dialect).generator()
    # Not a subclass: where sqlglot is compiled (its extra `c`), its classes take none.
    generator._dispatch = {**generator._dispatch, exp.Not: _write_not}
    if dialect == "sqlite":
        generator._dispatch[exp.Cast] = _write_cast
    return generator
