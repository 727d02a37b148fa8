"""Which patient had the highest or lowest value of a measure?"""

from __future__ import annotations

import random
from dataclasses import dataclass

from fastsql.synthesis.hospital.cohort import TOTALS, cohort, patients
from fastsql.synthesis.hospital.conditions import conditions_of, where
from fastsql.synthesis.hospital.kinds import KINDS
from fastsql.synthesis.hospital.measures import measure, measured
from fastsql.synthesis.hospital.scope import Event, Scope
from fastsql.synthesis.hospital.values import Values
from fastsql.synthesis.phrases import choose, expand, put


@dataclass(frozen=True)
class ExtremePatient:
    event: Event
    scope: Scope
    function: str

    @classmethod
    def draw(cls, rng: random.Random, values: Values) -> ExtremePatient:
        event = measure(rng, values, ("lab", "lab", "vital", "vital", "weight"))
        return cls(event, cohort(rng, values, ages=0.3), rng.choice(("MAX", "MIN")))

    def sql(self) -> str:
        """All who share the value."""
        kind = KINDS[self.event.kind]
        number, conditions = kind.column(kind.number), conditions_of(self.event, self.scope)
        extreme = f"{number} = ( SELECT {self.function}({number}) FROM {kind.table}{where(*conditions)} )"
        return f"SELECT DISTINCT {kind.column('subject_id')} FROM {kind.table}{where(*conditions, extreme)}"

    def words(self, rng: random.Random) -> str:
        text = choose(
            """
            [Which|What] patient had the {f} {x} [value|]{among}{when}?
            Who had the {f} {x} [value|measurement|]{among}{when}?
            [Tell me|Give me|What is] the id of the patient [with|who had] the {f} {x}{among}{when}.
            """,
            rng,
        ).replace("What is the id", "Show me the id")
        among = "" if self.scope.ages is None else f" among {patients(self.scope, rng)}"
        function = expand(TOTALS[self.function], rng)
        return put(text, among=among, f=function, x=measured(self.event, rng))
