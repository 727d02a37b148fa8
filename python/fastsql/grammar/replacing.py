"""A turn that compares a column of an earlier query with another value: its condition takes the place of the earlier one.

"Only those of March", and behind it "August, not March": no row is of both, so nobody asks for both. "Above 140", and behind
it "no, above 120": whatever meets the first meets the second, which would say nothing beside it. But "or Spanish" behind
"who speak Polish" asks for the speakers of either. The other conditions stay: "seizures" behind "pneumonias in 2022" asks
for those of 2022.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from typing import TYPE_CHECKING

from fastsql.grammar.clauses import chain, some
from fastsql.grammar.compile import Grammar
from fastsql.grammar.inlining import EXTENSIONS, program_of, said_before
from fastsql.grammar.program import SMALL, ColumnRef, Literal, Node, Production, Program, TurnRef
from fastsql.grammar.tree import read_tree

if TYPE_CHECKING:
    from fastsql.grammar.turns import Turn

_EQUATES = ("eq", "date_eq")
_NAMES = ("eq", "in_list")
_BELOW = {"lt": -1, "le": 0, "eq": 0}
_ABOVE = {"gt": 1, "ge": 0, "eq": 0}
"""Comparisons that bound a column from above and from below; just beside the value, or at it."""
_DIRECTIVE = re.compile(r"%[A-Za-z]")
_IN_PLACE = Production("extend_from")


def replace_contradicted(
    program: Program,
    turns: Sequence[Turn],
    grammar: Grammar,
    *,
    besides: bool = False,
    whole: bool = True,
    moved: bool = False,
) -> Program:
    """The program; those of its conditions that contradict one of the query that it goes on from take the place of that.

    So do those that one of that query implies. A month without its year is of the year of the one that it replaces. Where it
    has conditions in place of all of that query's, but fewer, those that it forgets are kept.

    Args:
        program: what a turn says.
        turns: those that it may point at.
        grammar: of both.
        besides: whether a further value of a column is asked for beside the earlier one, not in its place.
        whole: whether conditions that are forgotten are kept.
        moved: whether it went on from an earlier form of that query, so that what either compares is compared anew.
    """
    if not program or program[0] not in EXTENSIONS:
        return program
    reference, joins, where, change = read_tree(program, grammar).children
    turn = some(reference).terminal
    assert isinstance(turn, TurnRef)
    extended = read_tree(turns[turn.turn].program, grammar)
    before, new = list(chain(extended.children[-2])), list(chain(where))
    kept = list(before)
    in_place = program[0] == _IN_PLACE
    forgets = whole and in_place and len(set(map(_columns, new))) < len(before)
    if in_place:
        said = [_alone(one) for one in before]
        new = [one for one in new if _alone(one) not in said]
        if not new or not (forgets or besides):
            return program
    for place, condition in enumerate(new):
        if besides and (named := next((one for one in kept if _names_others(one, condition)), None)):
            kept.remove(named)
            new[place] = _with_both(named, condition)
            continue
        for earlier in list(kept):
            if _contradict(earlier, condition) or _bounded_anew(earlier, condition):
                new[place] = _completed(condition, earlier)
            elif not _compared_anew(earlier, condition, in_place=in_place, moved=moved):
                continue
            kept.remove(earlier)
    if len(kept) == len(before) and not forgets:
        return program
    conditions: Node | None = None
    for condition in reversed([*map(said_before, kept), *new]):
        conditions = Node(condition.terminal, (*condition.children[:-1], conditions))
    return program_of(Node(_IN_PLACE, (reference, joins, conditions, change)))


def _alone(condition: Node) -> Node:
    """A condition as an earlier question said it, without those behind it."""
    return said_before(Node(condition.terminal, (*condition.children[:-1], None)))


def _compared_anew(earlier: Node, condition: Node, *, in_place: bool, moved: bool) -> bool:
    """Whether a condition is about what an earlier one is about, where it is to take the place of such."""
    one, other = _alone(earlier), _alone(condition)
    if in_place and _columns(one) == _columns(other):
        return True
    return moved and one != other and one.children[0] == other.children[0]


def _columns(node: Node) -> frozenset[ColumnRef]:
    """Those that a condition speaks of."""
    return frozenset(one for one in program_of(_alone(node)) if isinstance(one, ColumnRef))


def _equated(condition: Node) -> tuple[ColumnRef, Literal] | None:
    """What a condition sets to what, where that is a column to a literal."""
    if condition.name not in _EQUATES:
        return None
    column, value = some(condition.children[0]).terminal, _value(condition)
    return (column, value) if isinstance(column, ColumnRef) and value is not None else None


def _value(condition: Node) -> Literal | None:
    """The value that a comparison is with; also of the numbers that the grammar has words for."""
    value = some(condition.children[1]).terminal
    if isinstance(value, Production) and value.name in SMALL:
        return Literal(SMALL[value.name])
    return value if isinstance(value, Literal) else None


def _contradict(one: Node, other: Node) -> bool:
    """Whether no row meets both."""
    first, second = _equated(one), _equated(other)
    if one.name != other.name or first is None or second is None or first[0] != second[0]:
        return False
    if not (first[1].format or second[1].format):
        return str(first[1].value).casefold() != str(second[1].value).casefold()
    times = [_parsed(value) for _, value in (first, second)]
    shared = set.intersection(*(set(_DIRECTIVE.findall(value.format)) for _, value in (first, second)))
    return None not in times and any(len({f"{time:{part}}" for time in times}) > 1 for part in shared)


def _names_others(earlier: Node, condition: Node) -> bool:
    """Whether a condition names values of a column, no times, that another, which names some, does not."""
    if earlier.name not in _NAMES or condition.name not in _NAMES:
        return False
    known, named = _values(earlier), _values(condition)
    same = some(earlier.children[0]).terminal == some(condition.children[0]).terminal
    return same and bool(known) and not any(one.format for one in named) and bool(_added(named, known))


def _with_both(earlier: Node, condition: Node) -> Node:
    """The column is one of what the earlier condition names, or of what this one does."""
    column, *_, rest = condition.children
    first, *others = (said_before(one) for one in _named(earlier))
    added = (Node(one, ()) for one in _added(_values(condition), _values(earlier)))
    more: Node | None = None
    for value in reversed([*added, *others]):
        more = Node(Production("also"), (value, more))
    return Node(Production("in_list"), (column, first, more, rest))


def _named(condition: Node) -> list[Node]:
    """The values that a condition names of its column."""
    more = condition.children[2] if condition.name == "in_list" else None
    return [some(condition.children[1]), *(some(one.children[0]) for one in chain(more))]


def _values(condition: Node) -> list[Literal]:
    return [one.terminal for one in _named(condition) if isinstance(one.terminal, Literal)]


def _added(named: Sequence[Literal], known: Sequence[Literal]) -> list[Literal]:
    """The values among those named that are not known; where the question says some, these alone."""
    said = [one for one in named if one.span is not None] or named
    values = [one.value for one in known]
    return [one for one in said if one.value not in values]


def _bounded_anew(earlier: Node, condition: Node) -> bool:
    """Whether no row meets both, or whatever meets the earlier one meets the other, which is not the same."""
    first, second = _bounds(earlier), _bounds(condition)
    if first is None or second is None or first.kind != second.kind or first == second:
        return False
    apart = first.low > second.high or second.low > first.high
    return apart or (second.low <= first.low and first.high <= second.high)


@dataclass(frozen=True)
class _Bounds:
    """Between what a condition keeps a column: a value each, and whether it is just above (1), at (0) or just below it (-1).

    `kind` is what must be equal for two of them to be compared: the column or what is computed, and how a time is written.
    """

    kind: tuple[Program, str]
    low: tuple[float, int]
    high: tuple[float, int]


def _bounds(condition: Node) -> _Bounds | None:
    """Those of a comparison of a column, or of what is computed, with a number or a written time."""
    name = (condition.name or "").removeprefix("date_")
    if name not in _BELOW and name not in _ABOVE:
        return None
    compared, literal = program_of(said_before(some(condition.children[0]))), _value(condition)
    if literal is None:
        return None
    if literal.format:
        time = _parsed(literal)
        value = None if time is None else time.timestamp()
    else:
        value = literal.value if isinstance(literal.value, int | float) else None
    if value is None:
        return None
    low = (value, _ABOVE[name]) if name in _ABOVE else (-math.inf, 0)
    high = (value, _BELOW[name]) if name in _BELOW else (math.inf, 0)
    return _Bounds((compared, literal.format), low, high)


def _completed(condition: Node, earlier: Node) -> Node:
    """The condition; a time that lacks what comes first in the earlier one has that from there, and nothing finer."""
    column, _, *rest = condition.children
    said, before = _value(condition), _value(earlier)
    assert said is not None
    assert before is not None
    parts = _DIRECTIVE.findall(said.format)
    known = list(_DIRECTIVE.finditer(before.format))
    shared = [one.end() for one in known if one[0] in parts]
    if not shared or not set(parts) <= {one[0] for one in known}:
        return condition
    now, then, form = _parsed(said), _parsed(before), before.format[: max(shared)]
    assert now is not None
    assert then is not None
    text = _DIRECTIVE.sub(lambda part: f"{now if part[0] in parts else then:{part[0]}}", form)
    return Node(condition.terminal, (column, Node(replace(said, value=text, format=form), ()), *rest))


def _parsed(literal: Literal) -> datetime | None:
    """The time that a literal writes in its format; None where it does not."""
    try:
        return datetime.strptime(str(literal.value), literal.format).replace(tzinfo=timezone.utc)
    except ValueError:
        return None
