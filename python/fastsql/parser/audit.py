"""A record of every parse and execution for whoever must account for them, without what a patient could be known by.

    fastsql.load("ehr-en", audit=log.append)
    fastsql.load("ehr-en", audit=Audit(log.append, question=True, sql=True))

The hook is called once a parse, whether it answers, refuses or raises, and once for each statement that `Parser.ask` or an
inspector runs. What it raises is not caught: where everything must be on record, what cannot be recorded must not be
answered.
"""

from __future__ import annotations

import hmac
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any, TypeAlias

from fastsql.errors import VerificationError
from fastsql.execution.executor import RefusedError
from fastsql.parser.audited import AuditedExecutor
from fastsql.parser.checks import ID_CHARACTERS, check_id
from fastsql.parser.records import AuditRecord, ExecutionRecord

if TYPE_CHECKING:
    from fastsql.execution import Executor
    from fastsql.parser.settings import Settings
    from fastsql.result import Result

Hook: TypeAlias = Callable[[Any], object]
"""Called with an `AuditRecord` or an `ExecutionRecord`."""
_KEY_BYTES = 16
"""Bytes of the shortest key: as many as cannot be tried."""


@dataclass
class ParseEntry:
    """What a parse leaves for its record: its result, None until there is one."""

    result: Result | None = None


@dataclass
class ExecutionEntry:
    """What an execution leaves for its record: how many rows were fetched so far, and whether there were more."""

    rows: int = 0
    truncated: bool = False


@dataclass(frozen=True)
class Audit:
    """Who is told of every parse and execution, and which of its texts: none, unless asked for by name.

    Attributes:
        hook: called with an `AuditRecord` or an `ExecutionRecord`.
        question: tell the question.
        sql: tell the SQL.
        literals: tell the literals of the SQL.
        identifiers: tell the names that the SQL links to.
        key: of the statements' digests; one that lasts as long as the `Audit` unless given. Who has it can test a guess at
            what a statement was: keep it apart from the records.

    Raises:
        TypeError, ValueError: the hook cannot be called; the key is not of bytes, or shorter than 16.
    """

    hook: Hook
    question: bool = False
    sql: bool = False
    literals: bool = False
    identifiers: bool = False
    key: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False, compare=False)

    def __post_init__(self) -> None:
        if not callable(self.hook):
            raise TypeError(f"hook is a callable, not {type(self.hook).__name__}")
        if not isinstance(self.key, bytes):
            raise TypeError(f"key is bytes, not {type(self.key).__name__}")
        if len(self.key) < _KEY_BYTES:
            raise ValueError(f"key must have at least {_KEY_BYTES} bytes")

    @classmethod
    def of(cls, audit: Audit | Hook) -> Audit:
        """An `Audit` as it is; a plain hook with nothing asked for. Raises TypeError for anything else."""
        if isinstance(audit, cls):
            return audit
        if not callable(audit):
            raise TypeError(f"audit is a callable or an Audit, not {type(audit).__name__}")
        return cls(audit)

    def digest(self, sql: str) -> str:
        """HMAC-SHA-256 of a statement under the key: the same for the same statement, and of no use without the key."""
        return hmac.new(self.key, sql.encode("utf-8", "surrogatepass"), "sha256").hexdigest()

    def watch(
        self,
        executor: Executor,
        *,
        dialect: str | None = None,
        request_id: str | None = None,
        user_id: str | None = None,
        inspection: bool = False,
    ) -> AuditedExecutor:
        """The executor, with every statement that it is given on record; `dialect` is its own unless given.

        Raises TypeError, ValueError for what is not an id.
        """
        check_id(request_id, "request_id")
        check_id(user_id, "user_id")
        if isinstance(executor, AuditedExecutor) and executor.audit is self:
            executor = executor.executor
        dialect = executor.dialect if dialect is None else dialect
        return AuditedExecutor(executor, self, dialect, (request_id, user_id), inspection=inspection)

    @contextmanager
    def parse(self, question: object, model: str, settings: Settings) -> Iterator[ParseEntry]:
        """Hand over the record of the parse in the ``with`` block, also where it raises; its result goes into the entry."""
        begun = time.perf_counter()
        entry = ParseEntry()
        error = ""
        try:
            yield entry
        except BaseException as found:
            error = type(found).__name__
            raise
        finally:
            result, text = entry.result, question if isinstance(question, str) else ""
            sql = result.sql if result is not None else None
            self.hook(
                AuditRecord(
                    time=datetime.now(timezone.utc),
                    model=model,
                    dialect=result.dialect if result is not None else settings.dialect,
                    penalty=settings.penalty,
                    characters=len(text),
                    answered=sql is not None,
                    confidence=result.confidence if result is not None else 0.0,
                    unanswerable=result.unanswerable if result is not None else 0.0,
                    milliseconds=(time.perf_counter() - begun) * 1000,
                    inspected=settings.inspector is not None,
                    error=error,
                    request_id=_id(settings.request_id),
                    user_id=_id(settings.user_id),
                    statement=self.digest(sql) if sql is not None else "",
                    question=text if self.question else None,
                    sql=sql if self.sql else None,
                    literals=_literals(result) if self.literals else None,
                    identifiers=_identifiers(result) if self.identifiers else None,
                )
            )

    @contextmanager
    def execution(
        self, sql: object, dialect: str, ids: tuple[str | None, str | None], *, inspection: bool
    ) -> Iterator[ExecutionEntry]:
        """Hand over the record of the execution in the ``with`` block, also where it raises."""
        begun = time.perf_counter()
        entry = ExecutionEntry()
        outcome, error = "ran", ""
        try:
            yield entry
        except BaseException as found:
            outcome = "refused" if isinstance(found, (RefusedError, VerificationError)) else "failed"
            error = type(found).__name__
            raise
        finally:
            text = sql if isinstance(sql, str) else None
            self.hook(
                ExecutionRecord(
                    time=datetime.now(timezone.utc),
                    dialect=dialect,
                    statement="" if text is None else self.digest(text),
                    outcome=outcome,
                    rows=entry.rows,
                    truncated=entry.truncated,
                    milliseconds=(time.perf_counter() - begun) * 1000,
                    inspection=inspection,
                    error=error,
                    request_id=ids[0],
                    user_id=ids[1],
                    sql=text if self.sql else None,
                )
            )


def _id(value: object) -> str | None:
    """An id as it was given; None for what is none, which ends the parse with an error of its own."""
    return value if isinstance(value, str) and len(value) <= ID_CHARACTERS else None


def _literals(result: Result | None) -> tuple[str | int | float, ...]:
    return tuple(literal.value for literal in result.values) if result is not None else ()


def _identifiers(result: Result | None) -> tuple[str, ...]:
    if result is None:
        return ()
    named = [link.target for link in result.links if link.kind in ("table", "column")]
    compared = [literal.column for literal in result.values if literal.column]
    return tuple(dict.fromkeys((*named, *compared)))
