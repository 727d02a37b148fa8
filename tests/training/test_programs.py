from __future__ import annotations

import json

import pytest

from fastsql.grammar import Literal
from fastsql.training.corpus.programs import (
    cut_time,
    dump_program,
    exchange_literals,
    literal_values,
    mask,
    parse_program,
    paste_time,
    sort_times,
)

from .ward import FIRST, JULY, SINCE, THIS_YEAR, doses, examples, program

PATIENT = 10_004_235
SQL = [row["sql"] for row in examples() if row["sql"]] + [
    doses(PATIENT, "aspirin", time=JULY),
    doses(PATIENT, "aspirin", FIRST, SINCE),
]


@pytest.mark.parametrize("sql", SQL[:6] + SQL[-2:])
def test_a_program_survives_a_file(sql: str) -> None:
    assert parse_program(dump_program(program(sql))) == program(sql)


@pytest.mark.parametrize("text", ["[[]]", '[["@table", "x"]]', "[[1, 2]]", "[["])
def test_other_text_is_no_program(text: str) -> None:
    with pytest.raises(ValueError, match=r"terminal|JSON|Expecting"):
        parse_program(text)


@pytest.mark.parametrize("sql", SQL)
def test_time_conditions_are_in_the_converters_order(sql: str) -> None:
    assert sort_times(program(sql)) == program(sql)


def test_literals_are_exchanged_everywhere() -> None:
    old = program(doses(PATIENT, "aspirin"))
    new = exchange_literals(old, {PATIENT: 7, "aspirin": "heparin"})
    assert new == program(doses(7, "heparin"))
    assert literal_values(new) == {7, "heparin"}


def test_a_template_has_no_literals() -> None:
    assert mask(program(doses(PATIENT, "aspirin"))) == mask(program(doses(7, "heparin")))
    assert mask(program(doses(7, "heparin"))) != mask(program(doses(7, "heparin", time=SINCE)))
    assert Literal("") in mask(program(doses(7, "heparin")))


def test_one_time_filter_takes_the_place_of_another() -> None:
    since, july = (("date_ge", "2100-08", "%Y-%m"),), (("date_eq", "07", "%m"), ("in_year", 0, ""))
    cut = cut_time(program(doses(PATIENT, "aspirin", time=SINCE)), since)
    assert cut is not None
    bare, places = cut
    assert bare == program(doses(PATIENT, "aspirin"))
    assert paste_time(bare, places, july) == program(doses(PATIENT, "aspirin", time=JULY))
    assert cut_time(program(doses(PATIENT, "aspirin", time=JULY)), july) == cut


def test_a_filter_that_the_program_lacks_is_not_cut() -> None:
    assert (
        cut_time(program(doses(PATIENT, "aspirin", time=SINCE)), (("date_ge", "2100-09", "%Y-%m"),)) is None
    )


def test_operators_with_fixed_operands_are_left_alone() -> None:
    sql = f"SELECT COUNT(*) FROM prescriptions WHERE drug = 'a' OR (dose = 3{THIS_YEAR})"
    assert cut_time(program(sql), (("in_year", 0, ""),)) is None


def test_dumped_programs_are_one_line_of_json() -> None:
    text = dump_program(program(SQL[0]))
    assert "\n" not in text
    assert isinstance(json.loads(text), list)
