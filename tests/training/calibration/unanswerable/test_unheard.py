"""Questions about names that no database holds."""

from __future__ import annotations

import random

from fastsql.training.calibration.unanswerable.unheard import UNHEARD, name_unheard

DRUGS = ("ceftriaxone", "metoprolol succinate", "lisinopril", "atorvastatin", "furosemide", "omeprazole")
ASKED = [(f"Who was given {drug.title()} on the ICU?", [drug, "icu"]) for drug in DRUGS]


def test_a_name_gives_way_to_one_that_nobody_holds() -> None:
    made = name_unheard(ASKED, DRUGS, 5, random.Random(3))
    assert len(made) == 5
    for question in made:
        before, name, after = question.question.partition(question.question[14:-12])
        assert (before, after) == ("Who was given ", " on the ICU?")
        assert 5 <= len(name) <= 24
        assert not any(name in drug for drug in DRUGS)
        assert question.kind == UNHEARD
    assert len({question.group for question in made}) == 5
    assert made == name_unheard(ASKED, DRUGS, 5, random.Random(3))


def test_what_the_database_holds_all_the_same_is_not_invented() -> None:
    (first,) = name_unheard(ASKED, DRUGS, 1, random.Random(3))
    name = first.question[14:-12]
    (other,) = name_unheard(ASKED, DRUGS, 1, random.Random(3), lambda one: one == name)
    assert name not in other.question
    assert name_unheard(ASKED, DRUGS, 1, random.Random(3), lambda _: True) == ()


def test_chinese_names_are_made_of_what_such_names_are_made_of() -> None:
    drugs = (
        "盐酸左氧氟沙星氯化钠注射液",
        "左氧氟沙星片",
        "盐酸氨溴索注射液",
        "氯化钠注射液",
        "注射用头孢曲松钠",
    )
    asked = [(f"谁用过{drug}？", [drug]) for drug in drugs]
    made = name_unheard(asked, drugs, 3, random.Random(0))
    assert made
    assert all(set(one.question) <= set("谁用过？").union(*drugs) for one in made)
    assert not any(one.question[3:-1] in drug for one in made for drug in drugs)


def test_questions_without_a_name_and_names_alone_give_none() -> None:
    assert name_unheard([("How many are there?", [])], DRUGS, 5, random.Random(0)) == ()
    assert name_unheard([("Who had aspirin?", ["aspirin"])], ["aspirin"], 5, random.Random(0)) == ()
