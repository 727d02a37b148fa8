"""What runs is what was verified, written so that it cannot mean anything else; each line of a file is a case."""

from __future__ import annotations

import sqlite3
import sys
from pathlib import Path

import pytest

from fastsql.datasets import DatabaseFiles, read_examples, read_schemas
from fastsql.errors import VerificationError
from fastsql.evaluation import normalise_sql
from fastsql.schema import Schema
from fastsql.verification.verify import KEPT, REMEMBERED_CHARACTERS, Runnables, runnable, verify, verify_form

from ..worlds.ward import ward_schema

SCHEMA = ward_schema()
FIXTURE = Path(__file__).parents[1] / "fixtures" / "execution" / "runnable.tsv"
LINES = [
    line.split("\t") for line in FIXTURE.read_text(encoding="utf-8").splitlines() if not line.startswith("#")
]
DIALECTS = ("sqlite", "postgres", "duckdb")


@pytest.mark.parametrize(("dialect", "sql", "written"), LINES)
def test_a_statement_is_written_anew(dialect: str, sql: str, written: str) -> None:
    assert runnable(sql, SCHEMA, dialect=dialect) == written
    verify(sql, SCHEMA, dialect=dialect)


@pytest.mark.parametrize(("dialect", "sql", "written"), LINES)
def test_what_was_written_means_the_same_when_it_is_read_again(dialect: str, sql: str, written: str) -> None:
    again = runnable(written.replace('"main".', ""), SCHEMA, dialect=dialect)
    if dialect == "sqlite":  # elsewhere a table is a subquery, and then one of a subquery
        assert again == written


REFUSED = {
    # an alias means nothing where the dialect sees none
    ("postgres", "SELECT 1 AS ssn FROM patients WHERE ssn LIKE 'h%'"): "no source in scope",
    ("postgres", "SELECT ssn AS ssn FROM patients"): "no source in scope",
    ("duckdb", "SELECT ssn AS ssn FROM patients"): "no source in scope",
    ("sqlite", "SELECT ssn AS ssn FROM patients"): "no source in scope",
    ("postgres", "SELECT COUNT(*) AS n FROM patients GROUP BY gender HAVING n > 1"): "no source in scope",
    ("postgres", "SELECT age + 1 AS older FROM admissions ORDER BY older + 1"): "no source in scope",
    # letter case
    ("postgres", 'SELECT "Gender" FROM patients'): "no source in scope",
    ("postgres", 'SELECT gender FROM "PATIENTS"'): "not in the schema",
    ("postgres", 'WITH "STAFF" AS (SELECT 1 AS x) SELECT x FROM staff'): "not in the schema",
    ("postgres", 'SELECT p.gender FROM patients AS "P"'): "no source in scope",
    # whole rows, renamed columns, words that call
    ("postgres", "SELECT CAST(p AS TEXT) AS p FROM patients AS p"): "no source in scope",
    ("postgres", "SELECT COUNT(p.*) FROM patients AS p"): "whole row",
    ("postgres", "SELECT p.c FROM patients AS p(a, b, c)"): "no source in scope|renamed",
    ("duckdb", "SELECT p.a FROM patients AS p(a, b, c)"): "renamed|no source in scope",
    ("postgres", "SELECT user AS user FROM patients"): "calls a function",
    ("duckdb", "SELECT current_schema FROM patients"): "calls a function",
    # places where nothing is looked for
    (
        "postgres",
        "SELECT name FROM patients UNION SELECT name FROM patients LIMIT (SELECT ssn FROM staff)",
    ): "where none",
    ("duckdb", "SELECT name FROM patients UNION SELECT name FROM patients ORDER BY (SELECT 1)"): "where none",
    ("sqlite", "SELECT name FROM patients UNION SELECT name FROM patients ORDER BY name || 'x'"): "sort key",
    ("sqlite", "SELECT * FROM patients JOIN admissions USING (subject_id)"): "USING",
    (
        "sqlite",
        "SELECT gender FROM patients JOIN admissions AS a JOIN admissions AS b USING (subject_id)",
    ): "USING",
}


@pytest.mark.parametrize(("dialect", "sql"), REFUSED)
def test_what_only_the_database_could_read_is_refused(dialect: str, sql: str) -> None:
    with pytest.raises(VerificationError, match=REFUSED[dialect, sql]):
        runnable(sql, SCHEMA, dialect=dialect)


def test_a_function_word_is_a_column_where_it_is_qualified_or_quoted() -> None:
    schema = Schema.from_ddl('CREATE TABLE logins ("user" TEXT, at TEXT)')
    for sql in ('SELECT "user" FROM logins', "SELECT logins.user FROM logins"):
        assert runnable(sql, schema, dialect="postgres").startswith('SELECT "t1"."user"')


def test_a_table_is_qualified_by_its_namespace() -> None:
    schema = Schema.from_dict(
        {
            "tables": [
                {"name": "bills", "namespace": "billing", "columns": [{"name": "paid", "type": "number"}]}
            ]
        }
    )
    written = runnable("SELECT paid FROM billing.bills", schema, dialect="postgres")
    assert written.endswith('FROM (SELECT "paid" FROM "billing"."bills" AS "b2") AS "t1"')
    assert Schema.from_dict(schema.to_dict()) == schema


def test_aliases_are_not_repeated_without_bound() -> None:
    value = " + ".join(["age"] * 200)
    for times, reason in ((20, "repeated too often"), (100, "stand for too much")):
        uses = " OR ".join(["a > 1"] * times)
        with pytest.raises(VerificationError, match=reason):
            runnable(f"SELECT {value} AS a FROM admissions WHERE {uses}", SCHEMA)


def test_a_deep_statement_is_written_anew() -> None:
    sql = "SELECT " + "(" * 40 + "age" + ")" * 40 + " FROM admissions"
    assert runnable(sql, SCHEMA).count("(") >= 40


def test_without_a_schema_the_text_stays() -> None:
    sql = "SELECT anything FROM anywhere"
    assert runnable(sql, None) == sql
    with pytest.raises(VerificationError):
        runnable("DELETE FROM anywhere", None)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_form_of_a_statement_is_checked_without_a_schema(dialect: str) -> None:
    assert verify_form("SELECT a FROM b WHERE c LIKE 'd%'", dialect=dialect) is not None


def test_gold_queries_give_their_rows(ehrsql2024: Path) -> None:
    schema = read_schemas(ehrsql2024 / "schemas.json")["mimic_iv"]
    examples = [e for e in read_examples(ehrsql2024 / "valid.json")[::4] if e.sql is not None]
    with DatabaseFiles(ehrsql2024 / "mimic_iv.sqlite.gz", {"mimic_iv"}) as files:
        connection = sqlite3.connect(files.path("mimic_iv"))
        for example in examples:
            sql = normalise_sql(example.sql or "", "2100-12-31 23:59:00")
            ours = connection.execute(runnable(sql, schema)).fetchall()
            assert ours == connection.execute(sql).fetchall()
        connection.close()
    assert len(examples) > 200


def test_an_executor_reads_a_query_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def reading(sql: str, *arguments: object, **options: object) -> str:
        read.append(sql)
        return runnable(sql, *arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(sys.modules["fastsql.verification.verify"], "runnable", reading)
    runnables = Runnables(SCHEMA, "sqlite")
    long = f"SELECT gender FROM patients WHERE name = '{'a' * REMEMBERED_CHARACTERS}'"
    for sql in ("SELECT gender FROM patients", long, "SELECT ssn FROM patients"):
        read.clear()
        for _ in range(2):
            if "ssn" in sql:  # a refusal is not remembered
                with pytest.raises(VerificationError):
                    runnables.of(sql)
            else:
                assert runnables.of(sql) == runnable(sql, SCHEMA)
        assert len(read) == (1 if len(sql) < 100 and "ssn" not in sql else 2)


def test_what_is_remembered_belongs_to_one_schema() -> None:
    assert Runnables(SCHEMA, "sqlite").of("SELECT gender FROM patients")
    with pytest.raises(VerificationError):
        Runnables(ward_schema("admissions"), "sqlite").of("SELECT gender FROM patients")


def test_what_a_parse_has_verified_is_not_read_again_to_be_run(monkeypatch: pytest.MonkeyPatch) -> None:
    sql = "SELECT name FROM patients WHERE gender = 'F'"
    cold = runnable(sql, SCHEMA)
    with_values = SCHEMA.with_values({("patients", "gender"): ["F", "M"]})
    verify(sql, with_values)
    with monkeypatch.context() as patch:
        patch.setattr("fastsql.verification.verify.read_select", _unexpected)
        assert runnable(sql, SCHEMA) == cold
    assert runnable(sql, SCHEMA) == cold  # its tree was given away: it is read anew


@pytest.mark.parametrize(
    "ddl",
    [
        "CREATE TABLE patients (subject_id INT PRIMARY KEY, gender TEXT)",
        "CREATE TABLE patients (name TEXT, subject_id INT PRIMARY KEY, gender TEXT)",
        "CREATE TABLE patients (subject_id INT PRIMARY KEY, gender TEXT, name INT)",
    ],
    ids=["without a column", "in another order", "of another type"],
)
def test_what_was_verified_with_another_schema_is_read_again_to_be_run(
    ddl: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sql = "SELECT gender FROM patients"
    verify(sql, ward_schema("patients"))
    monkeypatch.setattr("fastsql.verification.verify.read_select", _unexpected)
    with pytest.raises(AssertionError, match="read anew"):
        runnable(sql, Schema.from_ddl(ddl))


def test_few_readings_are_kept_and_none_of_a_long_query() -> None:
    kept = sys.modules["fastsql.verification.verify"]._latest._kept
    for number in range(3 * KEPT):
        verify(f"SELECT gender FROM patients LIMIT {number}", SCHEMA)
    assert len(kept) == KEPT
    long = f"SELECT gender FROM patients WHERE name = '{'a' * REMEMBERED_CHARACTERS}'"
    verify(long, SCHEMA)
    assert all(sql != long for sql, *_ in kept)


def _unexpected(*_: object) -> None:
    raise AssertionError("read anew")
