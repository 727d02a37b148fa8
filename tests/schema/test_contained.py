"""Keys that values tell: what is found, and the false friends that are not."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from fastsql import LimitError, Schema, SchemaError
from fastsql.schema.contained import agreement

from ..worlds.database import hasty_connection

ROWS = 40
CODES = [f"{place:03d}-{place * 7919 % 1000:03d}" for place in range(ROWS)]
SPARSE = [10_000 + place * 997 for place in range(ROWS)]

Tables = dict[str, tuple[str, Sequence[tuple[Any, ...]]]]


def database(path: Path, tables: Tables) -> Path:
    """A file with tables by name: their columns, as CREATE TABLE has them, and their rows."""
    with closing(hasty_connection(path)) as connection:
        for name, (columns, rows) in tables.items():
            connection.execute(f'CREATE TABLE "{name}" ({columns})')
            marks = ", ".join("?" * len(rows[0]))
            connection.executemany(f'INSERT INTO "{name}" VALUES ({marks})', rows)
        connection.commit()
    return path


def found(path: Path, source: Any = None, **settings: Any) -> set[str]:
    """The keys that are found in a file, as "column -> key"."""
    schema = Schema.from_sqlite(path)
    added = schema.with_keys_from(source or path, **settings).foreign_keys[len(schema.foreign_keys) :]
    names = schema.qualified_name
    return {f"{names(key.columns[0])} -> {names(key.references[0])}" for key in added}


def numbered(values: Iterable[Any]) -> list[tuple[Any, ...]]:
    """Rows of a number and a value."""
    return list(enumerate(values, 1))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ward.sqlite"


def test_numbers_are_keys_where_names_agree(path: Path) -> None:
    tables: Tables = {
        "patients": ("id INTEGER PRIMARY KEY, born TEXT", numbered(CODES)),
        "stays": (
            "n INTEGER, old_patient_id INTEGER, patient INTEGER",
            [(1, k, k) for k in range(1, 31)],
        ),
    }
    assert found(database(path, tables)) == {
        "stays.old_patient_id -> patients.id",
        "stays.patient -> patients.id",
    }


def test_codes_and_sparse_numbers_are_keys_whatever_their_names(path: Path) -> None:
    tables: Tables = {
        "items": ("code TEXT PRIMARY KEY, label TEXT", [(code, code[::-1]) for code in CODES]),
        "staff": (
            "number INTEGER PRIMARY KEY, age INTEGER",
            [(number, 20 + number % 40) for number in SPARSE],
        ),
        "orders": (
            "what TEXT, by_whom INTEGER, amount INTEGER",
            list(zip(CODES[5:], SPARSE[5:], range(ROWS), strict=False)),
        ),
    }
    assert found(database(path, tables)) == {"orders.what -> items.code", "orders.by_whom -> staff.number"}


def test_nearly_all_values_must_be_keys(path: Path) -> None:
    strangers = [f"x{place}" for place in range(5)]
    tables: Tables = {
        "items": ("code TEXT PRIMARY KEY", [(code,) for code in CODES]),
        "orders": ("item_code TEXT, n INTEGER", [(code, 1) for code in [*CODES, *strangers]]),
    }
    assert found(database(path, tables)) == set()


def test_few_values_amounts_and_the_rows_own_numbers_are_no_keys(path: Path) -> None:
    tables: Tables = {
        "wards": ("id INTEGER PRIMARY KEY, beds INTEGER", [(place, 2) for place in range(1, ROWS)]),
        "stays": (
            "stay_id INTEGER PRIMARY KEY, ward_id INTEGER, ward_days REAL",
            [(k, k % 5 + 1, float(k)) for k in range(1, ROWS)],
        ),
        "notes": (
            "note_id INTEGER PRIMARY KEY, ward_note TEXT",
            [(k, "long " * 40 + str(k)) for k in range(1, ROWS)],
        ),
    }
    assert found(database(path, tables)) == set()


def test_a_key_that_is_called_so_may_be_no_primary_one(path: Path) -> None:
    """As in MIMIC, whose tables number their rows, and refer to other columns."""
    tables: Tables = {
        "admissions": ("row_id INTEGER PRIMARY KEY, hadm_id INTEGER", numbered(SPARSE)),
        "labs": (
            "row_id INTEGER PRIMARY KEY, hadm_id INTEGER, value REAL",
            [(k, SPARSE[k // 2], k / 3) for k in range(1, ROWS)],
        ),
    }
    assert found(database(path, tables)) == {"labs.hadm_id -> admissions.hadm_id"}


def test_the_name_that_agrees_most_decides_between_keys(path: Path) -> None:
    ids = range(1, ROWS)
    tables: Tables = {
        "persons": ("person_id INTEGER PRIMARY KEY, n INTEGER", [(k, 1) for k in ids]),
        "salespersons": ("salesperson_id INTEGER PRIMARY KEY, n INTEGER", [(k, 1) for k in ids]),
        "sales": ("n INTEGER, old_salesperson_id INTEGER", [(1, k) for k in ids]),
    }
    assert found(database(path, tables)) == {"sales.old_salesperson_id -> salespersons.salesperson_id"}


def test_tables_that_a_declared_key_connects_are_left_alone(path: Path) -> None:
    tables: Tables = {
        "patients": ("id INTEGER PRIMARY KEY, n INTEGER", numbered(SPARSE)),
        "stays": (
            "mother INTEGER REFERENCES patients (id), patient_id INTEGER",
            [(k, k) for k in range(1, ROWS)],
        ),
    }
    assert found(database(path, tables)) == set()


def test_a_schema_with_found_keys_knows_them_as_its_own(path: Path) -> None:
    tables: Tables = {
        "patients": ("id INTEGER PRIMARY KEY, n INTEGER", numbered(SPARSE)),
        "stays": ("n INTEGER, who_is_patient INTEGER", [(1, k) for k in range(1, ROWS)]),
    }
    schema = Schema.from_sqlite(database(path, tables))
    richer = schema.with_keys_from(path)
    assert schema.key_groups == (-1, -1, -1, -1)
    assert richer.key_groups == (0, -1, -1, 0)
    assert richer.fingerprint != schema.fingerprint
    assert Schema.from_dict(richer.to_dict()) == richer
    assert richer.with_keys_from(path) == richer


def test_a_connection_an_engine_and_a_url_tell_the_same(path: Path) -> None:
    tables: Tables = {
        "items": ("code TEXT PRIMARY KEY, hadm_id INTEGER", list(zip(CODES, SPARSE, strict=True))),
        "orders": (
            "what TEXT, hadm_id INTEGER",
            list(zip(CODES[::-1], [*SPARSE[1:], SPARSE[1]], strict=True)),
        ),
    }
    expected = {"orders.what -> items.code", "orders.hadm_id -> items.hadm_id"}
    assert found(database(path, tables)) == expected
    with closing(sqlite3.connect(path)) as connection:
        assert found(path, connection) == expected
    sqlalchemy = pytest.importorskip("sqlalchemy", reason="pip install '.[db]' to run this")
    assert found(path, f"sqlite:///{path}") == expected
    engine = sqlalchemy.create_engine(f"sqlite:///{path}")
    assert found(path, engine) == expected
    engine.dispose()


def test_tables_of_attached_databases_are_read_where_they_are(path: Path, tmp_path: Path) -> None:
    database(path, {"patients": ("id INTEGER PRIMARY KEY, n INTEGER", numbered(SPARSE))})
    other = database(
        tmp_path / "other.sqlite",
        {"bills": ("n INTEGER, patient_id INTEGER", [(1, k) for k in range(1, ROWS)])},
    )
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("ATTACH ? AS billing", [str(other)])
        schema = Schema.from_sqlite(connection, namespace=["main", "billing"])
        (key,) = schema.with_keys_from(connection).foreign_keys
        assert schema.qualified_name(key.columns[0]) == "billing.bills.patient_id"


def test_what_is_not_found_in_time_is_left_out_with_a_warning(path: Path) -> None:
    tables: Tables = {
        "patients": ("id INTEGER PRIMARY KEY, n INTEGER", numbered(SPARSE)),
        "stays": ("n INTEGER, the_patient_id INTEGER", [(1, k) for k in range(1, ROWS)]),
    }
    schema = Schema.from_sqlite(database(path, tables))
    hurried = schema.with_keys_from(path, seconds=1e-9)
    assert hurried.foreign_keys == ()
    assert hurried.warnings == (*schema.warnings, "keys: looking for them took longer than 1e-09 s")
    with pytest.raises(LimitError, match="seconds"):
        schema.with_keys_from(path, seconds=0)


def test_a_database_that_is_missing_damaged_or_another_is_told_without_a_cell(
    path: Path, tmp_path: Path
) -> None:
    tables: Tables = {
        "items": ("code TEXT PRIMARY KEY", [(code,) for code in CODES]),
        "orders": ("what TEXT, n INTEGER", [(code, 1) for code in CODES]),
    }
    schema = Schema.from_sqlite(database(path, tables))
    with pytest.raises(SchemaError, match="no such file"):
        schema.with_keys_from(tmp_path / "none.sqlite")
    assert not (tmp_path / "none.sqlite").exists()
    (tmp_path / "damaged.sqlite").write_bytes(b"SQLite format 3\0" + bytes(200))
    with pytest.raises(SchemaError, match="cannot be read"):
        schema.with_keys_from(tmp_path / "damaged.sqlite")
    empty = database(tmp_path / "empty.sqlite", {"other": ("x TEXT", [("secret",)])})
    with pytest.raises(SchemaError, match=r"orders\.what") as caught:
        schema.with_keys_from(empty)
    assert "secret" not in str(caught.value)


def test_cells_of_any_kind_are_passed_over(path: Path) -> None:
    odd = [b"\xff\xfe" + bytes([place]) for place in range(20)]
    tables: Tables = {
        "items": ("code TEXT PRIMARY KEY", [(code,) for code in CODES]),
        "orders": ('what TEXT, "se""lect" TEXT, mixed TEXT', [(cell, None, "") for cell in odd]),
    }
    assert found(database(path, tables)) == set()


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        ("patient_id", 9),
        ("old_patient_id", 9),
        ("patient", 1),
        ("patients_doctor", 1),
        ("id", 0),
        ("doctor", 0),
    ],
)
def test_names_agree_as_far_as_they_end_alike(column: str, expected: int) -> None:
    schema = Schema.from_ddl(
        f"CREATE TABLE patients (id INT PRIMARY KEY); CREATE TABLE visits ({column} INT)"
    )
    assert agreement(schema, 1, 0) == expected
