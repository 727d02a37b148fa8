from __future__ import annotations

from fastsql.training.calibration.unanswerable.families import families

QUESTIONS = (
    "Does patient 14035 have an overseas travel history?",
    "What is the travel history overseas of patient 3277?",
    "How many operating rooms are available now?",
    "Tell me how many operating rooms are there now",
    "Which blood type was that?",
)


def test_wordings_of_one_question_are_one_family() -> None:
    travel, same, rooms, more, blood = families(QUESTIONS)
    assert travel == same
    assert rooms == more
    assert len({travel, rooms, blood}) == 3


def test_numbers_make_no_family() -> None:
    one, other = families(["about 14035 weather", "song of 14035"])
    assert one != other


def test_who_is_joined_through_a_third_belongs_together() -> None:
    first, middle, last = families(["red green", "red green blue black", "blue black"], alike=0.6)
    assert first == middle == last


def test_no_questions_have_no_families() -> None:
    assert families([]) == ()
    assert len(set(families(["?", "!"]))) == 2
