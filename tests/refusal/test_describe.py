"""A query in words says what the SQL asks for, in each language, and nothing where it cannot."""

from __future__ import annotations

import pytest

from fastsql.grammar import sql_to_program
from fastsql.grammar.program import Production
from fastsql.refusal.describe import describe
from fastsql.refusal.phrases import PHRASES
from fastsql.refusal.texts import CHINESE, ENGLISH

from ..worlds.ward import ward_schema

SCHEMA = ward_schema()
CASES = {
    "SELECT COUNT(*) FROM patients": "how many patients",
    "SELECT COUNT(DISTINCT subject_id) FROM admissions WHERE age > 60": "how many different subject id of admissions"
    " where age is above 60",
    "SELECT COUNT(*) > 0 FROM prescriptions WHERE drug = 'warfarin'": "whether there are prescriptions where drug is"
    " 'warfarin'",
    "SELECT drug FROM prescriptions WHERE hadm_id IN (SELECT hadm_id FROM admissions WHERE subject_id = 7)": "drug of"
    " prescriptions where subject id of admissions is 7",
    "SELECT drug FROM prescriptions WHERE row_id IN (SELECT hadm_id FROM admissions)": "drug of prescriptions where"
    " row id is among (hadm id of admissions)",
    "SELECT gender, COUNT(*) FROM patients GROUP BY gender ORDER BY COUNT(*) DESC LIMIT 1": "gender, how many of patients"
    " for each gender, by how many (highest first), only the first",
    "SELECT AVG(age) FROM admissions JOIN patients ON admissions.subject_id = patients.subject_id"
    " WHERE gender = 'f' OR gender = 'm'": "the average age of admissions of admissions with patients where (gender of"
    " patients is 'f' or gender of patients is 'm')",
    "SELECT age FROM admissions JOIN patients ON admissions.hadm_id = patients.subject_id": "age of admissions of"
    " admissions with patients where hadm id of admissions is subject id of patients",
    "SELECT drug FROM prescriptions WHERE drug NOT IN ('a', 'b') AND starttime IS NOT NULL": "drug of prescriptions where"
    " drug is not 'a' or 'b' and starttime is not missing",
    "SELECT MAX(age) - MIN(age) FROM admissions": "the highest age minus the lowest age of admissions",
    "SELECT gender FROM patients UNION SELECT drug FROM prescriptions": "(gender of patients) together with (drug of"
    " prescriptions)",
    "SELECT subject_id FROM admissions WHERE DATETIME(admittime) >= DATETIME('now', '-1 year')": "subject id of admissions"
    " where admittime is no earlier than 1 year ago",
    "SELECT subject_id FROM admissions WHERE DATETIME(admittime) >= DATETIME('now', '-3 year')": "subject id of admissions"
    " where admittime is no earlier than 3 years ago",
    "SELECT gender FROM patients WHERE NOT EXISTS (SELECT 1 FROM admissions WHERE subject_id = patients.subject_id)": ""
    "gender of patients where subject id is not among (subject id of admissions)",
    "SELECT SUM(age) OVER (PARTITION BY subject_id) FROM admissions": "the sum of age over all rows"
    " within each subject id of admissions",
    "SELECT age - LAG(age) OVER (ORDER BY admittime) FROM admissions": "age minus age of the row before by admittime (lowest"
    " first) of admissions",
    "SELECT COALESCE(age, 0) FROM admissions WHERE admittime >= DATE('now', 'start of month')": "age, or where that is"
    " missing 0 of admissions where admittime is at least the beginning of this month",
    "SELECT age FROM admissions ORDER BY age DESC NULLS FIRST": "age of admissions, by age (highest first, missing before)",
}


@pytest.mark.parametrize(("sql", "told"), CASES.items())
def test_a_query_is_told_in_english(sql: str, told: str) -> None:
    assert describe(sql_to_program(sql, SCHEMA), SCHEMA, ENGLISH) == told


def test_a_query_is_told_in_chinese() -> None:
    program = sql_to_program("SELECT COUNT(*) FROM admissions WHERE age > 60", SCHEMA)
    assert describe(program, SCHEMA, CHINESE) == "admissions的数量，条件是age高于60"


@pytest.mark.parametrize("language", [ENGLISH, CHINESE])
@pytest.mark.parametrize("sql", CASES)
def test_every_language_tells_every_query(sql: str, language: str) -> None:
    assert describe(sql_to_program(sql, SCHEMA), SCHEMA, language)


def test_what_has_no_phrase_or_is_too_long_is_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    program = sql_to_program("SELECT AVG(age) FROM admissions", SCHEMA)
    assert Production("avg") in program
    monkeypatch.delitem(PHRASES[ENGLISH], "avg")
    assert describe(program, SCHEMA, ENGLISH) is None
    many = " AND ".join(f"drug <> 'number {number}'" for number in range(40))
    assert (
        describe(sql_to_program(f"SELECT drug FROM prescriptions WHERE {many}", SCHEMA), SCHEMA, ENGLISH)
        is None
    )
