"""Durations are told in the unit that a question names."""

from __future__ import annotations

import pytest

from fastsql.grammar import render, sql_to_program
from fastsql.parser.durations import in_said_unit

from ..worlds.stays_in_time import STAYS

DAYS = "julianday(ended) - julianday(begun)"
HOURS = f"24 * ({DAYS})"
RENDERED = "(STRFTIME('%J', stays.ended) - STRFTIME('%J', stays.begun))"


def told(value: str, question: str) -> str:
    program = sql_to_program(f"SELECT AVG({value}) FROM stays", STAYS)
    return (
        render(in_said_unit(program, question), STAYS)
        .removeprefix("SELECT AVG(")
        .removesuffix(") FROM stays")
    )


@pytest.mark.parametrize(
    ("found", "question", "factor"),
    [
        (DAYS, "average stay in hours", "24 * "),
        (DAYS, "how many hrs on average?", "24 * "),
        (DAYS, "How many minutes does a stay take?", "60 * (24 * "),
        (HOURS, "average stay in minutes", "60 * (24 * "),
        (HOURS, "mean number of days", ""),
        (DAYS, "mean number of days", ""),
        (HOURS, "average length of stay", "24 * "),
        (DAYS, "average hours of the stays in the last 30 days", "24 * "),
        (DAYS, "average hours of stays two days ago", "24 * "),
        (DAYS, "hours a stay took, on average per day", "24 * "),
        (DAYS, "平均住院多少小时？", "24 * "),
        (DAYS, "每天平均等待几分钟", "60 * (24 * "),
        (HOURS, "平均住院天数", ""),
        (DAYS, "最近30天平均住院小时数", "24 * "),
        (DAYS, "今天平均等了几小时", "24 * "),
        # Several, or none that a duration is told in.
        (DAYS, "average stay in days and hours", ""),
        (HOURS, "stays of the last 3 days", "24 * "),
        (DAYS, "the average of yesterday's stays", ""),
        (DAYS, "the minutest stays", ""),
    ],
)
def test_the_unit_is_the_one_that_is_named(found: str, question: str, factor: str) -> None:
    plain = RENDERED[1:-1] if not factor else RENDERED
    assert told(found, question) == factor + plain + ")" * factor.count("(")


@pytest.mark.parametrize("value", [f"60 * ({DAYS})", f"({DAYS}) / 7", f"({DAYS}) * 1440"])
def test_a_duration_that_the_model_converts_stays_as_it_is(value: str) -> None:
    assert told(value, "average in hours") == told(value, "")


def test_comparisons_are_converted_too() -> None:
    program = sql_to_program(f"SELECT COUNT(*) FROM stays WHERE {DAYS} > 45", STAYS)
    found = render(in_said_unit(program, "How many took longer than 45 minutes?"), STAYS)
    assert found.endswith(f"WHERE (60 * (24 * {RENDERED})) > 45")
