"""The nth readings of two patients compared: `operator` is -, < or >. The `scope` is the first one's."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

from fastsql.synthesis.hospital.drawing import NTHS, scope_of
from fastsql.synthesis.hospital.measures import measure, measured, more, reading_sql
from fastsql.synthesis.hospital.phrases import nth_word
from fastsql.synthesis.hospital.scope import Event, Nth, Scope
from fastsql.synthesis.hospital.values import Values
from fastsql.synthesis.phrases import choose, put


@dataclass(frozen=True)
class ComparePatients:
    event: Event
    scope: Scope
    other: int
    nth: Nth
    operator: str

    @classmethod
    def draw(cls, rng: random.Random, values: Values) -> ComparePatients:
        event = measure(rng, values, ("lab", "vital", "weight"))
        scope = scope_of(event.kind, rng, values)
        return cls(event, scope, values.other_patient(), rng.choice(NTHS), rng.choice(("-", "<", ">")))

    def sql(self) -> str:
        """The same reading of two patients and what stands between them."""
        one = reading_sql(self.event, self.scope, self.nth)
        other = reading_sql(self.event, replace(self.scope, patient=self.other), self.nth)
        return f"SELECT ( {one} ) {self.operator} ( {other} )"

    def words(self, rng: random.Random) -> str:
        difference = """
            [What is|Tell me|Calculate] the difference between the {n} {x} [value|] of {p}{when} and that of {o}?
            How much does the {n} {x} of {p}{when} differ from that of {o}?
            """
        comparison = """
            [Is|Was] the {n} {x} [value|] of {p}{when} <more> that of {o}?
            [Is|Was] {p}'s {n} {x} [value|]{when} <more> {o}'s?
            """
        text = choose(difference if self.operator == "-" else comparison, rng, more=more(self.operator))
        who, other = f"patient {self.scope.patient}", f"patient {self.other}"
        return put(text, p=who, o=other, n=nth_word(self.nth), x=measured(self.event, rng))
