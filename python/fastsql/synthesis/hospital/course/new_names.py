"""What has been prescribed (tested, diagnosed ...) in this day, month or year, but not in the one before?"""

from __future__ import annotations

import random
from dataclasses import dataclass

from fastsql.synthesis.hospital.conditions import conditions_of, names_of, where
from fastsql.synthesis.hospital.frames import FRAMES
from fastsql.synthesis.hospital.kinds import KINDS
from fastsql.synthesis.hospital.scope import Event, Scope, Window
from fastsql.synthesis.hospital.values import Values
from fastsql.synthesis.phrases import choose, put

_PERIODS = {
    "day": ("today", "yesterday"),
    "month": ("this month", "last month"),
    "year": ("this year", "last year"),
}

_GIVEN = {
    "drug": "prescribed to",
    "diagnosis": "given to",
    "procedure": "performed on",
    "lab": "given to",
    "specimen": "taken from",
    "culture": "performed on",
}


@dataclass(frozen=True)
class NewNames:
    kind: str
    unit: str
    scope: Scope
    gone: bool = False  # the other way round

    @classmethod
    def draw(cls, rng: random.Random, values: Values) -> NewNames:
        """What one period has and the one before has not."""
        kind = rng.choice(("drug", "drug", "diagnosis", "procedure", "lab", "specimen", "culture"))
        unit = rng.choice(("day", "month", "year"))
        return cls(kind, unit, Scope(values.patient()), gone=rng.random() < 0.25)

    def sql(self) -> str:
        """The names of this period without those of the period before."""
        kind = KINDS[self.kind]
        keys = []
        for which in ("last", "this") if self.gone else ("this", "last"):
            scope = Scope(self.scope.patient, self.scope.visit, Window(f"{which}_{self.unit}"))
            keys.append(
                f"SELECT {kind.what} FROM {kind.table}{where(*conditions_of(Event(self.kind), scope))}"
            )
        return names_of(kind, " EXCEPT ".join(keys))

    def words(self, rng: random.Random) -> str:
        new = """
            What [are|were] the new <many> <given> {p} {now} compared to {before}?
            What new <many> [are|were] <given> {p} {now} compared to {before}?
            What <many> were newly <given> {p} {now} compared to {before}?
            Compared to {before}, what [are|were] the new <many> <given> {p} {now}?
            What <many> were <given> {p} {now} but not {before}?
            """
        gone = """
            What <many> were <given> {p} {before} but not {now}?
            Which <many> that were <given> {p} {before} were not <given> the patient {now}?
            """
        text = choose(
            gone if self.gone else new,
            rng,
            many="diagnoses" if self.kind == "diagnosis" else FRAMES[self.kind].many,
            given=_GIVEN[self.kind],
        )
        now, before = _PERIODS[self.unit]
        return put(text, p=f"patient {self.scope.patient}", now=now, before=before)
