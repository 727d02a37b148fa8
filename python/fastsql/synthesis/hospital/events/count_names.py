"""How many different drugs (diagnoses, tests ...) has the patient had?"""

from __future__ import annotations

import random
from dataclasses import dataclass

from fastsql.synthesis.hospital.conditions import conditions_of, where
from fastsql.synthesis.hospital.drawing import scope_of
from fastsql.synthesis.hospital.frames import FRAMES
from fastsql.synthesis.hospital.kinds import KINDS
from fastsql.synthesis.hospital.scope import Event, Scope
from fastsql.synthesis.hospital.values import Values
from fastsql.synthesis.phrases import choose, put


@dataclass(frozen=True)
class CountNames:
    kind: str
    scope: Scope

    @classmethod
    def draw(cls, rng: random.Random, values: Values) -> CountNames:
        kind = rng.choice(("drug", "drug", "diagnosis", "procedure", "lab", "specimen", "careunit"))
        return cls(kind, scope_of(kind, rng, values))

    def sql(self) -> str:
        """The number of distinct keys."""
        kind = KINDS[self.kind]
        conditions = conditions_of(Event(self.kind), self.scope)
        return f"SELECT COUNT( DISTINCT {kind.what} ) FROM {kind.table}{where(*conditions)}"

    def words(self, rng: random.Random) -> str:
        text = choose(
            """
            How many <other> <many> has {p} <had>{when}?
            <count> the number of <other> <many> {p} <past>{when}.
            What is the number of <other> <many> that {p} <past>{when}?
            Find out the number of <other> <many> {p} has <had>{when}.
            """,
            rng,
            other="different|unique|distinct",
            many=FRAMES[self.kind].many,
            had=FRAMES[self.kind].had,
            past=FRAMES[self.kind].past,
        )
        return put(text, p=f"patient {self.scope.patient}")
