"""What a query asks for, whatever the language: whether it counts rows, and whether what it asks makes a question at all."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from fastsql.synthesis.schema.clauses import (
    conditions_of,
    counts_rows,
    has_aggregate,
    is_column,
    joins_of,
    keys_of,
    limit_of,
    tables_of,
)
from fastsql.synthesis.schema.words import UnsayableError, Words


class Meaning:
    """Reads queries over one schema; `counted` tells the table of which each row of a query's FROM is one."""

    def __init__(self, words: Words, counted: Callable[[exp.Select], int]) -> None:
        self._words = words
        self._counted = counted

    def counts(self, item: exp.Expr, select: exp.Select) -> bool:
        """Whether it counts the rows of FROM: all of them, or those of which something is known."""
        if counts_rows(item):
            return True
        if not isinstance(item, exp.Count):
            return False
        inner = item.this.expressions[0] if isinstance(item.this, exp.Distinct) else item.this
        if not is_column(inner) or self._words.owner(inner) != self._counted(select):
            return False
        if self._words.may_lack(self._words.number(inner)):
            raise UnsayableError("a count of rows of which something is known")
        return inner is item.this or self._words.is_unique(inner)

    def are_alike(self, left: exp.Expr, right: exp.Expr) -> bool:
        """Whether two select items are the same column, or hold the same keys."""
        if not (is_column(left) and is_column(right)):
            return False
        one, other = self._words.number(left), self._words.number(right)
        groups = self._words.schema.key_groups
        return one == other or -1 != groups[one] == groups[other]

    def check_groups(self, select: exp.Select) -> None:
        """Raises UnsayableError where what is selected is not the same in all rows of a group, or nothing is counted."""
        keys = keys_of(select)
        if not keys and any(map(has_aggregate, select.expressions)) and select.args.get("order") is not None:
            raise UnsayableError("order of a single row")
        plain = [item for item in select.expressions if not has_aggregate(item) and item not in keys]
        if not keys:
            if plain and len(plain) < len(select.expressions):
                raise UnsayableError("aggregate beside a column")
            return
        parts = (*select.expressions, select.args.get("having"), select.args.get("order"))
        if not any(part is not None and has_aggregate(part) for part in parts):
            raise UnsayableError("groups without aggregates")
        unique = {self._words.owner(key) for key in keys if is_column(key) and self._words.is_unique(key)}
        if unique and (not joins_of(select) or self._counted(select) in unique):
            raise UnsayableError("groups of one row")
        if not all(is_column(item) and self._words.owner(item) in unique for item in plain):
            raise UnsayableError("ungrouped column")

    def check_known(self, select: exp.Select) -> None:
        """Raises UnsayableError where a condition says already what is asked, or leaves one row to count or to compare."""
        equal = [
            one.this
            for one in conditions_of(select)
            if isinstance(one, exp.EQ) and isinstance(one.expression, exp.Literal)
        ]
        known = [column for column in equal if is_column(column)]
        asked = [item for item in (*select.expressions, *keys_of(select)) if is_column(item)]
        if any(self.are_alike(item, column) for item in asked for column in known):
            raise UnsayableError("what is asked is known")
        tables = {self._words.source(node) for node in tables_of(select)}
        if any(self._words.stands_for(column) in tables - {self._words.owner(column)} for column in known):
            raise UnsayableError("a row that is joined is known")
        compares = (
            limit_of(select) or keys_of(select) or any(has_aggregate(item) for item in select.expressions)
        )
        if compares and any(map(self._words.is_unique, known)):
            raise UnsayableError("a single row")
