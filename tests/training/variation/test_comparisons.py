"""Comparisons in other words: the question and the program say the same before and after."""

from __future__ import annotations

import random
import re

import pytest

from fastsql.grammar import render
from fastsql.training.variation.comparisons import exchange_comparison

from ...worlds.training_ward import SCHEMA, program

DOSE, START, KEY = "prescriptions.dose", "prescriptions.starttime", "admissions.hadm_id"
AMOUNTS = frozenset(
    number
    for number, column in enumerate(SCHEMA.columns)
    if column.name in ("dose", "starttime", "admittime")
)
SEEDS = 300

SAID = {
    ">": r"is (above|over|(more|greater|higher|larger) than|in excess of) 80|exceeds 80|(is )?> ?80",
    ">=": r"is (at least|(no|not) less than|not (below|under)|(greater|more) than or equal to|a minimum of) 80"
    r"|(is )?(>=|≥) ?80|is 80 (or|and) (more|higher|above|over)",
    "<": r"is (below|under|(less|lower|smaller) than) 80|(is )?< ?80",
    "<=": r"is (at most|(no|not) more than|not (above|over)|up to|less than or equal to|a maximum of) 80|(is )?(<=|≤) ?80"
    r"|does not exceed 80|is 80 (or|and) (less|lower|below|under)",
    "=": r"is (exactly |equal to )?80|equals 80|(is )?= ?80",
    "<>": r"is (not|other than|different (from|than)|not equal to|anything but) 80|isn't 80|differs from 80"
    r"|does not equal 80|(is )?(!=|<>) ?80",
}


def versions(question: str, condition: str, tables: str = "prescriptions") -> dict[str, set[str]]:
    """What many draws make of a question: the ends of the new ones, by the conditions that go with them."""
    query = f"SELECT COUNT(*) FROM {tables} WHERE {condition}"
    found: dict[str, set[str]] = {}
    for seed in range(SEEDS):
        other = exchange_comparison(question, program(query), AMOUNTS, random.Random(seed))
        if other is not None:
            said, asked = other
            found.setdefault(render(asked, SCHEMA).partition(" WHERE ")[2], set()).add(said)
    return found


@pytest.mark.parametrize(
    ("words", "sign"),
    [
        ("is above", ">"),
        ("is no less than", ">="),
        ("is not under", ">="),
        (">=", ">="),
        ("is", "="),
        ("is different from", "<>"),
        ("is less than or equal to", "<="),
        ("is fewer than", "<"),
    ],
)
def test_an_amount_is_compared_in_all_ways_and_in_words_that_say_each(words: str, sign: str) -> None:
    found = versions(f"How many have a dose that {words} 80?", f"{DOSE} {sign} 80")
    assert set(found) == {f"{DOSE} {other} 80" for other in SAID}
    for condition, questions in found.items():
        other = condition.split()[1]
        assert len(questions) > 3
        for question in questions:
            match = re.fullmatch(r"How many have a dose that (.+)\?", question)
            # Behind a symbol there is no verb to take the place of.
            assert match is not None
            said = (
                match[1]
                if words != ">="
                else re.sub(r"^(?!is |exceeds|does|equals|differs|[<>=!≥≤])", "is ", match[1])
            )
            assert re.fullmatch(SAID[other], said), (other, question)


def test_what_follows_an_amount_is_read_and_written() -> None:
    found = versions("Who gets 80 or more?", f"{DOSE} >= 80")
    assert {"Who gets over 80?", "Who gets more than 80?"} <= found[f"{DOSE} > 80"]
    assert {"Who gets 80 or less?", "Who gets at most 80?"} <= found[f"{DOSE} <= 80"]
    assert "Who gets 80 and above?" in found[f"{DOSE} >= 80"]


def test_counts_of_rows_are_compared_too() -> None:
    query = "SELECT drug FROM prescriptions GROUP BY drug HAVING COUNT(*) > 3"
    found = {}
    for seed in range(SEEDS):
        other = exchange_comparison(
            "Which drugs have more than 3 doses?", program(query), (), random.Random(seed)
        )
        assert other is not None
        found[render(other[1], SCHEMA).partition(" HAVING ")[2]] = other[0]
    assert {sign.split()[1] for sign in found} == set(SAID)


@pytest.mark.parametrize(
    ("question", "condition", "other", "said"),
    [
        (
            "How many began after 2100-08-03?",
            f"{START} > '2100-08-03'",
            f"{START} >= '2100-08-03'",
            "since 2100-08-03",
        ),
        (
            "How many began before 2100-08-03?",
            f"{START} < '2100-08-03'",
            f"{START} <= '2100-08-03'",
            "until 2100-08-03",
        ),
        (
            "How many began in 2100?",
            f"STRFTIME('%Y', {START}) = '2100'",
            f"STRFTIME('%Y', {START}) < '2100'",
            "prior to 2100",
        ),
    ],
)
def test_dates_and_years_have_words_of_their_own(
    question: str, condition: str, other: str, said: str
) -> None:
    found = versions(question, condition)
    assert any(one.endswith(f"began {said}?") for one in found[other])
    assert not any(
        re.search(r"above|less|at most|or more|[<>=]", one)
        for questions in found.values()
        for one in questions
    )


def test_a_text_is_equal_or_not() -> None:
    found = versions("How many whose drug is 'aspirin'?", "prescriptions.drug = 'aspirin'")
    assert set(found) == {"prescriptions.drug = 'aspirin'", "prescriptions.drug <> 'aspirin'"}
    assert "How many whose drug differs from 'aspirin'?" in found["prescriptions.drug <> 'aspirin'"]
    assert all("'aspirin'?" in one for questions in found.values() for one in questions)


def test_the_first_word_keeps_its_capital() -> None:
    found = versions("Above 80, how many?", f"{DOSE} > 80")
    assert "At least 80, how many?" in found[f"{DOSE} >= 80"]


def test_a_key_has_no_more_and_less() -> None:
    assert set(versions("Visits whose number is 80", f"{KEY} = 80", "admissions")) == {
        f"{KEY} = 80",
        f"{KEY} <> 80",
    }


def test_a_range_is_said_in_other_words() -> None:
    condition = f"{DOSE} BETWEEN 20 AND 80"
    found = versions("How many doses between 20 and 80?", condition)
    assert set(found) == {condition}
    others = {
        "How many doses from 20 to 80?",
        "How many doses ranging from 20 to 80?",
        "How many doses 20-80?",
    }
    assert others <= found[condition]
    assert versions("How many doses from 20 to 80?", condition) == found


@pytest.mark.parametrize(
    ("question", "condition"),
    [
        ("How many doses above 80?", f"{DOSE} < 80"),  # the query says another one
        ("How many doses above 80 mg of 80?", f"{DOSE} > 80"),  # which of the two is meant?
        ("How many doses above 800?", f"{DOSE} > 80"),
        ("How many doses of 80?", f"{DOSE} = 80"),  # no words that say it
        ("How many heavy ones?", f"{DOSE} > 80"),
        ("How many doses that are not above 80?", f"NOT {DOSE} > 80"),
        ("How many doses above 80?", f"{DOSE} > 80 AND admissions.subject_id = 80"),
        ("For how long was aspirin given?", "prescriptions.drug = 'aspirin'"),  # no condition is said here
        ("In which ward is aspirin?", "prescriptions.drug = 'aspirin'"),
        ("How many began after 08?", f"STRFTIME('%m', {START}) > '08'"),
    ],
)
def test_what_is_not_plain_stays(question: str, condition: str) -> None:
    joined = "prescriptions JOIN admissions ON prescriptions.hadm_id = admissions.hadm_id"
    assert versions(question, condition, joined if "admissions" in condition else "prescriptions") == {}


def test_nothing_is_read_into_an_empty_question() -> None:
    assert versions("", f"{DOSE} > 80") == {}
    assert versions("剂量大于80的有多少？", f"{DOSE} > 80") == {}
