"""Queries that mean nothing."""

from __future__ import annotations

import pytest

from fastsql.grammar import load_grammar, sql_to_program
from fastsql.parser.senseless import says_nothing
from fastsql.schema import Schema

STAYS = Schema.from_dict(
    {
        "name": "stays",
        "tables": [
            {
                "name": "stays",
                "columns": [
                    {"name": "days", "type": "number"},
                    {"name": "begun", "type": "time"},
                    {"name": "season", "type": "time", "values": ["2017", "2018"]},
                    {"name": "code", "type": "text"},
                ],
            }
        ],
        "foreign_keys": [],
    }
)


@pytest.mark.parametrize(
    ("condition", "nothing"),
    [
        ("begun > '2018'", True),
        ("begun < '2018' AND days > 3", True),
        ("begun BETWEEN '2016' AND '2018'", True),
        ("days IN (SELECT days FROM stays WHERE begun >= '2018')", True),
        ("begun > '2018-01-01'", False),
        ("STRFTIME('%Y', begun) > '2018'", False),
        ("begun LIKE '2018%'", False),
        ("season > '2018'", False),  # its values are years
        ("code = '2018'", False),
        ("days > 2018", False),
        ("days BETWEEN 8 AND 8", True),
        ("begun NOT BETWEEN '2018-01-01' AND '2018-01-01'", True),
        ("days BETWEEN 8 AND 9", False),
        ("code = 'a' AND code = 'b'", True),
        ("code = 'a' AND days > 3 AND code <> 'a'", True),
        ("days IN (SELECT days FROM stays WHERE code = 'a' AND code = 'b')", True),
        ("code = 'a' AND code <> 'b'", False),
        ("code <> 'a' AND code <> 'b'", False),
        ("code = 'a' OR code = 'b'", False),
        ("code = 'a' AND days IN (SELECT days FROM stays WHERE code = 'b')", False),
        ("code = 'a' INTERSECT SELECT COUNT(*) FROM stays WHERE code = 'b'", False),
    ],
)
def test_what_means_nothing_is_told_by_the_query_alone(condition: str, nothing: bool) -> None:
    program = sql_to_program(f"SELECT COUNT(*) FROM stays WHERE {condition}", STAYS)
    assert says_nothing(program, STAYS, load_grammar()) == nothing
