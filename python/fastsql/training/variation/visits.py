"""Filters on one visit of a patient: "on the first hospital visit", "in their current ICU stay".

In a program such a filter narrows the subquery over a patient's visits: the first or last visit that has ended, or the
one that has not. Which columns hold a visit's start and end is learnt from the training programs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from fastsql.grammar.program import ColumnRef, Literal, Production, Program, Terminal

_PHRASE = re.compile(
    r"(?P<lead>(?:on|in|during|at|for|of|within|throughout|from) )?(?P<whose>the |their |his |her |a )?"
    r"(?P<which>first|last|current|this|latest|most recent) (?P<place>hospital|icu) "
    r"(?P<noun>visit|encounter|stay|admission)\b",
    re.IGNORECASE,
)
_WHICH = {
    "first": "first",
    "last": "last",
    "latest": "last",
    "most recent": "last",
    "current": "current",
    "this": "current",
}
_ID = 100_000
"""Smallest number that is taken for a patient's id."""


@dataclass(frozen=True)
class VisitPhrase:
    """One visit filter at `span` (characters) of the question; `kind` is such as "hospital_first"."""

    kind: str
    span: tuple[int, int]


def find_visit_phrases(question: str) -> list[VisitPhrase]:
    """The visit filters that a question spells out, by position."""
    return [
        VisitPhrase(f"{match['place'].lower()}_{_WHICH[match['which'].lower()]}", match.span())
        for match in _PHRASE.finditer(question)
    ]


@dataclass(frozen=True)
class Visits:
    """What the training programs tell of visits: per column of a visit's end, its start and the columns selected."""

    starts: Mapping[int, int]
    selected: Mapping[int, frozenset[int]]
    ends: Mapping[str, int]  # "hospital" and "icu" -> column of the visit's end

    @classmethod
    def collect(cls, examples: Iterable[tuple[str, Program]]) -> Visits:
        """Learns from questions, with their programs, that name the first or last visit of one kind."""
        starts: dict[int, int] = {}
        selected: dict[int, set[int]] = {}
        ends: dict[str, int] = {}
        for question, program in examples:
            places = {phrase.kind.partition("_")[0] for phrase in find_visit_phrases(question)}
            for position in range(len(program)):
                found = _read_finished(program, position)
                if found is not None and len(places) == 1:
                    end, item, start = found
                    starts[end] = start
                    selected.setdefault(end, set()).add(item)
                    ends.setdefault(next(iter(places)), end)
        return cls(starts, {end: frozenset(items) for end, items in selected.items()}, ends)

    def cut(self, program: Program, kind: str) -> Program | None:
        """The program without the visit filter `kind`; None if it has none."""
        place, _, which = kind.partition("_")
        end = self.ends.get(place)
        result: list[Terminal] = []
        position, found = 0, False
        while position < len(program):
            length = self._filter_length(program, position, end, which)
            if length:
                # Condition, its column, the item, and for a finished visit the order and the limit; `end` stays.
                result.append(program[position + 2])
                position += length
                found = True
            else:
                result.append(program[position])
                position += 1
        return tuple(result) if found else None

    def _filter_length(self, program: Program, position: int, end: int | None, which: str) -> int:
        if end is None:
            return 0
        if which == "current":
            four = program[position : position + 4]
            matches = (
                len(four) == 4
                and four[0] == Production("is_null")
                and _column(four[1]) == end
                and _column(four[2]) in self.selected[end]
                and four[3] == Production("end")
            )
            return 3 if matches else 0
        found = _read_finished(program, position)
        order = Production("asc" if which == "first" else "desc")
        return 7 if found is not None and found[0] == end and program[position + 3] == order else 0

    def paste(self, program: Program, kind: str) -> Program | None:
        """The program with a visit filter at every subquery over all visits of one patient; None if it has none."""
        place, _, which = kind.partition("_")
        end = self.ends.get(place)
        if end is None:
            return None
        result: list[Terminal] = []
        found = False
        for position, item in enumerate(program):
            if not self._takes_filter(program, position, end, place):
                result.append(item)
                continue
            assert isinstance(item, ColumnRef)
            column = ColumnRef(end, item.source)
            found = True
            if which == "current":
                result += [Production("is_null"), column, item]
            else:
                order = Production("asc" if which == "first" else "desc")
                start = ColumnRef(self.starts[end], item.source)
                result += [
                    Production("not_null"),
                    column,
                    item,
                    order,
                    start,
                    Production("limit"),
                    Literal(1),
                ]
        return tuple(result) if found else None

    def _takes_filter(self, program: Program, position: int, end: int, place: str) -> bool:
        """Whether the item at `position` closes a subquery whose one condition names the patient."""
        if _column(program[position]) not in self.selected[end] or position + 1 >= len(program):
            return False
        before, after = program[position - 1], program[position + 1]
        if after != Production("end"):
            return False
        if place == "icu":
            return before == Production("end")
        return isinstance(before, Literal) and isinstance(before.value, int) and before.value >= _ID


def _column(item: Terminal) -> int:
    return item.column if isinstance(item, ColumnRef) else -1


def _read_finished(program: Program, position: int) -> tuple[int, int, int] | None:
    """Columns (end, item, start) of `not_null END item asc START limit 1 end` at `position`."""
    eight = program[position : position + 8]
    if (
        len(eight) < 8
        or eight[0] != Production("not_null")
        or eight[3] not in (Production("asc"), Production("desc"))
    ):
        return None
    if eight[5] != Production("limit") or eight[7] != Production("end"):
        return None
    end, item, start = (_column(eight[number]) for number in (1, 2, 4))
    one = isinstance(eight[6], Literal) and eight[6].value == 1
    return (end, item, start) if one and min(end, item, start) >= 0 else None
