"""What the names of a schema say: its words, and how much of it was met in training."""

from __future__ import annotations

import gc
import weakref

import pytest

from fastsql import Schema
from fastsql.linking.relations import SchemaLinks
from fastsql.reliability.names import names_of, schema_names

SCHEMA = Schema.from_dict(
    {
        "tables": [
            {
                "name": "Patients",
                "columns": [
                    {"name": "subject_id", "type": "number", "primary_key": True},
                    {"name": "sex", "label": "gender", "type": "text", "synonyms": ["性别"]},
                ],
            },
            {"name": "wards", "columns": [{"name": "beds", "type": "number"}]},
        ]
    }
)


def test_words_are_those_of_names_labels_and_synonyms() -> None:
    names = schema_names(SCHEMA)
    assert {"patient", "subject", "id", "sex", "gender", "性", "别", "ward", "bed"} == names.words
    assert names.of_column[1] == {"sex", "gender", "性", "别"}


@pytest.mark.parametrize(
    ("columns", "share"),
    [
        ((), 0.0),
        (("patients.subject_id", "patients.sex", "wards.beds"), 1.0),
        (("patients.sex", "doctors.beds"), 1 / 3),
    ],
)
def test_a_schema_is_known_as_far_as_its_columns_are(columns: tuple[str, ...], share: float) -> None:
    assert schema_names(SCHEMA).known(frozenset(columns)) == pytest.approx(share)


def test_names_are_read_once_and_kept_no_longer_than_the_schema_is() -> None:
    links = SchemaLinks(SCHEMA)
    found = names_of(links)
    assert names_of(links) is found
    assert found == schema_names(SCHEMA)
    kept = weakref.ref(found)
    del links, found
    gc.collect()
    assert kept() is None
