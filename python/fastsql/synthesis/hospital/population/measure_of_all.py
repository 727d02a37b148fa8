"""The mean, greatest or least value of a measure over all patients, or those of an age."""

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
class MeasureOfAll:
    event: Event
    scope: Scope
    function: str

    @classmethod
    def draw(cls, rng: random.Random, values: Values) -> MeasureOfAll:
        event = measure(rng, values, ("lab", "lab", "vital", "vital", "weight"))
        return cls(event, cohort(rng, values, ages=0.4), rng.choice(("AVG", *TOTALS)))

    def sql(self) -> str:
        """A function of the numbers of all rows."""
        kind = KINDS[self.event.kind]
        clauses = where(*conditions_of(self.event, self.scope))
        return f"SELECT {self.function}({kind.column(kind.number)}) FROM {kind.table}{clauses}"

    def words(self, rng: random.Random) -> str:
        text = choose(
            """
            <what> the {f} {x} [value|] [of|for|among] [all|] {w}{when}?
            <calculate> the {f} {x} [measured|] [of|for|among] [all|] {w}{when}.
            <what> the {f} {x} [over|across] all {w}{when}?
            """,
            rng,
        )
        function = expand(TOTALS[self.function], rng)
        return put(text, f=function, w=patients(self.scope, rng), x=measured(self.event, rng))
