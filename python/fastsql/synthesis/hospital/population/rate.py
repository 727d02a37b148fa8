"""A function (AVG, MAX, MIN) of the number of patients with such an event per day, month or year."""

from __future__ import annotations

import random
from dataclasses import dataclass

from fastsql.synthesis.hospital.cohort import TOTALS
from fastsql.synthesis.hospital.conditions import GRAIN, what, where, window_condition
from fastsql.synthesis.hospital.drawing import LONG_WINDOWS, OPEN_WINDOWS, event_of
from fastsql.synthesis.hospital.frames import FRAMES
from fastsql.synthesis.hospital.kinds import KINDS
from fastsql.synthesis.hospital.phrases import PER
from fastsql.synthesis.hospital.scope import Event, Scope
from fastsql.synthesis.hospital.values import Values
from fastsql.synthesis.phrases import choose, expand, put


@dataclass(frozen=True)
class Rate:
    event: Event
    scope: Scope
    function: str
    per: str

    @classmethod
    def draw(cls, rng: random.Random, values: Values) -> Rate:
        event = event_of(
            rng.choice(("diagnosis", "diagnosis", "procedure", "drug", "lab", "specimen", "careunit")), values
        )
        per = rng.choice(("day", "month", "year"))
        window = (
            values.window(rng.choice(LONG_WINDOWS if per != "year" else OPEN_WINDOWS))
            if rng.random() < 0.7
            else None
        )
        return cls(event, Scope(window=window), rng.choice(tuple(TOTALS)), per)

    def sql(self) -> str:
        """A function of the number of admissions per period."""
        kind = KINDS[self.event.kind]
        clauses = where(what(self.event), window_condition(self.scope.window, kind.when))
        counts = (
            f"SELECT COUNT( DISTINCT {kind.column('hadm_id')} ) AS C1 FROM {kind.table}{clauses} "
            f"GROUP BY strftime('{GRAIN[self.per]}',{kind.when})"
        )
        return f"SELECT {self.function}(T1.C1) FROM ( {counts} ) AS T1"

    def words(self, rng: random.Random) -> str:
        text = choose(
            """
            [What is|What was|What's|Tell me|Calculate] the [{f} {g}|{g} {f}] number of patients who <were>{when}?
            [What would be|Find] the {f} {g} number of patients who <were>{when}?
            """,
            rng,
            were=FRAMES[self.event.kind].were,
        )
        return put(text, f=expand(TOTALS[self.function], rng), g=PER[self.per], x=self.event.item or "")
