"""What would help where a question is refused, as data. The texts quote the question: they are as confidential as it is."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, ClassVar, TypeAlias

Span = tuple[int, int]
"""Characters of the question as it was asked, ``[start, end)``."""


@dataclass(frozen=True)
class NearValue:
    """A value of the dictionary that is written much like what was asked for; `columns` hold it, by qualified name."""

    value: str
    columns: tuple[str, ...]


@dataclass(frozen=True)
class _Suggestion:
    """What all kinds have: their sentence, in the language of the question, and the name of their kind."""

    kind: ClassVar[str]

    text: str

    def to_dict(self) -> dict[str, Any]:
        """The suggestion as plain data: its attributes by their names, and "kind"."""
        return {"kind": self.kind, **asdict(self)}


@dataclass(frozen=True)
class UnknownValue(_Suggestion):
    """A value that the question says and the dictionary does not hold, or no row of the database.

    `words` stand at `span`. `column` is the qualified name of the column that was to hold it, "" where that is not known;
    `nearest` are values that are written alike, nearest first, of `column` if it has any.
    """

    kind: ClassVar[str] = "unknown value"

    words: str
    span: Span
    column: str = ""
    nearest: tuple[NearValue, ...] = ()


@dataclass(frozen=True)
class UnknownWords(_Suggestion):
    """Words that no table, no column and no value is called, in order of the question; each stands at its span."""

    kind: ClassVar[str] = "unknown words"

    words: tuple[str, ...]
    spans: tuple[Span, ...]


@dataclass(frozen=True)
class BestGuess(_Suggestion):
    """The best hypothesis in words: what could have been meant. It is no answer; `Result.best` is its SQL."""

    kind: ClassVar[str] = "best guess"

    description: str


@dataclass(frozen=True)
class SeveralReadings(_Suggestion):
    """Hypotheses of which none is much likelier than the next, in words, likeliest first."""

    kind: ClassVar[str] = "several readings"

    descriptions: tuple[str, ...]


Suggestion: TypeAlias = UnknownValue | UnknownWords | BestGuess | SeveralReadings
