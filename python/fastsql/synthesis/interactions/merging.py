"""Merges steps that often follow each other, as byte pair encoding merges letters (EHR-SeqSQL, appendix A.2).

A token is a step without its literals and without the numbers of the turns that it refers to. The most frequent pair of
neighbours is merged wherever it stands and the second was parted from the first: it alone refers to it. This goes on until
no pair is frequent.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from fastsql.grammar.compile import Grammar
from fastsql.grammar.inlining import write_out
from fastsql.grammar.program import Production, Program, TurnRef, masked
from fastsql.grammar.turn_kinds import EXTENSIONS
from fastsql.schema import Schema
from fastsql.synthesis.interactions.decompose import Steps, references, renumbered
from fastsql.synthesis.interactions.selects import as_read

SHARE_NESTED, SHARE_CLAUSES = 100 / 9195, 150 / 9195
"""Pairs of stages 1 and 2 in a larger share of the interactions are merged: the paper's counts over its interactions."""
LEAST = 20
"""Times that a pair must stand somewhere at least: of a small set nothing is known to be frequent."""


def merge_frequent(
    interactions: Sequence[Steps], share: float, schema: Schema, grammar: Grammar
) -> list[Steps]:
    """The interactions with the pairs merged that stand in more than `share` of them."""
    members: defaultdict[Steps, list[int]] = defaultdict(list)
    for number, steps in enumerate(interactions):
        members[tuple(map(masked, steps))].append(number)
    shapes = {shape: _Shape(shape, len(numbers)) for shape, numbers in members.items()}
    least = max(LEAST, share * len(interactions))
    while True:
        counts: Counter[tuple[Program, Program]] = Counter()
        for shape in shapes.values():
            for _, pair in shape.pairs():
                counts[pair] += shape.count
        if not counts:
            break
        pair, count = min(counts.items(), key=lambda item: (-item[1], repr(item[0])))
        if count <= least:
            break
        for shape in shapes.values():
            shape.merge(pair, schema, grammar)
    merged: list[Steps] = list(interactions)
    for form, numbers in members.items():
        for number in numbers:
            for position in shapes[form].merged:
                merged[number] = merge_at(merged[number], position, schema, grammar)
    return merged


def merge_at(steps: Steps, position: int, schema: Schema, grammar: Grammar) -> Steps:
    """The steps with one written out in the next, which alone refers to it."""
    both = write_out(steps[position + 1], {position: steps[position]}, schema, grammar)
    numbers = {n: n - (n > position) for n in range(len(steps))}
    kept = (*steps[:position], both, *steps[position + 2 :])
    return tuple(renumbered(as_read(step), numbers) for step in kept)


class _Shape:
    """Interactions that differ in their literals alone, and what was merged of them."""

    def __init__(self, steps: Steps, count: int) -> None:
        self.count = count
        self.merged: list[int] = []
        self._steps = steps
        self._pairs: list[tuple[int, tuple[Program, Program]]] | None = None

    def pairs(self) -> list[tuple[int, tuple[Program, Program]]]:
        """The neighbours that may be merged, with the place of the first."""
        if self._pairs is None:
            self._pairs = list(_mergeable(self._steps))
        return self._pairs

    def merge(self, pair: tuple[Program, Program], schema: Schema, grammar: Grammar) -> None:
        """Merges a pair wherever it stands."""
        while (place := next((place for place, known in self.pairs() if known == pair), None)) is not None:
            self._steps = merge_at(self._steps, place, schema, grammar)
            self._pairs = None
            self.merged.append(place)


def _mergeable(steps: Steps) -> Iterator[tuple[int, tuple[Program, Program]]]:
    pointed = references(steps)
    for place in range(len(steps) - 1):
        referring = [number for number, turns in enumerate(pointed) if place in turns]
        if referring != [place + 1] or _count(steps[place + 1], place) > 1:
            continue
        extends = _extends(steps[place + 1]) and steps[place + 1][1] == TurnRef(place)
        if _extends(steps[place]) and not extends:
            continue  # only a whole query extends a turn
        yield place, (_token(steps[place]), _token(steps[place + 1]))


def _extends(program: Program) -> bool:
    return isinstance(program[0], Production) and program[0].name in EXTENSIONS


def _count(program: Program, turn: int) -> int:
    return sum(one == TurnRef(turn) for one in program)


def _token(program: Program) -> Program:
    return tuple(TurnRef(0) if isinstance(one, TurnRef) else one for one in program)
