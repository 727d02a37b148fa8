"""How each dialect reads names: letter case, where an alias of the select list means something, words that call functions.

What SQLite does stands in its resolver (``resolve.c``), what PostgreSQL does in "Value Expressions" and "SELECT" of its
documentation, what DuckDB does in "Case Sensitivity" and "Aliases" of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from fastsql.schema.names import fold
from fastsql.verification.allowed import words

_SQL_FUNCTIONS = words(
    """
    current_catalog current_database current_date current_role current_schema current_time current_timestamp current_user
    localtime localtimestamp session_user system_user user
    """
)


@dataclass(frozen=True)
class NameRules:
    """The rules of one dialect.

    Beside these, a sort key that is one word means an output column before it means anything else, in every dialect.
    """

    exact: bool = False
    """A quoted name is that very name, and one without quotes its lower-case form; otherwise case does not matter."""
    alias_clauses: frozenset[str] = frozenset()
    """Clauses of a SELECT (sqlglot's names) in which a word that is no column may be an alias of the select list."""
    alias_first: frozenset[str] = frozenset()
    """Clauses in which it is an alias even before it is a column."""
    alias_keys: frozenset[str] = frozenset()
    """Clauses in which it may be one as a whole key."""
    implicit_outputs: bool = False
    """A sort key may also be the name of a column that was selected without an alias."""
    first_alias: bool = False
    """Of two items with one alias, the first is meant."""
    functions: frozenset[str] = _SQL_FUNCTIONS
    """Words that call a function where they stand alone and without quotes."""

    def key(self, name: exp.Expr | None) -> str:
        """The form under which an identifier of a query compares."""
        if not isinstance(name, exp.Identifier):
            return ""
        text: str = name.this
        return text if self.exact and name.args.get("quoted") else fold(text)

    def stored(self, name: str) -> str:
        """The form under which a name of the schema compares."""
        return name if self.exact else fold(name)

    def calls(self, column: exp.Column) -> bool:
        """Whether a word that looks like a column calls a function."""
        name = column.this
        return (
            not column.table
            and isinstance(name, exp.Identifier)
            and not name.args.get("quoted")
            and fold(name.this) in self.functions
        )


RULES: dict[str, NameRules] = {
    "sqlite": NameRules(
        alias_clauses=frozenset(("where", "group", "having", "order", "joins")),
        first_alias=True,
        functions=frozenset(("current_date", "current_time", "current_timestamp")),
    ),
    "postgres": NameRules(exact=True, alias_keys=frozenset(("group",)), implicit_outputs=True),
    "duckdb": NameRules(
        alias_clauses=frozenset(("where", "group", "having", "order")),
        alias_first=frozenset(("having",)),
        implicit_outputs=True,
    ),
    "mysql": NameRules(alias_clauses=frozenset(("group", "having", "order")), implicit_outputs=True),
    "tsql": NameRules(implicit_outputs=True),
}
