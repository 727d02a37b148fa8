"""Which words of a question are marked, and by which number."""

from __future__ import annotations

from dataclasses import dataclass

from fastsql.explanation.trail import Reason, Span

_PRECEDENCE = ("value", "time", "column", "table")
"""Of two overlapping spans, that of the kind named first here is marked."""


@dataclass(frozen=True)
class Mark:
    """A marked span of the question. `number` counts from 1 in order of the question; `kind` is that of its first reason."""

    number: int
    span: Span
    kind: str


def marks(reasons: tuple[Reason, ...]) -> tuple[Mark, ...]:
    """Marks that do not overlap, in order of the question; one for each span."""
    kinds: dict[Span, str] = {}
    for reason in sorted(reasons, key=_rank):
        span = reason.span
        if span is not None and all(span == one or span[1] <= one[0] or one[1] <= span[0] for one in kinds):
            kinds.setdefault(span, reason.kind)
    return tuple(Mark(number, span, kinds[span]) for number, span in enumerate(sorted(kinds), 1))


def numbers(reasons: tuple[Reason, ...]) -> dict[Span, int]:
    """The number that each marked span has."""
    return {mark.span: mark.number for mark in marks(reasons)}


def sql_numbers(reasons: tuple[Reason, ...]) -> dict[str, int]:
    """Tokens of the SQL that marked words account for, with the number of the first mark."""
    of_span = numbers(reasons)
    found: dict[str, int] = {}
    for reason in reasons:
        if reason.sql and reason.span in of_span:
            number = of_span[reason.span]
            found[reason.sql] = min(number, found.get(reason.sql, number))
    return found


def _rank(reason: Reason) -> tuple[int, int, Span]:
    span = reason.span or (0, 0)
    place = _PRECEDENCE.index(reason.kind) if reason.kind in _PRECEDENCE else len(_PRECEDENCE)
    return place, span[0] - span[1], span
