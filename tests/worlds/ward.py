"""A ward by MIMIC's names: patients, admissions, prescriptions, labs and Chinese beds, in SQL that every dialect runs.

Its database holds one table more, staff, which no schema of these names: what must stay hidden.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from fastsql.schema import Schema

from .database import write_database

_TABLES = {
    "patients": "subject_id INTEGER PRIMARY KEY, gender TEXT, name TEXT",
    "admissions": "hadm_id INTEGER PRIMARY KEY, subject_id INTEGER REFERENCES patients (subject_id), age INTEGER,"
    " ward TEXT, admittime TIMESTAMP, dischtime TIMESTAMP",
    "prescriptions": "row_id INTEGER PRIMARY KEY, hadm_id INTEGER REFERENCES admissions (hadm_id), drug TEXT,"
    " starttime TIMESTAMP",
    "labs": "lab_id INTEGER PRIMARY KEY, label TEXT, valuenum DECIMAL(6, 2), charttime TIMESTAMP",
    "病房": '"编号" INTEGER, "order" TEXT, "say ""hi""" TEXT',
}
_STAFF = "CREATE TABLE staff (staff_id INTEGER PRIMARY KEY, password TEXT);\n"
_ROWS = """
INSERT INTO patients VALUES (1, 'F', 'Ada'), (2, 'M', 'Ben');
INSERT INTO admissions VALUES
    (10, 1, 61, 'ICU', '2100-03-01 10:00:00', '2100-03-04 12:00:00'), (11, 2, 47, 'ER', '2100-05-06 07:08:09', NULL);
INSERT INTO prescriptions VALUES (100, 10, 'warfarin', '2100-03-02 08:00:00');
INSERT INTO labs VALUES
    (1, 'sodium', 61.5, '2040-01-02 03:04:05'), (2, '血清肌酐', NULL, NULL), (3, '', 0, '2050-01-01 00:00:00');
INSERT INTO staff VALUES (1, 'hunter2');
"""


def ward_ddl(*tables: str) -> str:
    """The statements that make these tables, or all."""
    return "".join(f'CREATE TABLE "{name}" ({_TABLES[name]});\n' for name in tables or _TABLES)


@cache
def ward_schema(*tables: str) -> Schema:
    """The schema of these tables, or of all."""
    return Schema.from_ddl(ward_ddl(*tables), name="ward")


def ward_script(rows: str = _ROWS) -> str:
    """Statements for all tables, staff, and rows: the ward's own, of two patients, or others."""
    return ward_ddl() + _STAFF + rows


def numbered_patients(count: int) -> str:
    """Statements for so many patients, counted from 0: number 3 is called p3."""
    return "INSERT INTO patients VALUES " + ", ".join(f"({n}, NULL, 'p{n}')" for n in range(count)) + ";\n"


def ward_database(path: Path, rows: str = _ROWS) -> Path:
    """The ward as a file, as `write_database` writes it."""
    return write_database(path, ward_script(rows))
