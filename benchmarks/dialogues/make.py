"""Write the two databases of the dialogues, and their schemas as `fastsql eval` reads them.

The dialogues (dialogues.json) are thirty conversations of five turns each, over the demo hospital and over a clinic that is
made up here. They were written by hand before any model was judged on them, with changes of topic, corrections, pronouns
and what people leave out; now is 2100-12-31 23:59:00.

The clinic also has sixty single questions (clinic_questions.json), and ten seeds for `fastsql adapt` (clinic_seeds.json).

    python benchmarks/dialogues/make.py dialogues
    fastsql eval benchmarks/dialogues/dialogues.json --schemas dialogues/schemas.json --databases dialogues/databases \
        --now "2100-12-31 23:59:00"
"""

from __future__ import annotations

import argparse
import json
import random
import sqlite3
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path

from fastsql import Schema
from fastsql.demo import create_hospital

HERE = Path(__file__).parent
PATIENTS, APPOINTMENTS = 120, 600
FIRST_DAY = datetime.fromisoformat("2099-01-04 08:00")
FIRST_BIRTH = datetime.fromisoformat("2010-01-01")
WEEKS = 103

INSURERS = (
    ("Nordkasse", "public"),
    ("Meridian Health", "private"),
    ("CarePlus", "private"),
    ("Landkasse", "public"),
)
DOCTORS = (
    ("Ngozi Okafor", "general practice", "2088-03-01"),
    ("Peter Lindqvist", "general practice", "2095-09-15"),
    ("Ines Carvalho", "cardiology", "2091-01-10"),
    ("Hugo Brandt", "cardiology", "2097-06-01"),
    ("Leila Haddad", "dermatology", "2086-11-20"),
    ("Owen Price", "paediatrics", "2093-04-05"),
)
ROOMS = (("Blue 1", 1), ("Blue 2", 1), ("Green 1", 2), ("Green 2", 2), ("Green 3", 2), ("Laboratory", 0))
CONDITIONS = (
    ("E11", "type 2 diabetes", 1),
    ("I10", "high blood pressure", 1),
    ("J45", "asthma", 1),
    ("J06", "common cold", 0),
    ("L20", "eczema", 1),
    ("M54", "back pain", 0),
    ("G43", "migraine", 1),
)
MEDICINES = {
    "ibuprofen": (200, 400, 600),
    "amoxicillin": (500, 1000),
    "ramipril": (2.5, 5, 10),
    "metformin": (500, 850, 1000),
    "salbutamol": (0.1, 0.2),
    "cetirizine": (10,),
}
ANALYTES = {
    "HbA1c": (4.5, 11.0, "%"),
    "cholesterol": (130, 310, "mg/dl"),
    "CRP": (0.5, 90, "mg/l"),
    "TSH": (0.2, 8.0, "mU/l"),
    "ferritin": (8, 400, "ug/l"),
}
VACCINES = ("influenza", "tetanus", "measles", "hepatitis B")
SUBSTANCES = ("penicillin", "nuts", "latex", "pollen")
REASONS = ("check-up", "cough", "rash", "back pain", "headache", "chest pain", "follow-up")
CITIES = ("Harwick", "Eastleigh", "Norrby", "Port Alma")
FIRST_NAMES = (
    "Anna",
    "Ben",
    "Carla",
    "David",
    "Elif",
    "Finn",
    "Grace",
    "Hasan",
    "Iris",
    "Jon",
    "Karin",
    "Luis",
    "Mina",
    "Noah",
)
LAST_NAMES = (
    "Abel",
    "Berger",
    "Costa",
    "Duval",
    "Eriksen",
    "Fischer",
    "Gomez",
    "Hansen",
    "Ivanov",
    "Jung",
    "Keller",
    "Lopez",
)


def make(folder: Path) -> Path:
    """The folder of the databases. Raises FileExistsError where there are some."""
    databases = folder / "databases"
    databases.mkdir(parents=True, exist_ok=False)
    create_hospital(databases / "demo_hospital.sqlite")
    _create_clinic(databases / "clinic.sqlite")
    entries = [
        {**Schema.from_sqlite(databases / f"{name}.sqlite").to_dict(), "db_id": name}
        for name in ("demo_hospital", "clinic")
    ]
    (folder / "schemas.json").write_text(json.dumps(entries, indent=1), encoding="utf-8")
    return databases


def _create_clinic(path: Path) -> None:
    rng = random.Random(5)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript((HERE / "clinic.sql").read_text(encoding="utf-8"))
        rows = _Rows(connection)
        for name, kind in INSURERS:
            rows.add("insurers", name, kind)
        for doctor in DOCTORS:
            rows.add("doctors", *doctor)
        for room in ROOMS:
            rows.add("rooms", *room)
        connection.executemany("INSERT INTO conditions VALUES (?, ?, ?)", CONDITIONS)
        for number in range(1, PATIENTS + 1):
            _add_patient(rows, number, rng)
        for _ in range(APPOINTMENTS):
            _add_appointment(rows, rng)


class _Rows:
    """Adds rows to tables whose first column is a number of their own."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def add(self, table: str, *cells: object) -> int:
        marks = ", ".join("?" * len(cells))
        number = self._connection.execute(f"INSERT INTO {table} VALUES (NULL, {marks})", cells).lastrowid
        return int(number or 0)

    def allergy(self, *cells: object) -> None:
        self._connection.execute("INSERT INTO allergies VALUES (?, ?, ?)", cells)


def _add_patient(rows: _Rows, number: int, rng: random.Random) -> None:
    named = {7: ("Marta", "Jensen", "F"), 19: ("Tomas", "Varga", "M")}
    drawn = (rng.choice(FIRST_NAMES), rng.choice(LAST_NAMES), rng.choice("FM"))
    born = FIRST_BIRTH + timedelta(days=rng.randrange(88 * 365))
    rows.add(
        "patients",
        *named.get(number, drawn),
        f"{born:%Y-%m-%d}",
        rng.choice(CITIES),
        rng.randint(1, len(INSURERS)),
    )
    if rng.random() < 0.7:
        for vaccine in rng.sample(VACCINES, rng.randint(1, 3)):
            given = born + timedelta(days=rng.randint(200, 700))
            rows.add("vaccinations", number, vaccine, f"{given:%Y-%m-%d}")
    for substance in SUBSTANCES:
        if rng.random() < 0.15:
            rows.allergy(number, substance, rng.choice(("mild", "severe")))


def _add_appointment(rows: _Rows, rng: random.Random) -> None:
    patient = rng.choice((7, 19)) if rng.random() < 0.05 else rng.randint(1, PATIENTS)
    day = FIRST_DAY + timedelta(
        days=7 * rng.randrange(WEEKS) + rng.randrange(5), minutes=15 * rng.randrange(36)
    )
    status = rng.choices(("kept", "cancelled", "missed"), (8, 1, 1))[0]
    visit = rows.add(
        "appointments", patient, rng.randint(1, len(DOCTORS)), rng.randint(1, len(ROOMS)),
        f"{day:%Y-%m-%d %H:%M:%S}", status, rng.choice(REASONS),
    )  # fmt: skip
    if status != "kept":
        return
    if rng.random() < 0.6:
        rows.add("diagnoses", visit, rng.choice(CONDITIONS)[0])
    if rng.random() < 0.6:
        medicine = rng.choice(tuple(MEDICINES))
        rows.add(
            "prescriptions", visit, medicine, rng.choice(MEDICINES[medicine]), rng.choice((5, 7, 14, 30))
        )
    for analyte in (
        ("HbA1c", "cholesterol") if patient == 7 else rng.sample(tuple(ANALYTES), rng.randint(0, 2))
    ):
        low, high, unit = ANALYTES[analyte]
        rows.add(
            "lab_tests", visit, analyte, round(rng.uniform(low, high), 1), unit, f"{day:%Y-%m-%d %H:%M:%S}"
        )
    issued = day + timedelta(days=rng.randint(1, 20))
    amount = round(rng.uniform(30, 400), 2)
    rows.add("invoices", visit, amount, f"{issued:%Y-%m-%d}", rng.choice(("yes", "yes", "yes", "no")))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="where databases/ and schemas.json are written")
    print(make(parser.parse_args().folder))
