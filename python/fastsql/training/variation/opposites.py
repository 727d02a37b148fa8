"""Words with an opposite, and the same exchange in the program: first and last, maximum and minimum, above and below.

Each is done only where the question has the word once and the program agrees with it everywhere, so that nothing else
can be meant.
"""

from __future__ import annotations

import functools
import random
import re
from collections.abc import Collection

from fastsql.grammar.program import ColumnRef, DerivedRef, Production, Program
from fastsql.training.variation.times import find_time_phrases
from fastsql.training.variation.visits import find_visit_phrases

_ORDER_WORDS = {"first": "asc", "last": "desc"}
_COMPARISONS = {"greater than": "gt", "higher than": "gt", "less than": "lt", "lower than": "lt"}
_COMPARISON_TURNED = {"greater": "less", "higher": "lower", "less": "greater", "lower": "higher"}
_EXTREMES = {"maximum": "max", "minimum": "min", "highest": "max", "lowest": "min", "average": "avg"}
_EXTREME_CHOICES = ("maximum", "minimum", "average")


def turn(
    question: str, program: Program, time_columns: Collection[int], rng: random.Random
) -> tuple[str, Program]:
    """One of the exchanges, drawn at random; the arguments themselves where it cannot be done."""
    choice = rng.choice(
        (
            functools.partial(_turn_order, time_columns=time_columns),
            _turn_comparison,
            functools.partial(_turn_extreme, new=rng.choice(_EXTREME_CHOICES)),
        )
    )
    return choice(question, program) or (question, program)


def _turn_order(question: str, program: Program, time_columns: Collection[int]) -> tuple[str, Program] | None:
    word = _only_word(question, r"(?<!to )(?:first|last)")
    places = [
        position
        for position in range(len(program) - 2)
        if program[position] in (Production("asc"), Production("desc"))
        and _is_time(program, position + 1, time_columns)
        and not _is_visit(program, position)
    ]
    if word is None or not places:
        return None
    order = _ORDER_WORDS[word.group().lower()]
    if any(program[position] != Production(order) for position in places) or Production("offset") in program:
        return None
    turned = Production("desc" if order == "asc" else "asc")
    new = "last" if order == "asc" else "first"
    chosen = frozenset(places)
    return _put(question, word, new), tuple(turned if i in chosen else item for i, item in enumerate(program))


def _turn_comparison(question: str, program: Program) -> tuple[str, Program] | None:
    word = _only_word(question, "(?:" + "|".join(_COMPARISONS) + ")")
    if word is None:
        return None
    name = _COMPARISONS[word.group().lower()]
    if (
        sum(item in (Production("gt"), Production("lt")) for item in program) != 1
        or Production(name) not in program
    ):
        return None
    turned = Production("lt" if name == "gt" else "gt")
    old = word.group().lower().partition(" ")[0]
    new = f"{_COMPARISON_TURNED[old]} than"
    return _put(question, word, new), tuple(turned if item == Production(name) else item for item in program)


def _turn_extreme(question: str, program: Program, new: str) -> tuple[str, Program] | None:
    """Of an aggregate only: an extreme that is found by sorting has no average."""
    word = _only_word(question, "(?:" + "|".join(_EXTREMES) + ")")
    aggregates = [
        item for item in program if item in (Production("max"), Production("min"), Production("avg"))
    ]
    if word is None or aggregates != [Production(_EXTREMES[word.group().lower()])]:
        return None
    turned = Production(_EXTREMES[new])
    return _put(question, word, new), tuple(turned if item == aggregates[0] else item for item in program)


def _only_word(question: str, pattern: str) -> re.Match[str] | None:
    """The one occurrence of the pattern outside time and visit filters, if there is exactly one."""
    taken = [phrase.span for phrase in find_time_phrases(question)]
    taken += [phrase.span for phrase in find_visit_phrases(question)]
    found = [
        match
        for match in re.finditer(r"(?<![\w-])" + pattern + r"(?![\w-])", question, re.IGNORECASE)
        if all(match.end() <= start or match.start() >= end for start, end in taken)
    ]
    return found[0] if len(found) == 1 else None


def _put(question: str, word: re.Match[str], new: str) -> str:
    if word.group()[:1].isupper():
        new = new[:1].upper() + new[1:]
    return question[: word.start()] + new + question[word.end() :]


def _is_time(program: Program, position: int, time_columns: Collection[int]) -> bool:
    item = program[position]
    if isinstance(item, DerivedRef):
        return program[position + 1 : position + 2] == (Production("limit"),)
    return isinstance(item, ColumnRef) and item.column in time_columns


def _is_visit(program: Program, position: int) -> bool:
    """Whether the order at `position` picks a patient's first or last visit: `not_null END item asc START limit 1`."""
    return (
        position >= 3
        and program[position - 3] == Production("not_null")
        and isinstance(program[position - 2], ColumnRef)
        and isinstance(program[position - 1], ColumnRef)
    )
