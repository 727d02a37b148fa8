"""How many patients had one event but never another, or not in the same hospital visit?"""

from __future__ import annotations

import random
from dataclasses import dataclass

from fastsql.synthesis.hospital.conditions import what, where, with_event
from fastsql.synthesis.hospital.drawing import event_of
from fastsql.synthesis.hospital.frames import FRAMES
from fastsql.synthesis.hospital.kinds import KINDS
from fastsql.synthesis.hospital.scope import Event
from fastsql.synthesis.hospital.values import Values
from fastsql.synthesis.phrases import choose, put


@dataclass(frozen=True)
class CountWithout:
    event: Event
    missing: Event
    same_visit: bool

    @classmethod
    def draw(cls, rng: random.Random, values: Values) -> CountWithout:
        first = rng.choice(("diagnosis", "diagnosis", "procedure", "drug", "lab", "careunit"))
        kind = rng.choice(("drug", "procedure", "lab", "specimen", "diagnosis"))
        if first == kind:
            one, other = values.names(kind, 2)
            return cls(Event(first, one), Event(kind, other), rng.random() < 0.4)
        return cls(event_of(first, values), event_of(kind, values), rng.random() < 0.4)

    def sql(self) -> str:
        """The visits with the one, without patients (visits) with the other."""
        key = "hadm_id" if self.same_visit else "subject_id"
        kind = KINDS[self.missing.kind]
        others = f"SELECT {kind.column(key)} FROM {kind.table}{where(what(self.missing))}"
        without = f"admissions.{key} NOT IN ( {others} )"
        return f"SELECT COUNT( DISTINCT admissions.subject_id ) FROM admissions{where(with_event(self.event), without)}"

    def words(self, rng: random.Random) -> str:
        visit = " [during|in|within] the same hospital [visit|stay]"
        text = choose(
            f"""
            How many patients <were> but did not <base>{visit}?
            How many patients who <were> did not <base>{visit}?
            <count> the number of patients who <were> but did not <base>{visit}.
            """
            if self.same_visit
            else """
            How many patients <were> but have never <been>?
            How many patients who <were> have never <been>?
            <count> the number of patients who <were> but have never <been>.
            """,
            rng,
            were=FRAMES[self.event.kind].were,
            base=FRAMES[self.missing.kind].base.replace("{x}", "{y}"),
            been=FRAMES[self.missing.kind].been.replace("{x}", "{y}"),
        )
        return put(text, x=self.event.item or "", y=self.missing.item or "")
