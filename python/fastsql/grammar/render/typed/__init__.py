"""SQL for dialects that mind types: PostgreSQL, DuckDB, MySQL, Transact-SQL.

The same derivation trees as for SQLite; every value has a type, and what SQLite does silently is written down: casts,
division, the order of NULL, columns beside aggregates, the first of several rows. What differs between these dialects is
one class each, below `Dialect`. Classes, each the base of the next: values, conditions, queries.
"""

from __future__ import annotations

from fastsql.grammar.render.typed.dialect import Dialect
from fastsql.grammar.render.typed.duckdb import DuckDB
from fastsql.grammar.render.typed.mysql import MySQL
from fastsql.grammar.render.typed.postgres import Postgres
from fastsql.grammar.render.typed.queries import TypedRenderer
from fastsql.grammar.render.typed.tsql import TSQL

TYPED_DIALECTS: dict[str, Dialect] = {
    dialect.name: dialect for dialect in (Postgres(), DuckDB(), MySQL(), TSQL())
}

__all__ = ["TYPED_DIALECTS", "TypedRenderer"]
