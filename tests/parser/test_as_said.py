"""A query compares as its question plainly says."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path

import pytest

from fastsql.grammar import render, sql_to_program
from fastsql.grammar.program import Literal, Program
from fastsql.parser.as_said import as_said, denied_once
from fastsql.schema import Schema

from ..worlds.toy_bundle import load_toy
from ..worlds.training_ward import SCHEMA

DOSE, DRUG, START = "prescriptions.dose", "prescriptions.drug", "prescriptions.starttime"


def grounded(program: Program, question: str) -> Program:
    """The program with its literals where the question says them, as a search leaves it."""
    return tuple(
        replace(item, span=(place, place + len(str(item.value))))
        if isinstance(item, Literal) and (place := question.find(str(item.value))) >= 0
        else item
        for item in program
    )


def given(question: str, condition: str, schema: Schema = SCHEMA) -> str:
    """The condition that is given for one that was found."""
    program = sql_to_program(f"SELECT COUNT(*) FROM prescriptions WHERE {condition}", schema)
    return render(as_said(grounded(program, question), question), schema).partition(" WHERE ")[2]


@pytest.mark.parametrize(
    ("question", "found", "right"),
    [
        ("doses >= 80", f"{DOSE} > 80", f"{DOSE} >= 80"),
        ("doses of 80 mg or less", f"{DOSE} >= 80", f"{DOSE} <= 80"),
        ("doses not equal to 80", f"{DOSE} <= 80", f"{DOSE} <> 80"),
        ("a dose of no more than 80", f"{DOSE} BETWEEN 80 AND 80", f"{DOSE} <= 80"),
        ("剂量不低于80", f"{DOSE} < 80", f"{DOSE} >= 80"),
        ("begun until 2100-08-03", f"{START} > '2100-08-03'", f"{START} <= '2100-08-03'"),
        (
            "begun no later than 2100",
            f"STRFTIME('%Y', {START}) > '2100'",
            f"STRFTIME('%Y', {START}) <= '2100'",
        ),
        ("of drugs other than aspirin", f"{DRUG} = 'aspirin'", f"{DRUG} <> 'aspirin'"),
        (
            "of neither aspirin nor heparin",
            f"{DRUG} <> 'aspirin' AND {DRUG} = 'heparin'",
            f"{DRUG} <> 'heparin' AND {DRUG} <> 'aspirin'",
        ),
        (
            "above 80 of drugs different from heparin",
            f"{DRUG} = 'heparin' AND {DOSE} < 80",
            f"{DRUG} <> 'heparin' AND {DOSE} > 80",
        ),
    ],
)
def test_a_comparison_is_the_one_that_is_said(question: str, found: str, right: str) -> None:
    assert given(question, found) == right
    assert given(question, right) == right


@pytest.mark.parametrize(
    ("question", "condition"),
    [
        ("doses of 80", f"{DOSE} > 80"),
        ("of aspirin or above 80", f"({DRUG} <> 'aspirin' OR {DOSE} > 80)"),
        ("doses above 80", f"{DOSE} > 90"),  # of another value nothing is said
        ("doses between 20 and 80", f"{DOSE} BETWEEN 20 AND 80"),
        ("Who looks after aspirin?", f"{DRUG} = 'aspirin'"),
        ("not given since 2100", f"STRFTIME('%Y', {START}) < '2100'"),
        (
            "stays without drugs other than aspirin",
            f"prescriptions.hadm_id NOT IN (SELECT prescriptions.hadm_id FROM prescriptions WHERE {DRUG} = 'aspirin')",
        ),
        (
            "stays with drugs other than aspirin",
            f"prescriptions.hadm_id NOT IN (SELECT prescriptions.hadm_id FROM prescriptions WHERE {DRUG} = 'aspirin')",
        ),
    ],
)
def test_what_is_not_said_plainly_stays(question: str, condition: str) -> None:
    assert given(question, condition) == condition


WARD = Schema.from_dict(
    {
        "name": "ward",
        "tables": [
            {
                "name": "orders",
                "columns": [
                    {"name": "approved", "type": "text", "values": ["N", "Y"]},
                    {"name": "sex", "type": "text", "values": ["F", "M"]},
                    {"name": "sex_of_donor", "type": "text", "values": ["F"]},
                    {"name": "shift", "type": "text"},
                    {"name": "gone", "type": "number"},
                    {"name": "balance", "type": "number"},
                ],
            }
        ],
    }
)


@pytest.mark.parametrize(
    ("question", "found", "right"),
    [
        ("not approved", "approved <> 'N'", "approved = 'N'"),
        ("leave out those approved", "approved <> 'N'", "approved = 'N'"),
        ("去掉已批准的", "approved <> 'N'", "approved = 'N'"),
        ("without what is gone", "gone <> 0", "gone = 0"),
        ("not on the early one", "shift <> '否'", "shift = '否'"),
        ("those approved", "approved <> 'N'", "approved <> 'N'"),
        ("not approved", "approved <> 'Y'", "approved <> 'Y'"),
        ("not approved", "approved = 'N'", "approved = 'N'"),
        ("patients who are not female", "sex <> 'F'", "sex <> 'F'"),
        ("not from women", "sex_of_donor <> 'F'", "sex_of_donor <> 'F'"),
        ("not on nights", "shift <> 'N'", "shift <> 'N'"),
        ("not 0", "gone <> 0", "gone <> 0"),
        ("bills that are not settled", "balance <> 0", "balance <> 0"),
    ],
)
def test_what_is_left_out_is_a_no(question: str, found: str, right: str) -> None:
    def condition(text: str) -> Program:
        return sql_to_program(f"SELECT COUNT(*) FROM orders WHERE orders.{text}", WARD)

    assert denied_once(condition(found), question, WARD) == condition(right)


def test_neither_of_two_is_not_the_one_or_not_the_other() -> None:
    found = f"({DRUG} = 'aspirin' OR {DRUG} = 'heparin')"
    right = f"({DRUG} <> 'aspirin' AND {DRUG} <> 'heparin')"
    assert given("of neither aspirin nor heparin", found) == right
    assert given("of neither aspirin nor heparin", right) == right.strip("()")


def test_what_is_multiplied_by_one_and_divided_is_a_fraction() -> None:
    whole = sql_to_program(f"SELECT 1 * COUNT(*) / COUNT(DISTINCT {DRUG}) FROM prescriptions", SCHEMA)
    exact = sql_to_program(f"SELECT 1.0 * COUNT(*) / COUNT(DISTINCT {DRUG}) FROM prescriptions", SCHEMA)
    assert render(as_said(whole, "prescriptions per drug"), SCHEMA) == render(exact, SCHEMA)
    assert "1.0 * COUNT(*)" in render(exact, SCHEMA)
    twice = sql_to_program(f"SELECT 2 * COUNT(*) / COUNT(DISTINCT {DRUG}) FROM prescriptions", SCHEMA)
    assert as_said(twice, "twice the prescriptions per drug") == twice


def test_a_value_that_its_column_offers_is_found_in_the_question() -> None:
    question = "血型不是A型的"
    schema = Schema.from_ddl("CREATE TABLE 住户 (住户编号 INT PRIMARY KEY, 血型 TEXT);")
    program = sql_to_program("SELECT COUNT(*) FROM 住户 WHERE 血型 = 'A型'", schema)
    assert "<> 'A型'" in render(as_said(program, question), schema)
    assert "= 'A型'" in render(as_said(program, "血型不是A型的，或不是A型"), schema)
    assert "= 'A型'" in render(as_said(program, ""), schema)


@pytest.mark.parametrize(("question", "sign"), [("who is not a smoker", "="), ("grades other than A", "<>")])
def test_a_letter_is_found_as_it_is_written(question: str, sign: str) -> None:
    assert given(question, f"{DRUG} = 'A'") == f"{DRUG} {sign} 'A'"


@pytest.mark.parametrize("number", [3, 5])
def test_what_somebody_confirmed_is_given_word_for_word(number: int, toy_bundle: Path) -> None:
    parser = load_toy(toy_bundle)
    parser.remember("prescriptions over 3", "SELECT COUNT(*) FROM prescriptions WHERE dose >= 3", SCHEMA)
    result = parser.parse(f"prescriptions over {number}", SCHEMA)
    assert result.sql is not None
    assert result.sql.endswith(f"WHERE prescriptions.dose >= {number}")


@pytest.mark.parametrize("as_written", [False, True])
def test_queries_stay_as_the_model_writes_them_where_that_is_asked(
    toy_bundle: Path, as_written: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    changed: list[Program] = []

    def other(program: Program, question: str) -> Program:
        changed.append(program)
        return sql_to_program("SELECT COUNT(*) FROM prescriptions", SCHEMA)

    monkeypatch.setattr("fastsql.parser.write.as_said", other)
    parser = pickle.loads(pickle.dumps(load_toy(toy_bundle, as_written=as_written)))
    sql = parser.parse("doses of at least 80", SCHEMA).sql
    assert (sql == "SELECT COUNT(*) FROM prescriptions") != as_written
    assert bool(changed) != as_written
