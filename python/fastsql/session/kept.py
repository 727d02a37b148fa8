"""What a session keeps of earlier answers, so that a later query need not ask for them again."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from fastsql.execution.executor import memory_of
from fastsql.execution.reuse import Earlier, Reuse, Reusing, unusable

if TYPE_CHECKING:
    from fastsql.execution.rows import Rows
    from fastsql.schema import Schema


@dataclass(frozen=True, repr=False)
class _Answer:
    """An answer, its rows if they may be used again.

    Attributes:
        earlier: the query and its rows, or why there are none.
        shape: of the database when it was asked.
        at: when the rows were read.
        bytes: what they take.
    """

    earlier: Earlier
    shape: str
    at: datetime | None
    bytes: int


class KeptAnswers:
    """Earlier answers of a session by the numbers of their turns, within a bound on the memory of all their rows.

    Args:
        way: "parameters" or "table"; what could not be reused that way is not kept.
        most_values: that are bound of one answer.
        most_bytes: of memory; beyond them the rows of the oldest are let go of.
    """

    def __init__(self, way: str, most_values: int, most_bytes: int) -> None:
        self.way = way
        self._most_values = most_values
        self._most_bytes = most_bytes
        self._answers: dict[int, _Answer] = {}

    def keep(self, number: int, sql: str, rows: Rows, shape: str, at: datetime | None) -> None:
        """Keep an answer, in place of one of that number."""
        reason = unusable(rows, self.way, self._most_values)
        kept = None if reason else rows
        size = 0 if kept is None else memory_of(kept.rows)
        self._answers[number] = _Answer(Earlier(number, sql, kept, reason), shape, at, size)
        used = sum(one.bytes for one in self._answers.values())
        for oldest in sorted(self._answers):
            if used <= self._most_bytes:
                break
            used -= self._answers[oldest].bytes
            self._answers[oldest] = _let_go(self._answers[oldest])

    def retain(self, numbers: Collection[int]) -> None:
        """Let go of all but these."""
        self._answers = {number: one for number, one in self._answers.items() if number in numbers}

    def copy(self) -> KeptAnswers:
        """The same answers for another session."""
        other = KeptAnswers(self.way, self._most_values, self._most_bytes)
        other._answers = dict(self._answers)
        return other

    def given(self, numbers: Collection[int], shape: str) -> list[Earlier]:
        """The answers of these turns as a query may use them in a database of this shape, the latest of equal ones."""
        by_sql = {
            one.earlier.sql: one if one.shape == shape else _stale(one)
            for number, one in sorted(self._answers.items())
            if number in numbers
        }
        return [one.earlier for one in by_sql.values()]

    def at(self, number: int) -> datetime | None:
        """When an answer was read."""
        return self._answers[number].at


def _let_go(answer: _Answer) -> _Answer:
    earlier = replace(
        answer.earlier, rows=None, unusable=answer.earlier.unusable or "its rows are not kept any more"
    )
    return replace(answer, earlier=earlier, bytes=0)


def _stale(answer: _Answer) -> _Answer:
    reason = "the database has other tables or columns since"
    return replace(answer, earlier=replace(answer.earlier, rows=None, unusable=reason))


class ReusingRun:
    """The executor of one turn: it runs the turn's SQL with what is kept of the turns that this stands on.

    Attributes:
        shape: of the database before the query ran; None until then.
        reused: how each earlier answer took part.
    """

    def __init__(
        self, executor: Reusing, kept: KeptAnswers, numbers: Collection[int], schema: Schema
    ) -> None:
        self.dialect = executor.dialect
        self.shape: str | None = None
        self.reused: tuple[Reuse, ...] = ()
        self._executor = executor
        self._kept = kept
        self._numbers = numbers
        self._schema = schema

    def run(self, sql: str | None) -> Rows:
        """The rows of the query. Raises what the executor does."""
        self.shape = self._executor.shape(self._schema)
        earlier = self._kept.given(self._numbers, self.shape)
        if sql is None or not earlier:
            return self._executor.run(sql)
        rows, reuses = self._executor.run_reusing(sql, earlier, self._schema, way=self._kept.way)
        self.reused = tuple(one if one.reason else replace(one, at=self._kept.at(one.turn)) for one in reuses)
        return rows
