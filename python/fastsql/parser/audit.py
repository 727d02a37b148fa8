"""A record of every parse for whoever must account for them, without what a patient could be known by.

    fastsql.load("ehr-en", audit=log.append)
    fastsql.load("ehr-en", audit=Audit(log.append, question=True, sql=True))

The hook is called once a parse, whether it answers, refuses or raises. What it raises is not caught: where every parse
must be on record, one that cannot be recorded must not be answered.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fastsql.result import Result


@dataclass(frozen=True)
class AuditRecord:
    """One parse. The last four fields stay None unless the `Audit` asks for them.

    Attributes:
        time: when it ended, UTC.
        model: name of the bundle.
        dialect: of the SQL.
        penalty: what the parser decided by.
        characters: length of the question.
        answered: whether SQL was given.
        confidence: probability that the SQL is right.
        unanswerable: probability that the question has no answer in the schema.
        milliseconds: what the parse took.
        inspected: whether an inspector ran hypotheses.
        error: name of the class of the error that ended the parse; "" where none did.
        question: the question as asked.
        sql: the SQL that was given, with its literals.
        literals: the literals of the SQL.
        identifiers: the tables and columns that the result links to words of the question or compares with literals.
    """

    time: datetime
    model: str
    dialect: str
    penalty: float
    characters: int
    answered: bool
    confidence: float
    unanswerable: float
    milliseconds: float
    inspected: bool = False
    error: str = ""
    question: str | None = None
    sql: str | None = None
    literals: tuple[str | int | float, ...] | None = None
    identifiers: tuple[str, ...] | None = None


@dataclass
class Entry:
    """What a parse leaves for its record: its result, None until there is one."""

    result: Result | None = None


@dataclass(frozen=True)
class Audit:
    """Who is told of every parse, and which of its texts: none, unless asked for by name."""

    hook: Callable[[AuditRecord], object]
    question: bool = False
    sql: bool = False
    literals: bool = False
    identifiers: bool = False

    @classmethod
    def of(cls, audit: Audit | Callable[[AuditRecord], object]) -> Audit:
        """An `Audit` as it is; a plain hook with nothing asked for. Raises TypeError for anything else."""
        if isinstance(audit, cls):
            return audit
        if not callable(audit):
            raise TypeError(f"audit is a callable or an Audit, not {type(audit).__name__}")
        return cls(audit)

    @contextmanager
    def record(
        self, question: object, *, model: str, penalty: float, dialect: str, inspected: bool
    ) -> Iterator[Entry]:
        """Hand over the record of the parse in the ``with`` block, also where it raises; its result goes into the entry."""
        begun = time.perf_counter()
        entry = Entry()
        error = ""
        try:
            yield entry
        except Exception as found:
            error = type(found).__name__
            raise
        finally:
            result, text = entry.result, question if isinstance(question, str) else ""
            sql = result.sql if result is not None else None
            self.hook(
                AuditRecord(
                    time=datetime.now(timezone.utc),
                    model=model,
                    dialect=dialect,
                    penalty=penalty,
                    characters=len(text),
                    answered=sql is not None,
                    confidence=result.confidence if result is not None else 0.0,
                    unanswerable=result.unanswerable if result is not None else 0.0,
                    milliseconds=(time.perf_counter() - begun) * 1000,
                    inspected=inspected,
                    error=error,
                    question=text if self.question else None,
                    sql=sql if self.sql else None,
                    literals=_literals(result) if self.literals else None,
                    identifiers=_identifiers(result) if self.identifiers else None,
                )
            )


def _literals(result: Result | None) -> tuple[str | int | float, ...]:
    return tuple(literal.value for literal in result.values) if result is not None else ()


def _identifiers(result: Result | None) -> tuple[str, ...]:
    if result is None:
        return ()
    named = [link.target for link in result.links if link.kind in ("table", "column")]
    compared = [literal.column for literal in result.values if literal.column]
    return tuple(dict.fromkeys((*named, *compared)))
