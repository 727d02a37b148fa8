"""Queries carried over to an extended schema say the same there: by their rows, whatever these are."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from fastsql.datasets import Example
from fastsql.execution import Executor, open_executor
from fastsql.execution.executor import DatabaseGoneError
from fastsql.schema import Schema
from fastsql.synthesis.extension import Extension, extend_at, find_sites
from fastsql.synthesis.extension.pairs import AS_IT_WAS, OVER_A_VIEW, REWRITTEN

from ...worlds.failing_database import vanishing
from ...worlds.linked_ward import QUERIES, make_ward
from .conftest import Make, site_of


def pairs(*queries: str) -> list[Example]:
    return [Example(str(number), "ward", "?", sql) for number, sql in enumerate(queries)]


def carried(schema: Schema, path: Path, words: str, *queries: str) -> Extension:
    site = site_of(schema, path, words)
    target = path.with_name("extended.sqlite")
    target.unlink(missing_ok=True)
    return extend_at(schema, path, target, [lambda *_: site], pairs(*queries))


@pytest.mark.parametrize(("seed", "complete"), [(1, False), (2, True)], ids=["with gaps", "complete"])
def test_no_query_is_given_another_answer_at_any_site(seed: int, complete: bool, tmp_path: Path) -> None:
    path = tmp_path / "ward.sqlite"
    schema = make_ward(path, seed, complete=complete)
    sites = find_sites(schema, path)
    assert {site.operation for site in sites} == {"relation", "merge", "split"}
    forms = set()
    for number, site in enumerate(sites):
        made = extend_at(schema, path, tmp_path / f"{number}.sqlite", [lambda *_, s=site: s], pairs(*QUERIES))  # type: ignore[misc]
        assert made.dropped == (), site.describe(schema)
        forms |= {pair.form for pair in made.pairs}
        assert all(pair.form == AS_IT_WAS or pair.example.sql != pair.original for pair in made.pairs)
    assert forms == {AS_IT_WAS, REWRITTEN, OVER_A_VIEW}


@pytest.mark.parametrize("number", [0, 1], ids=["the one extended", "the one made"])
def test_a_database_that_goes_away_is_no_reason_to_leave_pairs_out(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "ward.sqlite"
    schema = make_ward(path, 1)
    opened: list[int] = []

    def opening(database: Path, **limits: float) -> Executor:
        opened.append(len(opened))
        executor = open_executor(database, **limits)
        return vanishing(executor, 3) if opened[-1] == number else executor

    module = importlib.import_module("fastsql.synthesis.extension.extend")  # not the function of its name
    monkeypatch.setattr(module, "open_executor", opening)
    with pytest.raises(DatabaseGoneError):
        carried(schema, path, SPLIT, *QUERIES)
    assert list(tmp_path.iterdir()) == [path]


RELATION = "relation: patient(doctor_id) -> doctor"
MERGE = "merge: doctor + patient (doctor_id)"
SPLIT = "split: doctor by sex, 2 parts"
FORMS = [
    (
        RELATION,
        "SELECT d.name FROM patient AS p JOIN doctor AS d ON p.doctor_id = d.id WHERE p.weight > 60",
        (
            "SELECT d.name FROM patient AS p JOIN patient_doctor ON p.id = patient_doctor.id"
            " JOIN doctor AS d ON patient_doctor.doctor_id = d.id WHERE p.weight > 60"
        ),
    ),
    (
        RELATION,
        "SELECT p.name FROM doctor AS d JOIN patient AS p ON p.doctor_id = d.id",
        (
            "SELECT p.name FROM doctor AS d JOIN patient_doctor ON patient_doctor.doctor_id = d.id"
            " JOIN patient AS p ON p.id = patient_doctor.id"
        ),
    ),
    (
        RELATION,
        "SELECT name FROM doctor WHERE id IN (SELECT doctor_id FROM patient)",
        "SELECT doctor.name FROM doctor WHERE doctor.id IN (SELECT patient_doctor.doctor_id FROM patient_doctor)",
    ),
    (RELATION, "SELECT COUNT(*) FROM patient", "SELECT COUNT(*) FROM patient"),
    (
        MERGE,
        "SELECT d.name, p.name FROM patient AS p JOIN doctor AS d ON p.doctor_id = d.id WHERE d.age > 40",
        "SELECT p.name, p.name_patient FROM doctor_patient AS p WHERE p.age > 40",
    ),
    (
        MERGE,
        "SELECT b.colour FROM badge AS b JOIN patient AS p JOIN doctor AS d ON p.doctor_id = d.id AND b.doctor_id = d.id",
        "SELECT b.colour FROM badge AS b JOIN doctor_patient AS p ON b.doctor_id = p.id",
    ),
    (MERGE, "SELECT COUNT(*) FROM doctor", "SELECT COUNT(DISTINCT doctor_patient.id) FROM doctor_patient"),
    (MERGE, "SELECT MAX(age) FROM doctor", "SELECT MAX(doctor_patient.age) FROM doctor_patient"),
    (
        MERGE,
        "SELECT name FROM doctor WHERE id = 3",
        "SELECT DISTINCT doctor_patient.name FROM doctor_patient WHERE doctor_patient.id = 3",
    ),
    (
        MERGE,
        "SELECT SUM(age) FROM doctor",
        "SELECT SUM(doctor.age) FROM (SELECT DISTINCT doctor_patient.age, doctor_patient.id FROM doctor_patient) AS doctor",
    ),
    (SPLIT, "SELECT COUNT(*) FROM doctor WHERE sex = 'F'", "SELECT COUNT(*) FROM doctor_f"),
    (SPLIT, "SELECT name FROM doctor WHERE sex <> 'F'", "SELECT doctor_m.name FROM doctor_m"),
    (
        SPLIT,
        "SELECT name FROM doctor WHERE age > 40",
        (
            "SELECT doctor_f.name FROM doctor_f WHERE doctor_f.age > 40"
            " UNION ALL SELECT doctor_m.name FROM doctor_m WHERE doctor_m.age > 40"
        ),
    ),
    (
        SPLIT,
        "SELECT sex, COUNT(*) FROM doctor GROUP BY sex",
        (
            "SELECT doctor.sex, COUNT(*) FROM (SELECT 'F' AS sex FROM doctor_f UNION ALL SELECT 'M' AS sex FROM doctor_m)"
            " AS doctor GROUP BY doctor.sex"
        ),
    ),
]


@pytest.mark.parametrize(("words", "sql", "expected"), FORMS)
def test_a_query_is_written_as_a_person_would_write_it(
    words: str, sql: str, expected: str, tmp_path: Path
) -> None:
    path = tmp_path / "ward.sqlite"
    (pair,) = carried(make_ward(path, 2, complete=True), path, words, sql).pairs
    assert pair.example.sql == expected


def test_rows_of_one_table_alone_are_told_from_the_others_where_there_are_any(tmp_path: Path) -> None:
    path = tmp_path / "ward.sqlite"
    schema = make_ward(path, 1)
    (count,) = carried(schema, path, MERGE, "SELECT COUNT(*) FROM patient").pairs
    assert (
        count.example.sql == "SELECT COUNT(*) FROM doctor_patient WHERE NOT doctor_patient.id_patient IS NULL"
    )
    (heavy,) = carried(schema, path, MERGE, "SELECT COUNT(*) FROM patient WHERE weight > 60").pairs
    assert heavy.example.sql == "SELECT COUNT(*) FROM doctor_patient WHERE doctor_patient.weight > 60"


def test_what_cannot_be_carried_over_is_named_and_the_others_are(tmp_path: Path) -> None:
    path = tmp_path / "ward.sqlite"
    queries = (
        "SELECT name FROM doctor WHERE sex = 'F'",
        "SELECT name FROM (",
        "SELECT hair FROM doctor",
        "SELECT name FROM doctor WHERE sex = 'X'",
        "SELECT rowid FROM doctor",
        "SELECT nothing(name) FROM doctor",
    )
    made = carried(make_ward(path, 1), path, SPLIT, *queries)
    assert [pair.example.id for pair in made.pairs] == ["0@extended"]
    assert {one.id: one.why for one in made.dropped} == {
        "1": "does not parse (ParseError)",
        "2": "a name that the schema lacks",
        "3": "a condition that no part meets",
        "4": "a name that the schema lacks",
        "5": "does not run (ExecutionError)",
    }


def test_an_answer_that_depends_on_the_order_of_rows_is_dropped(make: Make) -> None:
    path = make(
        "CREATE TABLE t (id INTEGER PRIMARY KEY, kind TEXT, n INTEGER);"
        "INSERT INTO t VALUES (1, 'b', 5), (2, 'a', 5), (3, 'b', 5), (4, 'a', 5);"
    )
    made = carried(
        Schema.from_sqlite(path),
        path,
        "split: t by kind, 2 parts",
        "SELECT id FROM t LIMIT 1",
        "SELECT id FROM t ORDER BY n",
        "SELECT id FROM t ORDER BY id",
    )
    assert [pair.original for pair in made.pairs] == ["SELECT id FROM t ORDER BY id"]
    assert {one.why for one in made.dropped} == {"another answer", "another order of rows that tie"}


def test_names_of_a_question_that_are_no_more_are_told(tmp_path: Path) -> None:
    path = tmp_path / "ward.sqlite"
    schema, target = make_ward(path, 1), tmp_path / "extended.sqlite"
    site = site_of(schema, path, SPLIT)
    asked = [
        Example(
            "a", "ward", "How many female doctors are there?", "SELECT COUNT(*) FROM doctor WHERE sex = 'F'"
        ),
        Example("b", "ward", "How many patients are there?", "SELECT COUNT(*) FROM patient"),
    ]
    made = extend_at(schema, path, target, [lambda *_: site], asked)
    assert {pair.example.question: pair.gone for pair in made.pairs} == {
        "How many female doctors are there?": ("doctor",),
        "How many patients are there?": (),
    }
