"""A column of the patient's nth or current admission, or of the patient."""

from __future__ import annotations

import random
from dataclasses import dataclass

from fastsql.synthesis.hospital.conditions import admission_filter
from fastsql.synthesis.hospital.scope import Scope, Visit
from fastsql.synthesis.hospital.values import Values
from fastsql.synthesis.phrases import choose, put

_DETAILS = {
    "gender": ("gender|sex", "Is {p} male or female?"),
    "dob": ("date of birth|birth date|dob", "When was {p} born?"),
    "dod": ("date of death|death date|dod", "When did {p} [die|pass away]?"),
    "insurance": ("insurance|insurance plan|insurance type", "[What|Which] insurance did {p} have{when}?"),
    "marital_status": ("marital status", ""),
    "language": ("language|spoken language", "[What|Which] language did {p} speak{when}?"),
    "admission_type": (
        "admission type|type of admission",
        "How was {p} admitted in terms of admission type{when}?",
    ),
    "admission_location": ("admission location|location of admission", "Where was {p} admitted from{when}?"),
    "discharge_location": ("discharge location|location of discharge", "Where was {p} discharged to{when}?"),
    "age": ("age", "How old was {p}{when}?"),
}
"""Column -> what it is called, and a question of its own."""


@dataclass(frozen=True)
class Detail:
    column: str
    scope: Scope

    @classmethod
    def draw(cls, rng: random.Random, values: Values) -> Detail:
        """A fact of an admission, or of the patient."""
        if rng.random() < 0.15:
            return cls(rng.choice(("gender", "dob", "dod")), Scope(values.patient()))
        columns = (
            "insurance",
            "marital_status",
            "language",
            "admission_type",
            "admission_location",
            "discharge_location",
            "age",
        )
        column = rng.choice(columns)
        which = rng.choice(
            ("first", "last") if column == "discharge_location" else ("first", "last", "current")
        )
        return cls(column, Scope(values.patient(), visit=Visit("hospital", which)))

    def sql(self) -> str:
        """A column of one admission, or of the patient."""
        table = "patients" if self.column in ("gender", "dob", "dod") else "admissions"
        return (
            f"SELECT {table}.{self.column} FROM {table} WHERE {table}.subject_id = {self.scope.patient}"
            f"{admission_filter(self.scope.visit)}"
        )

    def words(self, rng: random.Random) -> str:
        noun, own = _DETAILS[self.column]
        text = choose(
            f"""
            <ask> the <noun> of {{p}}{{when}}?
            <ask> {{p}}'s <noun>{{when}}?
            What [was|is] the <noun> [of|for] {{p}}{{when}}?
            {own or "<ask> {p}'s <noun>{when}?"}
            """,
            rng,
            ask="What [was|is]|Tell me|Can you tell me|Could you tell me|Please tell me",
            noun=noun,
        )
        return put(text, p=f"patient {self.scope.patient}")
