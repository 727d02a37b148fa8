"""When were two drugs prescribed at the same time?"""

from __future__ import annotations

import random
from dataclasses import dataclass

from fastsql.synthesis.hospital.conditions import conditions_of, nth_order, where
from fastsql.synthesis.hospital.drawing import scope_of
from fastsql.synthesis.hospital.scope import Event, Nth, Scope
from fastsql.synthesis.hospital.values import Values
from fastsql.synthesis.phrases import choose, put


@dataclass(frozen=True)
class Together:
    drugs: tuple[str, str]
    scope: Scope
    last: bool

    @classmethod
    def draw(cls, rng: random.Random, values: Values) -> Together:
        one, other = values.names("drug", 2)
        return cls((one, other), scope_of("drug", rng, values), rng.random() < 0.5)

    def sql(self) -> str:
        """When two drugs were begun at one time."""
        sides = [
            "( SELECT prescriptions.subject_id, prescriptions.starttime FROM prescriptions"
            f"{where(*conditions_of(Event('drug', drug), self.scope))} )"
            for drug in self.drugs
        ]
        return (
            f"SELECT T1.starttime FROM {sides[0]} AS T1 JOIN {sides[1]} AS T2 ON T1.subject_id = T2.subject_id "
            f"WHERE datetime(T1.starttime) = datetime(T2.starttime){nth_order('T1.starttime', Nth(self.last))}"
        )

    def words(self, rng: random.Random) -> str:
        text = choose(
            """
            When was the {n} time{when} [that|] {p} was prescribed [with|] {x} and {y} at the same time?
            When was the {n} time [that|] {p} was prescribed {x} and {y} at the same time{when}?
            When did {p} [get|receive] a prescription for {x} and {y} at the same time for the {n} time{when}?
            When was {p} prescribed {x} and {y} at the same time for the {n} time{when}?
            """,
            rng,
        )
        x, y = self.drugs
        return put(text, p=f"patient {self.scope.patient}", x=x, y=y, n="last" if self.last else "first")
