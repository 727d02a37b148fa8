"""Values of categories enter a profile only where enough patients share them, and nothing else of a row does."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fastsql import LimitError, Limits, Schema, SchemaError
from fastsql.profile.counting import with_counted_values
from fastsql.profile.writing import profile_text
from fastsql.schema import Value
from fastsql.schema.pace import Pace

from ..databases import PostgresServer
from ..worlds.database import inserted, write_database

LEAST = 3
DDL = """
CREATE TABLE patients (patient_id INT PRIMARY KEY, last_name TEXT, sex TEXT, blood_type TEXT, smoker_flag INT);
CREATE TABLE stays (stay_id INT PRIMARY KEY, patient_id INT REFERENCES patients (patient_id), ward_type TEXT);
CREATE TABLE transfers (transfer_id INT PRIMARY KEY, patient_id INT, transfer_type TEXT);
"""


@pytest.fixture
def ward(tmp_path: Path) -> Path:
    # Patient 1 was in the burns unit nine times, three patients were in surgery once.
    return written(
        tmp_path / "ward.sqlite",
        DDL,
        patients=[(n, "Meier", "F" if n % 2 else "M", "AB" if n == 1 else "0", n % 2) for n in range(8)],
        stays=[(n, 1, "burns") for n in range(9)] + [(20 + n, n, "surgery") for n in range(3)],
        transfers=[(n, 1, "secret") for n in range(9)],
    )


def values(path: Path | Any, **settings: Any) -> dict[str, list[Value]]:
    schema = Schema.coerce(path)
    profile = with_counted_values(schema, schema.profile, path, **{"least": LEAST, **settings})
    return {
        schema.qualified_name(index): list(one.values)
        for index, one in enumerate(profile.columns)
        if one.values
    }


SHARED = {
    "patients.sex": ["F", "M"],
    "patients.blood_type": ["0"],
    "patients.smoker_flag": [0, 1],
    "stays.ward_type": ["surgery"],
}


def test_a_value_is_listed_where_enough_patients_share_it(ward: Path) -> None:
    assert values(ward) == SHARED


def test_rows_of_one_patient_are_one_patient_by_declared_and_by_likely_keys(ward: Path) -> None:
    assert "stays.ward_type" in values(ward)
    assert "burns" not in values(ward)["stays.ward_type"]
    assert "transfers.transfer_type" not in values(ward)


def written(path: Path, ddl: str, **rows: list[tuple[object, ...]]) -> Path:
    return write_database(path, f"{ddl};{''.join(map(inserted, rows, rows.values()))}")


NINE_OF_ONE = [(n, 1, "burns") for n in range(9)]
HELD = {
    "subject_id": "CREATE TABLE stays (stay_id INT PRIMARY KEY, subject_id INT, ward_type TEXT)",
    "mrn": "CREATE TABLE stays (stay_id INT PRIMARY KEY, mrn INT, ward_type TEXT)",
    "patient_id": "CREATE TABLE stays (stay_id INT, patient_id INT, ward_type TEXT)",
}


@pytest.mark.parametrize("ddl", HELD.values(), ids=HELD)
def test_an_identifier_that_is_no_key_tells_whose_a_row_is(tmp_path: Path, ddl: str) -> None:
    others = [(20 + n, 30 + n, "surgery") for n in range(3)]
    path = written(tmp_path / "w.sqlite", ddl, stays=NINE_OF_ONE + others)
    assert values(path) == {"stays.ward_type": ["surgery"]}


def test_a_patients_number_among_the_keys_of_a_terminology_is_chance_unless_declared(tmp_path: Path) -> None:
    ddl = """
        CREATE TABLE d_items (itemid INT PRIMARY KEY, label TEXT);
        CREATE TABLE stays (stay_id INT PRIMARY KEY, subject_id INT, invoice_id INT, ward_type TEXT);
    """
    path = written(tmp_path / "w.sqlite", ddl, stays=[(n, 1, 100 + n, "burns") for n in range(9)])
    schema = Schema.from_sqlite(path)
    columns = list(schema.profile.columns)
    subject = schema.column_index("stays", "subject_id")
    columns[subject] = replace(columns[subject], refers_to="d_items.itemid")
    tables = (replace(schema.profile.tables[0], reference=True), schema.profile.tables[1])
    found = replace(schema.profile, tables=tables, columns=tuple(columns))
    profile = with_counted_values(schema, found, path, least=LEAST)
    assert [one.values for one in profile.columns if one.values] == []


def test_every_holder_counts_whatever_its_place(tmp_path: Path) -> None:
    keys = ("ward", "bed", "team", "payer", "patient")
    tables = "".join(f"CREATE TABLE {key}s ({key}_id INT PRIMARY KEY, name TEXT);" for key in keys)
    columns = "".join(f"{key}_id INT REFERENCES {key}s ({key}_id), " for key in keys)
    rows = [(n, n, n, n, n, 1, "burns") for n in range(9)]
    ddl = f"{tables} CREATE TABLE stays (stay_id INT PRIMARY KEY, {columns} ward_type TEXT)"
    assert values(written(tmp_path / "w.sqlite", ddl, stays=rows)) == {}


@pytest.mark.parametrize("key", ["stay_id INT", "id INT", "stay_id INT PRIMARY KEY"])
def test_a_table_that_names_nobody_lists_nothing(tmp_path: Path, key: str) -> None:
    ddl = f"CREATE TABLE stays ({key}, note TEXT, ward_type TEXT)"
    path = written(tmp_path / "w.sqlite", ddl, stays=[(n, "x", "burns") for n in range(9)])
    schema = Schema.from_sqlite(path)
    profile = with_counted_values(schema, schema.profile, path, least=LEAST)
    assert all(not one.values for one in profile.columns)
    assert profile.warnings == ("no values are listed of stays: no column tells of whom their rows are",)


def test_a_table_that_tells_of_patients_only_by_another_lists_nothing(ward: Path) -> None:
    ddl = "CREATE TABLE results (id INT PRIMARY KEY, stay_id INT REFERENCES stays (stay_id){}, result_type TEXT)"
    written(ward, ddl.format(""), results=[(n, n, "secret") for n in range(9)])
    assert values(ward) == SHARED
    named = "DROP TABLE results;" + ddl.format(", subject_id INT")
    written(ward, named, results=[(n, n, n % 3, "fine") for n in range(9)])
    assert values(ward) == {**SHARED, "results.result_type": ["fine"]}


def test_rows_are_counted_in_tables_of_persons_and_terminologies(tmp_path: Path) -> None:
    ddl = """
        CREATE TABLE hospital_patients (id INT PRIMARY KEY, sex TEXT);
        CREATE TABLE patient_visits (id INT PRIMARY KEY, visit_type TEXT);
        CREATE TABLE d_items (code TEXT PRIMARY KEY, title TEXT, category TEXT);
        CREATE TABLE 患者信息表 (id INT PRIMARY KEY, 民族 TEXT);
    """
    two = [(n, "x") for n in range(4)]
    items = [(f"c{n}", f"t{n}", "fluid") for n in range(4)]
    path = written(
        tmp_path / "w.sqlite", ddl, hospital_patients=two, patient_visits=two, d_items=items, 患者信息表=two
    )
    assert values(path) == {
        "hospital_patients.sex": ["x"],
        "d_items.category": ["fluid"],
        "患者信息表.民族": ["x"],
    }


def test_leaving_the_table_of_patients_out_opens_no_door(ward: Path) -> None:
    schema = Schema.from_sqlite(ward, exclude=["patients"])
    profile = with_counted_values(schema, schema.profile, ward, least=LEAST)
    listed = {schema.qualified_name(index): list(one.values) for index, one in enumerate(profile.columns)}
    assert {name: found for name, found in listed.items() if found} == {"stays.ward_type": ["surgery"]}


def test_without_a_whole_search_only_declared_keys_tell_whose_a_row_is(ward: Path) -> None:
    written(ward, "", transfers=[(20 + n, n, "bed") for n in range(5)])
    assert values(ward)["transfers.transfer_type"] == ["bed"]
    assert values(ward, all_keys=False) == SHARED


def test_a_text_in_a_column_of_numbers_is_no_value_of_it(ward: Path) -> None:
    with closing(sqlite3.connect(ward)) as connection:
        connection.execute("UPDATE patients SET smoker_flag = 'N/A' WHERE patient_id < 4")
        connection.execute("UPDATE patients SET smoker_flag = 9e999 WHERE patient_id > 3")
        connection.commit()
    assert "patients.smoker_flag" not in values(ward)


def test_the_caller_says_how_many_patients_must_share_a_value(ward: Path) -> None:
    assert values(ward, least=1)["stays.ward_type"] == ["burns", "surgery"]
    assert values(ward, least=5) == {"patients.blood_type": ["0"]}
    with pytest.raises(LimitError, match="least"):
        values(ward, least=0)


def test_the_file_holds_nothing_of_a_row_but_shared_values(ward: Path) -> None:
    schema = Schema.from_sqlite(ward)
    profile = with_counted_values(schema, schema.profile, ward, least=LEAST)
    text = profile_text(schema, profile, LEAST)
    assert f"that {LEAST} patients or more share (rows, in tables of persons and terminologies)" in text
    assert [cell for cell in ("Meier", "AB", "burns", "secret") if cell in text] == []


def test_a_schema_that_was_read_from_rows_gives_none_of_them_away(ward: Path) -> None:
    schema = Schema.from_sqlite(ward)
    assert "burns" in schema.columns[schema.column_index("stays", "ward_type")].values
    assert "burns" not in profile_text(schema, schema.profile)


def test_cells_that_no_file_can_hold_are_left_out(ward: Path) -> None:
    with closing(sqlite3.connect(ward)) as connection:
        connection.execute("UPDATE patients SET blood_type = CAST(x'ff41' AS TEXT)")
        connection.execute("UPDATE patients SET sex = ''")
        connection.commit()
    found = values(ward)
    assert "patients.blood_type" not in found
    assert "patients.sex" not in found


def test_a_column_of_more_values_than_a_schema_holds_has_none(ward: Path) -> None:
    assert "patients.sex" not in values(ward, limits=Limits(values_per_column=1))


def test_a_server_is_counted_alike(ward: Path) -> None:
    pytest.importorskip("sqlalchemy", reason="pip install '.[db]' runs this")
    assert values(f"sqlite:///{ward}") == SHARED


def test_an_interrupted_reading_says_so(ward: Path) -> None:
    schema = Schema.from_sqlite(ward)
    pace = Pace(progress=lambda done, *_: done < 1)
    profile = with_counted_values(schema, schema.profile, ward, least=LEAST, pace=pace)
    assert profile.warnings == ("values of 4 columns were not counted: the reading was ended before",)


@pytest.mark.parametrize("broken", ["gone", "no database", "other tables"])
def test_a_database_that_is_not_what_it_was_is_an_error_without_a_cell(ward: Path, broken: str) -> None:
    schema = Schema.from_sqlite(ward)
    profile = schema.profile
    ward.unlink()
    if broken == "no database":
        ward.write_bytes(b"Meier" * 400)
    if broken == "other tables":
        with closing(sqlite3.connect(ward)) as connection:
            connection.execute("CREATE TABLE patients (sex_of TEXT)")
            connection.commit()
    with pytest.raises(SchemaError) as raised:
        with_counted_values(schema, profile, ward)
    assert raised.value.where in (str(ward), "column patients.sex")
    assert "Meier" not in str(raised.value)


def test_postgresql_gives_comments_values_and_keys(postgres: PostgresServer) -> None:
    postgres.create_database("profiled")
    psycopg = pytest.importorskip("psycopg", reason="pip install '.[postgres]' runs this")
    with psycopg.connect(postgres.conninfo("profiled"), autocommit=True) as connection:
        connection.execute(
            """
            CREATE TABLE patients (patient_id INT PRIMARY KEY, sex TEXT, weight REAL, code INT);
            COMMENT ON TABLE patients IS 'one row a person';
            COMMENT ON COLUMN patients.weight IS 'in kg';
            CREATE TABLE stays (stay_id INT PRIMARY KEY, patient_id INT REFERENCES patients, ward_type TEXT);
            INSERT INTO patients SELECT n, CASE WHEN n % 2 = 0 THEN 'F' ELSE 'M' END, n FROM generate_series(1, 8) AS n;
            INSERT INTO stays SELECT n, 1, 'burns' FROM generate_series(1, 9) AS n;
            INSERT INTO stays SELECT 20 + n, n, 'surgery' FROM generate_series(1, 3) AS n;
            """
        )
    url = postgres.url("profiled")
    assert values(url) == {"patients.sex": ["F", "M"], "stays.ward_type": ["surgery"]}
    schema = Schema.from_sqlalchemy(url)
    weight = schema.profile.columns[schema.column_index("patients", "weight")]
    assert (schema.profile.tables[0].description, weight.description, weight.unit) == (
        "one row a person",
        "in kg",
        "kg",
    )
    with psycopg.connect(postgres.conninfo("profiled"), autocommit=True) as connection:
        connection.execute("ALTER TABLE patients ALTER COLUMN sex TYPE json USING to_json(sex)")
    profile = with_counted_values(schema, schema.profile, url, least=LEAST)
    assert [list(one.values) for one in profile.columns if one.values] == [["surgery"]]
    assert [line.partition(":")[0] for line in profile.warnings] == ["column patients.sex"]
    with psycopg.connect(postgres.conninfo("profiled"), autocommit=True) as connection:
        connection.execute("DROP TABLE stays")
    with pytest.raises(SchemaError, match="cannot be counted") as raised:
        with_counted_values(schema, schema.profile, url)
    assert raised.value.where == "column stays.ward_type"


def test_a_column_that_a_role_may_not_read_is_a_warning(postgres: PostgresServer) -> None:
    postgres.create_database("guarded")
    psycopg = pytest.importorskip("psycopg", reason="pip install '.[postgres]' runs this")
    with psycopg.connect(postgres.conninfo("guarded"), autocommit=True) as connection:
        connection.execute(
            """
            CREATE TABLE patients (patient_id INT PRIMARY KEY, sex TEXT, blood_type VARCHAR(3));
            INSERT INTO patients SELECT n, 'F', 'AB' FROM generate_series(1, 8) AS n;
            CREATE ROLE profile_clerk LOGIN;
            GRANT SELECT (patient_id, blood_type) ON patients TO profile_clerk;
            """
        )
    schema = Schema.from_sqlalchemy(postgres.url("guarded"))
    profile = with_counted_values(
        schema, schema.profile, postgres.url("guarded", "profile_clerk"), least=LEAST
    )
    assert [list(one.values) for one in profile.columns] == [[], [], ["AB"]]
    assert len(profile.warnings) == 1
    assert profile.warnings[0].startswith(
        "column patients.sex: its values are not listed: the role may not read it"
    )
