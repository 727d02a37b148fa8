from __future__ import annotations

import pytest

from fastsql.training.variation.time_conditions import cut_time, paste_time, sort_times

from ...worlds.training_ward import FIRST, JULY, SINCE, THIS_YEAR, doses, examples, program

PATIENT = 10_004_235
SQL = [row["sql"] for row in examples() if row["sql"]] + [
    doses(PATIENT, "aspirin", time=JULY),
    doses(PATIENT, "aspirin", FIRST, SINCE),
]


@pytest.mark.parametrize("sql", SQL)
def test_time_conditions_are_in_the_converters_order(sql: str) -> None:
    assert sort_times(program(sql)) == program(sql)


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
