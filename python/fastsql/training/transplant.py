"""Time filters for questions whose template never came with one: where to put them is learnt from templates that did.

Two programs that are equal once their time filters are cut out ask the same thing over different times. So a filter
may be put into one at the places where the other had it.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from fastsql.grammar.program import Literal, Production, Program, Terminal
from fastsql.training.data import Sample
from fastsql.training.programs import FIXED_OPERANDS, dump_program, mask, match_filter, sort_times
from fastsql.training.times import Condition, draw_time_phrase, find_time_phrases

Places = tuple[tuple[int, Terminal], ...]
"""Where filters go: positions in the program without them, and the column that each is about."""


@dataclass(frozen=True)
class Transplants:
    """What the training programs teach about time filters."""

    places: Mapping[str, tuple[Places, ...]]  # template without filters -> places
    kinds: Mapping[bool, tuple[tuple[str, ...], tuple[float, ...]]]  # of one patient? -> kinds and their weights
    held_out: frozenset[str]  # templates that must stay unseen

    @classmethod
    def collect(cls, samples: Iterable[Sample], held_out: Iterable[Program] = ()) -> Transplants:
        """Learns from training samples; the templates of `held_out` programs will never be made."""
        places: dict[str, set[Places]] = {}
        counts: dict[bool, Counter[str]] = {True: Counter(), False: Counter()}
        for sample in samples:
            phrases = find_time_phrases(sample.pair.question)
            if len(phrases) != 1:
                continue
            counts[_of_one_patient(sample.program)][phrases[0].kind] += 1
            cut = _cut(sample.program, phrases[0].conditions)
            if cut is not None:
                bare, where = cut
                places.setdefault(dump_program(mask(bare)), set()).add(where)
        # The square root keeps rare kinds in play: what counts is that each is seen with every template.
        kinds = {
            patient: (tuple(sorted(counter)), tuple(counter[kind] ** 0.5 for kind in sorted(counter)))
            for patient, counter in counts.items()
            if counter
        }
        return cls(
            places={key: tuple(sorted(found, key=repr)) for key, found in places.items()},
            kinds=kinds,
            held_out=frozenset(dump_program(mask(program)) for program in held_out),
        )

    def is_held_out(self, program: Program) -> bool:
        """True for a program whose template is kept for the dev set."""
        return dump_program(mask(program)) in self.held_out

    def draw_kind(self, program: Program, rng: random.Random) -> str:
        """A kind of time filter that questions such as this one come with."""
        kinds, weights = self.kinds.get(_of_one_patient(program)) or next(iter(self.kinds.values()))
        return rng.choices(kinds, weights)[0]

    def add(self, question: str, program: Program, rng: random.Random) -> tuple[str, Program] | None:
        """The question with a time filter added, if its template is known with one."""
        known = self.places.get(dump_program(mask(program)))
        if not known:
            return None
        wording, conditions = draw_time_phrase(self.draw_kind(program, rng), rng)
        longer = _paste(program, rng.choice(known), conditions)
        if self.is_held_out(longer):
            return None
        return add_wording(question, wording, rng), longer


def add_wording(question: str, wording: str, rng: random.Random) -> str:
    """The question with a time phrase at its end, before the final punctuation, or now and then in front."""
    text = question.rstrip()
    body = text.rstrip(".?! ")
    if rng.random() < 0.2 and body[:1].isalpha():
        first, _, rest = text.partition(" ")
        lowered = first.lower() if first.istitle() and first != "I" else first
        return f"{wording[:1].upper()}{wording[1:]}, {lowered} {rest}"
    return f"{body} {wording}{text[len(body) :]}"


def _of_one_patient(program: Program) -> bool:
    return any(isinstance(item, Literal) and isinstance(item.value, int) and item.value >= 100_000 for item in program)


def _cut(program: Program, conditions: tuple[Condition, ...]) -> tuple[Program, Places] | None:
    if any(isinstance(item, Production) and item.name in FIXED_OPERANDS for item in program):
        return None
    bare: list[Terminal] = []
    places: list[tuple[int, Terminal]] = []
    position = 0
    while position < len(program):
        column = match_filter(program, position, conditions)
        if column is None:
            bare.append(program[position])
            position += 1
        else:
            places.append((len(bare), column))
            position += 3 * len(conditions)
    return (tuple(bare), tuple(places)) if places else None


def _paste(program: Program, places: Places, conditions: tuple[Condition, ...]) -> Program:
    result: list[Terminal] = []
    position = 0
    for place, column in places:
        result += program[position:place]
        for name, value, form in conditions:
            result += [Production(name), column, Literal(value, form)]
        position = place
    return sort_times((*result, *program[position:]))
