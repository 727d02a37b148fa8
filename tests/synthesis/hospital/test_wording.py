"""Words and SQL of one asked say the same."""

from __future__ import annotations

import random
import re

import pytest

from fastsql.evaluation.skeleton import skeleton
from fastsql.grammar import Literal, Production, sql_to_program
from fastsql.schema import Schema
from fastsql.synthesis.hospital.course.change import Change
from fastsql.synthesis.hospital.course.elapsed import Elapsed
from fastsql.synthesis.hospital.drawing import WINDOWS
from fastsql.synthesis.hospital.events.count_visits import CountVisits
from fastsql.synthesis.hospital.events.when import When
from fastsql.synthesis.hospital.family import ask
from fastsql.synthesis.hospital.phrases import visit_phrase, when_phrase, window_phrase
from fastsql.synthesis.hospital.scope import Event, Nth, Scope, Visit, Window
from fastsql.synthesis.hospital.source import draw_question
from fastsql.synthesis.hospital.values import Values, Vocabulary
from fastsql.synthesis.phrases import choose, expand, finish
from fastsql.training.variation.times import find_time_phrases
from fastsql.training.variation.visits import find_visit_phrases

SAMPLES = 6


@pytest.mark.parametrize("kind", WINDOWS)
def test_a_filter_on_time_means_in_words_what_it_means_in_sql(kind: str, schema: Schema) -> None:
    # The reader of time phrases in training knows the data sets' wordings, and nothing of this package.
    for seed in range(SAMPLES):
        rng = random.Random(seed)
        window = Values(Vocabulary.of_demo(), rng).window(kind)
        asked = CountVisits("hospital", Scope(71_021_258, window=window))
        phrases = find_time_phrases(f"Count the visits {window_phrase(window, rng)}.")
        assert len(phrases) == 1
        program = sql_to_program(asked.sql(), schema)
        for production, value, _ in phrases[0].conditions:
            position = program.index(Production(production))
            literal = program[position + 2]
            assert isinstance(literal, Literal)
            assert literal.value == value
        times = {
            "date_eq",
            "date_ge",
            "in_year",
            "in_month",
            "in_day",
            "since_year",
            "since_month",
            "since_day",
        }
        assert sum(isinstance(item, Production) and item.name in times for item in program) == len(
            phrases[0].conditions
        )


@pytest.mark.parametrize("place", ["hospital", "icu"])
@pytest.mark.parametrize("which", ["first", "last", "current"])
def test_a_visit_is_named_as_the_data_sets_name_it(place: str, which: str) -> None:
    for seed in range(SAMPLES):
        phrase = visit_phrase(Visit(place, which), random.Random(seed))
        found = find_visit_phrases(f"What was it {phrase}?")
        assert [one.kind for one in found] == [f"{place}_{which}"]


@pytest.mark.parametrize(
    ("kind", "words", "condition"),
    [
        ("before_month", "before 08/2100", "strftime('%Y-%m',admissions.admittime) < '2100-08'"),
        ("before_day", "before 08/09/2100", "strftime('%Y-%m-%d',admissions.admittime) < '2100-08-09'"),
        (
            "until_month",
            "until 3 months ago",
            "datetime(admissions.admittime) <= datetime(current_time,'-3 month')",
        ),
    ],
)
def test_filters_that_look_backward(kind: str, words: str, condition: str, schema: Schema) -> None:
    window = Window(kind, month=8, day=9, count=3)
    sql = CountVisits("hospital", Scope(71_021_258, window=window)).sql()
    assert window_phrase(window, random.Random(1)) == words
    assert condition in sql
    assert sql_to_program(sql, schema)


def test_the_same_words_never_mean_two_things() -> None:
    # Names and numbers masked. A lab test and a vital sign are told apart by their names alone, and so is what is billed.
    masked: dict[str, set[str]] = {}
    for position in range(1500):
        seed = f"words/{position}"
        asked = draw_question(seed, Values(Vocabulary.of_demo(), random.Random(seed)))
        sql, question = asked.sql(), ask(asked, random.Random(seed))
        for name in sorted(re.findall(r"'([^'%]{3,})'", sql), key=len, reverse=True):
            question = question.replace(name, "NAME")
        question = re.sub(r"\d+", "0", re.sub(r"\b(two|three|four|five|ten)\b", "0", question.lower()))
        if not re.search(r"valuenum|cost\.cost", sql):
            masked.setdefault(question, set()).add(skeleton(sql))
    assert len(masked) > 800
    assert [question for question, skeletons in masked.items() if len(skeletons) > 1] == []


def test_a_scope_without_visit_and_window_says_nothing() -> None:
    assert when_phrase(Scope(71_021_258), random.Random(1)) == ""


def test_alternatives_are_expanded_from_the_inside() -> None:
    assert {expand("[a|[b|c] d]|e", random.Random(seed)) for seed in range(60)} == {"a", "b d", "c d", "e"}


def test_fragments_may_hold_fragments() -> None:
    patterns = """
        <thing> of {x}
        {x}'s <thing>
        """
    made = {
        choose(patterns, random.Random(seed), thing="<size> value", size="high|low") for seed in range(80)
    }
    assert made == {"high value of {x}", "low value of {x}", "{x}'s high value", "{x}'s low value"}


def test_a_filter_in_front_is_followed_by_a_comma_and_a_small_letter() -> None:
    made = {finish("What was it{when}?", "in 2100", random.Random(seed)) for seed in range(60)}
    assert made == {"What was it in 2100?", "In 2100, what was it?"}


def test_what_stands_in_a_name_is_never_read_as_grammar() -> None:
    name = "closed [percutaneous] [needle] biopsy of kidney"
    asked = When(Event("procedure", name), Scope(71_021_258), Nth(False))
    assert all(name in ask(asked, random.Random(seed)) for seed in range(20))


@pytest.mark.parametrize(("last", "word", "wrong"), [(True, "last", "first"), (False, "first", "last")])
def test_first_and_last_are_told_apart(last: bool, word: str, wrong: str) -> None:
    asked = Elapsed(Event("lab", "glucose"), Scope(71_021_258), last, "hour")
    for seed in range(30):
        question = ask(asked, random.Random(seed))
        assert word in question
        assert wrong not in question


@pytest.mark.parametrize("operator", ["<", ">"])
def test_comparisons_are_told_apart(operator: str) -> None:
    asked = Change(Event("lab", "glucose"), Scope(71_021_258), Nth(True), Nth(False), operator)
    words = "less|lower" if operator == "<" else "greater|higher"
    assert all(re.search(rf"\b({words}) than\b", ask(asked, random.Random(seed))) for seed in range(30))


def test_a_question_has_many_wordings() -> None:
    asked = When(Event("lab", "glucose"), Scope(71_021_258), Nth(True))
    assert len({ask(asked, random.Random(seed)) for seed in range(60)}) > 20
