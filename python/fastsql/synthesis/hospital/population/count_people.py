"""How many patients are there, or have died; with a fact, of whom it is true; with `admitted`, who were admitted then?"""

from __future__ import annotations

import random
from dataclasses import dataclass

from fastsql.synthesis.hospital.cohort import cohort
from fastsql.synthesis.hospital.conditions import quote, where, window_condition
from fastsql.synthesis.hospital.facts import Fact, draw_fact
from fastsql.synthesis.hospital.scope import Scope
from fastsql.synthesis.hospital.values import Values
from fastsql.synthesis.phrases import choose, put


@dataclass(frozen=True)
class CountPeople:
    fact: Fact | None
    scope: Scope
    admitted: bool
    dead: bool = False

    @classmethod
    def draw(cls, rng: random.Random, values: Values) -> CountPeople:
        fact = draw_fact(rng, values) if rng.random() < 0.85 else None
        if fact is not None and (fact.column != "gender" or rng.random() < 0.6):
            return cls(fact, cohort(rng, values), admitted=True)
        return cls(fact, Scope(), admitted=False, dead=rng.random() < 0.4)

    def sql(self) -> str:
        """Counted in `patients`, who were admitted then in `admissions`."""
        if self.admitted:
            fact = "" if self.fact is None else self.fact.condition()
            time = window_condition(self.scope.window, "admissions.admittime")
            return f"SELECT COUNT( DISTINCT admissions.subject_id ) FROM admissions{where(fact, time)}"
        gender = "" if self.fact is None else f"patients.gender = {quote(self.fact.value)}"
        return (
            f"SELECT COUNT(*) FROM patients{where(gender, 'patients.dod IS NOT NULL' if self.dead else '')}"
        )

    def words(self, rng: random.Random) -> str:
        who = "patients" if self.fact is None else self.fact.people(rng)
        text = choose(
            """
            How many {w} <are>{when}?
            Count the {w} [who|that] <are>{when}.
            <count> the [total|] number of {w} [who|that] <are>{when}.
            What is the [total|] number of {w} [who|that] <are>{when}?
            """
            if self.admitted or self.dead
            else """
            How many {w} are there [in total|in the database|in all|]?
            <count> the [total|] number of {w}.
            What is the [total|] number of {w}?
            How many {w} do we have?
            """,
            rng,
            are="were admitted|were admitted to the hospital|came to the hospital"
            if self.admitted
            else "have died|passed away|are dead",
        )
        return put(text, w=who)
