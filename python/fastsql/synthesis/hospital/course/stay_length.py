"""The length in days of the patient's first, last, longest or shortest visit to the hospital or to an ICU."""

from __future__ import annotations

import random
from dataclasses import dataclass

from fastsql.synthesis.hospital.conditions import VISIT_TIMES, owner, where, window_condition
from fastsql.synthesis.hospital.drawing import WINDOWS
from fastsql.synthesis.hospital.scope import Scope, Visit
from fastsql.synthesis.hospital.values import Values
from fastsql.synthesis.phrases import choose, put


@dataclass(frozen=True)
class StayLength:
    place: str
    which: str
    scope: Scope

    @classmethod
    def draw(cls, rng: random.Random, values: Values) -> StayLength:
        place = rng.choice(("hospital", "icu"))
        which = rng.choice(("first", "last", "longest", "shortest", "average", "total"))
        patient = values.patient()
        draw = rng.random()
        window = values.window(rng.choice(WINDOWS[:10])) if draw < 0.3 else None
        visit = (
            Visit("hospital", rng.choice(("first", "last"))) if place == "icu" and 0.3 <= draw < 0.5 else None
        )
        return cls(place, which, Scope(patient, visit, window))

    def sql(self) -> str:
        """Days between the two ends of a visit that is over."""
        (table, start), (_, end) = VISIT_TIMES[self.place, False], VISIT_TIMES[self.place, True]
        length = f"strftime('%J',{table}.{end}) - strftime('%J',{table}.{start})"
        conditions = (
            owner(table, self.scope),
            f"{table}.{end} IS NOT NULL",
            window_condition(self.scope.window, f"{table}.{start}"),
        )
        if self.which in ("first", "last"):
            order = f"{table}.{start} {'ASC' if self.which == 'first' else 'DESC'}"
            return f"SELECT {length} FROM {table}{where(*conditions)} ORDER BY {order} LIMIT 1"
        function = {"longest": "MAX", "shortest": "MIN", "average": "AVG", "total": "SUM"}[self.which]
        return f"SELECT {function}({length}) FROM {table}{where(*conditions)}"

    def words(self, rng: random.Random) -> str:
        single = """
            <calculate> the length in days of {p}'s {w} [stay in the {h}|{h} stay]{when}.
            How many days did {p}'s {w} {h} stay last{when}?
            How many days was {p}'s {w} stay in the {h}{when}?
            <calculate> {p}'s length of stay in days [for|of] the {w} {h} stay{when}.
            How long was {p}'s {w} {h} stay in days{when}?
            """
        overall = """
            <calculate> the {w} length of {h} stay [of|for] {p} in days{when}.
            <calculate> {p}'s {w} length of stay in the {h} in days{when}.
            How many days was the {w} {h} stay [of|for] {p}{when}?
            """
        summed = """
            How many days in total did {p} [stay|spend] in the {h}{when}?
            <calculate> the total length of {p}'s {h} stays in days{when}.
            <calculate> the total number of days [that|] {p} [spent|stayed] in the {h}{when}.
            """
        text = choose(
            single if self.which in ("first", "last") else summed if self.which == "total" else overall, rng
        )
        place = "hospital" if self.place == "hospital" else "ICU"
        return put(text, p=f"patient {self.scope.patient}", w=self.which, h=place)
