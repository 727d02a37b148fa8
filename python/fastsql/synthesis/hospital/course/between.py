"""How many days (hours) lie between the first such event and the first such other?"""

from __future__ import annotations

import random
from dataclasses import dataclass

from fastsql.synthesis.hospital.conditions import conditions_of, nth_order, where
from fastsql.synthesis.hospital.drawing import event_of, scope_of
from fastsql.synthesis.hospital.frames import FRAMES
from fastsql.synthesis.hospital.kinds import KINDS
from fastsql.synthesis.hospital.scope import Event, Nth, Scope
from fastsql.synthesis.hospital.values import Values
from fastsql.synthesis.phrases import choose, put


@dataclass(frozen=True)
class Between:
    first: Event
    then: Event
    scope: Scope
    unit: str

    @classmethod
    def draw(cls, rng: random.Random, values: Values) -> Between:
        first, then = rng.sample(("diagnosis", "procedure", "drug", "lab", "specimen", "careunit"), 2)
        scope = scope_of("lab", rng, values)
        events = event_of(first, values), event_of(then, values)
        return cls(*events, Scope(scope.patient, visit=scope.visit), rng.choice(("day", "day", "hour")))

    def sql(self) -> str:
        """The difference of two times, each of one row."""
        sides = []
        for event in (self.first, self.then):
            kind = KINDS[event.kind]
            clauses = where(*conditions_of(event, self.scope)) + nth_order(kind.when, Nth(False))
            sides.append(f"( SELECT {kind.column('subject_id')}, {kind.when} FROM {kind.table}{clauses} )")
        one, other = KINDS[self.first.kind].time, KINDS[self.then.kind].time
        passed = f"strftime('%J',T2.{other}) - strftime('%J',T1.{one})"
        if self.unit == "hour":
            passed = f"24 * ( {passed} )"
        return f"SELECT {passed} FROM {sides[0]} AS T1 JOIN {sides[1]} AS T2 ON T1.subject_id = T2.subject_id"

    def words(self, rng: random.Random) -> str:
        text = choose(
            """
            How many {u}s [passed|were there|lie] between {p}'s first <act> and [the|their] first <other>{when}?
            How many {u}s after the first <act> of {p} was [the|their] first <other>{when}?
            How long in {u}s was it from {p}'s first <act> to [the|their] first <other>{when}?
            """,
            rng,
            act=FRAMES[self.first.kind].act,
            other=FRAMES[self.then.kind].act.replace("{x}", "{y}"),
        )
        who = f"patient {self.scope.patient}"
        return put(text, p=who, u=self.unit, x=self.first.item or "", y=self.then.item or "")
