"""Which patients had such an event?"""

from __future__ import annotations

import random
from dataclasses import dataclass

from fastsql.synthesis.hospital.cohort import cohort, patients
from fastsql.synthesis.hospital.conditions import age_condition, where, with_event
from fastsql.synthesis.hospital.drawing import event_of
from fastsql.synthesis.hospital.frames import FRAMES
from fastsql.synthesis.hospital.scope import Event, Scope
from fastsql.synthesis.hospital.values import Values
from fastsql.synthesis.phrases import choose, put


@dataclass(frozen=True)
class ListPatients:
    event: Event
    scope: Scope

    @classmethod
    def draw(cls, rng: random.Random, values: Values) -> ListPatients:
        event = event_of(
            rng.choice(("diagnosis", "procedure", "drug", "lab", "specimen", "careunit")), values
        )
        return cls(event, cohort(rng, values, ages=0.25))

    def sql(self) -> str:
        """The distinct patients with such an event."""
        found = with_event(self.event, self.scope.window)
        ages = "" if self.scope.ages is None else age_condition(self.scope.ages)
        return f"SELECT DISTINCT admissions.subject_id FROM admissions{where(ages, found)}"

    def words(self, rng: random.Random) -> str:
        text = choose(
            """
            Which {w} <were>{when}?
            [List|Show me|Give me|Get me] [all|the|] {w} who <were>{when}.
            [What are|Tell me|List] the ids of {w} who <were>{when}?
            """,
            rng,
            were=FRAMES[self.event.kind].were,
        )
        return put(text, w=patients(self.scope, rng), x=self.event.item or "")
