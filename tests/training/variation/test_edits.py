from __future__ import annotations

import random
import re

import pytest

from fastsql.linking.candidate import Candidate
from fastsql.training.config import AugmentSettings
from fastsql.training.variation.edits import (
    Draft,
    Edit,
    Value,
    apply_edits,
    change_dates,
    change_numbers,
    change_values,
    change_writing,
    draw_number,
    drop_candidates,
    exchange_literals,
    literal_values,
)

from ...worlds.training_ward import doses, program

KEY = ("prescriptions", "drug", "")
POOL = {KEY: ["aspirin", "heparin", "insulin glargine"]}
SEEDS = range(25)


def test_edits_do_not_disturb_one_another() -> None:
    assert apply_edits("one two three", [Edit(8, 13, "3"), Edit(0, 3, "1")]) == "1 two 3"


@pytest.mark.parametrize(
    ("question", "literal", "form"),
    [
        ("on 12/05/2100?", "2100-12-05", r"on (\d\d)/(\d\d)/(\d{4})\?"),
        ("since 08/2100", "2100-08", r"since (\d\d)/(\d{4})"),
        ("in 2100", "2100", r"in (\d{4})"),
        ("in 07/this year", "07", r"in (\d\d)/this year"),
        ("on 06/14/last year", "06-14", r"on (\d\d)/(\d\d)/last year"),
        ("on this month/23", "23", r"on this month/(\d\d)"),
    ],
)
@pytest.mark.parametrize("seed", SEEDS)
def test_dates_change_in_question_and_program_alike(
    question: str, literal: str, form: str, seed: int
) -> None:
    draft = Draft(question)
    change_dates(draft, {literal}, random.Random(seed))
    match = re.fullmatch(form, draft.text())
    assert match is not None
    parts = match.groups()
    written = (parts[-1], *parts[:-1]) if len(parts[-1]) == 4 else parts
    assert draft.literals == {literal: "-".join(written)}


def test_a_date_that_the_program_lacks_stays() -> None:
    draft = Draft("born in 2051, seen on 12/05/2100")
    change_dates(draft, {"2100-12"}, random.Random(0))
    assert draft.text() == draft.question


@pytest.mark.parametrize("seed", SEEDS)
def test_numbers_change_in_question_and_program_alike(seed: int) -> None:
    draft = Draft("Did patient 10004235 get 5 doses above 99.5, the top five?")
    change_numbers(draft, {10004235, 5, 99.5, 1}, random.Random(seed))
    new = draft.literals
    assert set(new) == {10004235, 5, 99.5}
    assert len(str(new[10004235])) == 8
    assert f"patient {new[10004235]} get {new[5]} doses above {new[99.5]}, the top " in draft.text()


def test_small_numbers_stay() -> None:
    draft = Draft("the 2 drugs given within 1 day")
    change_numbers(draft, {2, 1}, random.Random(0))
    assert draft.text() == draft.question


@pytest.mark.parametrize("seed", SEEDS)
def test_both_ends_of_a_decade_change(seed: int) -> None:
    draft = Draft("patients in their 50s")
    change_numbers(draft, {50, 59}, random.Random(seed))
    if draft.literals:
        assert draft.literals[59] == int(str(draft.literals[50])) + 9
        assert draft.text() == f"patients in their {draft.literals[50]}s"


@pytest.mark.parametrize(
    ("old", "pattern"), [(10004235, r"\d{8}"), (2014, r"\d{4}"), (98.55, r"\d+\.\d{1,2}")]
)
def test_a_number_keeps_its_form(old: Value, pattern: str) -> None:
    for seed in SEEDS:
        assert re.fullmatch(pattern, str(draw_number(old, random.Random(seed))))


def test_a_count_may_have_other_digits() -> None:
    drawn = [draw_number(5, random.Random(seed)) for seed in range(200)]
    lengths = [len(str(number)) for number in drawn]
    assert min(drawn) >= 3
    assert set(lengths) == {1, 2, 3}
    assert lengths.count(1) > 100


@pytest.mark.parametrize("seed", SEEDS)
def test_values_are_exchanged_within_their_pool(seed: int) -> None:
    draft = Draft("How much Aspirin was given?")
    change_values(draft, [(KEY, "aspirin")], POOL, random.Random(seed))
    new = draft.literals.get("aspirin", "Aspirin")
    assert draft.text() == f"How much {new} was given?"
    assert new == "Aspirin" or new in POOL[KEY]


def test_a_value_said_twice_or_of_no_pool_stays() -> None:
    for question, key in (("aspirin or aspirin", KEY), ("aspirin", ("x", "y", ""))):
        draft = Draft(question)
        change_values(draft, [(key, "aspirin")], POOL, random.Random(1))
        assert draft.text() == question
        assert not draft.literals


def test_writing_changes_no_word() -> None:
    always = AugmentSettings(punctuation=1.0, case=1.0)
    assert change_writing("Was it given?", always, random.Random(0)) == "was it given"
    assert change_writing("?", always, random.Random(0)) == "?"


def test_only_dictionary_matches_are_forgotten() -> None:
    found = [
        Candidate("aspirin", "text", (0, 7), "dictionary", (1,)),
        Candidate(5, "number", (8, 9), "number"),
    ]
    assert drop_candidates(found, AugmentSettings(no_dictionary=1.0), random.Random(0)) == (found[1],)
    none = AugmentSettings(no_dictionary=0.0, drop_candidate=0.0)
    assert drop_candidates(found, none, random.Random(0)) == tuple(found)


def test_literals_are_exchanged_everywhere() -> None:
    old = program(doses(10_004_235, "aspirin"))
    new = exchange_literals(old, {10_004_235: 7, "aspirin": "heparin"})
    assert new == program(doses(7, "heparin"))
    assert literal_values(new) == {7, "heparin"}
