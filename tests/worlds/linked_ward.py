"""A small ward whose tables are linked in every way that matters to an operation on a schema, and queries of every form.

Doctors without patients, patients without a doctor, visits of some patients only, beds by a key of two columns, texts that
repeat, NULLs, names that are reserved words.
"""

from __future__ import annotations

import random
from pathlib import Path

from fastsql.schema import Schema

from .database import inserted, write_database

DDL = """
CREATE TABLE doctor (id INTEGER PRIMARY KEY, name TEXT, sex TEXT, age INTEGER);
CREATE TABLE patient (
    id INTEGER PRIMARY KEY, name TEXT, sex TEXT, weight REAL, doctor_id INTEGER REFERENCES doctor (id)
);
CREATE TABLE bed (ward TEXT, no INTEGER, size TEXT, PRIMARY KEY (ward, no));
CREATE TABLE "order" (
    id INTEGER PRIMARY KEY, patient_id INTEGER REFERENCES patient (id), ward TEXT, "no" INTEGER, "group" TEXT, cost REAL,
    FOREIGN KEY (ward, "no") REFERENCES bed (ward, no)
);
CREATE TABLE badge (doctor_id INTEGER PRIMARY KEY REFERENCES doctor (id), colour TEXT);
"""

QUERIES = (
    "SELECT * FROM patient",
    "SELECT * FROM doctor WHERE sex = 'F'",
    "SELECT p.*, d.name FROM patient AS p JOIN doctor AS d ON p.doctor_id = d.id",
    "SELECT * FROM patient JOIN doctor ON patient.doctor_id = doctor.id WHERE doctor.age > 40",
    "SELECT name, weight FROM patient WHERE sex = 'M' AND weight > 60",
    "SELECT name, sex FROM patient WHERE sex = 'F'",
    "SELECT name FROM patient WHERE sex <> 'F' OR weight > 70",
    "SELECT name FROM patient WHERE sex IN ('F', 'M') AND doctor_id = 2",
    "SELECT sex, COUNT(*) FROM patient GROUP BY sex",
    "SELECT sex, AVG(weight) FROM patient GROUP BY sex HAVING COUNT(*) > 1 ORDER BY sex",
    "SELECT DISTINCT sex FROM doctor",
    "SELECT DISTINCT name, sex FROM patient WHERE weight < 80",
    "SELECT COUNT(*) FROM doctor",
    "SELECT COUNT(id), COUNT(*) FROM doctor WHERE age > 35",
    "SELECT COUNT(name), SUM(age) FROM doctor",
    "SELECT MAX(age), MIN(age) FROM doctor WHERE sex = 'M'",
    "SELECT COUNT(DISTINCT name) FROM doctor",
    "SELECT name FROM doctor",
    "SELECT id, name FROM doctor ORDER BY id DESC",
    "SELECT name FROM doctor WHERE id = 3",
    "SELECT name FROM doctor ORDER BY age DESC, id LIMIT 1",
    "SELECT name FROM doctor ORDER BY age DESC, id LIMIT 2",
    "SELECT d.name, COUNT(*) FROM doctor AS d JOIN patient AS p ON p.doctor_id = d.id GROUP BY d.id, d.name",
    "SELECT d.name FROM doctor AS d LEFT JOIN patient AS p ON p.doctor_id = d.id WHERE p.id IS NULL",
    "SELECT p.name, d.name FROM patient AS p LEFT JOIN doctor AS d ON p.doctor_id = d.id",
    "SELECT p.name, d.age FROM patient AS p LEFT JOIN doctor AS d ON p.doctor_id = d.id AND d.sex = 'F'",
    "SELECT d.name, p.name FROM doctor AS d LEFT JOIN patient AS p ON p.doctor_id = d.id AND p.sex = 'M'",
    "SELECT name FROM doctor WHERE id NOT IN (SELECT doctor_id FROM patient WHERE doctor_id IS NOT NULL)",
    "SELECT name FROM doctor WHERE id IN (SELECT doctor_id FROM patient WHERE weight > 65)",
    "SELECT name FROM patient WHERE doctor_id IN (SELECT id FROM doctor WHERE sex = 'F')",
    "SELECT name FROM patient WHERE doctor_id = (SELECT id FROM doctor WHERE id = 1)",
    "SELECT name FROM doctor WHERE EXISTS (SELECT * FROM patient WHERE patient.doctor_id = doctor.id)",
    'SELECT name FROM patient AS p WHERE NOT EXISTS (SELECT 1 FROM "order" AS o WHERE o.patient_id = p.id)',
    "SELECT name FROM patient AS p WHERE weight > (SELECT AVG(weight) FROM patient AS q WHERE q.sex = p.sex)",
    "SELECT name FROM patient UNION SELECT name FROM doctor",
    "SELECT name FROM patient UNION ALL SELECT name FROM doctor WHERE sex = 'F'",
    "SELECT id FROM doctor EXCEPT SELECT doctor_id FROM patient",
    "SELECT id FROM doctor INTERSECT SELECT doctor_id FROM patient WHERE sex = 'F'",
    (
        "SELECT p.name, q.name FROM patient AS p JOIN patient AS q ON p.doctor_id = q.doctor_id WHERE"
        " p.id < q.id"
    ),
    "SELECT p.name, d.name FROM patient AS p, doctor AS d WHERE p.doctor_id = d.id AND d.age > 30",
    "SELECT p.name, d.name FROM patient AS p, doctor AS d WHERE p.weight > d.age",
    "SELECT p.name, d.name FROM patient AS p JOIN doctor AS d ON p.doctor_id = d.id AND p.sex = d.sex",
    "SELECT doctor_id, COUNT(*) FROM patient GROUP BY doctor_id",
    "SELECT doctor_id FROM patient WHERE doctor_id IS NULL",
    "SELECT name FROM patient WHERE doctor_id IS NOT NULL AND sex = 'F'",
    (
        'SELECT d.age FROM doctor AS d JOIN patient AS p ON d.id = p.doctor_id JOIN "order" AS o ON'
        " o.patient_id = p.id"
    ),
    (
        'SELECT p.name, o."group", SUM(o.cost) FROM patient AS p JOIN "order" AS o ON o.patient_id ='
        ' p.id GROUP BY p.id, o."group"'
    ),
    (
        'SELECT o.id, b.size FROM "order" AS o JOIN bed AS b ON o.ward = b.ward AND o.no = b.no WHERE'
        " b.size = 'big'"
    ),
    (
        'SELECT b.ward, b.no, COUNT(*) FROM bed AS b JOIN "order" AS o ON o.ward = b.ward AND o.no ='
        " b.no GROUP BY b.ward, b.no"
    ),
    "SELECT COUNT(*) FROM bed WHERE size = 'small'",
    "SELECT ward, COUNT(*) FROM bed GROUP BY ward",
    'SELECT o.id, b.size FROM "order" AS o JOIN bed AS b ON o.ward = b.ward',
    'SELECT id, "group" FROM "order" WHERE "group" LIKE \'a%\'',
    'SELECT id FROM "order" WHERE "group" = \'acute\' AND cost > 10 ORDER BY id',
    'SELECT "group", MAX(cost) FROM "order" GROUP BY "group" ORDER BY MAX(cost), "group"',
    'SELECT COUNT(*), SUM(cost) FROM "order" WHERE patient_id = 2 AND "group" <> \'acute\'',
    "SELECT name, RANK() OVER (ORDER BY weight DESC) FROM patient",
    (
        "WITH heavy AS (SELECT id, doctor_id FROM patient WHERE weight > 60) SELECT d.name FROM heavy"
        " JOIN doctor AS d ON heavy.doctor_id = d.id"
    ),
    "SELECT t.n FROM (SELECT doctor_id, COUNT(*) AS n FROM patient GROUP BY doctor_id) AS t WHERE t.n > 1",
    "SELECT colour, name FROM badge JOIN doctor ON badge.doctor_id = doctor.id",
    "SELECT colour FROM badge WHERE doctor_id > 1",
    "SELECT name AS n FROM patient WHERE sex = 'F' ORDER BY n, id",
    "SELECT TOTAL(age) FROM doctor",
    "SELECT MAX(age, 40) FROM doctor",
    "SELECT DISTINCT age FROM doctor WHERE age > 30 ORDER BY age LIMIT 3",
    "SELECT CASE WHEN sex = 'F' THEN 1 ELSE 0 END FROM patient",
    'SELECT patient_id, ward FROM "order" WHERE patient_id IS NOT NULL',
    (
        'SELECT "group" FROM "order" AS o LEFT JOIN patient AS p ON o.patient_id = p.id LEFT JOIN'
        " doctor AS d ON p.doctor_id = d.id WHERE d.id IS NULL"
    ),
    (
        "SELECT d.name FROM doctor AS d JOIN badge AS b ON b.doctor_id = d.id JOIN patient AS p ON"
        " p.doctor_id = b.doctor_id"
    ),
    "SELECT name FROM doctor WHERE sex = 'F' AND age = (SELECT MAX(age) FROM doctor WHERE sex = 'F')",
)
"""No answer depends on how rows that tie are ordered, nor on a row that SQLite picks of a group."""


def make_ward(path: Path, seed: int, *, complete: bool = False) -> Schema:
    """A ward with rows of a seed; `complete`: nothing is NULL, and every doctor, patient and bed is referred to."""
    rng = random.Random(seed)

    def perhaps(value: object) -> object:
        return value if complete or rng.random() < 0.8 else None

    def one_of(number: int, most: int) -> int:
        return 1 + number % most if complete else rng.randrange(1, most)

    def name() -> object:
        return perhaps(rng.choice(("An", "Bo", "Cy", "Di")))

    beds = [(ward, no, rng.choice(("big", "small"))) for ward in "ab" for no in (1, 2)]
    rows: dict[str, list[tuple[object, ...]]] = {
        "doctor": [(n, name(), rng.choice("FM"), perhaps(rng.randrange(30, 50))) for n in range(1, 6)],
        "patient": [
            (n, name(), rng.choice("FM"), perhaps(float(rng.randrange(50, 90))), perhaps(one_of(n, 5)))
            for n in range(1, 11)
        ],
        "bed": list(beds),
        "order": [],
        "badge": [(n, rng.choice(("red", "blue"))) for n in range(1, 6) if complete or n % 2],
    }
    for n in range(1, 21):
        place = beds[n % 4 if complete else rng.randrange(3)][:2] if perhaps(1) else (None, None)
        group, cost = rng.choice(("acute", "again", "late")), perhaps(float(rng.randrange(5, 30)))
        rows["order"].append((n, perhaps(one_of(n, 10)), *place, group, cost))
    tables = (inserted(f'"{table}"', items) for table, items in rows.items())
    return Schema.from_sqlite(write_database(path, DDL + "".join(tables)))
