"""Has there been such an event?"""

from __future__ import annotations

import random
from dataclasses import dataclass

from fastsql.synthesis.hospital.conditions import conditions_of, where
from fastsql.synthesis.hospital.drawing import NAMED, event_of, scope_of
from fastsql.synthesis.hospital.frames import FRAMES
from fastsql.synthesis.hospital.kinds import KINDS
from fastsql.synthesis.hospital.measures import bounded, bounded_event
from fastsql.synthesis.hospital.scope import Event, Scope
from fastsql.synthesis.hospital.values import Values
from fastsql.synthesis.phrases import choose, put


@dataclass(frozen=True)
class AnyEvent:
    event: Event
    scope: Scope

    @classmethod
    def draw(cls, rng: random.Random, values: Values) -> AnyEvent:
        """Any event of a kind, of an item, of several drugs, or of a bounded measure."""
        draw = rng.random()
        if draw < 0.2:
            event = bounded_event(rng, values)
        elif draw < 0.3:
            event = Event("drug", items=values.names("drug", rng.choice((2, 3, 3))))
        elif draw < 0.6:
            event = Event(
                rng.choice(("diagnosis", "procedure", "drug", "lab", "specimen", "input", "output"))
            )
        else:
            event = event_of(rng.choice((*NAMED, "careunit")), values)
        return cls(event, scope_of(event.kind, rng, values))

    def sql(self) -> str:
        """COUNT(*)>0 over the events."""
        return f"SELECT COUNT(*)>0 FROM {KINDS[self.event.kind].table}{where(*conditions_of(self.event, self.scope))}"

    def words(self, rng: random.Random) -> str:
        event, scope = self.event, self.scope
        if event.bound is not None:
            return bounded(
                """
                Has {p}'s {x} [ever|] been <b>{when}?
                Was {p}'s {x} [ever|] <b>{when}?
                Did {p} [ever|] have <a>{when}?
                Has {p} [ever|] had <a>{when}?
                """,
                event,
                scope,
                rng,
            )
        if event.items:
            *others, last = event.items
            listed = f"{', '.join(others)}, or {last}" if len(others) > 1 else f"{others[0]} or {last}"
            text = choose(
                """
                Has {p} been [prescribed|ordered|prescribed with] {x}{when}?
                Was {x} [prescribed|ordered] [to|for] {p}{when}?
                Did {p} get a prescription for {x}{when}?
                Has {x} been [prescribed|ordered]{when} [to|for] {p}?
                """,
                rng,
            )
            return put(text, p=f"patient {scope.patient}", x=listed)
        frame = FRAMES[event.kind]
        been, base = (frame.any_been, frame.any_base) if event.item is None else (frame.been, frame.base)
        text = choose(
            """
            Has {p} <been>{when}?
            Has {p}{when} <been>?
            Did {p} <base>{when}?
            Did {p} [ever|] <base>{when}?
            Can you [tell me|confirm] if {p} has <been>{when}?
            """,
            rng,
            been=been,
            base=base,
        )
        return put(text, p=f"patient {scope.patient}", x=event.item or "")
