"""What an audit keeps of a parse and of an execution: plain data, as Python and as JSON."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, ClassVar

from fastsql.plain_json import json_text, plain


@dataclass(frozen=True)
class _Event:
    """What parses and executions have in common: their form as JSON."""

    event: ClassVar[str]

    def to_dict(self) -> dict[str, Any]:
        """The record as plain data: the attributes by their names, and "event", which is "parse" or "execution"."""
        return {"event": self.event, **plain(asdict(self))}

    def to_json(self) -> str:
        """`to_dict` as one line of JSON, for a log."""
        return json_text(self.to_dict())


@dataclass(frozen=True)
class AuditRecord(_Event):
    """One parse. The last four fields stay None unless the `Audit` asks for them.

    Attributes:
        time: when it ended, UTC.
        model: name of the bundle.
        dialect: of the SQL.
        penalty: what was decided by.
        characters: length of the question.
        answered: whether SQL was given.
        confidence: probability that the SQL is right.
        unanswerable: probability that the question has no answer in the schema.
        milliseconds: what the parse took.
        inspected: whether an inspector ran hypotheses.
        error: name of the class of the error that ended the parse; "" where none did.
        request_id: what the caller gave as `request_id`; None if nothing.
        user_id: what the caller gave as `user_id`; None if nothing.
        statement: the digest of the SQL that was given, as `Audit.digest` makes it; "" where none was.
        question: the question as asked.
        sql: the SQL that was given, with its literals.
        literals: the literals of the SQL.
        identifiers: the tables and columns that the result links to words of the question or compares with literals.
    """

    event: ClassVar[str] = "parse"

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
    request_id: str | None = None
    user_id: str | None = None
    statement: str = ""
    question: str | None = None
    sql: str | None = None
    literals: tuple[str | int | float, ...] | None = None
    identifiers: tuple[str, ...] | None = None


@dataclass(frozen=True)
class ExecutionRecord(_Event):
    """One statement that was run, or was to be. No cell of its rows is in it.

    Attributes:
        time: when it ended, UTC.
        dialect: of the SQL.
        statement: the digest of the SQL, as `Audit.digest` makes it: that of the parse that gave it.
        outcome: "ran"; "refused" where the verifier did not let it pass or there was none, as in a refusal; "failed" where
            it did not come to its end.
        rows: how many were fetched.
        truncated: whether there were more than the executor's row limit.
        milliseconds: what it took, verification included.
        inspection: whether an inspector ran it, to look at its answer before there was one.
        error: name of the class of the error that ended it; "" where none did.
        request_id: as in the record of the parse.
        user_id: as in the record of the parse.
        sql: the SQL with its literals; None unless the `Audit` asks for it.
    """

    event: ClassVar[str] = "execution"

    time: datetime
    dialect: str
    statement: str
    outcome: str
    rows: int
    truncated: bool
    milliseconds: float
    inspection: bool = False
    error: str = ""
    request_id: str | None = None
    user_id: str | None = None
    sql: str | None = None
