"""How many patients had such an event exactly, at least, or more than so many times?"""

from __future__ import annotations

import random
from dataclasses import dataclass

from fastsql.synthesis.hospital.cohort import cohort
from fastsql.synthesis.hospital.conditions import conditions_of, where
from fastsql.synthesis.hospital.drawing import event_of
from fastsql.synthesis.hospital.frames import FRAMES
from fastsql.synthesis.hospital.kinds import KINDS
from fastsql.synthesis.hospital.scope import Event, Scope
from fastsql.synthesis.hospital.values import Values
from fastsql.synthesis.phrases import choose, expand, number_word, put

_TIMES = {
    "=": "exactly {n} times|{n} times",
    ">=": "at least {n} times|{n} or more times",
    ">": "more than {n} times|over {n} times",
}


@dataclass(frozen=True)
class CountRepeated:
    event: Event
    scope: Scope
    operator: str
    times: int

    @classmethod
    def draw(cls, rng: random.Random, values: Values) -> CountRepeated:
        kind = rng.choice(("diagnosis", "procedure", "drug", "drug", "lab", "lab", "specimen", "careunit"))
        event = event_of(kind, values)
        scope = cohort(rng, values) if rng.random() < 0.5 else Scope()
        return cls(event, scope, rng.choice(tuple(_TIMES)), values.rng.choice((2, 2, 2, 3, 3, 4)))

    def sql(self) -> str:
        """Events are counted by patient, then patients."""
        kind = KINDS[self.event.kind]
        patient = kind.column("subject_id")
        clauses = where(*conditions_of(self.event, self.scope))
        counted = f"SELECT {patient}, COUNT(*) AS C1 FROM {kind.table}{clauses} GROUP BY {patient}"
        return f"SELECT COUNT( DISTINCT T1.subject_id ) FROM ( {counted} ) AS T1 WHERE T1.C1 {self.operator} {self.times}"

    def words(self, rng: random.Random) -> str:
        text = choose(
            """
            How many patients <were> {t}{when}?
            <count> the number of patients who <were> {t}{when}.
            What is the number of patients who <were> {t}{when}?
            Count the patients [who|that] <were> {t}{when}.
            """,
            rng,
            were=FRAMES[self.event.kind].were,
        )
        often = put(expand(_TIMES[self.operator], rng), n=number_word(self.times, rng))
        return put(text, t=often, x=self.event.item or "")
