"""How many such events have there been?"""

from __future__ import annotations

import random
from dataclasses import dataclass

from fastsql.synthesis.hospital.cohort import cohort
from fastsql.synthesis.hospital.conditions import conditions_of, where
from fastsql.synthesis.hospital.drawing import NAMED, event_of, scope_of
from fastsql.synthesis.hospital.frames import FRAMES
from fastsql.synthesis.hospital.kinds import KINDS
from fastsql.synthesis.hospital.measures import bounded, bounded_event
from fastsql.synthesis.hospital.scope import Event, Scope
from fastsql.synthesis.hospital.values import Values
from fastsql.synthesis.phrases import choose, put

_EVENTS = {
    "procedure": "{x} procedures [performed|done|that took place]|cases of {x}|times {x} was performed",
    "drug": "{x} prescriptions|prescriptions [of|for] {x}|times {x} was prescribed",
    "diagnosis": "{x} diagnoses|diagnoses of {x}|times {x} was diagnosed",
    "lab": "{x} lab tests|{x} laboratory tests [performed|done]|lab tests of {x}",
    "specimen": "{x} microbiology tests|microbiology tests of {x}",
}


@dataclass(frozen=True)
class CountEvents:
    event: Event
    scope: Scope

    @classmethod
    def draw(cls, rng: random.Random, values: Values) -> CountEvents:
        event = bounded_event(rng, values) if rng.random() < 0.25 else event_of(rng.choice(NAMED), values)
        return cls(event, scope_of(event.kind, rng, values))

    @classmethod
    def draw_of_all(cls, rng: random.Random, values: Values) -> CountEvents:
        event = event_of(rng.choice(("procedure", "drug", "diagnosis", "lab", "specimen")), values)
        return cls(event, cohort(rng, values))

    def sql(self) -> str:
        """COUNT(*) over the events."""
        return f"SELECT COUNT(*) FROM {KINDS[self.event.kind].table}{where(*conditions_of(self.event, self.scope))}"

    def words(self, rng: random.Random) -> str:
        event, scope = self.event, self.scope
        if scope.patient is None:
            text = choose(
                """
                <count> the [total|] number of <acts>{when}.
                How many <acts> were there{when}?
                What is the [total|] [number|count] of <acts>{when}?
                Tell me the count of <acts>{when}.
                """,
                rng,
                acts=_EVENTS[event.kind],
            )
            return put(text, x=event.item or "")
        if event.bound is not None:
            return bounded(
                """
                How many times was {p}'s {x} <b>{when}?
                How often did {p} have <a>{when}?
                Count the number of times {p} had <a>{when}.
                """,
                event,
                scope,
                rng,
            )
        frame = FRAMES[event.kind]
        text = choose(
            """
            How many times has {p} <been>{when}?
            How many times did {p} <base>{when}?
            How often did {p} <base>{when}?
            Count [the number of|how many] times {p} <did>{when}.
            <count> the number of times {p} has <been>{when}.
            <count> the number of times {p} <did>{when}.
            """,
            rng,
            been=frame.been,
            base=frame.base,
            did=frame.did,
        )
        return put(text, p=f"patient {scope.patient}", x=event.item or "")
