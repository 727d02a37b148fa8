"""A clinic of four tables, with rows."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from fastsql.execution import Executor, open_executor
from fastsql.schema import Schema

_SCRIPT = """
CREATE TABLE wards (ward_id INTEGER PRIMARY KEY, name TEXT, beds INTEGER);
CREATE TABLE patients (
    patient_id INTEGER PRIMARY KEY, name TEXT, sex TEXT, weight REAL, born DATE,
    ward_id INTEGER REFERENCES wards(ward_id)
);
CREATE TABLE visits (
    visit_id INTEGER PRIMARY KEY, patient_id INTEGER REFERENCES patients(patient_id), reason TEXT, cost REAL, day DATE
);
CREATE TABLE drugs (drug_id INTEGER PRIMARY KEY, visit_id INTEGER REFERENCES visits(visit_id), drug TEXT, dose REAL);
"""
_NAMES = ("Ada Moss", "Ben Lund", "Cleo Sand", "Dora Vik", "Emil Roth", "Fay Holm", "Gus Berg", "Hana Kord")


@pytest.fixture(scope="session")
def clinic_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("clinic") / "clinic.sqlite"
    with sqlite3.connect(path) as connection:
        connection.executescript(_SCRIPT)
        wards = [(1, "north", 12), (2, "south", 20), (3, "children", 9)]
        connection.executemany("INSERT INTO wards VALUES (?, ?, ?)", wards)
        patients = [
            (n, name, "FM"[n % 2], 50.5 + 7 * n, f"19{60 + 3 * n}-0{n + 1}-11", 1 + n % 3)
            for n, name in enumerate(_NAMES)
        ]
        connection.executemany("INSERT INTO patients VALUES (?, ?, ?, ?, ?, ?)", patients)
        reasons = ("cough", "broken arm", "check-up", "fever")
        visits = [
            (n, n * n % 7, reasons[n % 4], 20.0 + 13 * n, f"2023-{1 + n % 12:02}-05") for n in range(24)
        ]
        connection.executemany("INSERT INTO visits VALUES (?, ?, ?, ?, ?)", visits)
        drugs = [
            (n, n % 20, ("aspirin", "ibuprofen", "insulin")[n % 3], 100.0 * (1 + n % 4)) for n in range(30)
        ]
        connection.executemany("INSERT INTO drugs VALUES (?, ?, ?, ?)", drugs)
    return path


@pytest.fixture(scope="session")
def clinic(clinic_file: Path) -> Schema:
    return Schema.from_sqlite(clinic_file)


@pytest.fixture
def executor(clinic_file: Path) -> Iterator[Executor]:
    with open_executor(clinic_file) as opened:
        yield opened
