"""All values of a measure, with their times or without."""

from __future__ import annotations

import random
from dataclasses import dataclass

from fastsql.synthesis.hospital.conditions import conditions_of, where
from fastsql.synthesis.hospital.drawing import scope_of
from fastsql.synthesis.hospital.kinds import KINDS
from fastsql.synthesis.hospital.measures import measure, measured
from fastsql.synthesis.hospital.scope import Event, Scope
from fastsql.synthesis.hospital.values import Values
from fastsql.synthesis.phrases import choose, put


@dataclass(frozen=True)
class ListReadings:
    event: Event
    scope: Scope
    times: bool

    @classmethod
    def draw(cls, rng: random.Random, values: Values) -> ListReadings:
        event = measure(rng, values, ("lab", "lab", "vital", "vital", "weight"))
        return cls(event, scope_of(event.kind, rng, values), rng.random() < 0.5)

    def sql(self) -> str:
        """One row an event."""
        kind = KINDS[self.event.kind]
        columns = kind.column(kind.number) + (f", {kind.when}" if self.times else "")
        return f"SELECT {columns} FROM {kind.table}{where(*conditions_of(self.event, self.scope))}"

    def words(self, rng: random.Random) -> str:
        text = choose(
            """
            [List|Show|Show me|Give me] all [the|] {x} [values|measurements] of {p}{when}<too>.
            [List|Show me|Tell me] {p}'s {x} [values|measurements|readings]{when}<too>.
            What were [all|] the {x} [values|measurements] of {p}{when}<too>?
            """,
            rng,
            too=" with [their|the] times| and when they were measured|, each with its time"
            if self.times
            else "",
        )
        return put(text, p=f"patient {self.scope.patient}", x=measured(self.event, rng))
