"""What has a partner is asked for once, however many partners it has."""

from __future__ import annotations

import pytest

from fastsql.schema import Schema
from fastsql.synthesis.schema.repeats import repeats_rows
from fastsql.synthesis.schema.words import Words
from fastsql.verification.parse import parse_query

SCHEMA = Schema.from_ddl(
    """
    CREATE TABLE doctors (id INTEGER PRIMARY KEY, name TEXT);
    CREATE TABLE visits (id INTEGER PRIMARY KEY, doctor_id INTEGER REFERENCES doctors (id), complaint TEXT);
    CREATE TABLE bills (id INTEGER PRIMARY KEY, visit_id INTEGER REFERENCES visits (id), amount REAL);
    """
)
DOCTORS = "doctors JOIN visits ON doctors.id = visits.doctor_id"
ALL = f"{DOCTORS} JOIN bills ON visits.id = bills.visit_id"


@pytest.mark.parametrize(
    ("sql", "repeats"),
    [
        (f"SELECT doctors.name FROM {DOCTORS} WHERE visits.complaint = 'cough'", True),
        (f"SELECT doctors.name, visits.complaint FROM {ALL} WHERE bills.amount > 5", True),
        (f"SELECT doctors.name, bills.amount FROM {ALL}", True),  # a bill of each visit, but not which visit
        (f"SELECT DISTINCT doctors.name FROM {DOCTORS} WHERE visits.complaint = 'cough'", False),
        (f"SELECT doctors.name, visits.complaint FROM {DOCTORS}", False),
        (f"SELECT visits.complaint FROM {DOCTORS} WHERE doctors.name = 'Ng'", False),
        (f"SELECT COUNT(*) FROM {DOCTORS}", False),
        (f"SELECT doctors.name FROM {DOCTORS} GROUP BY doctors.name", False),
        ("SELECT doctors.name FROM doctors", False),
    ],
)
def test_rows_repeat_where_a_join_adds_what_is_not_shown(sql: str, repeats: bool) -> None:
    select = parse_query(sql)
    assert repeats_rows(select, Words(SCHEMA)) is repeats  # type: ignore[arg-type]
