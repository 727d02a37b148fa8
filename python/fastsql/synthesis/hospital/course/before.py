"""What was the last value of a measure before the first such event?"""

from __future__ import annotations

import random
from dataclasses import dataclass

from fastsql.synthesis.hospital.conditions import conditions_of, nth_order, where
from fastsql.synthesis.hospital.drawing import event_of, scope_of
from fastsql.synthesis.hospital.frames import FRAMES
from fastsql.synthesis.hospital.kinds import KINDS
from fastsql.synthesis.hospital.measures import measure, measured
from fastsql.synthesis.hospital.scope import Event, Nth, Scope
from fastsql.synthesis.hospital.values import Values
from fastsql.synthesis.phrases import choose, put


@dataclass(frozen=True)
class Before:
    event: Event
    until: Event
    scope: Scope

    @classmethod
    def draw(cls, rng: random.Random, values: Values) -> Before:
        event = measure(rng, values, ("lab", "lab", "lab", "vital", "weight"))
        until = event_of(rng.choice(("drug", "drug", "procedure", "procedure", "diagnosis")), values)
        scope = scope_of("lab", rng, values)
        return cls(event, until, Scope(scope.patient, visit=scope.visit))

    def sql(self) -> str:
        """The first event as T1, the readings as T2."""
        until, kind = KINDS[self.until.kind], KINDS[self.event.kind]
        first = (
            f"SELECT {until.column('subject_id')}, {until.when} FROM {until.table}"
            f"{where(*conditions_of(self.until, self.scope))}{nth_order(until.when, Nth(False))}"
        )
        readings = (
            f"SELECT {kind.column('subject_id')}, {kind.column(kind.number)}, {kind.when} FROM {kind.table}"
            f"{where(*conditions_of(self.event, self.scope))}"
        )
        return (
            f"SELECT T2.{kind.number} FROM ( {first} ) AS T1 JOIN ( {readings} ) AS T2 ON T1.subject_id = T2.subject_id "
            f"WHERE T2.{kind.time} < T1.{until.time}{nth_order(f'T2.{kind.time}', Nth(True))}"
        )

    def words(self, rng: random.Random) -> str:
        text = choose(
            """
            <what> the last {x} [value|] of {p} before [he or she|the patient] first <did>{when}?
            <what> {p}'s last {x} [value|measurement] before the first time [that|] the patient <did>{when}?
            <what> the {x} last measured of {p} before the first <act>{when}?
            """,
            rng,
            did=FRAMES[self.until.kind].did.replace("{x}", "{y}"),
            act=FRAMES[self.until.kind].act.replace("{x}", "{y}"),
        )
        return put(
            text, p=f"patient {self.scope.patient}", x=measured(self.event, rng), y=self.until.item or ""
        )
