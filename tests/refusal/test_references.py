"""Words that stand for something said before, and those that only look so."""

from __future__ import annotations

import pytest

from fastsql.refusal.references import refers_back


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
