"""The percentile of a value among patients of the age that the patient had on a visit."""

from __future__ import annotations

import random
from dataclasses import dataclass

from fastsql.synthesis.hospital.conditions import admission_filter, what, where
from fastsql.synthesis.hospital.drawing import event_of
from fastsql.synthesis.hospital.kinds import KINDS
from fastsql.synthesis.hospital.measures import measured
from fastsql.synthesis.hospital.scope import Event, Scope, Visit
from fastsql.synthesis.hospital.values import Values
from fastsql.synthesis.phrases import choose, put


@dataclass(frozen=True)
class Percentile:
    event: Event
    scope: Scope
    value: float

    @classmethod
    def draw(cls, rng: random.Random, values: Values) -> Percentile:
        event = event_of(rng.choice(("lab", "lab", "vital")), values)
        scope = Scope(values.patient(), visit=Visit("hospital", rng.choice(("first", "last", "current"))))
        return cls(event, scope, values.number(event.kind, event.item or ""))

    def sql(self) -> str:
        """The percent rank of a value among those of everybody who was as old as the patient."""
        kind = KINDS[self.event.kind]
        number = kind.column(kind.number)
        age = (
            f"SELECT admissions.age FROM admissions WHERE admissions.subject_id = {self.scope.patient}"
            f"{admission_filter(self.scope.visit)}"
        )
        peers = (
            f"{kind.column('hadm_id')} IN ( SELECT admissions.hadm_id FROM admissions "
            f"WHERE admissions.age = ( {age} ) )"
        )
        ranked = f"SELECT {number}, PERCENT_RANK() OVER ( ORDER BY {number} ) AS C1 FROM {kind.table}"
        return (
            f"SELECT DISTINCT T1.C1 FROM ( {ranked}{where(what(self.event), peers)} ) AS T1 "
            f"WHERE T1.{kind.number} = {self.value}"
        )

    def words(self, rng: random.Random) -> str:
        text = choose(
            """
            What percentile is [the {x} value of {v}|{v} in <test>|a {x} of {v}] <peers> {p}{when}?
            [What is|Tell me|What's] the percentile of [{v} in the <test>|the {x} value of {v}] <peers> {p}{when}?
            """,
            rng,
            test="{x} lab test|{x} value|{x}" if self.event.kind == "lab" else "{x} value|{x}",
            peers="[among patients of|with|at|among patients with] the same age as",
        )
        return put(text, p=f"patient {self.scope.patient}", v=str(self.value), x=measured(self.event, rng))
