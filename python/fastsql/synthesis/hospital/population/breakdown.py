"""How many patients are there of each gender, insurance, admission type ...; of those with an event, if there is one?"""

from __future__ import annotations

import random
from dataclasses import dataclass

from fastsql.synthesis.hospital.cohort import cohort
from fastsql.synthesis.hospital.conditions import where, window_condition, with_event
from fastsql.synthesis.hospital.drawing import event_of
from fastsql.synthesis.hospital.facts import NAMES
from fastsql.synthesis.hospital.frames import FRAMES
from fastsql.synthesis.hospital.scope import Event, Scope
from fastsql.synthesis.hospital.values import Values
from fastsql.synthesis.phrases import choose, put


@dataclass(frozen=True)
class Breakdown:
    column: str
    scope: Scope
    event: Event | None = None

    @classmethod
    def draw(cls, rng: random.Random, values: Values) -> Breakdown:
        column = rng.choice(tuple(NAMES))
        if column == "gender":
            return cls(column, Scope())
        if rng.random() < 0.5:
            event = event_of(rng.choice(("diagnosis", "procedure", "drug", "lab", "careunit")), values)
            return cls(column, Scope(), event)
        return cls(column, cohort(rng, values))

    def sql(self) -> str:
        """Each value with its number of distinct patients; genders are counted in `patients`."""
        if self.column == "gender":
            return "SELECT patients.gender, COUNT(*) FROM patients GROUP BY patients.gender"
        found = "" if self.event is None else with_event(self.event)
        clauses = where(found, window_condition(self.scope.window, "admissions.admittime"))
        column = f"admissions.{self.column}"
        return f"SELECT {column}, COUNT( DISTINCT admissions.subject_id ) FROM admissions{clauses} GROUP BY {column}"

    def words(self, rng: random.Random) -> str:
        were = ""
        if self.event is not None:
            were = f" who [{FRAMES[self.event.kind].were}]"
        elif self.scope.window is not None:
            were = " [admitted|who were admitted]"
        text = choose(
            f"""
            How many patients{were}{{when}} are there [for each|of each|per] <name>?
            [Show|Give] me the number of patients{were}{{when}} by <name>.
            <count> the number of patients{were}{{when}} for each <name>.
            [Break down|Split] the number of patients{were}{{when}} by <name>.
            """,
            rng,
            name=NAMES[self.column],
        )
        return put(text, x="" if self.event is None else self.event.item or "")
