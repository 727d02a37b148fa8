"""What a question lists as alternatives is all asked for."""

from __future__ import annotations

import pytest

from fastsql.grammar import render, sql_to_program
from fastsql.linking.candidates import find_candidates
from fastsql.parser.alternatives import with_alternatives
from fastsql.schema import Schema

from ..worlds.grounded import grounded

TOWNS = ["Bern", "Chur", "Basel", "Davos"]
SCHEMA = Schema.from_dict(
    {
        "name": "stays",
        "tables": [
            {
                "name": "stays",
                "columns": [
                    {"name": "begun", "type": "time"},
                    {"name": "ended", "type": "time"},
                    {"name": "town", "type": "text", "values": TOWNS},
                    {"name": "born_in", "type": "text", "values": TOWNS},
                    {"name": "grade", "type": "number"},
                ],
            }
        ],
        "foreign_keys": [],
    }
)
IN_2021, IN_2022 = (f"STRFTIME('%Y', stays.begun) = '{year}'" for year in (2021, 2022))
BOTH = f"({IN_2021} OR {IN_2022})"
BERN_OR_CHUR = "(stays.town = 'Bern' OR stays.town = 'Chur')"


def asked(condition: str, question: str) -> str:
    candidates = find_candidates(question, SCHEMA, None)
    program = grounded(sql_to_program(f"SELECT COUNT(*) FROM stays WHERE {condition}", SCHEMA), candidates)
    return render(with_alternatives(program, question, candidates), SCHEMA).partition(" WHERE ")[2]


@pytest.mark.parametrize(
    ("found", "question", "right"),
    [
        (IN_2022, "How many stays began in 2021 or 2022?", BOTH),
        (IN_2021, "How many stays began in 2021 or in 2022?", BOTH),
        ("strftime('%Y', begun) >= '2022'", "stays in 2021 and 2022", BOTH),
        (IN_2022, "2021 and 2022: number of stays", BOTH),
        (IN_2022, "2021年和2022年有多少次住院？", BOTH),
        (
            f"grade > 3 AND {IN_2021}",
            "stays in 2021 or 2022 with a grade above 3",
            f"stays.grade > 3 AND {BOTH}",
        ),
        (
            "strftime('%Y-%m', begun) = '2022-04'",
            "stays in March or April 2022",
            "(STRFTIME('%Y-%m', stays.begun) = '2022-03' OR STRFTIME('%Y-%m', stays.begun) = '2022-04')",
        ),
        ("town IN ('Bern', 'Basel')", "from Bern, Chur or Basel", "stays.town IN ('Bern', 'Chur', 'Basel')"),
        (
            "town IN ('Bern', 'Basel')",
            "from Bern, Chur, and Basel",
            "stays.town IN ('Bern', 'Chur', 'Basel')",
        ),
        ("town = 'Chur'", "from Bern or Chur", BERN_OR_CHUR),
        ("town = 'Chur'", "住在Bern或者Chur的", BERN_OR_CHUR),
        ("grade = 3", "stays with grade 2 or 3", "(stays.grade = 2 OR stays.grade = 3)"),
    ],
)
def test_all_of_them_are_taken(found: str, question: str, right: str) -> None:
    assert asked(found, question) == right


@pytest.mark.parametrize(
    ("found", "question"),
    [
        # A range is no list, and two times may belong to two things.
        (IN_2022, "stays between 2021 and 2022"),
        (IN_2022, "介于2021年和2022年之间的住院"),
        ("strftime('%Y', begun) > '2021'", "stays after 2021 or 2022"),
        (
            "strftime('%Y', begun) = '2021' AND strftime('%Y', ended) = '2022'",
            "begun in 2021 and ended in 2022",
        ),
        ("strftime('%Y', begun) = '2021' AND strftime('%Y', ended) = '2022'", "stays in 2021 or 2022"),
        # One value for both: whoever has one cannot have the other, or has both in other rows.
        ("town = 'Chur'", "those of Bern and Chur"),
        ("town = 'Chur' AND born_in = 'Bern'", "from Chur or born in Bern"),
        ("town = 'Chur' AND born_in = 'Bern'", "from Chur or Bern"),
        ("NOT town = 'Chur'", "neither from Bern or Chur"),
        ("town <> 'Chur'", "not from Bern or Chur"),
        ("grade > 3", "above 2 or 3"),
        ("town = 'Davos'", "from Bern or Chur"),
        ("town = 'Chur'", "from Chur"),
        ("town IN ('Bern', 'Chur')", "from Bern or Chur"),
    ],
)
def test_what_is_no_list_of_alternatives_stays(found: str, question: str) -> None:
    assert asked(found, question) == asked(found, "")


def test_a_share_counts_all_of_them() -> None:
    question = "What percentage is from Bern or Chur?"
    candidates = find_candidates(question, SCHEMA, None)
    share = "SELECT 100.0 * SUM(CASE WHEN town = 'Chur' THEN 1 ELSE 0 END) / COUNT(*) FROM stays"
    program = grounded(sql_to_program(share, SCHEMA), candidates)
    found = render(with_alternatives(program, question, candidates), SCHEMA)
    assert f"CASE WHEN {BERN_OR_CHUR} THEN 1 ELSE 0 END" in found
