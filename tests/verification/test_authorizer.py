"""SQLite itself, without the verifier, reads nothing beyond the schema."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from fastsql.errors import ExecutionError
from fastsql.execution import ReadOnlyExecutor
from fastsql.schema import Schema
from fastsql.verification.readable import Readable

from ..worlds.database import write_database

DDL = """
CREATE TABLE patients (id INTEGER PRIMARY KEY, Gender TEXT, name TEXT, ssn TEXT, diagnosis TEXT,
    initial TEXT GENERATED ALWAYS AS (substr(ssn, 1, 1)) VIRTUAL);
CREATE INDEX by_ssn ON patients (lower(ssn));
CREATE TABLE visits (code TEXT PRIMARY KEY, ward TEXT, secret TEXT) WITHOUT ROWID;
CREATE TABLE notes (text TEXT, "病人" INT);
CREATE TABLE staff (id INTEGER PRIMARY KEY, password TEXT);
CREATE TABLE diagnosis (code TEXT, hidden TEXT);
CREATE VIEW wards AS SELECT ward AS name, COUNT(*) AS visits FROM visits WHERE secret <> '' GROUP BY ward;
CREATE VIEW inner_view AS SELECT password AS word FROM staff WHERE id = 1;
CREATE VIEW outer_view AS SELECT length(word) AS letters FROM inner_view;
CREATE VIEW codes AS SELECT code FROM diagnosis WHERE hidden = 'no';
CREATE VIEW hidden_view AS SELECT password FROM staff;
INSERT INTO patients (id, gender, name, ssn, diagnosis) VALUES (1, 'F', 'Ada', 'x1', 'flu'), (2, 'M', 'Ben', 'y2', 'flu');
INSERT INTO visits VALUES ('a', 'ICU', 's'), ('b', 'ICU', 't');
INSERT INTO notes VALUES ('n', 1);
INSERT INTO staff VALUES (1, 'hunter2'), (2, 'swordfish');
INSERT INTO diagnosis VALUES ('A', 'no'), ('B', 'yes');
"""
TABLES = {
    "patients": ["id", "gender", "NAME", "diagnosis", "initial"],
    "Visits": ["code", "ward"],
    "notes": ["text", "病人"],
}
VIEWS = {"wards": ["name", "visits"], "outer_view": ["letters"], "codes": ["code"]}


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_database(tmp_path_factory.mktemp("sqlite") / "ward.sqlite", DDL)


def run(database: Path, names: dict[str, list[str]], sql: str) -> object:
    with ReadOnlyExecutor(database, readable=Readable.of_names(names)) as executor:
        return executor.run(sql).rows


@pytest.mark.parametrize(
    ("sql", "rows"),
    [
        ("SELECT id, GENDER FROM Patients WHERE Name = 'Ada'", ((1, "F"),)),
        ('SELECT "patients"."name" FROM "main"."patients" ORDER BY 1', (("Ada",), ("Ben",))),
        ("SELECT COUNT(*) FROM patients", ((2,),)),
        ("SELECT 1 FROM visits JOIN notes", ((1,), (1,))),
        ("SELECT rowid FROM patients WHERE oid = 2", ((2,),)),  # its integer primary key by another name
        ("SELECT initial FROM patients ORDER BY 1", (("x",), ("y",))),
        ("SELECT code FROM visits WHERE ward = 'ICU' ORDER BY code", (("a",), ("b",))),
        ('SELECT "病人" FROM notes', ((1,),)),
        ("WITH c AS (SELECT name FROM patients) SELECT COUNT(*) FROM c", ((2,),)),
        ("WITH c AS (SELECT name AS n FROM patients) SELECT c.n FROM c, c AS d ORDER BY 1 LIMIT 1", (("Ada",),)),
        ("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 2) SELECT COUNT(*) FROM n", ((2,),)),
        ("SELECT (SELECT COUNT(*) FROM visits WHERE ward = name) FROM patients LIMIT 1", ((0,),)),
    ],
)  # fmt: skip
def test_what_the_schema_names_is_read(database: Path, sql: str, rows: object) -> None:
    assert run(database, TABLES, sql) == rows
    assert run(database, TABLES | VIEWS, sql) == rows


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM patients",
        "SELECT ssn AS ssn FROM patients",
        "SELECT 1 AS ssn FROM patients WHERE ssn LIKE 'x%'",
        "SELECT name FROM patients ORDER BY lower(ssn)",
        "SELECT name FROM patients INDEXED BY by_ssn WHERE lower(ssn) = 'x1'",
        "SELECT COUNT(*) FROM patients GROUP BY sSn",
        "SELECT 1 FROM patients JOIN visits USING (secret)",
        "SELECT secret FROM visits",
        "SELECT rowid FROM notes",
        "SELECT 1 FROM notes WHERE _rowid_ = 1",
        "SELECT 1 FROM staff",
        "SELECT COUNT(*) FROM main.staff",
        "SELECT EXISTS (SELECT * FROM staff)",
        "SELECT 1 WHERE 1 IN (SELECT id FROM staff)",
        "SELECT 1 FROM (SELECT 2 FROM staff)",
        "SELECT password FROM hidden_view",
        "SELECT 1 FROM hidden_view",
        "SELECT COUNT(*) FROM hidden_view",
        "SELECT word FROM inner_view",
        "SELECT COUNT(*) FROM inner_view",
        "SELECT 1 WHERE 'hunter2' IN hidden_view",
        "SELECT 1 FROM patients WHERE EXISTS (SELECT 1 FROM hidden_view)",
        "SELECT 1 FROM sqlite_master",
        "SELECT COUNT(*) FROM sqlite_schema",
        "SELECT COUNT(*) FROM dbstat",
        "SELECT name FROM patients UNION SELECT password FROM staff",
        "WITH patients AS (SELECT password AS name FROM staff) SELECT name FROM patients",
        # A common table expression of a view's name is no view:
        "WITH hidden_view AS (SELECT password FROM staff) SELECT password FROM hidden_view",
        "WITH codes AS (SELECT code FROM diagnosis) SELECT code FROM codes",
        "WITH codes(code) AS MATERIALIZED (SELECT code FROM diagnosis) SELECT code FROM codes",
        "WITH x AS (SELECT 1), 'codes'/* */AS NOT MATERIALIZED(SELECT hidden FROM diagnosis) SELECT * FROM x, codes",
        "WITH inner_view AS (SELECT password FROM staff) SELECT password FROM inner_view",
        "WITH \ufeffcodes AS (SELECT code FROM diagnosis) SELECT code FROM codes",
        "WITH [inner_view] AS (SELECT id FROM staff) SELECT COUNT(*) FROM inner_view",
        "SELECT COUNT(*) FROM diagnosis, codes",
        "SELECT (SELECT COUNT(*) FROM `staff`) FROM outer_view",
        "SELECT COUNT(*) FROM outer_view JOIN main.staff",
    ],
)
def test_a_table_or_column_that_the_schema_does_not_name_is_not_read(database: Path, sql: str) -> None:
    for names in (TABLES, TABLES | VIEWS):
        with pytest.raises(ExecutionError):
            run(database, names, sql)


@pytest.mark.parametrize(
    ("sql", "rows"),
    [
        ("SELECT name, visits FROM wards", (("ICU", 2),)),
        ("SELECT COUNT(*) FROM wards", ((1,),)),
        ("SELECT letters FROM outer_view", ((7,),)),
        ("SELECT COUNT(*) FROM outer_view", ((1,),)),
        ("SELECT 1 FROM main.outer_view AS staff", ((1,),)),
        ('SELECT "codes"."code" FROM "main"."codes" AS "codes"', (("A",),)),
        ("SELECT p.diagnosis, c.code FROM patients AS p, codes AS c LIMIT 1", (("flu", "A"),)),
        ("WITH w AS (SELECT name FROM wards) SELECT name FROM w", (("ICU",),)),
    ],
)
def test_a_view_of_the_schema_reads_what_it_stands_for(database: Path, sql: str, rows: object) -> None:
    assert run(database, TABLES | VIEWS, sql) == rows
    with pytest.raises(ExecutionError):
        run(database, TABLES, sql)


def test_a_table_that_comes_later_is_as_hidden(tmp_path: Path) -> None:
    path = tmp_path / "ward.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(DDL)
    with ReadOnlyExecutor(path, readable=Readable.of_names(TABLES), connections=1) as executor:
        later = "WITH more AS (SELECT 1) SELECT COUNT(*) FROM more"
        assert executor.run(later).rows == ((1,),)
        assert executor.run("SELECT COUNT(*) FROM patients").rows == ((2,),)
        with closing(sqlite3.connect(path)) as connection:
            connection.executescript("CREATE TABLE extra (secret TEXT)")
        with pytest.raises(ExecutionError):
            executor.run("SELECT COUNT(*) FROM extra")


def test_a_schema_and_plain_data_give_the_same() -> None:
    schema = Schema.from_ddl("CREATE TABLE Patients (ID INT, 姓名 TEXT); CREATE TABLE visits (id INT);")
    readable = Readable.of_schema(schema)
    assert readable == Readable.of_names({"PATIENTS": ["id", "姓名"], "Visits": ["Id"]})
    assert Readable.of_names(readable.names()) == readable


def test_the_schema_of_an_executor_is_what_sqlite_knows(database: Path) -> None:
    schema = Schema.from_ddl("CREATE TABLE patients (id INTEGER PRIMARY KEY, gender TEXT)")
    with ReadOnlyExecutor(database, schema=schema) as executor:
        assert executor.run("SELECT gender FROM patients ORDER BY id").rows == (("F",), ("M",))
        executor._runnables = None  # as if the verifier let everything through
        with pytest.raises(ExecutionError, match=r"SQLITE_AUTH|DatabaseError"):
            executor.run("SELECT ssn FROM patients")


@pytest.mark.parametrize("begin", ["", ";", " ;; ", "\ufeff", " ;\ufeff\ufeff ", "/* */ ", "-- x\n"])
def test_a_plan_which_tells_of_other_tables_is_refused(database: Path, begin: str) -> None:
    with pytest.raises(ExecutionError):
        run(database, TABLES, f"{begin}EXPLAIN QUERY PLAN SELECT name FROM patients")
