"""How often was the patient in the hospital, or in intensive care?"""

from __future__ import annotations

import random
from dataclasses import dataclass

from fastsql.synthesis.hospital.conditions import VISIT_TIMES, owner, where, window_condition
from fastsql.synthesis.hospital.drawing import scope_of
from fastsql.synthesis.hospital.scope import Scope
from fastsql.synthesis.hospital.values import Values
from fastsql.synthesis.phrases import choose, put


@dataclass(frozen=True)
class CountVisits:
    place: str
    scope: Scope

    @classmethod
    def draw(cls, rng: random.Random, values: Values) -> CountVisits:
        """Visits to the hospital by time, to intensive care also by hospital visit."""
        place = rng.choice(("hospital", "icu"))
        scope = scope_of("drug", rng, values)
        return cls(place, scope if place == "icu" else Scope(scope.patient, window=scope.window))

    def sql(self) -> str:
        """The number of distinct admissions or ICU stays of the patient."""
        table, start = VISIT_TIMES[self.place, False]
        key = "hadm_id" if self.place == "hospital" else "stay_id"
        conditions = (owner(table, self.scope), window_condition(self.scope.window, f"{table}.{start}"))
        return f"SELECT COUNT( DISTINCT {table}.{key} ) FROM {table}{where(*conditions)}"

    def words(self, rng: random.Random) -> str:
        text = choose(
            """
            How many times has {p} visited the <place>{when}?
            How many times [did {p} visit|was {p} admitted to|did {p} come to] the <place>{when}?
            <count> the number of <place> [visits|stays|admissions] [of|by|for] {p}{when}.
            Count how many times {p} [visited|was admitted to] the <place>{when}.
            [Get|Provide] the count of <place> [visits|admissions] [of|for] {p}{when}.
            """,
            rng,
            place="hospital" if self.place == "hospital" else "ICU|ICU|intensive care unit",
        )
        return put(text, p=f"patient {self.scope.patient}")
