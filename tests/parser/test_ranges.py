"""From one date to another is all that lies between."""

from __future__ import annotations

import pytest

from fastsql.grammar import load_grammar, render, sql_to_program
from fastsql.linking.candidates import find_candidates
from fastsql.parser.ranges import with_bounds, with_ranges

from ..worlds.grounded import grounded
from ..worlds.stays_in_time import STAYS

YEAR, MONTH = "STRFTIME('%Y', stays.begun)", "STRFTIME('%Y-%m', stays.begun)"


def asked(condition: str, question: str) -> str:
    candidates = find_candidates(question, STAYS)
    program = grounded(sql_to_program(f"SELECT COUNT(*) FROM stays WHERE {condition}", STAYS), candidates)
    return render(with_ranges(program, question, candidates), STAYS).partition(" WHERE ")[2]


@pytest.mark.parametrize(
    ("found", "question", "low", "high"),
    [
        (f"{MONTH} = '2022-03'", "2022年3-5月的住院", "2022-03", "2022-05"),
        (f"{MONTH} = '2022-05'", "2022年3到5月的住院", "2022-03", "2022-05"),
        (f"{MONTH} >= '2022-03'", "2022年3月至5月的住院", "2022-03", "2022-05"),
        (f"{YEAR} = '2021'", "2021年到2022年的住院", "2021", "2022"),
        (f"{YEAR} <= '2022'", "stays from 2021 to 2022", "2021", "2022"),
        (f"{YEAR} = '2022'", "stays from 2021 through 2022", "2021", "2022"),
    ],
)
def test_one_end_of_a_range_is_both(found: str, question: str, low: str, high: str) -> None:
    time = MONTH if "-" in low else YEAR
    assert asked(found, question) == f"({time} >= '{low}' AND {time} <= '{high}')"


@pytest.mark.parametrize(
    ("found", "question"),
    [
        (f"{YEAR} = '2021'", "2021年和2022年的住院"),
        (f"{YEAR} = '2022'", "2022到2021年的住院"),
        (f"{YEAR} <= '2021'", "2021年到2022年的住院"),
        (f"{YEAR} >= '2022'", "2021年到2022年的住院"),
        (f"({YEAR} >= '2021' AND {YEAR} <= '2022')", "2021年到2022年的住院"),
        (f"{YEAR} <> '2021'", "2021年到2022年以外的住院"),
        (f"NOT {YEAR} = '2021'", "2021年到2022年以外的住院"),
    ],
)
def test_what_is_no_range_or_has_both_ends_stays(found: str, question: str) -> None:
    assert asked(found, question) == asked(found, "")


def bounded(condition: str, question: str) -> str:
    candidates = find_candidates(question, STAYS)
    program = grounded(sql_to_program(f"SELECT COUNT(*) FROM stays WHERE {condition}", STAYS), candidates)
    return render(with_bounds(program, question, candidates, load_grammar()), STAYS).partition(" WHERE ")[2]


@pytest.mark.parametrize(
    ("found", "question", "right"),
    [
        ("days < 40", "住院大于20小于40天的", "(stays.days > 20 AND stays.days < 40)"),
        ("days > 20", "住院超过20天不到40天的", "(stays.days > 20 AND stays.days < 40)"),
        ("days <= 60", "20天以上60天以下的住院", "(stays.days >= 20 AND stays.days <= 60)"),
        ("days = 20", "至少20天且不超过40天的住院", "(stays.days >= 20 AND stays.days <= 40)"),
    ],
)
def test_one_of_two_bounds_is_both(found: str, question: str, right: str) -> None:
    assert bounded(found, question) == right


@pytest.mark.parametrize(
    ("found", "question"),
    [
        ("days > 20", "超过20天的住院，编号大于40的"),
        ("days > 20", "超过20天或者超过40天的"),
        ("(days > 20 AND days < 40)", "大于20小于40天的"),
        ("days > 20", "超过20天的40次住院"),
    ],
)
def test_what_sets_no_two_bounds_stays(found: str, question: str) -> None:
    assert bounded(found, question) == bounded(found, "")
