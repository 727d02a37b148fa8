"""The hospital as a source of pairs: families of questions over MIMIC-IV's tables, tried on the demo hospital."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from functools import partial
from types import MappingProxyType, TracebackType

from fastsql.datasets import with_normal_ranges
from fastsql.demo.tables import HOSPITAL_DDL
from fastsql.schema import Schema
from fastsql.synthesis.hospital.facts import GENDERS
from fastsql.synthesis.hospital.families import FAMILIES
from fastsql.synthesis.hospital.family import Family, ask
from fastsql.synthesis.hospital.kinds import BODY_MEASURES, CHARGED, KINDS, VITAL_SIGNS
from fastsql.synthesis.hospital.values import Values, Vocabulary
from fastsql.synthesis.hospital.ward import Ward
from fastsql.synthesis.source import Draft, Trial

DATABASE = "mimic_iv"
ATTEMPTS = 45
"""How many patients of the ward a query is tried with, until it returns something."""
_STANDING: Mapping[tuple[str, str], tuple[str, ...]] = MappingProxyType(
    {
        ("d_items", "label"): (*VITAL_SIGNS, *BODY_MEASURES),
        ("d_items", "linksto"): ("chartevents", "inputevents", "outputevents"),
        ("cost", "event_type"): tuple(sorted(KINDS[kind].table for kind in CHARGED)),
        ("admissions", "admission_location"): ("emergency room",),
        ("patients", "gender"): tuple(GENDERS),
    }
)
"""Values that questions mean without writing them: people say "weight" for `daily weight`."""


def hospital_schema() -> Schema:
    """The tables of the demo hospital, which are MIMIC-IV's, with bounds of normal and the values that stand with it."""
    schema = with_normal_ranges(Schema.from_ddl(HOSPITAL_DDL))
    return schema.with_values({key: list(values) for key, values in _STANDING.items()})


def draw_question(seed: str, values: Values) -> Family:
    """One question: its structure by `seed` alone, its values by `values`."""
    rng = random.Random(f"{seed}/structure")
    draw = rng.choices([draw for _, draw in FAMILIES], [weight for weight, _ in FAMILIES])[0]
    return draw(rng, values)


class Hospital:
    """A source of pairs with the names of a vocabulary; without one, of the demo hospital's words. A context manager."""

    db_id = DATABASE

    def __init__(self, vocabulary: Vocabulary | None = None) -> None:
        self.schema = hospital_schema()
        self._vocabulary = vocabulary or Vocabulary.of_demo()
        self._ward = Ward()

    def draw(self, seed: str) -> Draft:
        """The draft of a seed."""
        question = draw_question(seed, Values(self._vocabulary, random.Random(f"{seed}/values")))
        return Draft(type(question).__name__, question.sql(), seed, partial(ask, question))

    def trials(self, draft: Draft) -> Iterator[Trial]:
        """The same structure with the values of patients of the ward, at its three presents."""
        for attempt in range(ATTEMPTS):
            values = self._ward.values(random.Random(f"{draft.seed}/{attempt}"))
            yield Trial(draw_question(draft.seed, values).sql(), partial(self._ward.run, attempt=attempt))

    def __enter__(self) -> Hospital:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ward.__exit__(kind, error, trace)
