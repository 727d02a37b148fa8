"""What names, types, keys and comments tell of a schema without any database."""

from __future__ import annotations

import pytest

from fastsql import Schema
from fastsql.profile.model import ColumnProfile, TableProfile

CLINIC = """
CREATE TABLE patients (
    patient_id INT PRIMARY KEY, first_name TEXT, last_name TEXT, birthDate DATE, sex CHAR(1), mrn VARCHAR(20),
    weight_kg REAL, height REAL, -- body height (cm)
    zip VARCHAR(9), is_smoker INT, remarks TEXT, photo BLOB
);
CREATE TABLE d_labitems (code VARCHAR(12) PRIMARY KEY, title VARCHAR(100));
CREATE TABLE wards (id INT PRIMARY KEY, name TEXT, beds INT, floor INT);
CREATE TABLE labs (
    lab_id INT PRIMARY KEY, patient_id INT, code VARCHAR(12) REFERENCES d_labitems (code), valuenum REAL, valueuom TEXT,
    charttime TIMESTAMP, sent TIMESTAMP
);
CREATE TABLE bills (
    bill_id INT PRIMARY KEY, patient_id INT, TOTALCOST NUMERIC, patient_share NUMERIC, status TEXT, num_items INT, year INT,
    phone_number INT, lat REAL
);
"""


@pytest.fixture(scope="module")
def clinic() -> Schema:
    return Schema.from_ddl(CLINIC)


def column(schema: Schema, name: str) -> ColumnProfile:
    return schema.profile.columns[schema.column_index(*name.split("."))]


def table(schema: Schema, name: str) -> TableProfile:
    return schema.profile.tables[schema.table_index(name)]


KINDS = {
    "patients.patient_id": "identifier",
    "patients.first_name": "name",
    "patients.birthDate": "date",
    "patients.sex": "category",
    "patients.mrn": "identifier",
    "patients.weight_kg": "measure",
    "patients.zip": "code",
    "patients.is_smoker": "category",
    "patients.remarks": "text",
    "patients.photo": "other",
    "d_labitems.code": "code",
    "d_labitems.title": "name",
    "wards.beds": "amount",
    "labs.code": "code",
    "labs.valuenum": "measure",
    "labs.valueuom": "category",
    "bills.TOTALCOST": "amount",
    "bills.status": "category",
    "bills.num_items": "amount",
    "bills.year": "date",
    "bills.phone_number": "identifier",
}


@pytest.mark.parametrize(("name", "kind"), KINDS.items())
def test_a_column_is_of_a_kind(clinic: Schema, name: str, kind: str) -> None:
    assert column(clinic, name).kind == kind


@pytest.mark.parametrize(
    ("name", "unit"), {"patients.weight_kg": "kg", "patients.height": "cm", "labs.valuenum": ""}.items()
)
def test_a_unit_is_said_by_a_name_or_a_comment(clinic: Schema, name: str, unit: str) -> None:
    assert column(clinic, name).unit == unit


def test_a_unit_may_stand_in_a_column_of_its_own(clinic: Schema) -> None:
    assert column(clinic, "labs.valuenum").unit_column == "valueuom"


def test_sums_are_for_amounts_and_measures_and_not_for_places(clinic: Schema) -> None:
    summed = {
        clinic.qualified_name(index) for index, one in enumerate(clinic.profile.columns) if one.aggregatable
    }
    assert summed == {
        *("patients.weight_kg", "patients.height", "wards.beds", "labs.valuenum"),
        *("bills.TOTALCOST", "bills.patient_share", "bills.num_items"),
    }


def test_columns_of_one_unit_of_a_table_are_a_group(clinic: Schema) -> None:
    groups = {
        clinic.qualified_name(index): one.group
        for index, one in enumerate(clinic.profile.columns)
        if one.group
    }
    assert groups == {"labs.charttime": "time", "labs.sent": "time"}
    money = Schema.from_ddl(
        "CREATE TABLE bills (id INT, total_cost NUMERIC, copay NUMERIC, visits INT, beds INT)"
    )
    assert [one.group for one in money.profile.columns] == ["", "money", "money", "", ""]


def test_a_row_is_named_by_a_persons_names_a_name_or_a_key(clinic: Schema) -> None:
    named = {one.name: clinic.profile.tables[index].row for index, one in enumerate(clinic.tables)}
    assert named == {
        "patients": ("first_name", "last_name"),
        "d_labitems": ("title",),
        "wards": ("name",),
        "labs": ("lab_id",),
        "bills": ("bill_id",),
    }


def test_a_terminology_is_a_list_of_codes_with_titles_that_others_refer_to(clinic: Schema) -> None:
    assert [
        one.name for index, one in enumerate(clinic.tables) if clinic.profile.tables[index].reference
    ] == ["d_labitems"]


OF_PEOPLE = {
    "a birth date": """
        CREATE TABLE team_codes (code TEXT PRIMARY KEY, name TEXT, birth_year INT);
        CREATE TABLE x (code TEXT REFERENCES team_codes (code))""",
    "patients by name": """
        CREATE TABLE patient_codes (code TEXT PRIMARY KEY, title TEXT);
        CREATE TABLE x (code TEXT REFERENCES patient_codes (code))""",
    "a key to patients": """
        CREATE TABLE patients (id INT PRIMARY KEY, sex TEXT);
        CREATE TABLE lookup_codes (code TEXT PRIMARY KEY, title TEXT, patient INT REFERENCES patients (id));
        CREATE TABLE x (code TEXT REFERENCES lookup_codes (code))""",
    "codes and names, and no word that says whose": """
        CREATE TABLE bearers (code TEXT PRIMARY KEY, name TEXT); CREATE TABLE x (code TEXT REFERENCES bearers (code))""",
    "participants": """
        CREATE TABLE participant_codes (code TEXT PRIMARY KEY, title TEXT);
        CREATE TABLE x (code TEXT REFERENCES participant_codes (code))""",
    "an identifier of a person": "CREATE TABLE status_codes (code TEXT PRIMARY KEY, title TEXT, member_id TEXT)",
    "Chinese patients": "CREATE TABLE d_患者 (code TEXT PRIMARY KEY, title TEXT)",
    "Chinese sex": "CREATE TABLE d_x (code TEXT PRIMARY KEY, title TEXT, 患儿性别 TEXT)",
    "nobody refers to it, and it is not called so": "CREATE TABLE drugs (code TEXT PRIMARY KEY, title TEXT)",
}


@pytest.mark.parametrize("ddl", OF_PEOPLE.values(), ids=OF_PEOPLE)
def test_a_table_that_may_be_of_people_is_no_terminology(ddl: str) -> None:
    assert not any(one.reference for one in Schema.from_ddl(ddl).profile.tables)


def test_likely_keys_are_told_and_declared_ones_are_not(clinic: Schema) -> None:
    likely = {
        clinic.qualified_name(index): one.refers_to
        for index, one in enumerate(clinic.profile.columns)
        if one.refers_to
    }
    assert likely == {"labs.patient_id": "patients.patient_id", "bills.patient_id": "patients.patient_id"}


def test_a_label_that_a_source_gives_is_a_label_and_words_of_the_name_are_words() -> None:
    schema = Schema.from_ddl(
        "CREATE TABLE t (jzlsh VARCHAR(9), -- 就诊流水号\n zje NUMERIC, -- 总金额\n TOTALCOST INT)"
    )
    said = [(one.words, one.label, one.called, one.kind) for one in schema.profile.columns]
    assert said == [
        ("jzlsh", "就诊流水号", "就诊流水号", "identifier"),
        ("zje", "总金额", "总金额", "amount"),
        ("total cost", "", "total cost", "amount"),
    ]


def test_words_that_two_columns_of_a_table_would_share_are_those_of_their_names() -> None:
    schema = Schema.from_ddl("CREATE TABLE t (dept TEXT, department TEXT, desc_ TEXT)")
    assert [one.words for one in schema.profile.columns] == ["dept", "department", "description"]


def test_declared_values_are_listed_only_where_asked_for() -> None:
    from fastsql.profile.derive import derive

    schema = Schema.from_ddl("CREATE TABLE t (state ENUM('open', 'paid'))")
    assert derive(schema).columns[0].values == {}
    assert derive(schema, declared_values=True).columns[0].values == {"open": (), "paid": ()}


ODD = {
    "one column": "CREATE TABLE t (x INT)",
    "reserved words": 'CREATE TABLE "select" ("from" TEXT, "where" INT, "group" DATE)',
    "camelCase": "CREATE TABLE PatientVisit (visitId INT, admitDateTime TIMESTAMP)",
    "Chinese": "CREATE TABLE 患者 (编号 INT, 姓名 TEXT, 出生日期 DATE, 体重 REAL)",
    "marks": 'CREATE TABLE "a.b ""c""" ("x.y" INT, "[z]" TEXT, "1" INT, "  " TEXT)',
    "no keys": "CREATE TABLE a (x INT, y INT); CREATE TABLE b (x INT, z INT)",
}


@pytest.mark.parametrize("ddl", ODD.values(), ids=ODD)
def test_an_odd_schema_has_a_profile(ddl: str) -> None:
    schema = Schema.from_ddl(ddl)
    profile = schema.profile
    assert (len(profile.tables), len(profile.columns)) == (len(schema.tables), len(schema.columns))
    assert all(one.called for one in (*profile.tables, *profile.columns))


def test_ordinals_are_not_summed_and_years_are_dates() -> None:
    schema = Schema.from_ddl(
        "CREATE TABLE plays (id INT, act INT, week REAL, founded INT, 赛季 REAL, seats INT)"
    )
    known = {one.called: one for one in schema.profile.columns}
    timed = Schema.from_ddl("CREATE TABLE films (running_time INT, show_time INT, year_joined INT)").profile
    assert [one.kind for one in timed.columns] == ["measure", "date", "date"]
    (pick,) = Schema.from_ddl('CREATE TABLE drafts ("Pick #" INT)').profile.columns
    assert not pick.aggregatable
    assert [known[name].aggregatable for name in ("act", "week", "赛季", "seats")] == [
        False,
        False,
        False,
        True,
    ]
    assert known["founded"].kind == "date"


def test_texts_whose_names_say_numbers_are_numbers() -> None:
    schema = Schema.from_ddl(
        'CREATE TABLE games (crowd TEXT, games_played TEXT, points_per_game TEXT, week TEXT, speed_knots TEXT, "1990" TEXT,'
        ' year_began TEXT, date_utc TEXT, "gore #" TEXT, years_in_program TEXT,'
        ' "rate (per 1,000)" TEXT, date_of_attack TEXT, host TEXT)'
    )
    kinds = [one.kind for one in schema.profile.columns]
    assert kinds == [
        "amount",
        "amount",
        "amount",
        *["measure"] * 3,
        "date",
        "date",
        *["measure"] * 3,
        "date",
        "text",
    ]


def test_chinese_names_tell_kinds() -> None:
    kinds = [one.kind for one in Schema.from_ddl(ODD["Chinese"]).profile.columns]
    assert kinds == ["identifier", "name", "date", "measure"]


def test_few_free_texts_are_no_category() -> None:
    entries = [
        {"name": name, "type": "text", "sql_type": sql_type, "values": ["Meier", "Kovacs"]}
        for name, sql_type in (("attending", "TEXT"), ("ward", "TEXT"), ("thing", "VARCHAR(9)"))
    ]
    schema = Schema.from_dict({"tables": [{"name": "stays", "columns": entries}]})
    assert [one.kind for one in schema.profile.columns] == ["text", "category", "category"]
