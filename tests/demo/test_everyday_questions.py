"""What anybody would ask a hospital first, and whether the bundled model answers it, at its usual penalty.

Those marked are refused, or would be answered wrongly. The marks are strict: who makes a model that answers one takes its
mark away.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from fastsql import Parser, Schema, ValueDictionary
from fastsql.demo import NOW
from fastsql.execution import Executor, Rows, open_executor
from fastsql.parser import DEFAULT_PENALTY

ANSWERED = {
    "How many patients were prescribed warfarin?": """
        SELECT COUNT(DISTINCT subject_id) FROM prescriptions WHERE drug = 'warfarin'""",
    "What are the five most common diagnoses?": """
        SELECT long_title FROM d_icd_diagnoses WHERE icd_code IN (SELECT icd_code FROM (
            SELECT icd_code, DENSE_RANK() OVER (ORDER BY COUNT(*) DESC) AS place FROM diagnoses_icd GROUP BY icd_code
        ) AS ranked WHERE place <= 5)""",
    "What is the gender of patient 71021258?": "SELECT gender FROM patients WHERE subject_id = 71021258",
    "When did patient 71021258 last have a creatinine test?": """
        SELECT MAX(charttime) FROM labevents WHERE subject_id = 71021258
        AND itemid IN (SELECT itemid FROM d_labitems WHERE label = 'creatinine')""",
    "What is the average age of patients?": "SELECT AVG(age) FROM admissions",
    "How many patients were discharged today?": f"""
        SELECT COUNT(DISTINCT subject_id) FROM admissions
        WHERE STRFTIME('%Y-%m-%d', dischtime) = STRFTIME('%Y-%m-%d', '{NOW}')""",
    "How many admissions were there in 2100?": """
        SELECT COUNT(*) FROM admissions WHERE STRFTIME('%Y', admittime) = '2100'""",
    "Which drugs were prescribed to patient 71021258?": """
        SELECT DISTINCT drug FROM prescriptions WHERE subject_id = 71021258""",
    "How many lab tests were done yesterday?": f"""
        SELECT COUNT(*) FROM labevents
        WHERE STRFTIME('%Y-%m-%d', charttime) = STRFTIME('%Y-%m-%d', '{NOW}', '-1 day')""",
    "How many patients have diabetes?": """
        SELECT COUNT(DISTINCT subject_id) FROM diagnoses_icd
        WHERE icd_code IN (SELECT icd_code FROM d_icd_diagnoses WHERE long_title LIKE '%diabetes%')""",
    "How many patients are still in the hospital?": """
        SELECT COUNT(DISTINCT subject_id) FROM admissions WHERE dischtime IS NULL""",
    "How many male patients are there?": "SELECT COUNT(*) FROM patients WHERE gender = 'm'",
    "How many women are there?": "SELECT COUNT(*) FROM patients WHERE gender = 'f'",
    "How many patients are older than 60?": "SELECT COUNT(DISTINCT subject_id) FROM admissions WHERE age > 60",
    "How many women were admitted?": """
        SELECT COUNT(DISTINCT subject_id) FROM admissions
        WHERE subject_id IN (SELECT subject_id FROM patients WHERE gender = 'f')""",
}
NOT_ANSWERED = {
    "What was the last creatinine of patient 71021258?": """
        SELECT valuenum FROM labevents WHERE subject_id = 71021258
        AND itemid IN (SELECT itemid FROM d_labitems WHERE label = 'creatinine')
        ORDER BY charttime DESC LIMIT 1""",
    "How many patients are there?": "SELECT COUNT(*) FROM patients",
    "What is the most common diagnosis?": """
        SELECT long_title FROM d_icd_diagnoses WHERE icd_code IN (SELECT icd_code FROM (
            SELECT icd_code, DENSE_RANK() OVER (ORDER BY COUNT(*) DESC) AS place FROM diagnoses_icd GROUP BY icd_code
        ) AS ranked WHERE place = 1)""",
    "How many patients died?": "SELECT COUNT(*) FROM patients WHERE dod IS NOT NULL",
    "How many patients are in the ICU?": "SELECT COUNT(DISTINCT subject_id) FROM icustays WHERE outtime IS NULL",
    "What is the route of administration of ceftriaxone?": """
        SELECT DISTINCT route FROM prescriptions WHERE drug = 'ceftriaxone'""",
    "How old is patient 71021258?": "SELECT MAX(age) FROM admissions WHERE subject_id = 71021258",
}
CASES = [
    *(pytest.param(question, sql, id=question) for question, sql in ANSWERED.items()),
    *(
        pytest.param(question, sql, id=question, marks=pytest.mark.xfail(strict=True, raises=AssertionError))
        for question, sql in NOT_ANSWERED.items()
    ),
]


@pytest.fixture(scope="module")
def schema(demo_hospital: Path) -> Schema:
    return Schema.from_sqlite(demo_hospital, max_values=12)


@pytest.fixture(scope="module")
def values(demo_hospital: Path, schema: Schema) -> ValueDictionary:
    return ValueDictionary.from_database(demo_hospital, schema)


@pytest.fixture(scope="module")
def executor(demo_hospital: Path, schema: Schema) -> Iterator[Executor]:
    executor = open_executor(demo_hospital, schema=schema)
    yield executor
    executor.close()


def comparable(rows: Rows) -> set[tuple[object, ...]]:
    """Rows without regard to their order, numbers to three decimals."""
    return {tuple(round(cell, 3) if isinstance(cell, float) else cell for cell in row) for row in rows.rows}


def test_the_readme_tells_how_many_are_answered() -> None:
    told = f"has {len(CASES)}, of which it answers {len(ANSWERED)}"
    assert told in (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")


def test_every_right_answer_says_something(executor: Executor) -> None:
    for question, sql in (ANSWERED | NOT_ANSWERED).items():
        assert executor.run(sql).rows not in ((), ((None,),)), question


@pytest.mark.parametrize(("question", "sql"), CASES)
def test_an_everyday_question_is_answered_rightly(
    ehr_en: Parser, executor: Executor, schema: Schema, values: ValueDictionary, question: str, sql: str
) -> None:
    answer = ehr_en.ask(question, schema, executor=executor, values=values, now=NOW, penalty=DEFAULT_PENALTY)
    assert answer.rows is not None, answer.reason
    assert comparable(answer.rows) == comparable(executor.run(sql))


@pytest.mark.parametrize(
    "question",
    [
        "How many surgeons are there?",
        "What does a nurse earn?",
        "What is the average age of nurses?",
        pytest.param(
            "What is the average age of visitors?",
            marks=pytest.mark.xfail(strict=True, reason="it gives the average age of patients"),
        ),
    ],
)
def test_an_everyday_question_of_whom_the_hospital_does_not_keep_is_refused(
    ehr_en: Parser, schema: Schema, values: ValueDictionary, question: str
) -> None:
    assert ehr_en.parse(question, schema, values=values, now=NOW, penalty=DEFAULT_PENALTY).abstained
