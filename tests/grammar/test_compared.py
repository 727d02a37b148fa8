"""Comparisons are found in programs, and turned."""

from __future__ import annotations

import pytest

from fastsql.grammar import render, sql_to_program
from fastsql.grammar.compared import comparisons

from ..worlds.training_ward import SCHEMA


def turned(condition: str, sign: str) -> list[str]:
    program = sql_to_program(f"SELECT COUNT(*) FROM prescriptions WHERE {condition}", SCHEMA)
    return [render(one.turned(program, sign), SCHEMA).partition(" WHERE ")[2] for one in comparisons(program)]


@pytest.mark.parametrize(
    ("condition", "sign", "found"),
    [
        ("prescriptions.dose > 3", "le", ["prescriptions.dose <= 3"]),
        (
            "STRFTIME('%Y', prescriptions.starttime) = '2100'",
            "ge",
            ["STRFTIME('%Y', prescriptions.starttime) >= '2100'"],
        ),
        (
            "prescriptions.drug = 'a' AND prescriptions.dose > 3",
            "ne",
            [
                "prescriptions.drug <> 'a' AND prescriptions.dose > 3",
                "prescriptions.drug = 'a' AND prescriptions.dose <> 3",
            ],
        ),
        ("NOT prescriptions.dose > 3", "le", []),
        ("prescriptions.dose BETWEEN 3 AND 5", "le", []),
        ("prescriptions.dose IN (3, 5)", "le", []),
        ("prescriptions.dose > prescriptions.hadm_id", "le", []),
        (
            "prescriptions.hadm_id IN (SELECT hadm_id FROM prescriptions GROUP BY hadm_id HAVING SUM(dose) < 9)",
            "ge",
            [
                (
                    "prescriptions.hadm_id IN (SELECT prescriptions.hadm_id FROM prescriptions"
                    " GROUP BY prescriptions.hadm_id HAVING SUM(prescriptions.dose) >= 9)"
                )
            ],
        ),
    ],
)
def test_each_comparison_with_a_literal_is_found_and_can_be_turned(
    condition: str, sign: str, found: list[str]
) -> None:
    assert turned(condition, sign) == found
