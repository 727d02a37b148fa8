"""The reasons of literals and links, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastsql.explanation.trail import Reason
from fastsql.grammar.program import sql_literal

if TYPE_CHECKING:
    from fastsql.result import Link, Literal

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
_NAMED = {2: "its name", 1: "part of its name"}


def named(match: int) -> str:
    """Why a table or column is linked to words that are all (2) or part (1) of its name."""
    return _NAMED[match]


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
        return "0, 1 and 2 are always available"
    if source == "constant":
        return f"the bound {literal.name} of the normal range" if literal.name else "a named constant"
    if source == "schema" and not text:
        return f"a known value{of_column} that the question does not spell out"
    if source == "date":
        return f"a date rule: read as a {_OF_FORMAT.get(literal.format, 'date')}"
    told = {
        "number": "a number" if spelled else "a number rule",
        "ordinal": "an ordinal number",
        "quoted": "quoted text",
        "dictionary": f"a dictionary value{of_column}",
        "schema": f"a known value{of_column}",
        "turn": "of an earlier turn",
        "span": "words taken as written" if spelled else f"words, in the letter case{of_column}",
    }.get(source, f"from {source}")
    return told if spelled or source not in ("dictionary", "schema") else f"{told}, spelled as there"
