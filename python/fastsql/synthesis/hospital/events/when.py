"""When was the nth such event?"""

from __future__ import annotations

import random
from dataclasses import dataclass

from fastsql.synthesis.hospital.conditions import conditions_of, nth_order, where
from fastsql.synthesis.hospital.drawing import NAMED, NTHS, event_of, scope_of
from fastsql.synthesis.hospital.frames import FRAMES
from fastsql.synthesis.hospital.kinds import KINDS
from fastsql.synthesis.hospital.measures import bounded, bounded_event
from fastsql.synthesis.hospital.phrases import nth_word
from fastsql.synthesis.hospital.scope import Event, Nth, Scope
from fastsql.synthesis.hospital.values import Values
from fastsql.synthesis.phrases import choose, put


@dataclass(frozen=True)
class When:
    event: Event
    scope: Scope
    nth: Nth

    @classmethod
    def draw(cls, rng: random.Random, values: Values) -> When:
        draw = rng.random()
        if draw < 0.25:
            event = bounded_event(rng, values)
        elif draw < 0.4:
            event = Event(rng.choice(("specimen", "input", "output", "lab", "procedure", "drug")))
        else:
            event = event_of(rng.choice((*NAMED, "route", "careunit")), values)
        return cls(event, scope_of(event.kind, rng, values), rng.choice(NTHS))

    def sql(self) -> str:
        """The time of the nth event."""
        kind = KINDS[self.event.kind]
        clauses = where(*conditions_of(self.event, self.scope))
        return f"SELECT {kind.when} FROM {kind.table}{clauses}{nth_order(kind.when, self.nth)}"

    def words(self, rng: random.Random) -> str:
        event, scope, nth = self.event, self.scope, nth_word(self.nth)
        if event.bound is not None:
            return bounded(
                """
                When was the {n} time [that|] {p}'s {x} was [measured|] <b>{when}?
                When was {p}'s {x} [for the|the] {n} time <b>{when}?
                What was the {n} time [that|] {p} had <a>{when}?
                Tell me the {n} time{when} that the {x} of {p} was <b>.
                When{when} was the {n} time that {p} had <a>?
                """,
                event,
                scope,
                rng,
                n=nth,
            )
        frame = FRAMES["drug" if event.kind == "route" else event.kind]
        if event.kind == "route":
            text = choose(
                """
                When was the {n} time [that|] {p} was prescribed <drug> via [the|] {x} [route|]{when}?
                When was {p} prescribed <drug> via the {x} route for the {n} time{when}?
                What was the {n} time{when} [that|] {p} was prescribed <drug> [via|through] the {x} route?
                """,
                rng,
                drug="[a|] [drug|medication|medicine]",
            )
        elif event.item is None:
            text = choose(
                """
                When was {p}'s {n} <act>{when}?
                When did {p} have [a|their] {n} <act>{when}?
                When was the {n} <act> of {p}{when}?
                What was the {n} <act> time of {p}{when}?
                When did {p}{when} get the {n} <act>?
                When did {p}'s {n} <act>{when} [occur|take place]?
                """,
                rng,
                act=frame.any_act,
            )
        else:
            text = choose(
                """
                When was the {n} time [that|] {p} <did>{when}?
                When was the {n} time{when} that {p} <did>?
                What was the {n} time{when} [that|] {p} <did>?
                When did {p} <base> [for the|the] {n} time{when}?
                When was {p}'s {n} <act>{when}?
                When did {p} have [the|their] {n} <act>{when}?
                """,
                rng,
                did=frame.did,
                base=frame.base,
                act=frame.act,
            )
        return put(text, p=f"patient {scope.patient}", x=event.item or "", n=nth)
