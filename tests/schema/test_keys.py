"""Columns that hold the same keys, declared or told by their names."""

from __future__ import annotations

from collections.abc import Iterable

from fastsql import Schema
from fastsql.schema.keys import telling_pairs

from ..worlds.grammar_hospitals import REPORTS


def groups(ddl: str) -> list[set[str]]:
    """The columns of each group of keys, by name, in the order of their first columns."""
    schema = Schema.from_ddl(ddl)
    found: dict[int, set[str]] = {}
    for column, group in enumerate(schema.key_groups):
        if group >= 0:
            found.setdefault(group, set()).add(schema.qualified_name(column))
            assert group == schema.key_groups[group] == min(group, column)
    return list(found.values())


def test_all_that_refer_to_one_key_hold_the_same_keys() -> None:
    ddl = """
    CREATE TABLE patients (id INTEGER PRIMARY KEY, name TEXT);
    CREATE TABLE stays (id INTEGER PRIMARY KEY, who INTEGER REFERENCES patients (id), ward TEXT);
    CREATE TABLE labs (stay INTEGER REFERENCES stays (id), patient INTEGER REFERENCES patients (id), value REAL);
    """
    assert groups(ddl) == [{"patients.id", "stays.who", "labs.patient"}, {"stays.id", "labs.stay"}]


def test_a_composite_key_has_a_group_for_each_of_its_columns() -> None:
    ddl = """
    CREATE TABLE visits (patient INTEGER, number INTEGER, PRIMARY KEY (patient, number));
    CREATE TABLE notes (p INTEGER, n INTEGER, FOREIGN KEY (p, n) REFERENCES visits (patient, number));
    """
    assert groups(ddl) == [{"visits.patient", "notes.p"}, {"visits.number", "notes.n"}]


NETWORK = """
CREATE TABLE patients (hospital INTEGER, patient INTEGER, name TEXT, PRIMARY KEY (hospital, patient));
CREATE TABLE visits (hospital INTEGER, patient INTEGER, visit INTEGER, PRIMARY KEY (hospital, visit),
                     FOREIGN KEY (hospital, patient) REFERENCES patients (hospital, patient));
CREATE TABLE labs (hospital INTEGER, visit INTEGER, value REAL,
                   FOREIGN KEY (hospital, visit) REFERENCES visits (hospital, visit));
"""
"""A network of hospitals, each of which numbers its patients and visits itself."""


def names(schema: Schema, pairs: Iterable[tuple[int, int]]) -> list[str]:
    return [" = ".join(map(schema.qualified_name, pair)) for pair in pairs]


def test_a_composite_key_is_told_by_the_column_that_the_fewest_keys_have() -> None:
    schema = Schema.from_ddl(NETWORK)
    assert names(schema, telling_pairs(schema)) == [
        "visits.patient = patients.patient",
        "labs.visit = visits.visit",
    ]
    assert [group >= 0 for group in schema.join_groups] == [
        False,
        True,
        False,
        False,
        True,
        True,
        False,
        True,
        False,
    ]
    assert [group >= 0 for group in schema.key_groups] == [
        True,
        True,
        False,
        True,
        True,
        True,
        True,
        True,
        False,
    ]


def test_no_way_leads_along_a_part_of_a_key() -> None:
    """Labs and patients have the hospital in common, and the visit between them."""
    schema = Schema.from_ddl(NETWORK)
    assert schema.key_distances[2][0] == 2
    assert schema.in_parts.key_distances[2][0] == 1


def test_what_tells_a_whole_key_finds_all_of_it_either_way() -> None:
    schema = Schema.from_ddl(NETWORK)
    told, *_ = telling_pairs(schema)
    whole = ["visits.hospital = patients.hospital", "visits.patient = patients.patient"]
    assert names(schema, schema.whole_keys[told]) == whole
    assert schema.whole_keys[told[::-1]] == tuple(pair[::-1] for pair in schema.whole_keys[told])
    assert len(schema.whole_keys) == 4
    assert schema.in_parts.whole_keys == {}
    assert schema.in_parts.join_groups == schema.key_groups


def test_a_key_of_one_column_stays_one_where_a_wider_one_has_it_too() -> None:
    schema = Schema.from_ddl("""
    CREATE TABLE patients (id INTEGER PRIMARY KEY, hospital INTEGER, UNIQUE (hospital, id));
    CREATE TABLE visits (hospital INTEGER, patient INTEGER REFERENCES patients (id),
                         FOREIGN KEY (hospital, patient) REFERENCES patients (hospital, id));
    """)
    patient = schema.column_index("visits", "patient"), schema.column_index("patients", "id")
    assert patient not in schema.whole_keys


def test_schemas_whose_keys_have_one_column_and_names_of_their_own_are_the_same_in_parts() -> None:
    schema = Schema.from_ddl(
        "CREATE TABLE a (x INTEGER PRIMARY KEY); CREATE TABLE b (x INTEGER REFERENCES a (x));"
    )
    assert schema.in_parts is schema
    assert schema.join_groups == schema.key_groups


def test_a_column_that_no_foreign_key_knows_is_called_like_the_keys_it_may_hold() -> None:
    schema = REPORTS
    visit, first = schema.column_index("reports", "visit"), schema.column_index("stays", "visit")
    assert schema.join_groups[visit] == -1
    assert schema.key_names[visit] == schema.key_names[schema.column_index("days", "visit")] == first
    assert schema.key_names[schema.column_index("notes", "visit")] == -1, "text is another type"
    assert schema.key_names[schema.column_index("reports", "hospital")] == -1, "no join is told by it"
    assert set(schema.in_parts.key_names) == {-1}


def test_what_tells_rows_apart_and_common_names_are_called_like_no_key() -> None:
    schema = Schema.from_ddl("""
    CREATE TABLE wards (code TEXT PRIMARY KEY, ward TEXT UNIQUE);
    CREATE TABLE beds (bed INTEGER PRIMARY KEY, ward TEXT REFERENCES wards (ward), code TEXT REFERENCES wards (code));
    CREATE TABLE prices (ward TEXT PRIMARY KEY, code TEXT REFERENCES wards (code), bed INTEGER REFERENCES beds (bed));
    CREATE TABLE rounds (ward TEXT, code TEXT, day DATE, bed INTEGER REFERENCES prices (bed));
    """)
    called = {
        schema.qualified_name(column)
        for column, name in enumerate(schema.key_names)
        if name >= 0 > schema.join_groups[column]
    }
    assert called == {"rounds.ward"}


def test_keys_that_refer_to_each_other_are_one_group() -> None:
    ddl = """
    CREATE TABLE staff (id INTEGER PRIMARY KEY, boss INTEGER REFERENCES staff (id), unit INTEGER REFERENCES units (id));
    CREATE TABLE units (id INTEGER PRIMARY KEY, head INTEGER REFERENCES staff (id));
    """
    assert groups(ddl) == [{"staff.id", "staff.boss", "units.head"}, {"staff.unit", "units.id"}]


def test_names_tell_keys_that_nobody_declared() -> None:
    ddl = """
    CREATE TABLE patients (id INTEGER PRIMARY KEY, name TEXT);
    CREATE TABLE Diagnoses (PatientId INTEGER, icd_code TEXT);
    CREATE TABLE icd (icd_code TEXT PRIMARY KEY, title TEXT);
    CREATE TABLE therapies (Id INTEGER PRIMARY KEY, patient_id INTEGER);
    CREATE TABLE costs (therapy_id INTEGER, amount REAL);
    """
    assert groups(ddl) == [
        {"patients.id", "Diagnoses.PatientId", "therapies.patient_id"},
        {"Diagnoses.icd_code", "icd.icd_code"},
        {"therapies.Id", "costs.therapy_id"},
    ]


def test_names_count_for_nothing_where_types_differ_or_keys_are_declared() -> None:
    ddl = """
    CREATE TABLE patients (patient_id INTEGER PRIMARY KEY, mother INTEGER);
    CREATE TABLE letters (patient_id TEXT);
    CREATE TABLE births (mother INTEGER REFERENCES patients (patient_id), patient_id INTEGER);
    """
    assert groups(ddl) == [{"patients.patient_id", "births.mother"}]


def test_a_name_or_a_part_of_a_key_is_no_sign() -> None:
    ddl = """
    CREATE TABLE wards (name TEXT PRIMARY KEY);
    CREATE TABLE staff (name TEXT, ward TEXT, day TEXT, PRIMARY KEY (ward, day));
    CREATE TABLE shifts (day TEXT, name TEXT);
    """
    assert groups(ddl) == []


def test_chinese_names_are_compared_as_they_are() -> None:
    ddl = "CREATE TABLE 患者 (患者编号 INTEGER PRIMARY KEY); CREATE TABLE 就诊 (患者编号 INTEGER, 科室 TEXT);"
    assert groups(ddl) == [{"患者.患者编号", "就诊.患者编号"}]


def test_keys_in_a_circle_are_one_group() -> None:
    ddl = """
    CREATE TABLE a (id INTEGER PRIMARY KEY, next INTEGER, FOREIGN KEY (id) REFERENCES b (id));
    CREATE TABLE b (id INTEGER PRIMARY KEY, FOREIGN KEY (id) REFERENCES c (id));
    CREATE TABLE c (id INTEGER PRIMARY KEY, FOREIGN KEY (id) REFERENCES a (id));
    """
    assert groups(ddl) == [{"a.id", "b.id", "c.id"}]


def test_a_key_of_three_columns_has_three_groups() -> None:
    ddl = """
    CREATE TABLE cards (number TEXT, kind TEXT, house TEXT, PRIMARY KEY (number, kind, house));
    CREATE TABLE visits (n TEXT, k TEXT, at TEXT, FOREIGN KEY (n, k, at) REFERENCES cards (number, kind, house));
    """
    assert groups(ddl) == [
        {"cards.number", "visits.n"},
        {"cards.kind", "visits.k"},
        {"cards.house", "visits.at"},
    ]


def test_one_column_that_refers_to_three_keys_makes_one_group_of_them() -> None:
    ddl = """
    CREATE TABLE labs (row INTEGER PRIMARY KEY); CREATE TABLE drugs (row INTEGER PRIMARY KEY);
    CREATE TABLE scans (row INTEGER PRIMARY KEY);
    CREATE TABLE costs (event INTEGER, FOREIGN KEY (event) REFERENCES labs (row),
                        FOREIGN KEY (event) REFERENCES drugs (row), FOREIGN KEY (event) REFERENCES scans (row));
    """
    assert groups(ddl) == [{"labs.row", "drugs.row", "scans.row", "costs.event"}]


def test_tables_of_keys_are_those_that_have_a_column_of_the_group() -> None:
    schema = Schema.from_ddl(
        "CREATE TABLE staff (id INTEGER PRIMARY KEY, boss INTEGER REFERENCES staff (id), unit INTEGER);"
        "CREATE TABLE units (id INTEGER PRIMARY KEY, head INTEGER REFERENCES staff (id)); CREATE TABLE notes (x TEXT);"
    )
    assert schema.tables_of_keys == {0: {0, 1}}
    assert Schema.from_ddl("CREATE TABLE notes (x TEXT)").tables_of_keys == {}


def test_numbers_of_rows_are_no_keys_of_other_tables() -> None:
    ddl = """
    CREATE TABLE patients (row_id INTEGER PRIMARY KEY, name TEXT);
    CREATE TABLE labs (row_id INTEGER PRIMARY KEY, patient_row_id INTEGER);
    """
    assert groups(ddl) == [{"patients.row_id", "labs.patient_row_id"}]


def test_a_name_that_two_keys_have_says_nothing_where_foreign_keys_tell_them_apart() -> None:
    ddl = """
    CREATE TABLE countries (pid INTEGER PRIMARY KEY, name TEXT);
    CREATE TABLE people (pid INTEGER PRIMARY KEY, home INTEGER REFERENCES countries (pid));
    CREATE TABLE projects (pid INTEGER PRIMARY KEY, head INTEGER REFERENCES people (pid));
    CREATE TABLE grants (project_pid INTEGER, amount REAL);
    """
    assert groups(ddl) == [
        {"countries.pid", "people.home"},
        {"people.pid", "projects.head"},
        {"projects.pid", "grants.project_pid"},
    ]


def test_a_name_that_two_keys_have_counts_where_columns_of_that_name_refer_to_them() -> None:
    ddl = """
    CREATE TABLE patients (mrn INTEGER PRIMARY KEY);
    CREATE TABLE histories (mrn INTEGER PRIMARY KEY, text TEXT);
    CREATE TABLE visits (mrn INTEGER REFERENCES patients (mrn));
    CREATE TABLE notes (mrn INTEGER REFERENCES histories (mrn));
    """
    assert groups(ddl) == [{"patients.mrn", "histories.mrn", "visits.mrn", "notes.mrn"}]
