"""Written questions are read from text, and those of the package fit their designs."""

from __future__ import annotations

import pytest

from fastsql.synthesis.designs import DesignError, as_designed, designs
from fastsql.synthesis.designs.carry import FLAGS, Origin
from fastsql.synthesis.designs.written import Asked, read_written, written_over

TEXT = """\
# about beds
How many beds?
    SELECT SUM(beds) FROM ward
+ only upstairs
    SELECT SUM(beds) FROM ward WHERE floor > 0
- Which bed is the softest?
Who is head nurse?

    SELECT head FROM ward
"""
WITH_QUESTIONS = [
    (language, design.name)
    for language in ("en", "zh")
    for design in designs(language)
    if written_over(design.name, language).single
]


def test_questions_stand_alone_go_on_or_have_no_answer() -> None:
    found = read_written("beds", TEXT)
    assert found.single == (Asked("Who is head nurse?", "SELECT head FROM ward"),)
    assert [[one.question for one in talk] for talk in found.talks] == [["How many beds?", "only upstairs"]]
    assert found.unanswerable == ("Which bed is the softest?",)


@pytest.mark.parametrize(
    ("text", "what", "line"),
    [
        ("    SELECT 1", "before any question", 1),
        ("Who?\nWhen?\n    SELECT 1", "has no SQL", 1),
        ("\n+ and?\n    SELECT 1", "begins with", 2),
        ("- Why?\n    SELECT 1", "without an answer has SQL", 1),
        ("Who?\n    SELECT 1\nWhen?", "has no SQL", 3),
    ],
)
def test_what_is_wrong_is_told_by_its_line(text: str, what: str, line: int) -> None:
    with pytest.raises(DesignError, match=what) as error:
        read_written("beds", text)
    assert error.value.where == f"beds.questions, line {line}"


def test_a_design_that_nobody_wrote_about_has_no_questions() -> None:
    assert not written_over("no such design", "en").single


@pytest.mark.parametrize(("language", "name"), WITH_QUESTIONS)
def test_every_query_of_the_package_can_be_written_over_its_design(language: str, name: str) -> None:
    (design,) = (one for one in designs(language) if one.name == name)
    origin, written = Origin(design), written_over(name, language)
    for asked in (*written.single, *(turn for talk in written.talks for turn in talk)):
        assert origin.columns(origin.tree(asked.sql)) or "COUNT(*)" in asked.sql


@pytest.mark.parametrize(("language", "name"), WITH_QUESTIONS)
def test_no_question_of_the_package_stands_there_twice(language: str, name: str) -> None:
    asked = [one.question.casefold() for one in written_over(name, language).single]
    assert len(set(asked)) == len(asked)


def test_flags_are_zero_and_one_where_questions_are_written() -> None:
    assert all(as_designed(design, flags=FLAGS).flags == (0, 1) for design in designs())
