"""Another filter on time in the place of the one that a question came with, or where it came without one.

Most questions have one slot that says when: "since 08/2100", "last year", "on the first hospital visit", or nothing.
Templates differ in what was put there, so a template that train lacks is often a known one with another filler. Where
the time conditions of a program go is learnt from the programs that are equal once their filters are cut out.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from fastsql.grammar.program import Literal, Program
from fastsql.linking.folding import has_han
from fastsql.training.corpus.programs import template
from fastsql.training.corpus.sample import Sample
from fastsql.training.variation import times_chinese
from fastsql.training.variation.time_conditions import Places, cut_time, paste_time
from fastsql.training.variation.times import KINDS, draw_time_phrase, find_time_phrases
from fastsql.training.variation.visits import Visits, find_visit_phrases

NOTHING = "nothing"
_VISIT_KINDS = tuple(
    f"{place}_{which}" for place in ("hospital", "icu") for which in ("first", "last", "current")
)
_NOUNS = ("visit", "visit", "encounter", "stay")


@dataclass(frozen=True)
class Slot:
    """What fills the slot of a question: the spans that say so, and the program without it."""

    kind: str
    spans: tuple[tuple[int, int], ...]
    bare: Program
    places: Places = ()  # of time conditions in `bare`, where it had some


@dataclass(frozen=True)
class Transplants:
    """What the training programs teach about the slot."""

    visits: Visits
    places: Mapping[str, tuple[Places, ...]]  # bare template -> places of time conditions
    kinds: Mapping[
        bool, tuple[tuple[str, ...], tuple[float, ...]]
    ]  # of one patient? -> kinds and their weights
    held_out: frozenset[str]  # templates that must stay unseen

    @classmethod
    def collect(cls, samples: Iterable[Sample], held_out: Iterable[Program] = ()) -> Transplants:
        """Learns from training samples; the templates of `held_out` programs will never be made."""
        chosen = list(samples)
        visits = Visits.collect((sample.pair.question, sample.program) for sample in chosen)
        places: dict[str, set[Places]] = {}
        counts: dict[bool, Counter[str]] = {True: Counter(), False: Counter()}
        for sample in chosen:
            slot = read_slot(sample.pair.question, sample.program, visits)
            if slot is not None:
                counts[_of_one_patient(sample.program)][slot.kind] += 1
                if slot.places and has_han(sample.pair.question):  # few are written, and all fit
                    counts[_of_one_patient(sample.program)].update(times_chinese.KINDS)
                elif slot.places:
                    for kind in KINDS:
                        counts[_of_one_patient(sample.program)].setdefault(kind, 1)
                if slot.places:
                    places.setdefault(template(slot.bare), set()).add(slot.places)
        # The square root keeps rare kinds in play: what counts is that each is seen with every template.
        kinds = {
            patient: (tuple(sorted(counter)), tuple(counter[kind] ** 0.5 for kind in sorted(counter)))
            for patient, counter in counts.items()
            if counter
        }
        return cls(
            visits=visits,
            places={key: tuple(sorted(found, key=repr)) for key, found in places.items()},
            kinds=kinds,
            held_out=frozenset(template(program) for program in held_out),
        )

    def is_held_out(self, program: Program) -> bool:
        """True for a program whose template is kept for the dev set."""
        return template(program) in self.held_out

    def exchange(self, question: str, program: Program, rng: random.Random) -> tuple[str, Program] | None:
        """The question and program with another filler of the slot; None where that cannot be done."""
        slot = read_slot(question, program, self.visits)
        if slot is None or not self.kinds:
            return None
        kinds, weights = self.kinds.get(_of_one_patient(program)) or next(iter(self.kinds.values()))
        kind = rng.choices(kinds, weights)[0]
        if kind == slot.kind == NOTHING:
            return None
        made = self._fill(slot, kind, rng, in_chinese=has_han(question))
        if made is None or self.is_held_out(made[1]):
            return None
        wording, changed = made
        if slot.spans and not wording:
            return _remove(question, slot.spans), changed
        if slot.spans:
            return _rewrite(question, slot.spans, wording), changed
        return add_wording(question, wording, rng), changed

    def _fill(
        self, slot: Slot, kind: str, rng: random.Random, *, in_chinese: bool
    ) -> tuple[str, Program] | None:
        """Wording and program of the slot filled with `kind`."""
        if kind == NOTHING:
            return "", slot.bare
        if in_chinese and kind not in times_chinese.KINDS:
            return None  # of an English question over the same database
        if kind in _VISIT_KINDS:
            filled = self.visits.paste(slot.bare, kind)
            place, _, which = kind.partition("_")
            lead, whose = rng.choice(("on", "on", "in", "during")), rng.choice(("the", "the", "their"))
            name = "ICU" if place == "icu" else place
            return None if filled is None else (f"{lead} {whose} {which} {name} {rng.choice(_NOUNS)}", filled)
        known = (slot.places,) if slot.places else self.places.get(template(slot.bare), ())
        if not known:
            return None
        wording, conditions = draw_time_phrase(kind, rng, in_chinese=in_chinese)
        return wording, paste_time(slot.bare, rng.choice(known), conditions)


def read_slot(question: str, program: Program, visits: Visits) -> Slot | None:
    """The slot of a question; None where more than one thing says when, or the program does not say the same."""
    times, stays = find_time_phrases(question), find_visit_phrases(question)
    if times and stays:
        return None
    if times:
        if any(phrase.conditions != times[0].conditions for phrase in times):
            return None
        cut = cut_time(program, times[0].conditions)
        spans = tuple(phrase.span for phrase in times)
        return None if cut is None else Slot(times[0].kind, spans, cut[0], cut[1])
    if stays:
        bare = visits.cut(program, stays[0].kind) if len({phrase.kind for phrase in stays}) == 1 else None
        return None if bare is None else Slot(stays[0].kind, tuple(phrase.span for phrase in stays), bare)
    return Slot(NOTHING, (), program)


def add_wording(question: str, wording: str, rng: random.Random) -> str:
    """The question with a time phrase at its end, before the final punctuation, or now and then in front, as in Chinese."""
    if has_han(question):
        return times_chinese.add(question, wording)
    text = question.rstrip()
    body = text.rstrip(".?! ")
    if rng.random() < 0.2 and body[:1].isalpha():
        first, _, rest = text.partition(" ")
        lowered = first.lower() if first.istitle() and first != "I" else first
        return f"{wording[:1].upper()}{wording[1:]}, {lowered} {rest}"
    return f"{body} {wording}{text[len(body) :]}"


def _rewrite(question: str, spans: tuple[tuple[int, int], ...], wording: str) -> str:
    for start, end in reversed(spans):
        words = wording[:1].upper() + wording[1:] if start == 0 else wording
        question = question[:start] + words + question[end:]
    return question


def _remove(question: str, spans: tuple[tuple[int, int], ...]) -> str:
    for start, end in reversed(spans):
        question = question[:start] + question[end:].removeprefix("的")  # 去年的手术 -> 手术
    question = re.sub(r" +(?=[ ,.?!])", "", question)
    question = re.sub(r"^[\s,]+", "", question)
    return question[:1].upper() + question[1:]


def _of_one_patient(program: Program) -> bool:
    return any(
        isinstance(item, Literal) and isinstance(item.value, int) and item.value >= 100_000
        for item in program
    )
