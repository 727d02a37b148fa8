"""What queries return on a database, and whether that makes sense."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from fastsql.errors import ExecutionError
from fastsql.execution.executor import DatabaseGoneError, Executor
from fastsql.execution.rows import Cell
from fastsql.grammar import render
from fastsql.grammar.convert import tree_to_program
from fastsql.grammar.render import write_tree
from fastsql.schema import Schema
from fastsql.synthesis.schema.clauses import is_column, keys_of
from fastsql.synthesis.schema.contents import Contents
from fastsql.synthesis.schema.kinds import AMOUNT, TEXTS, TIME, YEAR
from fastsql.synthesis.schema.words import Words

MOST_ROWS = 1000
"""Rows that are looked at of a query that is tried."""
LONGEST_MEAN = 24
"""Characters that the values of a text have on average, at most, for groups by it."""
MOST_GROUPS = 50
"""Values of an amount, at most, for groups by it: ages, and no populations."""
MOST_KEPT = 200
"""Results of queries without a condition that are kept."""


class SenselessError(ValueError):
    """A query whose result makes no sense of it. The message says why, without any name or value."""


class Results:
    """Runs queries over one schema."""

    def __init__(self, schema: Schema, executor: Executor, contents: Contents, words: Words) -> None:
        self._schema = schema
        self._executor = executor
        self._contents = contents
        self._words = words
        self._wider: dict[str, list[tuple[Cell, ...]]] = {}

    def check(self, query: exp.Query, sql: str) -> None:
        """Raises SenselessError unless it returns something, not 1 for every group, and its WHERE and LIMIT matter.

        Raises DatabaseGoneError where not the query fails but the database is gone.
        """
        try:
            if isinstance(query, exp.Select):
                self._check_groups(query)
            elif isinstance(query, exp.SetOperation) and not all(
                map(self.rows, (query.left.copy(), query.right.copy()))
            ):
                raise SenselessError("one of its two parts returns nothing to speak of")
            rows = self._run(query, sql)
            if not any(cell for row in rows for cell in row) or _are_all_ones(rows):
                raise SenselessError("it returns nothing to speak of")
            if query.args.get("limit") is not None and len(self._rows_without(query, "limit")) == len(rows):
                raise SenselessError("its limit leaves nothing out")
            if isinstance(query, exp.Select) and query.args.get("limit") is not None:
                self._check_ties(query, len(rows))
            if query.args.get("where") is not None and are_equal(rows, self._rows_without(query, "where")):
                raise SenselessError("its condition changes nothing")
        except DatabaseGoneError:
            raise
        except ExecutionError as error:
            raise SenselessError(error.what) from error

    def differ(self, one: exp.Query, other: exp.Query) -> bool:
        """Whether two queries have different answers. Raises SenselessError and DatabaseGoneError as `check`."""
        try:
            return not are_equal(self.rows(one), self.rows(other))
        except DatabaseGoneError:
            raise
        except ExecutionError as error:
            raise SenselessError(error.what) from error

    def rows(self, query: exp.Query) -> list[tuple[Cell, ...]]:
        """The first rows. Raises ExecutionError where it fails, DatabaseGoneError where the database is gone."""
        return self._run(query, write_tree(query))

    def _run(self, query: exp.Query, sql: str) -> list[tuple[Cell, ...]]:
        """`sql`: the query in SQLite's words."""
        dialect = self._executor.dialect
        if dialect != "sqlite":
            sql = render(tree_to_program(query, self._schema), self._schema, dialect=dialect)
        elif query.args.get("limit") is None:
            sql = f"{sql} LIMIT {MOST_ROWS}"
        try:
            return list(self._executor.run(sql).rows)
        except ExecutionError:
            self._contents.check_alive()
            raise

    def _check_groups(self, query: exp.Select) -> None:
        """Raises SenselessError for groups by measures or sentences, and for the largest of groups of one row."""
        keys = keys_of(query)
        if not all(self._puts_together(key) for key in keys):
            raise SenselessError("groups of measures or free texts")
        if keys and query.args.get("limit") is not None:
            sizes = query.copy()
            for clause in ("order", "limit", "having"):
                sizes.set(clause, None)
            sizes.set("expressions", [exp.Count(this=exp.Star())])
            if _are_all_ones(self.rows(sizes)):
                raise SenselessError("groups of one row")

    def _check_ties(self, query: exp.Select, kept: int) -> None:
        """Raises SenselessError where the last row that is kept comes as early as the first one that is left out."""
        order = query.args.get("order")
        if order is None:
            return
        longer = query.limit(kept + 1)
        keys = [key.this.copy() for key in order.expressions]
        longer.set("expressions", [*longer.expressions, *keys] if query.args.get("distinct") else keys)
        last = [row[-len(keys) :] for row in self.rows(longer)][kept - 1 :]
        if len(last) == 2 and last[0] == last[1]:
            raise SenselessError("its limit cuts off some of several equal rows")

    def _puts_together(self, key: exp.Expr) -> bool:
        """Whether rows may share a key of GROUP BY: no amount with decimals, no moment of a day, no sentences."""
        if not is_column(key) or self._words.kind(key) not in (AMOUNT, TIME, YEAR, *TEXTS):
            return True
        values = self._contents.values(self._words.number(key))
        if self._words.kind(key) in (TIME, YEAR):
            return all(len(str(value)) <= len("2000-01-01") for value in values)
        if self._words.kind(key) == AMOUNT:
            whole = all(isinstance(value, int) or float(value).is_integer() for value in values)
            return whole and len(values) <= MOST_GROUPS
        texts = [str(value) for value in values]
        return sum(map(len, texts)) <= LONGEST_MEAN * len(texts)

    def _rows_without(self, query: exp.Query, name: str) -> list[tuple[Cell, ...]]:
        """The rows of a query without one of its clauses. Many queries have the same: the latest are kept."""
        clause = query.args[name]
        query.set(name, None)
        try:
            key = write_tree(query)
            if key not in self._wider:
                if len(self._wider) == MOST_KEPT:
                    del self._wider[next(iter(self._wider))]
                self._wider[key] = self._run(query, key)
        finally:
            query.set(name, clause)
        return self._wider[key]


def are_equal(one: Sequence[tuple[Cell, ...]], other: Sequence[tuple[Cell, ...]]) -> bool:
    """Whether two results have the same rows, in whatever order."""
    return len(one) == len(other) and sorted(map(repr, one)) == sorted(map(repr, other))


def _are_all_ones(rows: Sequence[tuple[Cell, ...]]) -> bool:
    """Whether a column of several rows is 1 throughout, as counts of single rows are."""
    return len(rows) > 1 and any(all(cell == 1 for cell in column) for column in zip(*rows, strict=True))
