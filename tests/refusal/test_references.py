"""Words that stand for something said before, and those that only look so."""

from __future__ import annotations

import pytest

from fastsql.refusal.references import (
    adds,
    counts_a_part,
    goes_back,
    names_more,
    only_limits,
    points_back,
    refers_back,
)


@pytest.mark.parametrize(
    ("question", "refers"),
    [
        ("How many of those are women?", True),
        ("Their last creatinine", True),
        ("when was he discharged?", True),
        ("Show them by age", True),
        ("其中女性有多少？", True),
        ("他们的年龄", True),
        ("Those patients who were discharged", False),
        ("List those with sepsis", False),
        ("How many patients have pneumonia?", False),
        ("What is the theme of the shelter?", False),
        ("其他药物有哪些？", False),
    ],
)
def test_words_that_refer(question: str, refers: bool) -> None:
    assert refers_back(question, []) is refers


@pytest.mark.parametrize(
    ("question", "named", "refers"),
    [
        ("List patients and their ages", "patients", False),
        ("What is their average age?", "age", True),
        ("What is the average age of those?", "age", True),
        ("病人和他们的年龄", "病人", False),
        ("年龄在60以上的病人，其中女性有多少？", "病人", True),
    ],
)
def test_what_a_question_names_before_may_be_meant_but_not_by_those(
    question: str, named: str, refers: bool
) -> None:
    start = question.index(named)
    assert refers_back(question, [(start, start + len(named))]) is refers


@pytest.mark.parametrize(
    "question",
    [
        *(
            "or Spanish",
            "the good ones too",
            "and S, too",
            "grade 5 as well?",
            "Also those in Bern",
            "plus the men",
            "daily checks too, please",
        ),
        *("还有内科的", "或外科", "女性也要", "把二级的也算上"),
    ],
)
def test_a_turn_may_ask_for_something_beside(question: str) -> None:
    assert adds(question)


@pytest.mark.parametrize(
    "question",
    [
        *("Spanish instead", "only the men too", "too many of them", "how many speak Polish or Spanish"),
        *("and the women?", "not those in Bern as well", "只要女性", "换成外科"),
    ],
)
def test_a_turn_that_asks_for_something_else_asks_for_nothing_beside(question: str) -> None:
    assert not adds(question)


@pytest.mark.parametrize(
    ("question", "limits"),
    [
        ("only the pharmacists", True),
        ("and over 300 euros?", True),
        ("per supplier", True),
        ("only sessions of 30 minutes or more", True),
        ("no, the men", True),
        ("only for those who went home", True),
        ("Under 20.", True),
        ("只要女性", True),
        ("那按科室", True),
        ("除了外科", True),
        ("only list those who were admitted", False),
        ("for which wards?", False),
        ("by whom, and how often?", False),
        ("In the emergency department of the main building on weekdays", False),
        ("patients over 60", False),
        ("按科室统计人数有多少", False),
        ("从哪个科室", False),
        ("", False),
    ],
)
def test_short_limits_ask_for_nothing_by_themselves(question: str, limits: bool) -> None:
    assert only_limits(question) is limits


@pytest.mark.parametrize(
    ("question", "goes"),
    [
        ("everyone again, but above 38", True),
        ("regardless of age, but women", True),
        ("and over all years?", True),
        ("不管年龄，只要女性", True),
        ("only the women", False),
        ("and in 2021?", False),
        ("只要女性", False),
    ],
)
def test_some_turns_take_back_what_was_asked_for_since(question: str, goes: bool) -> None:
    assert goes_back(question) is goes


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("with phone numbers", True),
        ("their pagers too", True),
        ("and what do they earn", True),
        ("dates of death", True),
        ("还有电话", True),
        ("电话号码", True),
        ("what are their phone numbers?", False),
        ("their phone numbers instead", False),
        ("with the numbers of all who were called by a nurse last year", False),
        ("电话是什么", False),
    ],
)
def test_short_turns_that_name_more_ask_for_nothing_else(question: str, names: bool) -> None:
    assert names_more(question) is names


@pytest.mark.parametrize(
    ("question", "counts"),
    [
        ("How many of them died?", True),
        ("and how many of those are women", True),
        ("其中有多少女性？", True),
        ("那其中几个死亡", True),
        ("How many of them per ward?", False),
        ("How many beds do they have?", False),
        ("How many patients of those wards died?", False),
        ("其中各科有多少？", False),
        ("每天有几例？", False),
    ],
)
def test_a_part_of_what_was_asked_for_is_counted(question: str, counts: bool) -> None:
    assert counts_a_part(question) is counts


@pytest.mark.parametrize(
    ("question", "points"),
    [
        ("How many bookings do we have of those?", True),
        ("how many calls did she take", True),
        ("What relatives has he named?", True),
        ("and when was he admitted", True),
        ("Which patients died, and when were they admitted?", False),
        ("When did the patient leave and how old was she?", False),
        ("What is their average age?", False),
        ("Which doctors know her?", False),
        ("How many patients were admitted?", False),
        ("What dose did they give to patient 5?", False),
    ],
)
def test_the_subject_of_a_question_is_nobody_whom_it_names(question: str, points: bool) -> None:
    assert points_back(question) is points
