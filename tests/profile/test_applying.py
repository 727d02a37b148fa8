"""A schema takes what its profile says, and linking hears of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from fastsql import LimitError, Limits, Schema, SchemaError
from fastsql.linking.candidates import find_candidates
from fastsql.linking.relations import RELATIONS, SchemaLinks
from fastsql.profile.derive import derive

SCHEMA = Schema.from_ddl(
    """
    CREATE TABLE patients (patient_id INT PRIMARY KEY, TOTALCOST INT);
    CREATE TABLE bills (bill_id INT PRIMARY KEY, patient_id INT, status TEXT, rank INT);
    """,
    name="clinic",
)
FILE = """
format = 1

[table.patients]
synonyms = ["people in care"]
description = "one row each"

[column.patients.patient_id]
label = "case number"

[column.bills.patient_id]
refers_to = "patients.patient_id"

[column.bills.status.values]
open = ["unpaid", "not settled"]
paid = []

[column.bills.rank.values]
1 = ["urgent"]
"""


@pytest.fixture
def profiled(tmp_path: Path) -> Schema:
    path = tmp_path / "clinic.toml"
    path.write_text(FILE, encoding="utf-8")
    return SCHEMA.with_profile(path)


def test_labels_synonyms_descriptions_values_and_keys_are_taken(profiled: Schema) -> None:
    patients, status = profiled.tables[0], profiled.columns[profiled.column_index("bills", "status")]
    assert (patients.synonyms, patients.description) == (("people in care",), "one row each")
    assert profiled.columns[0].label == "case number"
    assert (status.values, status.value_synonyms) == (
        ("open", "paid"),
        (("open", ("unpaid", "not settled")),),
    )
    assert [(key.columns, key.references) for key in profiled.foreign_keys] == [((3,), (0,))]


def test_words_of_a_name_are_a_synonym_and_the_label_stays(profiled: Schema) -> None:
    cost = profiled.columns[1]
    assert (cost.label, cost.synonyms) == ("totalcost", ("total cost",))


def test_a_question_may_use_the_words(profiled: Schema) -> None:
    import numpy as np

    question = "total cost"
    offsets = np.array([[0, 5], [6, 10]], dtype=np.int32)
    column = len(profiled.tables) + 1
    assert SchemaLinks(SCHEMA).name_matches(question, offsets)[:, column].tolist() == [0, 0]
    assert SchemaLinks(profiled).name_matches(question, offsets)[:, column].tolist() == [2, 2]
    assert "token-column-name" in RELATIONS


@pytest.mark.parametrize(
    ("question", "value"), {"Which bills are unpaid?": "open", "bills NOT  settled": "open"}.items()
)
def test_a_synonym_of_a_value_offers_the_value(profiled: Schema, question: str, value: str) -> None:
    (found,) = find_candidates(question, profiled)
    assert (found.value, found.source, found.columns) == (
        value,
        "schema",
        (profiled.column_index("bills", "status"),),
    )
    assert find_candidates(question, SCHEMA) == ()


def test_a_synonym_of_a_number_offers_the_number(profiled: Schema) -> None:
    (found,) = find_candidates("urgent bills", profiled)
    assert (found.value, found.kind, found.columns) == (
        1,
        "number",
        (profiled.column_index("bills", "rank"),),
    )


def test_synonyms_of_values_are_kept_with_the_schema(profiled: Schema) -> None:
    again = Schema.from_dict(profiled.to_dict())
    assert (again, again.fingerprint) == (profiled, profiled.fingerprint)
    assert profiled.fingerprint != SCHEMA.fingerprint


def test_the_profile_that_names_suggest_changes_no_label() -> None:
    applied = SCHEMA.with_profile(SCHEMA.profile)
    assert [one.label for one in applied.columns] == [one.label for one in SCHEMA.columns]
    assert applied.with_profile(applied.profile) == applied


def test_values_that_were_read_are_completed_by_those_with_synonyms() -> None:
    schema = SCHEMA.with_values({"bills.status": ["closed"]})
    profile = derive(schema)
    columns = list(profile.columns)
    columns[4] = replace(columns[4], values={"open": ("unpaid",), "paid": ()})
    applied = schema.with_profile(replace(profile, columns=tuple(columns)))
    assert applied.columns[4].values == ("closed", "open")
    with pytest.raises(LimitError, match="values_per_column"):
        schema.with_profile(replace(profile, columns=tuple(columns)), limits=Limits(values_per_column=1))


def test_a_profile_in_memory_of_another_schema_is_refused() -> None:
    with pytest.raises(SchemaError, match="another schema"):
        SCHEMA.with_profile(Schema.from_ddl("CREATE TABLE films (id INT)").profile)


def test_terminologies_are_those_that_a_file_says(tmp_path: Path) -> None:
    codes = "CREATE TABLE d_codes (code TEXT PRIMARY KEY, title TEXT)"
    schema = Schema.from_ddl(f"{codes}; CREATE TABLE stays (id INT, code TEXT REFERENCES d_codes)")
    assert schema.profile.tables[0].reference
    path = tmp_path / "clinic.toml"
    path.write_text('format = 1\n[column.stays.code]\nwords = "code"\n', encoding="utf-8")
    for source in (schema.profile, path):
        assert not any(table.reference for table in schema.with_profile(source).tables)
    path.write_text("format = 1\n[table.d_codes]\nreference = true\n", encoding="utf-8")
    assert [table.reference for table in schema.with_profile(path).tables] == [True, False]


def test_a_table_that_refers_to_patients_is_no_terminology(tmp_path: Path) -> None:
    path = tmp_path / "clinic.toml"
    path.write_text(f"{FILE}\n[table.bills]\nreference = true\n", encoding="utf-8")
    with pytest.raises(SchemaError, match="patients"):
        SCHEMA.with_profile(path)
