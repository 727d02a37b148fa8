"""What was the nth event called (the drug, the diagnosis ...)? `via`: among prescriptions by this route."""

from __future__ import annotations

import random
from dataclasses import dataclass

from fastsql.synthesis.hospital.conditions import at_nth, conditions_of, names_of, quote, where
from fastsql.synthesis.hospital.drawing import NTHS, scope_of
from fastsql.synthesis.hospital.frames import FRAMES
from fastsql.synthesis.hospital.kinds import KINDS
from fastsql.synthesis.hospital.phrases import nth_word
from fastsql.synthesis.hospital.scope import Event, Nth, Scope
from fastsql.synthesis.hospital.values import Values
from fastsql.synthesis.phrases import choose, put


@dataclass(frozen=True)
class WhichName:
    kind: str
    scope: Scope
    nth: Nth
    via: str | None = None

    @classmethod
    def draw(cls, rng: random.Random, values: Values) -> WhichName:
        kind = rng.choice(
            (
                "drug",
                "drug",
                "diagnosis",
                "procedure",
                "lab",
                "specimen",
                "culture",
                "careunit",
                "input",
                "output",
            )
        )
        via = values.name("route") if kind == "drug" and rng.random() < 0.5 else None
        return cls(kind, scope_of(kind, rng, values), rng.choice(NTHS), via)

    def sql(self) -> str:
        """The name of the nth event: that of every event at its time."""
        kind = KINDS[self.kind]
        conditions = conditions_of(Event(self.kind), self.scope)
        if self.via is not None:
            conditions = (f"prescriptions.route = {quote(self.via)}", *conditions[1:])
        if self.kind == "careunit":
            conditions = (f"{kind.what} IS NOT NULL", *conditions[1:])
        clauses = where(*conditions, at_nth(kind.when, kind.table, conditions, self.nth))
        if kind.terms:
            return names_of(kind, f"SELECT {kind.what} FROM {kind.table}{clauses}", distinct=True)
        return f"SELECT DISTINCT {kind.what} FROM {kind.table}{clauses}"

    def words(self, rng: random.Random) -> str:
        text = choose(
            """
            [What was|Tell me|Can you tell me|What is] <called> [that|] {p} <past><via>{when}?
            [What was|Tell me|Can you tell me|What is] <called> [that|] {p} <past><via>{when}?
            [What|Which] <one> did {p} <did><via> [for the|the] {n} time{when}?
            What was the <one> {p} <past><via> [for the|the] {n} time{when}?
            What was the {n} <one>{when} [that|] {p} <past><via>?
            """,
            rng,
            called="[the name of|] the {n} <one>",
            one=FRAMES[self.kind].one,
            past=FRAMES[self.kind].past,
            did=FRAMES[self.kind].do,
            via="" if self.via is None else " [via|through] [the|] {r} route",
        )
        return put(text, p=f"patient {self.scope.patient}", n=nth_word(self.nth), r=self.via or "")
