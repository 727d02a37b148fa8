"""The roles of CSS, on queries whose parts can be told by eye."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fastsql.explanation.roles import ROLES, query_roles, token_roles, word_roles
from fastsql.grammar import sql_to_program
from fastsql.grammar.program import Literal
from fastsql.linking import find_candidates
from fastsql.linking.prepare import prepare
from fastsql.linking.relations import SchemaLinks
from fastsql.schema import Schema

from ..worlds.toy_model import WORDPIECE

SCHEMA = Schema.from_dict(
    {
        "db_id": "ward",
        "tables": [
            {
                "name": "patients",
                "label": "患者",
                "columns": [
                    {"name": "id", "type": "INTEGER", "primary_key": True},
                    {"name": "gender", "type": "TEXT"},
                    {"name": "age", "type": "INTEGER"},
                ],
            },
            {
                "name": "visits",
                "columns": [
                    {"name": "visit", "type": "INTEGER", "primary_key": True},
                    {"name": "patient", "type": "INTEGER"},
                    {"name": "cost", "type": "REAL"},
                ],
            },
        ],
        "foreign_keys": [["visits.patient", "patients.id"]],
    }
)


def roles(sql: str) -> dict[str, set[str]]:
    found = query_roles(sql_to_program(sql, SCHEMA), SCHEMA)
    named = {SCHEMA.tables[place].name: set(parts) for place, parts in found.tables.items()}
    named |= {SCHEMA.columns[place].name: set(parts) for place, parts in found.columns.items()}
    return named | {f"'{text}'": set(parts) for text, parts in found.literals.items()}


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        (
            "SELECT gender FROM patients WHERE age > 60",
            {"patients": {"FROM"}, "gender": {"SELECT"}, "age": {"WHERE"}, "'60'": {"WHERE"}},
        ),
        (
            "SELECT gender, COUNT(age) FROM patients GROUP BY gender HAVING AVG(age) > 7 ORDER BY MAX(age) DESC LIMIT 3",
            {
                "patients": {"FROM"},
                "gender": {"SELECT", "GROUP"},
                "age": {"SELECT_AGG", "HAVING", "ORDER_AGG"},
                "'7'": {"HAVING"},
                "'3'": {"LIMIT"},
            },
        ),
        (
            "SELECT gender FROM patients JOIN visits ON visits.patient = patients.id ORDER BY cost LIMIT 1",
            {
                "patients": {"FROM"},
                "visits": {"FROM"},
                "gender": {"SELECT"},
                "cost": {"ORDER"},
                "patient": set(),
                "id": set(),
                "'1'": {"LIMIT"},
            },
        ),
        (
            "SELECT gender FROM patients WHERE id IN (SELECT patient FROM visits WHERE cost > 60)",
            {
                "patients": {"FROM"},
                "gender": {"SELECT"},
                "id": {"WHERE"},
                "visits": {"FROM", "WHERE_NEST"},
                "patient": {"SELECT", "WHERE_NEST"},
                "cost": {"WHERE", "WHERE_NEST"},
                "'60'": {"WHERE", "WHERE_NEST"},
            },
        ),
        (
            "SELECT id FROM patients EXCEPT SELECT patient FROM visits",
            {
                "patients": {"FROM"},
                "id": {"SELECT"},
                "visits": {"FROM", "EXCEPT"},
                "patient": {"SELECT", "EXCEPT"},
            },
        ),
        (
            "SELECT id FROM patients UNION SELECT patient FROM visits",
            {
                "patients": {"FROM"},
                "id": {"SELECT"},
                "visits": {"FROM", "UNION"},
                "patient": {"SELECT", "UNION"},
            },
        ),
    ],
)
def test_items_have_the_roles_of_their_clauses(sql: str, expected: dict[str, set[str]]) -> None:
    assert roles(sql) == expected


def test_css_has_sixteen_roles() -> None:
    assert len(ROLES) == len(set(ROLES)) == 16


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        (
            "gender of patients above 60",
            {"gender": {"SELECT"}, "of": {"NONE"}, "patients": {"FROM"}, "above": {"NONE"}, "60": {"WHERE"}},
        ),
        ("患者 gender 60", {"患": {"FROM"}, "者": {"FROM"}, "gender": {"SELECT"}, "60": {"WHERE"}}),
    ],
)
def test_tokens_have_the_roles_of_what_they_name(question: str, expected: dict[str, set[str]]) -> None:
    program = sql_to_program("SELECT gender FROM patients WHERE age > 60", SCHEMA)
    links = SchemaLinks(SCHEMA)
    prepared = prepare(question, links, WORDPIECE, candidates=find_candidates(question, SCHEMA))
    labels = token_roles(query_roles(program, SCHEMA), prepared, SCHEMA)
    found: dict[str, set[str]] = {}
    words = [(question.index(word), question.index(word) + len(word), word) for word in expected]
    for (start, end), row in zip(prepared.offsets.tolist(), labels, strict=True):
        (word,) = (word for first, last, word in words if first <= start and end <= last)
        found.setdefault(word, set()).update(ROLES[number] for number in row.nonzero()[0])
    assert found == expected


def test_neighbours_in_the_same_parts_are_told_as_one() -> None:
    program = sql_to_program("SELECT gender FROM patients WHERE age > 60", SCHEMA)
    question = "患者 gender of 60"
    prepared = prepare(question, SchemaLinks(SCHEMA), WORDPIECE, candidates=find_candidates(question, SCHEMA))
    assert [(one.text, one.roles) for one in word_roles(program, prepared, SCHEMA)] == [
        ("患者", ("FROM",)),
        ("gender", ("SELECT",)),
        ("60", ("WHERE",)),
    ]
    assert all(question[slice(*one.span)] == one.text for one in word_roles(program, prepared, SCHEMA))


def test_words_taken_as_written_have_the_role_of_their_literal() -> None:
    program = tuple(
        replace(one, span=(9, 14)) if isinstance(one, Literal) else one
        for one in sql_to_program("SELECT age FROM patients WHERE gender = 'women'", SCHEMA)
    )
    links = SchemaLinks(SCHEMA)
    for question, expected in (("how many women", [("women", ("WHERE",))]), ("what of they", [])):
        prepared = prepare(question, links, WORDPIECE, candidates=find_candidates(question, SCHEMA))
        told = [(one.text, one.roles) for one in word_roles(program, prepared, SCHEMA)]
        assert told == expected
