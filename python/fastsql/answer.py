"""What `Parser.ask` gives back: a result, and the rows of its SQL where there is an answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fastsql.execution import Rows
    from fastsql.refusal.suggestions import Suggestion
    from fastsql.result import Result


@dataclass(frozen=True, repr=False, eq=False)
class Answer:
    """A result with the rows of its SQL. True where the question was answered, however many rows there are.

    As confidential as the rows: its repr tells how many there are and none of them, a notebook shows them.

    Attributes:
        result: the outcome of the parse.
        rows: the rows, with the names of their columns; None where the question was refused, as nothing was run then.
        milliseconds: what running the SQL took; 0 where nothing was run.
    """

    result: Result
    rows: Rows | None = None
    milliseconds: float = 0.0

    @property
    def sql(self) -> str | None:
        """The SQL that was run, or None where the question was refused."""
        return self.result.sql

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns; none where the question was refused."""
        return () if self.rows is None else self.rows.columns

    @property
    def refused(self) -> bool:
        """Whether the parser refused to answer."""
        return self.rows is None

    @property
    def reason(self) -> str | None:
        """Why it refused, a sentence that may quote the question; None where it did not."""
        return self.result.reason

    @property
    def suggestions(self) -> tuple[Suggestion, ...]:
        """What would help where it refused."""
        return self.result.suggestions

    def _repr_html_(self) -> str:
        """For notebooks: the rows below the explanation of the result."""
        shown = self.result._repr_html_()
        return shown if self.rows is None else shown + self.rows._repr_html_()

    def __bool__(self) -> bool:
        return self.rows is not None

    def __repr__(self) -> str:
        if self.rows is None:
            return f"Answer(refused, confidence={self.result.confidence:.2f})"
        count = len(self.rows.rows)
        cut = ", truncated" if self.rows.truncated else ""
        noun = "row" if count == 1 else "rows"
        return f"Answer({count} {noun}{cut}, confidence={self.result.confidence:.2f})"
