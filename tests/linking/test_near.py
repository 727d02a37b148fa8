"""Values of a dictionary that are near to a text."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from fastsql.linking import ValueDictionary, find_candidates
from fastsql.linking import dictionary as dictionary_module
from fastsql.linking.gram_table import PROPOSED
from fastsql.linking.near import FARTHEST, Near

from ..worlds.valued_hospital import SCHEMA

DRUG = SCHEMA.column_index("prescriptions", "drug")
TITLE = SCHEMA.column_index("diagnoses", "title")
VALUES = {
    ("prescriptions", "drug"): ["Ceftriaxone", "Cefazolin", "Aspirin", "aspirin EC", "heparin", "--", "\n"],
    ("diagnoses", "title"): [
        "Chronic kidney disease, stage 3",
        "Chronic kidney disease",
        "Acute renal failure",
        "急性肾衰竭",
        "慢性肾衰竭",
        "Heparin",
    ],
}


def dictionary() -> ValueDictionary:
    return ValueDictionary.from_mapping(VALUES, SCHEMA)


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("ceftriaxon", "Ceftriaxone"),
        ("asprin", "Aspirin"),
        ("kidney disease, chronic", "Chronic kidney disease"),
        ("renal failures", "Acute renal failure"),
        ("ckd", "Chronic kidney disease"),
        ("chronic kidney disease stage 3", "Chronic kidney disease, stage 3"),
        ("急性肾衰", "急性肾衰竭"),
        ("肾衰竭急性", "急性肾衰竭"),
    ],
)
def test_the_nearest_value_is_found(said: str, value: str) -> None:
    assert dictionary().nearest(said)[0].value == value


def test_near_values_come_in_order_with_their_columns() -> None:
    assert dictionary().nearest("heparine", limit=2) == (
        Near("Heparin", (TITLE,), 0.5 / 8),
        Near("heparin", (DRUG,), 0.5 / 8),
    )
    assert dictionary().nearest("heparine", DRUG) == (Near("heparin", (DRUG,), 0.5 / 8),)
    assert [near.value for near in dictionary().nearest("aspirin", limit=1)] == ["Aspirin"]


@pytest.mark.parametrize("text", ["", "?", "--", "zzzz", "\n", "\0", "a" * 5000, "1 2 3"])
def test_a_text_that_is_near_to_no_value_finds_none(text: str) -> None:
    assert dictionary().nearest(text) == ()
    assert ValueDictionary.from_mapping({}, SCHEMA).nearest(text) == ()


def test_what_is_far_is_left_out_and_no_limit_is_passed() -> None:
    many = {("prescriptions", "drug"): [f"substance {number:04}" for number in range(1000)]}
    known = ValueDictionary.from_mapping(many, SCHEMA)
    found = known.nearest("substance 0500", limit=10_000)
    assert found[0] == Near("substance 0500", (DRUG,), 0.0)
    assert len(found) <= PROPOSED
    assert all(near.distance <= FARTHEST for near in found)
    assert known.nearest("substance", limit=0) == ()


def test_files_pickles_and_other_schemas_have_the_same_neighbours(tmp_path: Path) -> None:
    known = dictionary()
    found = known.nearest("kidney disease chronical")
    assert found
    known.save(tmp_path / "values")
    loaded = ValueDictionary.load(tmp_path / "values", SCHEMA)
    assert loaded.nearest("kidney disease chronical") == found
    for copy in (known, loaded):
        assert pickle.loads(pickle.dumps(copy)).nearest("kidney disease chronical") == found
    assert loaded.bound_to(SCHEMA).nearest("kidney disease chronical") == found


def test_a_question_waits_for_no_index_of_a_large_dictionary(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known, question = ValueDictionary.from_mapping(VALUES, SCHEMA, whole=True), "patients on ceftriaxon"
    assert [near.value for _, _, near in known.almost(question)] == ["Ceftriaxone"]
    monkeypatch.setattr(dictionary_module, "SMALL", 3)
    fresh = ValueDictionary.from_mapping(VALUES, SCHEMA, whole=True)
    assert list(fresh.almost(question)) == []
    assert fresh.nearest("ceftriaxon")
    assert list(fresh.almost(question)) == []  # whoever asked before
    fresh.save(tmp_path / "values")
    loaded = ValueDictionary.load(tmp_path / "values", SCHEMA)
    for one in (loaded, loaded.bound_to(SCHEMA), pickle.loads(pickle.dumps(loaded))):
        assert [near.value for _, _, near in one.almost(question)] == ["Ceftriaxone"]


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("who got ceftriaxon?", "Ceftriaxone"),
        ("patients with kidney disease, chronical", "Chronic kidney disease"),
        ("patients with disease of the kidney", None),
        ("how many renal failures were there?", "Acute renal failure"),
        ("病人有急性肾衰吗", "急性肾衰竭"),
        ("which patients got aspirin", None),  # exactly that
        ("who takes heparin daily", None),
        ("what was the ceft", None),
    ],
)
def test_a_near_value_is_a_candidate_with_its_distance(question: str, value: str | None) -> None:
    known = ValueDictionary.from_mapping(VALUES, SCHEMA, whole=True)
    near = [one for one in find_candidates(question, SCHEMA, known) if one.distance]
    assert [one.value for one in near][:1] == ([value] if value else [])
    assert all(one.source == "dictionary" and one.columns for one in near)
    partly = ValueDictionary.from_mapping(VALUES, SCHEMA)
    assert not any(one.distance for one in find_candidates(question, SCHEMA, partly))
