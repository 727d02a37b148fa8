"""Facts of a patient or an admission that are one of few values: drawn, as a condition, and in words."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from fastsql.synthesis.hospital.conditions import quote
from fastsql.synthesis.hospital.values import Values
from fastsql.synthesis.phrases import expand, put

GENDERS: Mapping[str, str] = MappingProxyType(
    {"f": "female patients|women|patients who are female", "m": "male patients|men|patients who are male"}
)
"""What people of a gender are called, who never write its code."""
_VALUES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "gender": tuple(GENDERS),
        "insurance": ("medicaid", "medicare"),
        "marital_status": ("single", "married", "divorced", "widowed"),
        "language": ("english",),
        "admission_type": ("elective", "urgent", "ew emer.", "direct emer.", "eu observation"),
        "admission_location": ("clinic referral", "emergency room", "physician referral"),
        "discharge_location": ("home", "home health care", "rehab", "skilled nursing facility"),
    }
)
_WORDS = {
    "insurance": "patients with {v} insurance|patients insured by {v}|patients covered by {v}|{v} patients",
    "marital_status": "{v} patients|patients who [are|were] {v}|patients with the marital status {v}",
    "language": "patients who speak {v}|{v} speaking patients|patients whose language is {v}",
    "admission_type": "patients whose admission type was {v}|patients with an admission of type {v}",
    "admission_location": "patients whose admission location was {v}|patients admitted from {v}",
    "discharge_location": "patients discharged to {v}|patients whose discharge location was {v}",
}
NAMES: Mapping[str, str] = MappingProxyType(
    {
        "gender": "gender|sex",
        "insurance": "insurance|type of insurance",
        "marital_status": "marital status",
        "language": "language|spoken language",
        "admission_type": "admission type|type of admission",
        "admission_location": "admission location|location of admission",
        "discharge_location": "discharge location|location of discharge",
    }
)
"""What the columns are called."""


@dataclass(frozen=True)
class Fact:
    """A value of a column of `admissions`, or the gender."""

    column: str
    value: str

    def condition(self) -> str:
        """The condition on a row of `admissions`."""
        if self.column == "gender":
            people = f"SELECT patients.subject_id FROM patients WHERE patients.gender = {quote(self.value)}"
            return f"admissions.subject_id IN ( {people} )"
        return f"admissions.{self.column} = {quote(self.value)}"

    def people(self, rng: random.Random) -> str:
        """Whom it is true of: "women", "patients insured by medicaid"."""
        return put(expand(_WORDS.get(self.column, GENDERS.get(self.value, "")), rng), v=self.value)


def draw_fact(rng: random.Random, values: Values) -> Fact:
    """Any fact; the gender most of all."""
    column = rng.choice(("gender", "gender", "gender", *_WORDS))
    return Fact(column, values.rng.choice(_VALUES[column]))
