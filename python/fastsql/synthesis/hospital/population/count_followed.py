"""How many patients had an event after another one?"""

from __future__ import annotations

import random
from dataclasses import dataclass

from fastsql.synthesis.hospital.cohort import RELATIONS, cohort, joined
from fastsql.synthesis.hospital.drawing import relation_of
from fastsql.synthesis.hospital.frames import FRAMES
from fastsql.synthesis.hospital.phrases import relation_phrase
from fastsql.synthesis.hospital.scope import Event, Relation, Scope
from fastsql.synthesis.hospital.values import Values
from fastsql.synthesis.phrases import choose, put


@dataclass(frozen=True)
class CountFollowed:
    first: Event
    then: Event
    relation: Relation
    scope: Scope

    @classmethod
    def draw(cls, rng: random.Random, values: Values) -> CountFollowed:
        first = rng.choice(("diagnosis", "diagnosis", "procedure", "drug", "lab"))
        then = rng.choice(("diagnosis", "procedure", "drug", "lab", "specimen"))
        one, other = values.names(first, 2)
        later = Event(then, other if then == first else values.name(then))
        return cls(Event(first, one), later, relation_of(RELATIONS, rng, values), cohort(rng, values))

    def sql(self) -> str:
        """The number of patients who had one event after another."""
        both = joined(self.first, self.then, self.relation, self.scope, "")
        return f"SELECT COUNT( DISTINCT T1.subject_id ) FROM {both}"

    def words(self, rng: random.Random) -> str:
        # {x} is the later item, {y} the earlier one.
        text = choose(
            """
            How many patients <were> {s} after <after>{when}?
            How many patients{when} <were> {s} after <after>?
            <count> the number of patients who <were> {s} after <after>{when}.
            What is the number of patients who <were> {s} after <after>{when}?
            """,
            rng,
            were=FRAMES[self.then.kind].were,
            after=FRAMES[self.first.kind].after.replace("{x}", "{y}"),
        )
        soon = relation_phrase(self.relation, rng)
        return put(text, s=soon, x=self.then.item or "", y=self.first.item or "")
