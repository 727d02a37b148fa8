"""Columns that hold the same keys, declared or told by their names."""

from __future__ import annotations

from fastsql import Schema


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
