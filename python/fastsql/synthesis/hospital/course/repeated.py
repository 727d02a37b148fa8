"""What was done exactly, or at least, so many times?"""

from __future__ import annotations

import random
from dataclasses import dataclass

from fastsql.synthesis.hospital.conditions import conditions_of, names_of, where
from fastsql.synthesis.hospital.drawing import scope_of
from fastsql.synthesis.hospital.frames import FRAMES
from fastsql.synthesis.hospital.kinds import KINDS
from fastsql.synthesis.hospital.scope import Event, Scope
from fastsql.synthesis.hospital.values import Values
from fastsql.synthesis.phrases import choose, expand, number_word, put


@dataclass(frozen=True)
class Repeated:
    kind: str
    scope: Scope
    times: int
    exactly: bool

    @classmethod
    def draw(cls, rng: random.Random, values: Values) -> Repeated:
        kind = rng.choice(("procedure", "procedure", "diagnosis", "drug", "lab", "specimen"))
        return cls(kind, scope_of(kind, rng, values), values.rng.choice((2, 2, 3, 4)), rng.random() < 0.5)

    def sql(self) -> str:
        """The names that are counted so often."""
        kind = KINDS[self.kind]
        clauses = where(*conditions_of(Event(self.kind), self.scope))
        counted = (
            f"SELECT {kind.what}, COUNT( {kind.when} ) AS C1 FROM {kind.table}{clauses} GROUP BY {kind.what}"
        )
        operator = "=" if self.exactly else ">="
        keys = f"SELECT T1.{kind.key} FROM ( {counted} ) AS T1 WHERE T1.C1 {operator} {self.times}"
        return names_of(kind, keys)

    def words(self, rng: random.Random) -> str:
        times = number_word(self.times, rng)
        often = (
            f"{times} times" if self.exactly else expand(f"{times} or more times|at least {times} times", rng)
        )
        frame = FRAMES[self.kind]
        text = choose(
            """
            What [is|was] [the name of|] the <one> [that|] {p} <past> {t}{when}?
            [What|Which] <many> has {p} <had> {t}{when}?
            [Tell me|Can you name] the <one> [that|] {p} <past> {t}{when}.
            What were the <many> [that|] {p} <past> {t}{when}?
            """,
            rng,
            one=frame.one,
            many=frame.many,
            had=FRAMES[self.kind].had,
            past=FRAMES[self.kind].past,
        )
        return put(text, p=f"patient {self.scope.patient}", t=often)
