"""Which share of the patients lived on for so many months after their first such event; or died, with `died`?"""

from __future__ import annotations

import random
from dataclasses import dataclass

from fastsql.synthesis.hospital.conditions import what
from fastsql.synthesis.hospital.drawing import event_of
from fastsql.synthesis.hospital.frames import FRAMES
from fastsql.synthesis.hospital.kinds import KINDS
from fastsql.synthesis.hospital.scope import Event
from fastsql.synthesis.hospital.values import Values
from fastsql.synthesis.phrases import choose, put

SPANS = {3: "1 * 365/4", 6: "1 * 365/2"}
"""Months in days, as EHRSQL 2024 writes them."""


@dataclass(frozen=True)
class SurvivalRate:
    event: Event
    months: int
    died: bool

    @classmethod
    def draw(cls, rng: random.Random, values: Values) -> SurvivalRate:
        kind = rng.choice(("diagnosis", "diagnosis", "procedure", "drug"))
        return cls(event_of(kind, values), rng.choice(tuple(SPANS)), rng.random() < 0.4)

    def sql(self) -> str:
        """The mean of 0 and 1 over those whose first event is long enough ago."""
        kind, span = KINDS[self.event.kind], SPANS[self.months]
        first = (
            f"SELECT admissions.subject_id, {kind.when} FROM {kind.table} "
            f"JOIN admissions ON {kind.column('hadm_id')} = admissions.hadm_id WHERE {what(self.event)} "
            f"AND strftime('%J',current_time) - strftime('%J',{kind.when}) >= {span} "
            f"GROUP BY admissions.subject_id HAVING MIN({kind.when}) = {kind.when}"
        )
        early, late = (1, 0) if self.died else (0, 1)
        outcome = (
            f"SELECT ( CASE WHEN strftime('%J',patients.dod) - strftime('%J',T1.{kind.time}) < {span} "
            f"THEN {early} ELSE {late} END ) AS C1 FROM ( {first} ) AS T1 "
            "JOIN patients ON T1.subject_id = patients.subject_id"
        )
        return f"SELECT AVG(T2.C1) FROM ( {outcome} ) AS T2"

    def words(self, rng: random.Random) -> str:
        frame = FRAMES[self.event.kind]
        text = choose(
            """
            <what> the {k}-month <rate> of patients who <were>?
            <what> the {k}-month <rate> [of|for] patients after <after>?
            <calculate> the {k}-month <rate> for patients who <were>.
            Which [share|proportion] of patients <outcome> {k} months after <after>?
            """,
            rng,
            rate="mortality rate|mortality|death rate" if self.died else "survival rate|survival",
            outcome="died within" if self.died else "survived|survived at least|lived on for",
            were=frame.were,
            after=frame.after,
        )
        return put(text, k=str(self.months), x=self.event.item or "")
