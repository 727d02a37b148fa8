"""Made questions without an answer: what they lack, and how alike to answerable ones they look."""

from __future__ import annotations

import random
import re
from statistics import mean

import pytest

from fastsql.grammar.program import ColumnRef
from fastsql.training.calibration.unanswerable.hospital_wordings import TAILS, WORDING
from fastsql.training.calibration.unanswerable.made import (
    REMOVED,
    numbers,
    removals,
    remove_needed,
    with_numbers_of,
    write_refusals,
)

from ....worlds.training_ward import DRUGS, SCHEMA, doses, examples, program

PAIRS = [(row["question"], program(row["sql"])) for row in examples() if row["sql"]]
ASKED = [question for question, _ in PAIRS]


def names_of(columns: frozenset[int]) -> set[str]:
    return {SCHEMA.qualified_name(column) for column in columns}


# ---------------------------------------------------------------- numbers


def test_numbers_are_those_of_patients_not_years_codes_or_doses() -> None:
    question = "Did patient 10004235 or 739 or 4758's aunt get icd-10123 0.12345 since 2100, covid-19?"
    assert numbers(question) == ["10004235", "4758"]


def test_numbers_are_exchanged_and_nothing_else() -> None:
    rng = random.Random(0)
    pool = ["10000001", "10000002"]
    asked = with_numbers_of("Is patient 4758 older than patient 99661 since 2100?", pool, rng)
    assert re.sub("1000000[12]", "#", asked) == "Is patient # older than patient # since 2100?"
    assert with_numbers_of("Is patient 4758 old?", [], rng) == "Is patient 4758 old?"
    assert with_numbers_of("病人4758的年龄?", pool, rng) != "病人4758的年龄?"


# ---------------------------------------------------------------- schemas that lack what is needed


def test_what_is_removed_is_needed_and_has_no_like() -> None:
    found = removals(
        SCHEMA, "maximum dose of aspirin of patient 10004235", program(doses(10004235, "aspirin"))
    )
    assert {name: names_of(columns) for name, columns in found.items()} == {
        "prescriptions.drug": {"prescriptions.drug"},
        "prescriptions.dose": {"prescriptions.dose"},
        "admissions.subject_id": {"admissions.subject_id"},
        "admissions": {f"admissions.{name}" for name in ("hadm_id", "subject_id", "admittime", "dischtime")},
        "prescriptions": {f"prescriptions.{name}" for name in ("hadm_id", "drug", "dose", "starttime")},
    }


def test_a_condition_that_the_question_does_not_spell_out_may_be_missed_by_no_one() -> None:
    query = program("SELECT items.item_id FROM items WHERE items.label = 'daily weight'")
    assert removals(SCHEMA, "Which item is the weight?", query) == {}
    assert set(removals(SCHEMA, "Which item is the daily weight?", query)) == {"items", "items.label"}


def test_questions_stand_over_a_schema_that_lacks_what_they_use() -> None:
    made = remove_needed(PAIRS, SCHEMA, 20, 4, random.Random(1))
    programs = dict(PAIRS)
    assert 0 < len(made) <= 20
    assert len({one.removed for one in made}) <= 4
    for one in made:
        used = {item.column for item in programs[one.question] if isinstance(item, ColumnRef)}
        assert one.removed & used
        assert (one.kind, one.group.split(" ")[0]) == (REMOVED, REMOVED)


# ---------------------------------------------------------------- questions that are no query's


def test_made_questions_have_the_numbers_and_the_length_of_answerable_ones() -> None:
    rng = random.Random(2)
    answerable = [
        f"What was the {rng.choice(['first', 'last'])} dose of {rng.choice(DRUGS)}"
        f"{rng.choice(['', ' of patient 10004235', ' that was given to patient 10004999 on the last hospital visit'])}?"
        for _ in range(200)
    ]
    made = write_refusals(answerable, DRUGS, 200, rng)
    assert len(made) > 150
    assert len({one.question for one in made}) == len(made)
    assert {one.kind for one in made} == {"vague", "outside", "writing"}
    assert {number for one in made for number in numbers(one.question)} == {"10004235", "10004999"}

    def share(questions: list[str]) -> float:
        return mean(bool(numbers(question)) for question in questions)

    written = [one.question for one in made]
    assert share(written) == pytest.approx(share(answerable), abs=0.15)
    assert mean(map(len, written)) == pytest.approx(mean(map(len, answerable)), rel=0.25)


def test_nothing_is_left_to_fill_in() -> None:
    for language in WORDING:
        asked = ["病人10004235的年龄是多少？"] if language == "zh" else ["How old is patient 10004235?"]
        for one in write_refusals(
            [*asked, asked[0].replace("10004235", "")], ["aspirin"], 80, random.Random(3)
        ):
            assert not re.search(r"[\[\]{}|]", one.question)
            assert bool(re.search("[\u4e00-\u9fff]", one.question)) == (language == "zh")


def test_every_language_has_every_kind_and_its_own_tails() -> None:
    assert set(WORDING) == set(TAILS) == {"en", "zh"}
    kinds = {kind for texts in WORDING.values() for kind in texts}
    assert all(set(texts) == kinds for texts in WORDING.values())


def test_without_anything_to_resemble_nothing_is_made() -> None:
    assert write_refusals([], DRUGS, 5, random.Random(0)) == ()
    assert write_refusals(ASKED, [], 5, random.Random(0)) == ()
