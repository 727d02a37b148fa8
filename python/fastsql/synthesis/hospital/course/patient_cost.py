"""What the patient's care has cost in all."""

from __future__ import annotations

import random
from dataclasses import dataclass

from fastsql.synthesis.hospital.conditions import in_admissions, where, window_condition
from fastsql.synthesis.hospital.drawing import scope_of
from fastsql.synthesis.hospital.scope import Scope
from fastsql.synthesis.hospital.values import Values
from fastsql.synthesis.phrases import choose, put


@dataclass(frozen=True)
class PatientCost:
    scope: Scope

    @classmethod
    def draw(cls, rng: random.Random, values: Values) -> PatientCost:
        return cls(scope_of("drug", rng, values))

    def sql(self) -> str:
        """The sum of the patient's costs."""
        assert self.scope.patient is not None
        patient = in_admissions("cost", self.scope.patient, self.scope.visit)
        time = window_condition(self.scope.window, "cost.chargetime")
        return f"SELECT SUM(cost.cost) FROM cost{where(patient, time)}"

    def words(self, rng: random.Random) -> str:
        text = choose(
            """
            <calculate> the total [hospital|] cost [of|for] {p}{when}.
            What [is|was] {p}'s total [hospital|] cost{when}?
            How much did {p}'s [hospital|] care cost in total{when}?
            What were the total [hospital|] costs [of|for] {p}{when}?
            """,
            rng,
        )
        return put(text, p=f"patient {self.scope.patient}")
