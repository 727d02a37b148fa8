"""A function (AVG, MAX, MIN) of the total cost of hospital visits that had such an event."""

from __future__ import annotations

import random
from dataclasses import dataclass

from fastsql.synthesis.hospital.cohort import TOTALS, cohort
from fastsql.synthesis.hospital.conditions import where, window_condition, with_event
from fastsql.synthesis.hospital.drawing import event_of
from fastsql.synthesis.hospital.scope import Event, Scope
from fastsql.synthesis.hospital.values import Values
from fastsql.synthesis.phrases import choose, expand, put

_INVOLVED = {
    "diagnosis": "{x}|a diagnosis of {x}|{x} diagnosis",
    "procedure": "{x}|a procedure called {x}|a {x} procedure",
    "drug": "{x}|a drug called {x}|a drug named {x}",
    "lab": "a {x} lab test|{x} lab test|a lab test for {x}",
    "specimen": "a {x} microbiology test|{x} microbiology test",
    "careunit": "a stay in careunit {x}|careunit {x}",
}


@dataclass(frozen=True)
class VisitCost:
    event: Event
    scope: Scope
    function: str

    @classmethod
    def draw(cls, rng: random.Random, values: Values) -> VisitCost:
        event = event_of(
            rng.choice(("diagnosis", "procedure", "drug", "lab", "specimen", "careunit")), values
        )
        return cls(event, cohort(rng, values), rng.choice(tuple(TOTALS)))

    def sql(self) -> str:
        """A function of the total cost per admission."""
        visits = with_event(self.event, table="cost")
        time = window_condition(self.scope.window, "cost.chargetime")
        totals = f"SELECT SUM(cost.cost) AS C1 FROM cost{where(visits, time)} GROUP BY cost.hadm_id"
        return f"SELECT {self.function}(T1.C1) FROM ( {totals} ) AS T1"

    def words(self, rng: random.Random) -> str:
        text = choose(
            """
            <ask> the {f} total [hospital cost|hospital expense] [that|which] [involves|includes] <thing>{when}?
            <ask> the {f} total cost of a hospital [visit|stay] [that|which] [involves|includes] <thing>{when}?
            What is the {f} total cost [of|for] hospital visits [involving|that include] <thing>{when}?
            """,
            rng,
            ask="What is|What's|Tell me|Give me|Could you tell me",
            thing=_INVOLVED[self.event.kind],
        )
        return put(text, f=expand(TOTALS[self.function], rng), x=self.event.item or "")
