"""Why a query is what it is: the reason of every name and literal, and the decisions that wrote it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fastsql.result import Link, Literal, Result

Span = tuple[int, int]
"""Characters of the question as it was asked, ``[start, end)``."""

Line = list[tuple[str, str]]
"""Pieces of a line of text, each with its style: "", or a name that `fastsql.view.terminal` knows."""


@dataclass(frozen=True)
class Reason:
    """Why something stands in the SQL.

    `kind` is "table", "column", "value" or "time"; `target` says what stands there (``prescriptions.drug = 'warfarin'``),
    `sql` is its token in the SQL (``'warfarin'``), "" where it is more than a token. `span` and `text` are the words of
    the question that account for it, None and "" where none do.
    """

    kind: str
    target: str
    why: str
    span: Span | None = None
    text: str = ""
    sql: str = ""


@dataclass(frozen=True)
class Decision:
    """One decision of the decoder.

    `symbol` is the grammar's symbol that was expanded, `kind` the kind of action (`fastsql.grammar.space.KINDS`), `choice`
    what was taken; `legal` counts the actions that the automaton offered, `probability` is the model's for the one taken.
    `span` is where a pointer into the question went.
    """

    symbol: str
    kind: str
    choice: str
    legal: int
    probability: float
    span: Span | None = None


@dataclass(frozen=True)
class Trail:
    """What a parse leaves behind for those who ask: reasons in order of the query, decisions in order of decoding."""

    reasons: tuple[Reason, ...] = ()
    decisions: tuple[Decision, ...] = ()


@dataclass(frozen=True, repr=False, eq=False)
class Explanation:
    """A result with the reasons for it; made by `Result.explain`. `str` gives it as text, a notebook shows it as HTML."""

    result: Result
    reasons: tuple[Reason, ...]
    decisions: tuple[Decision, ...]

    def __repr__(self) -> str:
        return f"<Explanation: {len(self.reasons)} reasons, {len(self.decisions)} decisions>"

    def __str__(self) -> str:
        return self.text()

    def text(self, width: int = 100, *, decisions: bool = False, timings: bool = True) -> str:
        """The explanation as plain text; the arguments are those of `lines`."""
        lines = self.lines(width, decisions=decisions, timings=timings)
        return "\n".join("".join(text for text, _ in line).rstrip() for line in lines)

    def lines(self, width: int, *, decisions: bool = False, timings: bool = True) -> list[Line]:
        """The explanation as lines of styled text.

        Args:
            width: of a line, in cells of a terminal; lines are no narrower than 48.
            decisions: list every decision of the decoder, too.
            timings: tell how long each stage took.
        """
        from fastsql.view.text import as_lines

        return as_lines(self, width, decisions=decisions, timings=timings)

    def _repr_html_(self) -> str:
        from fastsql.view.html import as_html

        return as_html(self)

    @property
    def in_question(self) -> tuple[Reason, ...]:
        """Reasons that words of the question give, in order of the question."""
        placed = [(reason.span, reason) for reason in self.reasons if reason.span is not None]
        return tuple(reason for _, reason in sorted(placed, key=lambda one: one[0]))

    @property
    def beyond_question(self) -> tuple[Reason, ...]:
        """Reasons of what no word of the question accounts for."""
        return tuple(reason for reason in self.reasons if reason.span is None)


# ---------------------------------------------------------------- the reasons of literals and links

_OF_FORMAT = {
    "%Y": "year",
    "%Y-%m": "year and month",
    "%Y-%m-%d": "day",
    "%m": "month of any year",
    "%m-%d": "day of any year",
    "%d": "day of any month",
    "%H:%M": "time of day",
    "%Y-%m-%d %H:%M:%S": "moment",
}
SIGNS = {
    "eq": "=",
    "ne": "<>",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
    "in_list": "IN",
    "not_in_list": "NOT IN",
    "between": "BETWEEN",
    "not_between": "NOT BETWEEN",
}
"""How the grammar's comparisons of a column with literals are written."""
_NAMED = {2: "its name", 1: "part of its name"}


def named(match: int) -> str:
    """Why a table or column is linked to words that are all (2) or part (1) of its name."""
    return _NAMED[match]


def sql_literal(value: str | int | float) -> str:
    """A literal as it stands in SQL."""
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else str(value)


def literal_reason(literal: Literal, question: str, sign: str = "=") -> Reason:
    """Why a literal stands in the SQL; `sign` is how its column is compared with it."""
    text = question[slice(*literal.span)] if literal.span is not None else ""
    token = sql_literal(literal.value)
    target = f"{literal.column} {sign} {token}" if literal.column else token
    return Reason("value", target, _why(literal, text), literal.span, text, token)


def link_reason(link: Link) -> Reason:
    """Why a link was made, as far as it tells itself."""
    return Reason(link.kind, link.target, link.how or "linked by the parser", link.span, link.text)


def _why(literal: Literal, text: str) -> str:
    spelled = text == str(literal.value)
    source, of_column = literal.source, f" of {literal.column}" if literal.column else ""
    if source == "closed":
        return "0, 1 and 2 are always to be had"
    if source == "constant":
        return f"the bound {literal.name} of what is normal" if literal.name else "a named constant"
    if source == "schema" and not text:
        return f"a standing value{of_column} that the question does not write"
    if source == "date":
        return f"a date rule: read as a {_OF_FORMAT.get(literal.format, 'date')}"
    told = {
        "number": "a number" if spelled else "a number rule",
        "ordinal": "an ordinal number",
        "quoted": "quoted text",
        "dictionary": f"a dictionary value{of_column}",
        "schema": f"a standing value{of_column}",
        "span": "words taken as they stand" if spelled else f"words, in the letter case{of_column}",
    }.get(source, f"from {source}")
    return told if spelled or source not in ("dictionary", "schema") else f"{told}, spelled as there"
