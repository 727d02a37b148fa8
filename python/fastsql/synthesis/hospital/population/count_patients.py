"""How many patients had such an event? Without one: were admitted, discharged, or are there now (`state`)."""

from __future__ import annotations

import random
from dataclasses import dataclass

from fastsql.synthesis.hospital.cohort import age_group, cohort, patients
from fastsql.synthesis.hospital.conditions import age_condition, where, window_condition, with_event
from fastsql.synthesis.hospital.drawing import event_of
from fastsql.synthesis.hospital.frames import FRAMES
from fastsql.synthesis.hospital.scope import Event, Scope
from fastsql.synthesis.hospital.values import Values
from fastsql.synthesis.phrases import choose, put

_STATES = {
    "discharged": "were discharged from [the|] hospital",
    "admitted": "were admitted to [the|] hospital|[visited|came to] the hospital",
    "emergency": "were admitted to the emergency room|came to the [emergency room|er]|[visited|went to] the emergency room",
}

_COUNTED = """
    How many {w} <were>{when}?
    Count how many {w} <were>{when}.
    <count> the [total|] number of {w} [who|that] <were>{when}.
    What [is|was] the [total|] [number|count] of {w} [who|that] <were>{when}?
    """


@dataclass(frozen=True)
class CountPatients:
    event: Event | None
    scope: Scope
    state: str = ""

    @classmethod
    def draw(cls, rng: random.Random, values: Values) -> CountPatients:
        if rng.random() < 0.3:
            state = rng.choice(("current", "discharged", "admitted", "emergency"))
            scope = cohort(rng, values, ages=0.4)
            return cls(None, Scope(ages=scope.ages) if state == "current" else scope, state)
        event = event_of(
            rng.choice(("diagnosis", "procedure", "drug", "lab", "specimen", "careunit", "input", "output")),
            values,
        )
        if rng.random() < 0.15:
            return cls(event, Scope(ages=age_group(rng, values) if rng.random() < 0.3 else None), "current")
        return cls(event, cohort(rng, values, ages=0.35))

    def sql(self) -> str:
        """The number of distinct patients with such an event, or whose admissions are in a state."""
        scope = self.scope
        ages = "" if scope.ages is None else age_condition(scope.ages)
        if self.event is not None:
            found = with_event(self.event, scope.window)
            state = "admissions.dischtime IS NULL" if self.state == "current" else ""
            return _patients(state, ages, found)
        if self.state == "current":
            return _patients("admissions.dischtime IS NULL", ages)
        if self.state == "discharged":
            time = window_condition(scope.window, "admissions.dischtime")
            return _patients("admissions.dischtime IS NOT NULL", ages, time)
        time = window_condition(scope.window, "admissions.admittime")
        if self.state == "admitted":
            return _patients(ages, time)
        return _patients("admissions.admission_location = 'emergency room'", ages, time)

    def words(self, rng: random.Random) -> str:
        who = patients(self.scope, rng)
        if self.event is None and self.state == "current":
            text = choose(
                """
                How many current {w} [are there|exist]?
                <count> the [total|] number of current {w}.
                What is the [total|] [number|count] of current {w}?
                """,
                rng,
            )
            return put(text, w=who)
        were = _STATES[self.state] if self.event is None else FRAMES[self.event.kind].were
        text = choose(_COUNTED, rng, were=were)
        if self.state == "current":
            who = f"current {who}"
        return put(text, w=who, x=(self.event and self.event.item) or "")


def _patients(*conditions: str) -> str:
    return f"SELECT COUNT( DISTINCT admissions.subject_id ) FROM admissions{where(*conditions)}"
