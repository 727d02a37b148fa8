"""Which drugs (diagnoses, tests ...) has the patient had?"""

from __future__ import annotations

import random
from dataclasses import dataclass

from fastsql.synthesis.hospital.conditions import conditions_of, names_of, where
from fastsql.synthesis.hospital.drawing import scope_of
from fastsql.synthesis.hospital.frames import FRAMES
from fastsql.synthesis.hospital.kinds import KINDS
from fastsql.synthesis.hospital.scope import Event, Scope
from fastsql.synthesis.hospital.values import Values
from fastsql.synthesis.phrases import choose, put


@dataclass(frozen=True)
class ListNames:
    kind: str
    scope: Scope

    @classmethod
    def draw(cls, rng: random.Random, values: Values) -> ListNames:
        kind = rng.choice(
            (
                "drug",
                "diagnosis",
                "procedure",
                "lab",
                "specimen",
                "culture",
                "careunit",
                "organism",
                "input",
                "output",
            )
        )
        return cls(kind, scope_of(kind, rng, values))

    def sql(self) -> str:
        """The distinct names of all events."""
        kind = KINDS[self.kind]
        some = f"{kind.what} IS NOT NULL" if self.kind in ("careunit", "organism") else ""
        clauses = where(some, *conditions_of(Event(self.kind), self.scope))
        if kind.terms:
            return names_of(kind, f"SELECT {kind.what} FROM {kind.table}{clauses}", distinct=True)
        return f"SELECT DISTINCT {kind.what} FROM {kind.table}{clauses}"

    def words(self, rng: random.Random) -> str:
        text = choose(
            """
            [What|Which] <many> has {p} <had>{when}?
            List [all|] the <many> [that|] {p} <past>{when}.
            [What were|Tell me|Show me] [all|] the <many> [that|] {p} <past>{when}?
            [Give me|Get me|Show me] a list of [all|] <many> {p} <past>{when}.
            """,
            rng,
            many=FRAMES[self.kind].many,
            had=FRAMES[self.kind].had,
            past=FRAMES[self.kind].past,
        )
        return put(text, p=f"patient {self.scope.patient}")
