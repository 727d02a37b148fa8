"""How many hours or days have passed since the first or last such event?"""

from __future__ import annotations

import random
from dataclasses import dataclass

from fastsql.synthesis.hospital.conditions import conditions_of, nth_order, where
from fastsql.synthesis.hospital.drawing import event_of, visit_of
from fastsql.synthesis.hospital.frames import FRAMES
from fastsql.synthesis.hospital.kinds import KINDS
from fastsql.synthesis.hospital.scope import Event, Nth, Scope, Visit
from fastsql.synthesis.hospital.values import Values
from fastsql.synthesis.phrases import choose, put


@dataclass(frozen=True)
class Elapsed:
    event: Event
    scope: Scope
    last: bool
    unit: str

    @classmethod
    def draw(cls, rng: random.Random, values: Values) -> Elapsed:
        """The time since an event, mostly of the current visit."""
        kind = rng.choice(("diagnosis", "procedure", "drug", "lab", "specimen", "careunit"))
        event = event_of(kind, values)
        if kind in ("lab", "specimen", "procedure") and rng.random() < 0.2:
            event = Event(kind)
        patient = values.patient()
        draw = rng.random()
        visit = Visit("hospital", "current") if draw < 0.6 else None if draw < 0.8 else visit_of("lab", rng)
        return cls(event, Scope(patient, visit=visit), rng.random() < 0.5, rng.choice(("hour", "day")))

    def sql(self) -> str:
        """Days from the event to now, or hours; not as `1 *`, so that one skeleton is one template."""
        kind = KINDS[self.event.kind]
        clauses = where(*conditions_of(self.event, self.scope))
        since = f"strftime('%J',current_time) - strftime('%J',{kind.when})"
        if self.unit == "hour":
            since = f"24 * ( {since} )"
        return f"SELECT {since} FROM {kind.table}{clauses}{nth_order(kind.when, Nth(self.last))}"

    def words(self, rng: random.Random) -> str:
        event, frame = self.event, FRAMES[self.event.kind]
        named = """
            How many {u}s <passed> since the {n} time [that|] {p} <did>{when}?
            How many {u}s <passed> since the {n} time{when} [that|] {p} <did>?
            How many {u}s <passed> since {p}'s {n} <act>{when}?
            How many {u}s <passed> since the {n} <act> of {p}{when}?
            """
        nameless = """
            How many {u}s <passed> since {p}'s {n} <act>{when}?
            How many {u}s <passed> since the {n} <act> of {p}{when}?
            """
        text = choose(
            nameless if event.item is None else named,
            rng,
            passed="has it been|is it|have passed|have elapsed",
            did=frame.did,
            act=frame.any_act if event.item is None else frame.act,
        )
        order = "last" if self.last else "first"
        return put(text, p=f"patient {self.scope.patient}", x=event.item or "", n=order, u=self.unit)
