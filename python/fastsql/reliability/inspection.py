"""Looking at answers before giving them: the likeliest queries of a parse are run, and what comes back is evidence.

The SQL result inspector of the AIRI team at EHRSQL 2024 (Somov et al., Clinical NLP 2024) refuses where a query fails or
its answer is empty, NULL or 0. That is the preset `Rule.REFUSE`, and it costs, since some questions have no other answer.
By default (`Rule.EVIDENCE`) such an answer only counts against a query: the bundle knows how much. Queries with the
same answer support each other, one that fails is out, and the next one takes over where it is then the likelier. Where an
answer is empty, the queries inside the query are run as well: one that returns no row itself says where the error may lie.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from fastsql.errors import ExecutionError, VerificationError
from fastsql.limits import check_count, check_seconds
from fastsql.reliability.kept_answers import KeptAnswers, may_keep

if TYPE_CHECKING:
    from fastsql.execution import Rows

Answer = tuple[tuple[str, ...], ...]
_NULL = "None"
_VOID = frozenset({_NULL, "0.0"})


class Running(Protocol):
    """What runs a query: any executor of `fastsql.execution`."""

    def run(self, sql: str) -> Rows:
        """The rows of a query; raises ExecutionError or VerificationError."""


@runtime_checkable
class Telling(Protocol):
    """An executor that can tell whether its database has changed."""

    def state(self) -> object:
        """Equal for as long as the database is as it was; None where that is not known."""


def state_of(executor: object) -> object:
    """What stays as it is only while the executor's database does; None where the executor cannot tell."""
    return executor.state() if isinstance(executor, Telling) else None


class Rule(Enum):
    """What is made of an answer."""

    EVIDENCE = "evidence"
    """Empty, NULL or 0 counts against a query as much as it did when the bundle was calibrated."""
    REFUSE = "refuse"
    """Refuse where the best query fails or its answer is empty, NULL or 0."""


@dataclass(frozen=True)
class Finding:
    """What running one query showed: its answer, or None where it failed or was not run."""

    answer: Answer | None = None
    ran: bool = False
    hollow: bool = False
    """Whether the answer is void, and a query inside this one returns no row, or nothing but NULL, or a look-up none."""
    absent: tuple[str, ...] = ()
    """Look-ups that found no row, where the answer is void."""

    @property
    def failed(self) -> bool:
        """Whether the database refused the query."""
        return self.ran and self.answer is None

    @property
    def void(self) -> bool:
        """Whether the answer is empty, or holds nothing but NULL and 0."""
        return self.answer is not None and all(cell in _VOID for row in self.answer for cell in row)

    @property
    def rowless(self) -> bool:
        """Whether the answer has no row, or nothing but NULL."""
        return self.answer is not None and all(cell == _NULL for row in self.answer for cell in row)


@dataclass(frozen=True)
class Inspector:
    """Runs the likeliest queries of a parse within a budget, each text once.

    Attributes:
        executor: read-only, on the database that the question is asked of; its own limits bound one query's time and rows.
        rule: what is made of an answer.
        seconds: no further query is begun after so long.
        hypotheses: how many queries are run at most.
        rows: how many rows of an answer are compared.
        kept: what is remembered of queries inside others, from question to question, where the executor tells the state of
            its database.

    Raises:
        LimitError: one of these numbers is not a valid limit.
    """

    executor: Running
    rule: Rule = Rule.EVIDENCE
    seconds: float = 5.0
    hypotheses: int = 4
    rows: int = 100
    kept: KeptAnswers = field(default_factory=KeptAnswers, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_seconds(self.seconds, "Inspector.seconds")
        for name in ("hypotheses", "rows"):
            check_count(getattr(self, name), f"Inspector.{name}")

    def inspect(
        self,
        queries: Iterable[str | None],
        parts: Callable[[int], Iterable[str]] = lambda _: (),
        look_ups: Callable[[int], Iterable[str]] = lambda _: (),
    ) -> tuple[Finding, ...]:
        """A finding for each query, in order; None stands for one that may not be run, which counts as failed.

        `parts` gives the queries inside one that may be run, by its number, and `look_ups` those that ask whether a literal
        of it exists. They are asked where an answer is void, and what they give is run after all queries, as far as the time
        allows.
        """
        end = time.monotonic() + self.seconds
        seen: dict[str | None, Finding] = {None: Finding(ran=True)}

        def look(sql: str | None) -> Finding:
            if sql is not None and sql not in seen and time.monotonic() < end:
                seen[sql] = self._look(sql)
            return seen.get(sql, Finding())

        findings = [
            look(sql) if number < self.hypotheses else Finding() for number, sql in enumerate(queries)
        ]
        state = state_of(self.executor)
        kept = self.kept.of(state)

        def rowless(sql: str) -> bool:
            if sql not in kept:
                found = look(sql)
                if found.answer is None or not may_keep(sql) or state_of(self.executor) != state:
                    return found.rowless
                kept[sql] = found.rowless
            return kept[sql]

        def completed(number: int, finding: Finding) -> Finding:
            if not finding.void:
                return finding
            absent = tuple(sql for sql in look_ups(number) if rowless(sql))
            return replace(finding, absent=absent, hollow=bool(absent) or any(map(rowless, parts(number))))

        return tuple(completed(number, finding) for number, finding in enumerate(findings))

    def _look(self, sql: str) -> Finding:
        try:
            found = self.executor.run(sql)
        except (ExecutionError, VerificationError):  # a query that cannot be run is what is being looked for
            return Finding(ran=True)
        return Finding(_comparable(found.rows, self.rows), ran=True)


def allies(findings: Sequence[Finding], chosen: int) -> tuple[int, ...]:
    """The other queries with the same answer."""
    own = findings[chosen].answer
    if own is None:
        return ()
    return tuple(i for i, other in enumerate(findings) if i != chosen and other.answer == own)


def _comparable(rows: Iterable[Sequence[object]], most: int) -> Answer:
    """An answer without regard to the order of rows, numbers rounded to three decimals as the EHRSQL scorer does."""
    return tuple(sorted(tuple(map(_cell, row)) for row in rows))[:most]


def _cell(value: object) -> str:
    try:
        return str(round(float(value if isinstance(value, (int, float)) else str(value)), 3))
    except (ValueError, OverflowError):
        return str(value)
