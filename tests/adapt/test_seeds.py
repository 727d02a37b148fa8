"""Seeds: what is read of a file, and what is said of those that cannot be used."""

from __future__ import annotations

from pathlib import Path

import pytest

from fastsql.adapt.seeds import Seeds, read_seeds
from fastsql.datasets import DatasetError
from fastsql.execution import Executor
from fastsql.execution.executor import DatabaseGoneError
from fastsql.schema import Schema

from ..worlds.failing_database import refusing, vanishing

_JSON = """[
  {"question": "How many women are there?", "sql": "SELECT COUNT(*) FROM patients WHERE sex = 'F'"},
  {"question": "When is the next bus?", "sql": null}
]"""
_CSV = """question,sql
How many women are there?,"SELECT COUNT(*)
FROM patients WHERE sex = 'F'"
When is the next bus?,
"""
_SQL = """-- How many women
-- are there?
SELECT COUNT(*) FROM patients
WHERE sex = 'F';

-- Names of all patients
SELECT name FROM patients;
"""


def read(text: str, suffix: str, folder: Path, schema: Schema, executor: Executor) -> Seeds:
    path = folder / f"seeds{suffix}"
    path.write_text(text, encoding="utf-8")
    return read_seeds(path, schema, executor)


@pytest.mark.parametrize(("text", "suffix"), [(_JSON, ".json"), (_CSV, ".csv"), (_SQL, ".sql")])
def test_files_of_each_form(
    text: str, suffix: str, tmp_path: Path, schema: Schema, executor: Executor
) -> None:
    found = read(text, suffix, tmp_path, schema, executor)
    assert not found.left_out
    first, second = found.usable
    assert first.question == "How many women are there?"
    assert first.sql == "SELECT COUNT(*) FROM patients WHERE patients.sex = 'F'"
    assert (second.program is None) == (suffix != ".sql")


def test_what_cannot_be_used_is_named_by_its_line_and_the_others_are_used(
    tmp_path: Path, schema: Schema, executor: Executor
) -> None:
    text = """question,sql
,SELECT name FROM patients
Is it SQL?,SELECT FROM WHERE
Which column?,SELECT shoe_size FROM patients
A change,DELETE FROM patients
Names,SELECT name FROM patients
names ,SELECT name FROM patients
How heavy?,SELECT weight FROM patients
How  heavy?,SELECT MAX(weight) FROM patients
"""
    found = read(text, ".csv", tmp_path, schema, executor)
    assert [one.question for one in found.usable] == ["Names"]
    assert list(found.left_out) == [f"line {number}" for number in (2, 3, 4, 5, 7, 8, 9)]
    assert found.left_out["line 2"] == "it has no question"
    assert found.left_out["line 7"] == "line 6 says the same"
    assert found.left_out["line 8"] == "the same question has another answer in line 9"
    assert not any("shoe" in why or "heavy" in why for why in found.left_out.values())


@pytest.mark.parametrize(
    ("text", "suffix"),
    [
        ("{}", ".json"),
        ('[{"sql": "SELECT 1"}]', ".json"),
        ("[1, ", ".json"),
        ("a,b\n1,2\n", ".csv"),
        ("", ".txt"),
    ],
)
def test_files_that_hold_no_seeds(
    text: str, suffix: str, tmp_path: Path, schema: Schema, executor: Executor
) -> None:
    with pytest.raises(DatasetError):
        read(text, suffix, tmp_path, schema, executor)


def test_json_may_stand_on_one_line(tmp_path: Path, schema: Schema, executor: Executor) -> None:
    text = '[{"question": "Names", "sql": "SELECT name FROM patients"}, {"question": "names", "sql": "SELECT 1 FROM"},'
    text += ' {"question": "Costs", "sql": "SELECT cost FROM visits"}]'
    found = read(text, ".json", tmp_path, schema, executor)
    assert [one.question for one in found.usable] == ["Names", "Costs"]
    assert list(found.left_out) == ["entry 2 in line 1"]


def test_a_seed_that_runs_into_a_limit_is_named_and_the_others_are_used(
    tmp_path: Path, schema: Schema, executor: Executor
) -> None:
    found = read(_SQL, ".sql", tmp_path, schema, refusing(executor, 2))
    assert [one.question for one in found.usable] == ["How many women are there?"]
    assert found.left_out == {"line 6": "its query does not run here: QueryTimeoutError"}


@pytest.mark.parametrize("calls", [0, 1])
def test_a_database_that_goes_away_is_no_fault_of_a_seed(
    calls: int, tmp_path: Path, schema: Schema, executor: Executor
) -> None:
    with pytest.raises(DatabaseGoneError, match="no longer answers"):
        read(_SQL, ".sql", tmp_path, schema, vanishing(executor, calls))


def test_a_file_that_is_not_there(tmp_path: Path, schema: Schema, executor: Executor) -> None:
    with pytest.raises(DatasetError, match="cannot be read"):
        read_seeds(tmp_path / "none.json", schema, executor)


def test_seeds_may_be_asked_in_chinese(tmp_path: Path, schema: Schema, executor: Executor) -> None:
    found = read("-- 有多少病人?\nSELECT COUNT(*) FROM patients;", ".sql", tmp_path, schema, executor)
    assert [one.question for one in found.usable] == ["有多少病人?"]
