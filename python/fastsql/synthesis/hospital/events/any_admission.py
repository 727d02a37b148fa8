"""Has the patient been in the hospital; with `emergency`, in the emergency room?"""

from __future__ import annotations

import random
from dataclasses import dataclass

from fastsql.synthesis.hospital.conditions import admission_filter, where, window_condition
from fastsql.synthesis.hospital.drawing import scope_of
from fastsql.synthesis.hospital.scope import Scope
from fastsql.synthesis.hospital.values import Values
from fastsql.synthesis.phrases import choose, put


@dataclass(frozen=True)
class AnyAdmission:
    scope: Scope
    emergency: bool = False

    @classmethod
    def draw(cls, rng: random.Random, values: Values) -> AnyAdmission:
        """An admission at all, or through the emergency room, there also of one visit."""
        emergency = rng.random() < 0.6
        scope = scope_of("drug", rng, values)
        return cls(scope if emergency else Scope(scope.patient, window=scope.window), emergency)

    def sql(self) -> str:
        """COUNT(*)>0 over the patient's admissions."""
        room = "admissions.admission_location = 'emergency room'" if self.emergency else ""
        time = window_condition(self.scope.window, "admissions.admittime")
        conditions = (f"admissions.subject_id = {self.scope.patient}", room, time)
        return f"SELECT COUNT(*)>0 FROM admissions{where(*conditions)}{admission_filter(self.scope.visit)}"

    def words(self, rng: random.Random) -> str:
        text = choose(
            """
            Has {p} [been to|visited|come to|been admitted to] the <place>{when}?
            Did {p} [visit|come to|go to] the <place>{when}?
            Was {p} admitted to the <place>{when}?
            Has {p}{when} been admitted to the <place>?
            """,
            rng,
            place="emergency room|emergency room|er" if self.emergency else "hospital",
        )
        return put(text, p=f"patient {self.scope.patient}")
