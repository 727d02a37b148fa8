"""The verifier lets through what is one SELECT on the schema, and nothing else."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from fastsql.datasets import read_examples, read_schemas
from fastsql.errors import DialectError, VerificationError
from fastsql.evaluation import normalise_sql
from fastsql.execution import verify
from fastsql.limits import Limits
from fastsql.verification.verify import SQL_CHARACTERS, parenthesis_depth

from ..worlds.ward import ward_schema

SCHEMA = ward_schema()
GOOD = [
    "SELECT COUNT(*) FROM patients",
    "SELECT patients.gender FROM patients WHERE patients.subject_id = 1;",
    "SELECT PATIENTS.Gender FROM Patients",
    "SELECT p.gender FROM patients AS p JOIN admissions AS a ON p.subject_id = a.subject_id WHERE a.age > 60",
    "SELECT p.* FROM patients AS p",
    "SELECT gender, COUNT(*) AS n FROM patients GROUP BY gender HAVING COUNT(*) > 1 ORDER BY n DESC LIMIT 3",
    "SELECT t.c1 FROM (SELECT admissions.age AS c1 FROM admissions) AS t WHERE t.c1 > 3",
    "SELECT t.age FROM (SELECT * FROM admissions) AS t",
    "SELECT p.gender FROM patients AS p WHERE EXISTS (SELECT 1 FROM admissions AS a WHERE a.subject_id = p.subject_id)",
    "SELECT a.age FROM admissions AS a WHERE a.age > (SELECT AVG(b.age) FROM admissions AS b WHERE b.age <> a.age)",
    "SELECT subject_id FROM patients UNION SELECT subject_id FROM admissions ORDER BY subject_id",
    "WITH old AS (SELECT age FROM admissions) SELECT old.age FROM old",
    "WITH old(years) AS (SELECT age FROM admissions) SELECT old.years FROM old",
    "SELECT DENSE_RANK() OVER (PARTITION BY p.gender ORDER BY p.name) FROM patients AS p",
    "SELECT gender FROM patients JOIN admissions USING (subject_id)",
    'SELECT "病房"."order" FROM "病房" WHERE "病房"."编号" = 3',
    "SELECT strftime('%Y', admissions.admittime) FROM admissions WHERE admissions.ward = 'a ( b'",
    "SELECT 1 > 0",
]
BAD = {
    "SELECT x.gender FROM patients": "no source in scope",
    "SELECT patients.age FROM patients": "no source in scope",
    'SELECT patients.gender FROM patients WHERE patients.gender = "female"': "no source in scope",
    "SELECT gender FROM nurses": "not in the schema",
    "SELECT gender FROM main.patients": "not in the schema",
    "SELECT subject_id FROM patients, admissions": "several sources",
    "SELECT 1 FROM patients, patients": "one name",
    "SELECT t.age FROM (SELECT admissions.age AS c1 FROM admissions) AS t": "no source in scope",
    "SELECT t.x FROM (SELECT p.name AS x FROM admissions) AS t, patients AS p": "no source in scope",
    "SELECT x.* FROM patients": "star",
    "SELECT gender FROM patients JOIN admissions USING (age)": "USING",
    "SELECT subject_id, gender FROM patients UNION SELECT subject_id FROM admissions": "2 and 1 columns",
    "SELECT subject_id FROM patients UNION SELECT subject_id FROM admissions ORDER BY age": "sort key",
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n": "recursive",
    "SELECT * FROM pragma_table_info('patients')": "function",
    "SELECT name FROM sqlite_master": "system table",
    "SELECT load_extension('x')": "function",
    "SELECT no_such_function(1)": "function",
    "SELECT patients.gender FROM patients WHERE COUNT(*) > 1": "cannot prepare",
    "SELECT 1; SELECT 2": "2 statements",
    "": "0 statements",
    "DELETE FROM patients": "not a SELECT",
    "DROP TABLE patients": "not a SELECT",
    "PRAGMA table_info(patients)": "not a SELECT",
    "ATTACH DATABASE 'x' AS y": "not a SELECT",
    "EXPLAIN SELECT 1": "not a SELECT|does not parse",
    "SELECT ? FROM patients": "does not use",
    "SELECT FROM WHERE": "does not parse|cannot prepare",
    "SELECT 'open": "does not use",
    "(SELECT 1)": "cannot prepare",
}


@pytest.mark.parametrize("sql", GOOD)
def test_valid_sql_passes(sql: str) -> None:
    verify(sql, SCHEMA)


@pytest.mark.parametrize("sql", BAD)
def test_bad_sql_is_refused_with_the_reason(sql: str) -> None:
    with pytest.raises(VerificationError, match=BAD[sql]):
        verify(sql, SCHEMA)


def test_no_refusal_repeats_a_value_of_the_sql() -> None:
    for sql in (
        'SELECT 1 FROM patients WHERE gender = "Jane Roe"',
        "SELECT 'Jane Roe",
        "SELECT Jane_Roe('Jane Roe')",
    ):
        with pytest.raises(VerificationError) as caught:
            verify(sql, SCHEMA)
        assert "Jane" not in str(caught.value)


def nested(depth: int) -> str:
    return f"SELECT {'(' * depth}1{')' * depth}"


def test_parentheses_are_bounded_before_anything_recursive_reads_them() -> None:
    limits = Limits(sql_depth=40)
    verify(nested(40), SCHEMA, limits=limits)
    with pytest.raises(VerificationError, match="nests 41 parentheses, more than 40"):
        verify(nested(41), SCHEMA, limits=limits)
    with pytest.raises(VerificationError, match=r"nests 50000 parentheses"):
        verify(nested(50_000), SCHEMA)


def subqueries(depth: int) -> str:
    sql = "SELECT patients.subject_id FROM patients"
    for _ in range(depth):
        sql = f"SELECT patients.subject_id FROM patients WHERE patients.subject_id IN ({sql})"
    return sql


def test_nested_subqueries_pass() -> None:
    # SQLite's parser has a stack of 100 entries, which is where builds of before 2024 end: at 11 of these.
    verify(subqueries(10), SCHEMA)


def test_the_text_is_bounded() -> None:
    head = "SELECT '"
    verify(f"{head}{'x' * (SQL_CHARACTERS - len(head) - 1)}'", SCHEMA)
    with pytest.raises(VerificationError, match="characters"):
        verify(f"{head}{'x' * (SQL_CHARACTERS - len(head))}'", SCHEMA)


def test_parentheses_in_strings_and_names_do_not_count() -> None:
    assert parenthesis_depth("""SELECT '(((' , "((" , `((` , (1)""") == 1
    assert parenthesis_depth("SELECT 'it''s ((' ") == 0


def test_threads_verify_deep_and_shallow_sql_side_by_side() -> None:
    failures: list[Exception] = []

    def check(sql: str) -> None:
        try:
            for _ in range(5):
                verify(sql, SCHEMA)
        except VerificationError as error:
            failures.append(error)

    threads = [threading.Thread(target=check, args=(sql,)) for sql in (nested(30), nested(3), *GOOD[:4])]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_dialects_other_than_sqlite_are_checked_without_an_engine() -> None:
    verify("SELECT p.gender FROM patients AS p FETCH FIRST 3 ROWS ONLY", SCHEMA, dialect="postgres")
    with pytest.raises(VerificationError, match="no source in scope"):
        verify("SELECT p.nothing FROM patients AS p", SCHEMA, dialect="postgres")
    with pytest.raises(DialectError, match="'klingon'"):
        verify("SELECT 1", SCHEMA, dialect="klingon")


def test_gold_sql_of_ehrsql2024_passes(ehrsql2024: Path) -> None:
    schema = read_schemas(ehrsql2024 / "schemas.json")["mimic_iv"]
    for example in read_examples(ehrsql2024 / "valid.json")[::10]:
        if example.sql is not None:
            verify(normalise_sql(example.sql), schema)
