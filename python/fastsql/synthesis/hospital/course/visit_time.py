"""When the nth visit to the hospital or ICU began, or ended."""

from __future__ import annotations

import random
from dataclasses import dataclass

from fastsql.synthesis.hospital.conditions import VISIT_TIMES, nth_order, owner, where, window_condition
from fastsql.synthesis.hospital.drawing import NTHS, WINDOWS
from fastsql.synthesis.hospital.phrases import nth_word
from fastsql.synthesis.hospital.scope import Nth, Scope, Visit
from fastsql.synthesis.hospital.values import Values
from fastsql.synthesis.phrases import choose, put


@dataclass(frozen=True)
class VisitTime:
    place: str
    end: bool
    scope: Scope
    nth: Nth

    @classmethod
    def draw(cls, rng: random.Random, values: Values) -> VisitTime:
        place = rng.choice(("hospital", "icu"))
        patient = values.patient()
        window = values.window(rng.choice(WINDOWS[:10])) if rng.random() < 0.5 else None
        visit = (
            Visit("hospital", rng.choice(("first", "last")))
            if place == "icu" and window is None and rng.random() < 0.4
            else None
        )
        return cls(place, rng.random() < 0.5, Scope(patient, visit, window), rng.choice(NTHS))

    def sql(self) -> str:
        """When a visit began or ended."""
        table, column = VISIT_TIMES[self.place, self.end]
        name = f"{table}.{column}"
        over = f"{name} IS NOT NULL" if self.end else ""
        conditions = (owner(table, self.scope), over, window_condition(self.scope.window, name))
        return f"SELECT {name} FROM {table}{where(*conditions)}{nth_order(name, self.nth)}"

    def words(self, rng: random.Random) -> str:
        text = choose(
            """
            When was the {n} time [that|] {p} was <moved> the <place>{when}?
            When was {p} <moved> the <place> for the {n} time{when}?
            When was the {n} <place> <move> [time|] [of|for] {p}{when}?
            When was {p}'s {n} <place> <move>{when}?
            What was the time of {p}'s {n} <place> <move>{when}?
            When did {p} <leave> the <place> for the {n} time{when}?
            """,
            rng,
            place="hospital" if self.place == "hospital" else "ICU|ICU|intensive care unit",
            moved="discharged from" if self.end else "admitted to",
            move="discharge" if self.end else "admission",
            leave="leave" if self.end else "enter|visit",
        )
        return put(text, p=f"patient {self.scope.patient}", n=nth_word(self.nth))
