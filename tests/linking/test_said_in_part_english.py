"""Values that an English question says in part."""

from __future__ import annotations

import pytest

from fastsql.linking.candidates import find_candidates
from fastsql.schema import Schema

STAFF = ["Tomas Okafor", "Samir Haddad", "Helen Marsh", "Ada Reed", "Ida Reed"]
PROCEDURES = [
    "hip replacement",
    "knee surgery",
    "kidney stones",
    "type 1 diabetes",
    "type 2 diabetes",
    "haemoglobin",
]
HOSPITAL = Schema.from_dict(
    {
        "name": "hospital",
        "tables": [
            {
                "name": "surgery",
                "columns": [
                    {"name": "surgeon", "type": "text", "values": STAFF},
                    {"name": "procedure_name", "type": "text", "values": PROCEDURES},
                    {"name": "theatre", "type": "text", "values": ["North Hall", "South Hall"]},
                    {"name": "stones", "type": "number"},
                ],
            }
        ],
        "foreign_keys": [],
    }
)


def found(question: str) -> dict[str, str]:
    """The values of columns that it offers, with the words that say them."""
    candidates = find_candidates(question, HOSPITAL)
    return {str(one.value): question[slice(*one.span)] for one in candidates if one.columns}


@pytest.mark.parametrize(
    ("question", "value", "words"),
    [
        ("How often did Dr. Okafor operate?", "Tomas Okafor", "Dr. Okafor"),
        ("patients of nurse marsh", "Helen Marsh", "nurse marsh"),
        ("whom Dr. Marsh treated", "Helen Marsh", "Dr. Marsh"),
        ("What did Haddad do?", "Samir Haddad", "Haddad"),
        ("all of Okafor's patients", "Tomas Okafor", "Okafor"),
        ("How many hip replacements?", "hip replacement", "hip replacements"),
        ("knee surgeries in 2023", "knee surgery", "knee surgeries"),
        ("patients with a kidney stone", "kidney stones", "kidney stone"),
        ("hemoglobin of 12", "haemoglobin", "hemoglobin"),
        ("those in the North hall", "North Hall", "North hall"),
    ],
)
def test_words_that_are_of_one_value_alone_stand_for_it(question: str, value: str, words: str) -> None:
    assert found(question) == {value: words}


@pytest.mark.parametrize(
    "question",
    [
        "What did Dr. Reed do?",  # there are two
        "patients of the marsh",  # no name, and no title
        "Haddad",  # every question begins so
        "patients with diabetes",  # of two values
        "the stones of a kidney",
        "surgery",
        "the hall",
        "patients of Dr. Ann Marsh",  # another Marsh
        "the type 1 tumour",
    ],
)
def test_words_of_several_values_or_of_none_stand_for_nothing(question: str) -> None:
    assert found(question) == {}


def test_what_is_said_in_full_is_offered_as_such() -> None:
    (one,) = (one for one in find_candidates("by Tomas Okafor", HOSPITAL) if one.columns)
    (part,) = (one for one in find_candidates("by Dr. Okafor", HOSPITAL) if one.columns)
    assert one.distance == 0 < part.distance
