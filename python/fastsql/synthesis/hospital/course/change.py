"""Two readings compared: `later` and `earlier` are Nth in the scope or written times; `operator` is -, < or >."""

from __future__ import annotations

import random
from dataclasses import dataclass

from fastsql.synthesis.hospital.drawing import WINDOWS, visit_of
from fastsql.synthesis.hospital.measures import measure, measured, more, reading_sql
from fastsql.synthesis.hospital.phrases import nth_word, when_phrase
from fastsql.synthesis.hospital.scope import Event, Nth, Scope, Visit
from fastsql.synthesis.hospital.values import Values
from fastsql.synthesis.phrases import choose, put


@dataclass(frozen=True)
class Change:
    event: Event
    scope: Scope
    later: Nth | str
    earlier: Nth | str
    operator: str

    @classmethod
    def draw(cls, rng: random.Random, values: Values) -> Change:
        """Two readings of one visit, or at two written times."""
        event = measure(rng, values, ("lab", "vital", "weight"))
        operator = rng.choice(("-", "-", "<", ">"))
        patient = values.patient()
        if rng.random() < 0.25:
            later, earlier = values.moments(event.kind, event.item or "", patient)
            return cls(event, Scope(patient), later, earlier, operator)
        pairs = ((Nth(True), Nth(False)), (Nth(True), Nth(True, 1)), (Nth(False, 1), Nth(False)))
        last, first = rng.choice(pairs)
        visit = (
            Visit("hospital", visit_of("lab", rng).which)
            if event.item == "daily weight"
            else visit_of(event.kind, rng)
        )
        if rng.random() < 0.2:
            scope = Scope(patient, window=values.window(rng.choice(WINDOWS)))
        else:
            scope = Scope(patient, visit=visit)
        return cls(event, scope, last, first, operator)

    def sql(self) -> str:
        """Two readings and what stands between them."""
        later = reading_sql(self.event, self.scope, self.later)
        earlier = reading_sql(self.event, self.scope, self.earlier)
        return f"SELECT ( {later} ) {self.operator} ( {earlier} )"

    def words(self, rng: random.Random) -> str:
        difference = """
            <what> the [difference|change] in [{x}|the {x} value|{x} value] of {p} {l} compared to the value {e}?
            How much does {p}'s {x} [change|differ] {l} compared to the value {e}?
            [What is|Tell me|Calculate] the [change|difference] in {p}'s {x} from the value {e} to the value {l}.
            How much [is|was] the difference [in|of] {p}'s {x} {l} compared to the value {e}?
            [Show|Give me] the {x} [change|difference] of {p} {l} compared to the value {e}.
            """
        comparison = """
            [Is|Was] {p}'s {x} {l} <more> the value {e}?
            [Is|Was] the {x} [value|reading|level|] of {p} {l} <more> [the value|that|] {e}?
            [Is|Was] the value of {p}'s {x} {l} <more> [the value|] {e}?
            """
        text = choose(difference if self.operator == "-" else comparison, rng, more=more(self.operator))
        when = when_phrase(self.scope, rng)
        later, earlier = (
            f"measured at {moment}" if isinstance(moment, str) else f"{nth_word(moment)} measured {when}"
            for moment in (self.later, self.earlier)
        )
        return put(text, p=f"patient {self.scope.patient}", l=later, e=earlier, x=measured(self.event, rng))
