"""What one such thing costs."""

from __future__ import annotations

import random
from dataclasses import dataclass

from fastsql.synthesis.hospital.conditions import quote, what, where
from fastsql.synthesis.hospital.drawing import event_of
from fastsql.synthesis.hospital.kinds import KINDS
from fastsql.synthesis.hospital.scope import Event
from fastsql.synthesis.hospital.values import Values
from fastsql.synthesis.phrases import choose, put

_BILLED = {
    "diagnosis": "{x} diagnosis|diagnosis of {x}|a diagnosis of {x}|being diagnosed with {x}",
    "procedure": "a {x} procedure|{x}|{x} procedure|a procedure called {x}",
    "drug": "{x}|the drug {x}|a drug named {x}|{x} prescription",
    "lab": "a {x} lab test|{x} lab test|the {x} laboratory test",
}


@dataclass(frozen=True)
class Price:
    event: Event

    @classmethod
    def draw(cls, rng: random.Random, values: Values) -> Price:
        return cls(event_of(rng.choice(("diagnosis", "procedure", "drug", "lab")), values))

    def sql(self) -> str:
        """The distinct costs of such an event."""
        kind = KINDS[self.event.kind]
        rows = f"SELECT {kind.column('row_id')} FROM {kind.table}{where(what(self.event))}"
        return (
            f"SELECT DISTINCT cost.cost FROM cost WHERE cost.event_type = {quote(kind.table)} "
            f"AND cost.event_id IN ( {rows} )"
        )

    def words(self, rng: random.Random) -> str:
        text = choose(
            """
            How much does <thing> cost?
            [What is|What's|Tell me] the [cost|price] of <thing>?
            How much [is|is it for] <thing>?
            What does <thing> cost?
            What are the [costs|charges] [of|for] <thing>?
            """,
            rng,
            thing=_BILLED[self.event.kind],
        )
        return put(text, x=self.event.item or "")
