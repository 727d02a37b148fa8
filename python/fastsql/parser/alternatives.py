"""What a question lists as alternatives is all asked for: "in 2021 or 2022", "from Chur, Basel or Davos".

A model that compares a column with one of them, or with the first and the last, has said which column; which values, words
leave no doubt. Two years count as a list behind "and", too: no day is in both.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fastsql.grammar.program import ColumnRef, Literal, Production, Program
from fastsql.linking.candidate import Candidate
from fastsql.linking.vocabulary import chinese, english

_LIST, _ALSO, _OR, _NOT = map(Production, ("in_list", "also", "or", "not"))
_EQUAL, _IN_TIME = Production("eq"), Production("date_eq")
_IN_TIMES = frozenset(map(Production, ("date_eq", "date_ge", "date_gt", "date_le", "date_lt")))
"""A model may take the later of two years for the beginning of something."""
_WORD = r"(?<![A-Za-z])(?:{})(?![A-Za-z])"


def _separator(spaced: Sequence[str], unspaced: Sequence[str]) -> re.Pattern[str]:
    word = _WORD.format("|".join(spaced))
    return re.compile(rf"\s*,?\s*{word}\s*|\s*(?:{'|'.join(unspaced)})\s*", re.IGNORECASE)


_SEPARATORS = {
    "or": _separator(english.OR, chinese.OR),
    "and": _separator(english.AND, chinese.AND),
    "comma": re.compile(r"\s*[,、，]\s*"),
}
_IN = "|".join(english.IN_TIME)
_AGAIN = re.compile(rf"(?:{_IN})\s+", re.IGNORECASE)
"""What may be said again before a further item: "in 2021 or in 2022"."""
_BEFORE_TIMES = re.compile(
    rf"(?:^|{_WORD.format(_IN)}|[\u4e00-\u9fff](?<![{chinese.FROM}]))\s*$", re.IGNORECASE
)
_BETWEEN = re.compile(rf"\s*(?:{'|'.join(chinese.BETWEEN)})")


@dataclass(frozen=True)
class _Listed:
    """Candidates that a question lists, in its order; `either`: an "or" is among what stands between them."""

    items: tuple[Candidate, ...]
    either: bool


def with_alternatives(program: Program, question: str, candidates: Sequence[Candidate]) -> Program:
    """The program; where it takes some of the alternatives that the question lists, it takes all."""
    for listed in _lists(question, [one for one in candidates if one.kind == "date"]):
        program = _in_times(program, question, listed)
    return _of_values(program, question, candidates)


def _lists(question: str, candidates: Sequence[Candidate]) -> Iterator[_Listed]:
    """Neighbours with nothing between them but what a list has, as many as there are."""
    taken: list[Candidate] = []
    said: list[str] = []
    for one in sorted(candidates, key=lambda one: (one.span, -len(one.format))):
        if taken and one.span[0] < taken[-1].span[1]:
            continue  # another reading of the same words
        separated = _separated(question[taken[-1].span[1] : one.span[0]]) if taken else ""
        if separated and one.format == taken[-1].format:
            taken, said = [*taken, one], [*said, separated]
            continue
        yield from _listed(taken, said)
        taken, said = [one], []
    yield from _listed(taken, said)


def _listed(items: Sequence[Candidate], said: Sequence[str]) -> Iterator[_Listed]:
    if "or" in said or "and" in said:
        yield _Listed(tuple(items), "or" in said)


def _separated(between: str) -> str:
    """How two items are separated; "" where something else stands between them."""
    for name, pattern in _SEPARATORS.items():
        if (found := pattern.match(between)) is not None:
            rest = between[found.end() :]
            return name if not rest or _AGAIN.fullmatch(rest) else ""
    return ""


def _in_times(program: Program, question: str, listed: _Listed) -> Program:
    """In each of the times that are listed, where the program has one of them alone."""
    spans = [one.span for one in listed.items]
    used = [number for number, item in enumerate(program) if isinstance(item, Literal) and item.span in spans]
    if len(used) != 1 or used[0] < 2 or _denied(program, used[0] - 2):
        return program
    sign, column, literal = program[used[0] - 2 : used[0] + 1]
    if (
        sign not in _IN_TIMES
        or not isinstance(column, ColumnRef)
        or not isinstance(literal, Literal)
        or literal.format != listed.items[0].format
        or _BEFORE_TIMES.search(question[: spans[0][0]]) is None
        or _BETWEEN.match(question, spans[-1][1])
    ):
        return program
    either = _either(_IN_TIME, column, listed.items)
    return (*program[: used[0] - 2], *either, *program[used[0] + 1 :])


def _of_values(program: Program, question: str, candidates: Sequence[Candidate]) -> Program:
    """One of the values that are listed, where the program has some of them alone."""
    for place, sign in enumerate(program[:-2]):
        column, *literals = program[place + 1 : _end_of_list(program, place)]
        if sign not in (_EQUAL, _LIST) or not isinstance(column, ColumnRef) or _denied(program, place):
            continue
        taken = {item.value for item in literals if isinstance(item, Literal)}
        others = {item.value for item in program if isinstance(item, Literal)} - taken
        known = [one for one in candidates if column.column in one.columns or one.source == "number"]
        for listed in _lists(question, known):
            values = {one.value for one in listed.items}
            if taken and taken < values and values.isdisjoint(others) and (listed.either or sign == _LIST):
                behind = program[_end_of_list(program, place) :]
                if sign == _EQUAL:  # which stands where a list may not: in a case, behind an aggregate
                    return (*program[:place], *_either(_EQUAL, column, listed.items), *behind)
                first, *more = map(_literal, listed.items)
                rest = [item for one in more for item in (_ALSO, one)]
                return (*program[:place], _LIST, column, first, *rest, *behind)
    return program


def _either(sign: Production, column: ColumnRef, items: Sequence[Candidate]) -> Program:
    """A column compared with one item or another."""
    conditions = [part for one in items for part in (sign, column, _literal(one))]
    return (*[_OR] * (len(items) - 1), *conditions)


def _end_of_list(program: Program, place: int) -> int:
    """Where what a comparison at `place` compares ends: a literal, and those of a list."""
    end = place + 3
    while program[end : end + 1] == (_ALSO,):
        end += 2
    return end


def _denied(program: Program, place: int) -> bool:
    return place > 0 and program[place - 1] == _NOT


def _literal(one: Candidate) -> Literal:
    return Literal(one.value, one.format, "", one.source, one.span)
