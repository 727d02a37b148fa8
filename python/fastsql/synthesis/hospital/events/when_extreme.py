"""When was the measure highest or lowest, and if several times: the first or the last of them?"""

from __future__ import annotations

import random
from dataclasses import dataclass

from fastsql.synthesis.hospital.conditions import conditions_of, where
from fastsql.synthesis.hospital.drawing import event_of, scope_of
from fastsql.synthesis.hospital.kinds import KINDS
from fastsql.synthesis.hospital.measures import FUNCTIONS, measured
from fastsql.synthesis.hospital.scope import Event, Scope
from fastsql.synthesis.hospital.values import Values
from fastsql.synthesis.phrases import choose, expand, put


@dataclass(frozen=True)
class WhenExtreme:
    event: Event
    scope: Scope
    highest: bool
    last: bool

    @classmethod
    def draw(cls, rng: random.Random, values: Values) -> WhenExtreme:
        """The time of the highest or lowest value."""
        event = event_of(rng.choice(("vital", "vital", "lab", "lab", "input", "output")), values)
        return cls(event, scope_of(event.kind, rng, values), rng.random() < 0.5, rng.random() < 0.5)

    def sql(self) -> str:
        """The time of the highest or lowest number."""
        kind = KINDS[self.event.kind]
        clauses = where(*conditions_of(self.event, self.scope))
        number = f"{kind.column(kind.number)} {'DESC' if self.highest else 'ASC'}"
        time = f"{kind.when} {'DESC' if self.last else 'ASC'}"
        return f"SELECT {kind.when} FROM {kind.table}{clauses} ORDER BY {number}, {time} LIMIT 1"

    def words(self, rng: random.Random) -> str:
        things = {
            "input": "{e} {x} [input|intake]|{e} input of {x}|{e} amount of {x} [input|intake]",
            "output": "{e} {x} output|{e} output of {x}|{e} amount of {x} output",
            "lab": "{e} {x} value|{e} {x}|{e} value of {x}|{e} of {x}|{e} {x} level",
            "vital": "{e} {x}|{e} value of {x}|{e} {x}",
        }
        text = choose(
            """
            When was the {n} time [that|] {p} had the <thing>{when}?
            When did {p} have the <thing> for the {n} time{when}?
            What was the {n} time{when} [that|] {p} had the <thing>?
            When{when} did {p} have the <thing> the {n} time?
            When did {p} {n} have the <thing>{when}?
            """,
            rng,
            thing=things[self.event.kind],
        )
        extreme = expand(FUNCTIONS["MAX" if self.highest else "MIN"], rng)
        order = "last" if self.last else "first"
        return put(text, p=f"patient {self.scope.patient}", n=order, e=extreme, x=measured(self.event, rng))
