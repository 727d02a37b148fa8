"""Contents made for a gold query tell right queries from wrong ones, without a database."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from fastsql import Schema
from fastsql.cli.main import main
from fastsql.errors import SchemaError
from fastsql.evaluation.judge import Task, judge
from fastsql.evaluation.made_contents import compared, same_on_made, write_contents
from fastsql.linking.gold import parse_gold

SCHEMA = Schema.from_ddl(
    """
    CREATE TABLE patients (id INTEGER PRIMARY KEY, name TEXT, sex TEXT, born DATE);
    CREATE TABLE stays (
      id INTEGER PRIMARY KEY, patient INTEGER REFERENCES patients (id), ward TEXT, days INTEGER, 入院 DATE
    );
    """
)
WARD = "SELECT count(*) FROM stays WHERE ward = '心内科' AND days > 7"


@pytest.mark.parametrize(
    ("gold", "other"),
    [
        (WARD, "SELECT count(*) FROM stays WHERE days >= 8 AND ward IN ('心内科')"),
        (
            "SELECT name FROM patients WHERE id = 90117993",
            "SELECT p.name FROM patients p WHERE p.id = '90117993'",
        ),
        (
            "SELECT name FROM patients JOIN stays ON patients.id = stays.patient WHERE ward = 'ICU'",
            "SELECT name FROM stays, patients WHERE stays.patient = patients.id AND 'ICU' = ward",
        ),
        (
            "SELECT id FROM stays WHERE strftime('%Y', 入院) = '2015'",
            "SELECT id FROM stays WHERE 入院 >= '2015-01-01' AND 入院 < '2016-01-01'",
        ),
        ("SELECT id FROM stays WHERE ward LIKE '%care%'", "SELECT id FROM stays WHERE instr(ward, 'care')"),
    ],
)
def test_queries_that_mean_the_same_return_the_same(gold: str, other: str) -> None:
    assert same_on_made(gold, other, SCHEMA, 3) is True
    assert same_on_made(other, gold, SCHEMA, 3) is True


@pytest.mark.parametrize(
    ("gold", "wrong"),
    [
        (WARD, "SELECT count(*) FROM stays WHERE ward = '心内科'"),
        (WARD, "SELECT count(*) FROM stays WHERE ward = '心内科' AND days >= 7"),
        (WARD, "SELECT count(*) FROM stays WHERE ward = '骨科' AND days > 7"),
        (WARD, "SELECT count(DISTINCT patient) FROM stays WHERE ward = '心内科' AND days > 7"),
        (WARD, "SELECT count(*) FROM stays WHERE no_such_column = 1"),
        (WARD, None),
        ("SELECT name FROM patients WHERE id = 7001", "SELECT name FROM patients WHERE id <> 7001"),
        (
            "SELECT id FROM stays WHERE 入院 BETWEEN '2010-08-23' AND '2021-08-22'",
            "SELECT id FROM stays WHERE 入院 BETWEEN '2010-08-23' AND '2021-08-21'",
        ),
        ("SELECT id FROM stays WHERE days < -3", "SELECT id FROM stays WHERE days <= -3"),
    ],
)
def test_a_slip_is_seen(gold: str, wrong: str | None) -> None:
    assert same_on_made(gold, wrong, SCHEMA, 3) is False


@pytest.mark.parametrize("now", [None, "2022-03-01 08:00:00"])
def test_now_is_one_moment_for_both(now: str | None) -> None:
    gold = "SELECT id FROM stays WHERE 入院 < datetime(current_time, '-1 year')"
    other = "SELECT id FROM stays WHERE datetime('now', '-1 year') > 入院"
    assert same_on_made(gold, other, SCHEMA, now=now) is True
    assert same_on_made(gold, other.replace("1 year", "2 years"), SCHEMA, now=now) is False


@pytest.mark.parametrize(
    "gold",
    [
        "SELECT id FROM stays WHERE days > 5 AND days < 3",
        "SELECT no_such_function(id) FROM stays",
        "select top 1 id from stays",
        "SELECT NULL",
    ],
)
def test_where_gold_finds_nothing_nothing_is_told(gold: str) -> None:
    assert same_on_made(gold, gold, SCHEMA, 2) is None


def test_two_tables_of_a_name_are_no_one_file() -> None:
    both = Schema.from_ddl("CREATE TABLE a.stays (id INT); CREATE TABLE b.stays (id INT);")
    assert same_on_made("SELECT id FROM a.stays", "SELECT id FROM a.stays", both) is None


def test_what_cannot_be_written_is_an_error_and_no_verdict(tmp_path: Path) -> None:
    with pytest.raises(SchemaError, match="SQLite says: unable to open"):
        write_contents(WARD, SCHEMA, "0", tmp_path / "no such folder" / "made.sqlite")


def test_a_query_that_finds_something_is_wrong_where_gold_finds_nothing() -> None:
    assert same_on_made("SELECT id FROM stays WHERE 1 = 0", "SELECT id FROM stays", SCHEMA, 2) is False


def test_bounds_have_neighbours_and_parts_of_dates_are_whole() -> None:
    gold = parse_gold(
        "SELECT 1 FROM stays WHERE days > 7 AND strftime('%Y-%m', 入院) = '2015-03' AND ward LIKE '%care%'"
    )
    named = {SCHEMA.columns[column].name: values for column, values in compared(gold, SCHEMA).items()}
    assert named == {"days": (6, 7, 8), "入院": ("2015-03-17",), "ward": ("care", "care care")}


def test_a_year_that_is_a_number_has_years_beside_it() -> None:
    gold = parse_gold("SELECT 1 FROM stays WHERE days > '2015' AND 入院 > '2015'")
    named = {SCHEMA.columns[column].name: values for column, values in compared(gold, SCHEMA).items()}
    assert named == {"days": (2014, 2015, 2016), "入院": ("2015-05-16", "2015-05-17", "2015-05-18")}


def test_keys_fit_after_a_key_is_called_otherwise(tmp_path: Path) -> None:
    path = tmp_path / "made.sqlite"
    write_contents(
        "SELECT days FROM stays WHERE patient = 90117993 AND patient <> 90117994", SCHEMA, "0", path
    )
    with closing(sqlite3.connect(path)) as connection:
        lost = "SELECT count(*) FROM stays WHERE patient NOT IN (SELECT id FROM patients)"
        assert connection.execute(lost).fetchone() == (0,)
        known = "SELECT count(*) FROM patients WHERE id IN (90117993, 90117994)"
        assert connection.execute(known).fetchone() == (2,)
        assert connection.execute("SELECT count(*) - count(DISTINCT id) FROM patients").fetchone() == (0,)


def test_the_same_query_and_seed_make_the_same_contents(tmp_path: Path) -> None:
    def dump(name: str, seed: str) -> list[str]:
        write_contents(WARD, SCHEMA, seed, tmp_path / name)
        with closing(sqlite3.connect(tmp_path / name)) as connection:
            return list(connection.iterdump())

    assert dump("one", "0") == dump("other", "0") != dump("third", "1")


def test_a_judge_compares_results_where_contents_are_made_and_forms_elsewhere() -> None:
    other = "SELECT count(*) FROM stays WHERE days >= 8 AND ward = '心内科'"
    assert judge(Task("", WARD, other), SCHEMA).correct is None
    made = judge(Task("", WARD, other, made=2), SCHEMA)
    assert (made.correct, made.em_values, made.gold_void) == (True, False, False)
    nothing = "SELECT id FROM stays WHERE days > 5 AND days < 3"
    void = judge(Task("", nothing, nothing, made=2), SCHEMA)
    assert (void.correct, void.gold_void) == (True, True)  # by its form
    assert (
        judge(Task("", nothing, "SELECT id FROM stays WHERE days > 5 AND days < 2", made=2), SCHEMA).correct
        is False
    )
    assert judge(Task("", None, WARD, made=2), SCHEMA).correct is None


def test_the_command_says_on_what_results_were_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "schemas.json").write_text(
        json.dumps([{**SCHEMA.to_dict(), "db_id": "ward"}]), encoding="utf-8"
    )
    example = {"id": "1", "db_id": "ward", "question": "How many?", "sql": WARD}
    (tmp_path / "set.json").write_text(json.dumps([example]), encoding="utf-8")
    sql = "SELECT count(*) FROM stays WHERE days >= 8 AND ward = '心内科'"
    prediction = {"id": "1", "sql": sql, "confidence": 0.9, "abstained": False}
    (tmp_path / "given.json").write_text(json.dumps([prediction]), encoding="utf-8")
    arguments = [
        "eval",
        str(tmp_path / "set.json"),
        *("--schemas", str(tmp_path / "schemas.json")),
        *("--from-predictions", str(tmp_path / "given.json")),
        *("--json", str(tmp_path / "out.json"), "--made", "2"),
    ]
    assert main(arguments) == 0
    told = "compared on 2 databases made for each question without one, where now is 2023-06-30 12:00:00"
    assert told in capsys.readouterr().out
    report = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    assert (report["ex"], report["em_values"]) == (100.0, 0.0)
    assert report["details"]["provenance"]["made"] == 2
