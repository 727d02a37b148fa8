"""Pairs carried over to an extended schema: rewritten step by step, and kept where both databases give the same answer."""

from __future__ import annotations

import re
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from sqlglot import exp

from fastsql.datasets import Example
from fastsql.errors import ExecutionError, FastSQLError
from fastsql.execution import Executor, Rows
from fastsql.execution.executor import DatabaseGoneError, check_alive
from fastsql.execution.rows import Cell
from fastsql.schema import Schema
from fastsql.schema.names import fold
from fastsql.synthesis.extension.facts import Facts
from fastsql.synthesis.extension.operation import Extended, UnrewritableError
from fastsql.synthesis.extension.reading import UnreadableError, read
from fastsql.verification.parse import parse_query, write

AS_IT_WAS, REWRITTEN, OVER_A_VIEW = "as it was", "rewritten", "over a view"
"""What became of a query: nothing; other tables and conditions; or a subquery in FROM stands for a table that is no more."""


_PLURAL = re.compile("e?s$")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class CarriedPair:
    """A pair on its way: the query as it is now, and as it was.

    `form` is the strongest thing that was done to it. `gone` has the names in its question that no table or column of
    the schema has any more.
    """

    example: Example
    original: str
    form: str = AS_IT_WAS
    gone: tuple[str, ...] = ()
    is_void: bool = False
    """Whether its answer has no row but NULLs, so that its equality says little."""


@dataclass(frozen=True)
class DroppedPair:
    """A pair that was not carried over, and why; no text of it."""

    id: str
    why: str


class Carrier:
    """Carries pairs through the steps of an extension."""

    def __init__(self, pairs: Iterable[Example]) -> None:
        self.pairs: list[CarriedPair] = [
            CarriedPair(pair, pair.sql) for pair in pairs if pair.sql is not None and pair.runs
        ]
        self.dropped: list[DroppedPair] = []

    def used_tables(self, schema: Schema) -> frozenset[int]:
        """The tables whose names stand in the queries: a look at their words, for which nothing is parsed."""
        words = {word for pair in self.pairs for word in _WORD.findall(fold(pair.example.sql or ""))}
        return frozenset(number for number, table in enumerate(schema.tables) if fold(table.name) in words)

    def rewrite(self, schema: Schema, extended: Extended, facts: Facts) -> None:
        """Rewrite all for the next schema; those that cannot be are dropped."""
        self.pairs = self._kept(lambda pair: _rewritten(pair, schema, extended, facts))

    def check(self, before: Executor, after: Executor) -> None:
        """Keep the pairs whose answers are the same: as bags of rows, in their order where the query has one."""
        self.pairs = self._kept(lambda pair: _checked(pair, before, after))

    def _kept(self, work: Callable[[CarriedPair], CarriedPair]) -> list[CarriedPair]:
        """What becomes of the pairs; those of which nothing does are dropped by name."""
        kept = []
        for pair in self.pairs:
            done = _tried(pair, work)
            if isinstance(done, DroppedPair):
                self.dropped.append(done)
            else:
                kept.append(done)
        return kept


def _tried(pair: CarriedPair, work: Callable[[CarriedPair], CarriedPair]) -> CarriedPair | DroppedPair:
    try:
        return work(pair)
    except DatabaseGoneError:
        raise
    except (UnreadableError, UnrewritableError) as error:
        why = error.what
    except (ExecutionError, sqlite3.Error) as error:
        why = f"does not run ({type(error).__name__})"
    return DroppedPair(pair.example.id, why)


def _checked(pair: CarriedPair, before: Executor, after: Executor) -> CarriedPair:
    old, new = _rows(before, pair.original), _rows(after, pair.example.sql or "")
    why = _difference(old, new, pair.original)
    if why:
        raise UnrewritableError(why)
    return replace(pair, is_void=all(cell is None for row in old.rows for cell in row))


def _rows(executor: Executor, sql: str) -> Rows:
    """The answer of a query. Raises ExecutionError where it does not run, DatabaseGoneError where its database is gone."""
    try:
        return executor.run(sql)
    except ExecutionError:
        check_alive(executor)
        raise


def is_ordered(sql: str) -> bool:
    """Whether the order of a query's rows means something."""
    try:
        return parse_query(sql).args.get("order") is not None
    except FastSQLError:
        return False


def _difference(old: Rows, new: Rows, sql: str) -> str:
    """In what the answers of a query differ, before and after; empty where they are the same."""
    if old.truncated or new.truncated:
        return "more rows than are compared"
    one, other = ([tuple(map(_comparable, row)) for row in rows.rows] for rows in (old, new))
    if Counter(one) != Counter(other):
        return "another answer"
    return "another order of rows that tie" if one != other and is_ordered(sql) else ""


def _comparable(cell: Cell) -> object:
    """A cell to compare; sums of floats differ in their last digits by the order of rows."""
    return (float, f"{cell:.9g}") if isinstance(cell, float) else (type(cell), cell)


def _rewritten(pair: CarriedPair, schema: Schema, extended: Extended, facts: Facts) -> CarriedPair:
    query = read(pair.example.sql or "", schema, spell=extended.changed)
    uses = [use for use in query.uses if use.table in extended.changed]
    if not uses:
        return pair
    before, views = write(query.tree.copy(), "sqlite"), _subqueries_in_from(query.tree)
    columns = {column for use in uses for column in use.used}
    extended.rewrite(query, facts)
    sql = write(query.tree, "sqlite")
    if sql == before:
        return pair
    viewed = _subqueries_in_from(query.tree) > views or pair.form == OVER_A_VIEW
    gone = _gone(pair.example.question, schema, extended.schema, {use.table for use in uses}, columns)
    return replace(
        pair,
        example=replace(pair.example, sql=sql),
        form=OVER_A_VIEW if viewed else REWRITTEN,
        gone=tuple(dict.fromkeys((*pair.gone, *gone))),
    )


def _subqueries_in_from(tree: exp.Expr) -> int:
    return sum(isinstance(node.parent, (exp.From, exp.Join)) for node in tree.find_all(exp.Subquery))


def _gone(
    question: str, old: Schema, new: Schema, tables: Iterable[int], columns: Iterable[int]
) -> list[str]:
    """What a question names that the new schema calls otherwise, or has no more: labels of tables and columns."""
    labels = {fold(table.label) for table in new.tables} | {fold(column.label) for column in new.columns}
    items = [old.tables[table].label for table in sorted(tables)]
    items += [old.columns[column].label for column in sorted(columns)]
    asked = fold(question)
    return [label for label in items if fold(label) not in labels and _PLURAL.sub("", fold(label)) in asked]
