"""``fastsql profile`` writes what is known of a schema, and other commands take it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from fastsql import Schema

from ..worlds.database import inserted, write_database
from .conftest import DDL, WOMEN, Outcome

Run = Callable[..., Outcome]


def test_a_database_has_its_values_counted_and_its_keys_looked_for(
    run: Run, demo_hospital: Path, tmp_path: Path
) -> None:
    out = tmp_path / "clinic.toml"
    outcome = run("profile", str(demo_hospital), "-o", str(out))
    assert (outcome.status, outcome.err) == (0, "")
    assert "17 tables, 4 of them terminologies" in outcome.out
    assert "that 10 patients or more share" in outcome.out
    schema = Schema.from_sqlite(demo_hospital)
    assert schema.with_profile(out).columns[schema.column_index("admissions", "hadm_id")].synonyms == (
        "hospital admission id",
    )


def test_without_a_database_there_are_names_and_declared_values(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "clinic.toml"
    ddl = "CREATE TABLE t (TOTALCOST INT, state ENUM('open', 'paid'))"
    assert run("profile", ddl, "-o", str(out)).status == 0
    text = out.read_text(encoding="utf-8")
    assert 'words = "total cost"' in text
    assert "open = []\npaid = []\n" in text
    assert "least" not in text


def test_values_of_a_json_file_may_be_of_rows_and_are_not_listed(run: Run, tmp_path: Path) -> None:
    schema, out = tmp_path / "schema.json", tmp_path / "clinic.toml"
    columns = [{"name": "ward_type", "type": "text", "values": ["burns"]}]
    schema.write_text(json.dumps({"tables": [{"name": "stays", "columns": columns}]}), encoding="utf-8")
    assert run("profile", str(schema), "-o", str(out)).status == 0
    text = out.read_text(encoding="utf-8")
    assert ('kind = "category"' in text, "burns" in text) == (True, False)


def test_a_file_is_not_written_over_but_updated(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "clinic.toml"
    assert run("profile", DDL, "-o", str(out)).status == 0
    edited = out.read_text(encoding="utf-8") + "# mine\n"
    out.write_text(edited, encoding="utf-8")
    refused = run("profile", DDL, "-o", str(out))
    assert (refused.status, out.read_text(encoding="utf-8")) == (2, edited)
    assert "--update" in refused.err
    outcome = run("profile", DDL + "; CREATE TABLE wards (id INT)", "-o", str(out), "--update")
    assert (outcome.status, outcome.out) == (0, f"{out}: added: wards; nothing commented out, 0 new values\n")
    assert out.read_text(encoding="utf-8").startswith(edited)


def test_a_profile_is_given_to_a_parse(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "clinic.toml"
    run("profile", DDL, "-o", str(out))
    asked = ("parse", "Which patients are women?", "--schema", DDL, "--profile", str(out))
    assert run(*asked) == Outcome(0, f"{WOMEN}\n", "")
    out.write_text("format = 1\n[table.patient]\n[table.patients]\n", encoding="utf-8")
    assert run(*asked) == Outcome(
        2,
        "",
        f"fastsql: {out}, line 2, table.patient: the schema has no such table. Correct the name, or run fastsql profile "
        "--update, which comments out what is gone.\n",
    )


@pytest.mark.parametrize("source", ["none.sqlite", "CREATE TABLE t", ""])
def test_what_is_no_schema_leaves_no_file(run: Run, tmp_path: Path, source: str) -> None:
    out = tmp_path / "clinic.toml"
    assert run("profile", source, "-o", str(out)).status == 2
    assert list(tmp_path.iterdir()) == []


def test_a_count_below_one_is_refused(run: Run, tmp_path: Path) -> None:
    assert run("profile", DDL, "-o", str(tmp_path / "p.toml"), "--least", "0").status == 2


def test_an_update_lists_values_of_what_people_call_a_category(
    run: Run, demo_hospital: Path, tmp_path: Path
) -> None:
    out = tmp_path / "clinic.toml"
    assert run("profile", str(demo_hospital), "-o", str(out), "--no-values").status == 0
    text = out.read_text(encoding="utf-8")
    head, section, rest = text.partition('[column.admissions.insurance]\nwords = "insurance"\n')
    edited = head + section + rest.replace('"category"', '"name"', 1)
    edited = edited.replace(
        '[column.d_items.label]\nwords = "label"\nkind = "name"', '[column.d_items.label]\nkind = "category"'
    )
    out.write_text(edited, encoding="utf-8")
    assert run("profile", str(demo_hospital), "-o", str(out), "--update", "--least", "1").status == 0
    text = out.read_text(encoding="utf-8")
    listed = [
        name
        for name in ("admissions.insurance", "d_items.label", "patients.gender")
        if f"{name}.values" in text
    ]
    assert listed == ["d_items.label", "patients.gender"]


def test_an_update_counts_as_the_file_says(run: Run, demo_hospital: Path, tmp_path: Path) -> None:
    out = tmp_path / "clinic.toml"
    assert run("profile", str(demo_hospital), "-o", str(out), "--least", "90").status == 0
    written = out.read_text(encoding="utf-8")
    assert "least = 90\n" in written
    assert run("profile", str(demo_hospital), "-o", str(out), "--update").status == 0
    assert out.read_text(encoding="utf-8") == written
    refused = run("profile", str(demo_hospital), "-o", str(out), "--update", "--least", "10")
    assert (refused.status, "that 90 patients share" in refused.err) == (2, True)


def test_an_update_counts_by_the_keys_and_terminologies_that_the_file_says(run: Run, tmp_path: Path) -> None:
    database, out = tmp_path / "ward.sqlite", tmp_path / "clinic.toml"
    ddl = """
        CREATE TABLE patients (patient_id INT PRIMARY KEY, sex TEXT);
        CREATE TABLE d_regimens (code TEXT PRIMARY KEY, title TEXT);
        CREATE TABLE doses (dose_id INT PRIMARY KEY, code TEXT REFERENCES d_regimens (code), route TEXT);
        CREATE TABLE stays (stay_id INT PRIMARY KEY, whose INT, ward_type TEXT);
        """
    rows = (
        inserted("patients", [(n, "F") for n in range(3)]),
        inserted("d_regimens", [(f"c{n}", "x") for n in range(3)]),
        inserted("doses", [(n, f"c{n}", "oral") for n in range(3)]),
        inserted("stays", [(n, 1, "burns") for n in range(9)] + [(20 + n, n, "surgery") for n in range(3)]),
    )
    write_database(database, ddl + "".join(rows))
    asked = ("profile", str(database), "-o", str(out), "--least", "3")
    first = run(*asked)
    assert "no values are listed of doses, stays: no column tells of whom" in first.err
    text = out.read_text(encoding="utf-8")
    assert ".route.values" not in text
    edited = text.replace("reference = true\n", "")
    assert edited != text
    whose = '[column.stays.whose]\nwords = "whose"\n'
    assert whose in edited
    edited = edited.replace(whose, whose + 'refers_to = "patients.patient_id"\n')
    out.write_text(edited, encoding="utf-8")
    second = run(*asked, "--update")
    assert (second.status, second.err) == (0, "")
    text = out.read_text(encoding="utf-8")
    assert "[column.doses.route.values]\noral = []\n" in text
    assert "[column.stays.ward_type.values]\nsurgery = []\n" in text
    assert "burns" not in text
