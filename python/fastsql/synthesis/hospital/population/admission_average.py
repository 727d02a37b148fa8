"""The mean, greatest or least age at admission, or length of stay, of whom a fact is true of or who had an event."""

from __future__ import annotations

import random
from dataclasses import dataclass

from fastsql.synthesis.hospital.cohort import TOTALS, cohort
from fastsql.synthesis.hospital.conditions import where, window_condition, with_event
from fastsql.synthesis.hospital.drawing import event_of
from fastsql.synthesis.hospital.facts import Fact, draw_fact
from fastsql.synthesis.hospital.frames import FRAMES
from fastsql.synthesis.hospital.scope import Event, Scope
from fastsql.synthesis.hospital.values import Values
from fastsql.synthesis.phrases import choose, expand, put

_STAYS = {"AVG": "average|mean", "MAX": "longest|maximum", "MIN": "shortest|minimum"}


@dataclass(frozen=True)
class AdmissionAverage:
    of: Fact | Event | None
    scope: Scope
    function: str
    stay: bool

    @classmethod
    def draw(cls, rng: random.Random, values: Values) -> AdmissionAverage:
        draw = rng.random()
        of: Fact | Event | None = None
        if draw < 0.4:
            of = draw_fact(rng, values)
        elif draw < 0.85:
            of = event_of(rng.choice(("diagnosis", "diagnosis", "procedure", "drug", "careunit")), values)
        scope = Scope() if isinstance(of, Event) else cohort(rng, values)
        return cls(of, scope, rng.choice(("AVG", *TOTALS)), rng.random() < 0.5)

    def sql(self) -> str:
        """A function over the rows of `admissions`; of stays that are over."""
        condition = ""
        if isinstance(self.of, Fact):
            condition = self.of.condition()
        elif self.of is not None:
            condition = with_event(self.of)
        number = "admissions.age"
        if self.stay:
            number = "strftime('%J',admissions.dischtime) - strftime('%J',admissions.admittime)"
        over = "admissions.dischtime IS NOT NULL" if self.stay else ""
        time = window_condition(self.scope.window, "admissions.admittime")
        return f"SELECT {self.function}({number}) FROM admissions{where(condition, over, time)}"

    def words(self, rng: random.Random) -> str:
        who, item, admitted = "patients", "", "{when}"
        if isinstance(self.of, Fact):
            who = self.of.people(rng)
        elif self.of is not None:
            who, item = f"patients who {expand(FRAMES[self.of.kind].were, rng)}", self.of.item or ""
        if self.scope.window is not None:
            admitted = " [admitted|who were admitted]{when}"
        text = choose(
            f"""
            <what> the {{f}} [length of [hospital|] stay|hospital stay|hospital length of stay] in days of {{w}}{admitted}?
            How many days is the {{f}} hospital stay of {{w}}{admitted}?
            <calculate> the {{f}} [number of days|days] of [the hospital stays|hospitalization] of {{w}}{admitted}.
            """
            if self.stay
            else f"""
            <what> the {{f}} age of {{w}}{admitted}?
            <calculate> the {{f}} age [at admission|] of {{w}}{admitted}.
            <what> the {{f}} age at [hospital|] admission [of|for] {{w}}{admitted}?
            """,
            rng,
        )
        function = expand((_STAYS if self.stay else TOTALS)[self.function], rng)
        return put(text, f=function, w=put(who, x=item))
