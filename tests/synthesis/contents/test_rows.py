"""Made-up rows keep every key and constraint, and hang together."""

from __future__ import annotations

import sqlite3
from collections import Counter
from datetime import datetime

import pytest

from fastsql.errors import SchemaError
from fastsql.schema import Schema
from fastsql.synthesis.contents import MadeDatabase, constraints_of, make_rows, suggest
from fastsql.synthesis.contents.pools import FIRST_NAMES

HOSPITAL = """
CREATE TABLE wards (ward_id INTEGER PRIMARY KEY, name TEXT NOT NULL, beds INTEGER,
    head_id INTEGER REFERENCES staff(staff_id));
CREATE TABLE staff (staff_id INTEGER PRIMARY KEY, first_name TEXT, last_name TEXT, ward_id INTEGER REFERENCES wards(ward_id),
    boss_id INTEGER REFERENCES staff(staff_id), badge TEXT UNIQUE);
CREATE TABLE patients (patient_id INTEGER PRIMARY KEY, name TEXT, sex TEXT, age INT, birth_date DATE, death_date DATE);
CREATE TABLE stays (stay_id TEXT PRIMARY KEY, patient_id INTEGER NOT NULL REFERENCES patients(patient_id),
    admission_date TIMESTAMP, discharge_date TIMESTAMP, cost NUMERIC(10,2));
CREATE TABLE orders (stay_id TEXT REFERENCES stays(stay_id), line_no INTEGER,
    patient_id INTEGER REFERENCES patients(patient_id),
    drug_name TEXT, dose_mg REAL NOT NULL, order_date DATE, PRIMARY KEY (stay_id, line_no));
CREATE TABLE doses (stay_id TEXT, line_no INT, given_at TIMESTAMP, is_refused BOOLEAN,
    FOREIGN KEY (stay_id, line_no) REFERENCES orders(stay_id, line_no));
CREATE TABLE passports (patient_id INTEGER PRIMARY KEY REFERENCES patients(patient_id), passport_no TEXT);
"""


def filled(ddl: str, seed: str = "1") -> tuple[Schema, dict[str, list[dict[str, object]]]]:
    """The rows of each table by column name."""
    schema = Schema.from_ddl(ddl)
    tables = make_rows(schema, suggest(schema, seed=seed), seed, constraints=constraints_of(ddl, schema))
    return schema, {
        table.name: [
            dict(zip((schema.columns[column].name for column in table.columns), row, strict=True))
            for row in rows
        ]
        for table, rows in zip(schema.tables, tables, strict=True)
    }


@pytest.mark.parametrize("seed", ["1", "2", "3"])
def test_sqlite_finds_no_broken_key(seed: str) -> None:
    schema = Schema.from_ddl(HOSPITAL)
    with MadeDatabase(schema, seed) as made:
        connection = sqlite3.connect(made.path)
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        assert all(len(rows) >= 3 for rows in made.rows)
        folder = made.path.parent
        connection.close()
    assert not folder.exists()


def test_the_same_seed_makes_the_same_rows() -> None:
    assert filled(HOSPITAL)[1] == filled(HOSPITAL)[1] != filled(HOSPITAL, "2")[1]


def test_columns_that_must_be_filled_are_and_values_that_must_differ_do() -> None:
    _, tables = filled(HOSPITAL)
    assert None not in [row["name"] for row in tables["wards"]]
    assert None not in [row["patient_id"] for row in tables["stays"]]
    assert None not in [row["dose_mg"] for row in tables["orders"]]
    badges = [row["badge"] for row in tables["staff"] if row["badge"] is not None]
    assert len(set(badges)) == len(badges)
    keys = [(row["stay_id"], row["line_no"]) for row in tables["orders"]]
    assert len(set(keys)) == len(keys)
    assert all(isinstance(row["line_no"], int) and row["line_no"] <= 6 for row in tables["orders"])


def test_circles_and_references_to_the_own_table_are_filled() -> None:
    _, tables = filled(HOSPITAL)
    staff = {row["staff_id"] for row in tables["staff"]}
    assert {row["head_id"] for row in tables["wards"]} <= staff
    assert any(row["head_id"] is not None for row in tables["wards"])
    bosses = {row["boss_id"] for row in tables["staff"]} - {None}
    assert bosses
    assert bosses <= staff


def test_who_must_have_a_boss_may_be_the_own_one() -> None:
    _, tables = filled("CREATE TABLE staff (id INT PRIMARY KEY, boss_id INT NOT NULL REFERENCES staff(id))")
    ids = [row["id"] for row in tables["staff"]]
    assert {row["boss_id"] for row in tables["staff"]} <= set(ids)
    assert tables["staff"][0]["boss_id"] == ids[0]


def test_events_do_not_follow_the_machine_that_serves_them() -> None:
    _, tables = filled(
        "CREATE TABLE machines (machine_id INT PRIMARY KEY, model TEXT, service_date DATE, place TEXT, a INT, b INT, c INT);"
        "CREATE TABLE sessions (id INT PRIMARY KEY, machine_id INT REFERENCES machines(machine_id), session_date DATE);"
    )
    serviced = {row["machine_id"]: str(row["service_date"]) for row in tables["machines"]}
    pairs = [
        (serviced[row["machine_id"]], str(row["session_date"]))
        for row in tables["sessions"]
        if row["machine_id"]
    ]
    assert any(day < service for service, day in pairs)


def test_a_row_belongs_to_the_patient_of_its_stay() -> None:
    _, tables = filled(HOSPITAL)
    patient_of = {row["stay_id"]: row["patient_id"] for row in tables["stays"]}
    assert all(row["patient_id"] == patient_of[row["stay_id"]] for row in tables["orders"] if row["stay_id"])


MOVES = """
CREATE TABLE wards (ward_id INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE beds (bed_id INTEGER PRIMARY KEY, ward_id INTEGER REFERENCES wards(ward_id));
CREATE TABLE moves (move_id INTEGER PRIMARY KEY, bed_id INTEGER REFERENCES beds(bed_id),
    from_ward INTEGER NOT NULL REFERENCES wards(ward_id), to_ward INTEGER NOT NULL REFERENCES wards(ward_id));
CREATE TABLE cleanings (cleaning_id INTEGER PRIMARY KEY, bed_id INTEGER REFERENCES beds(bed_id),
    ward_id INTEGER NOT NULL REFERENCES wards(ward_id));
"""


def test_a_row_that_refers_to_a_table_twice_takes_neither_from_what_it_belongs_to() -> None:
    _, tables = filled(MOVES)
    assert any(row["from_ward"] != row["to_ward"] for row in tables["moves"])
    assert all(row["from_ward"] and row["to_ward"] for row in tables["moves"])


def test_what_must_be_filled_does_not_take_the_place_that_its_owner_lacks() -> None:
    for seed in "12345":
        _, tables = filled(MOVES, seed)
        ward_of = {row["bed_id"]: row["ward_id"] for row in tables["beds"]}
        for row in tables["cleanings"]:
            assert row["ward_id"], seed
            owner = ward_of.get(row["bed_id"])
            assert owner is None or row["ward_id"] == owner


def test_some_patients_have_many_stays_and_some_have_none() -> None:
    _, tables = filled(HOSPITAL)
    counts = Counter(row["patient_id"] for row in tables["stays"])
    assert len(counts) < len(tables["patients"])
    assert max(counts.values()) >= 4


def test_dates_of_a_row_come_in_their_order() -> None:
    _, tables = filled(HOSPITAL)
    for row in tables["stays"]:
        if row["discharge_date"]:
            assert str(row["admission_date"]) < str(row["discharge_date"])
    for row in tables["patients"]:
        if row["death_date"]:
            assert str(row["birth_date"]) < str(row["death_date"])
        born = datetime.fromisoformat(str(row["birth_date"]))
        assert row["age"] is None or row["age"] == 2023 - born.year
    begun = {row["stay_id"]: str(row["admission_date"])[:10] for row in tables["stays"]}
    ordered = [(begun[row["stay_id"]], row["order_date"]) for row in tables["orders"] if row["stay_id"]]
    assert all(first <= str(then) for first, then in ordered if then)
    assert any(row["death_date"] is None for row in tables["patients"])


def test_values_are_of_the_kind_that_names_say() -> None:
    _, tables = filled(HOSPITAL)
    assert {row["sex"] for row in tables["patients"]} - {None} == {"F", "M"}
    assert all(5 <= float(str(row["dose_mg"])) <= 500 for row in tables["orders"])
    names = [str(row["name"]) for row in tables["patients"]]
    assert all(len(name.split()) == 2 for name in names)
    assert len(set(names)) > 20
    _, places = filled("CREATE TABLE country (id INTEGER PRIMARY KEY, continent TEXT)")
    _, firms = filled(
        "CREATE TABLE supplier (id INTEGER PRIMARY KEY, comment TEXT, middle_initial VARCHAR(1))"
    )
    comments, initials = (
        {str(row[name]) for row in firms["supplier"]} for name in ("comment", "middle_initial")
    )
    assert "as described" in comments
    assert {len(one) for one in initials - {"None"}} == {1}
    _, midwives = filled("CREATE TABLE midwife (midwife_no INTEGER PRIMARY KEY, full_name TEXT)")
    assert all(str(row["full_name"]).split()[0] in FIRST_NAMES[0] for row in midwives["midwife"])
    _, users = filled("CREATE TABLE users (id INTEGER PRIMARY KEY, user_plan VARCHAR(9), doctor VARCHAR(9))")
    plans, doctors = (
        {str(row[name]).split()[0] for row in users["users"]} for name in ("user_plan", "doctor")
    )
    assert doctors & set(FIRST_NAMES[0])
    assert not plans & set(FIRST_NAMES[0])
    assert any(row["continent"] == "Africa" for row in places["country"])
    assert "paracetamol" in {row["drug_name"] for row in tables["orders"]}


def test_numbers_that_are_kept_as_texts_are_numbers() -> None:
    _, tables = filled(
        'CREATE TABLE games (id INTEGER PRIMARY KEY, crowd TEXT, points TEXT, prize_money TEXT, "1990" TEXT, week TEXT,'
        " speed_knots TEXT, number_of_laps TEXT, venue TEXT)"
    )
    for row in tables["games"]:
        numbers = {name: value for name, value in row.items() if name != "venue" and value is not None}
        assert all(str(value).isdigit() for value in numbers.values()), row
        assert not str(row["venue"]).isdigit()


def test_a_schema_that_is_not_about_medicine_holds_nothing_of_it() -> None:
    ddl = "CREATE TABLE {} (id INTEGER PRIMARY KEY, unit TEXT, state TEXT, note TEXT, operation TEXT, department TEXT)"
    _, shop = filled(ddl.format("products"))
    _, clinic = filled(ddl.format("patients"))
    of_shop, of_clinic = (
        {str(cell) for row in rows for cell in row.values()} for rows in (*shop.values(), *clinic.values())
    )
    telling = {"south ward", "pending", "dressing changed", "appendectomy", "cardiology"}
    assert telling & of_clinic
    assert not telling & of_shop
    assert {"Texas", "box"} & of_shop


def test_ordinals_and_years_are_whole_and_small() -> None:
    _, tables = filled(
        "CREATE TABLE plays (id INTEGER PRIMARY KEY, act REAL, season REAL, founded REAL, 赛季 REAL)"
    )
    for row in tables["plays"]:
        assert row["act"] in (None, 1, 2, 3, 4, 5)
        assert row["season"] in (None, *range(1, 25))
        assert row["赛季"] in (None, *range(1, 25))
        assert row["founded"] is None or 1900 < float(str(row["founded"])) < 2100


def test_chinese_labels_get_chinese_values() -> None:
    _, tables = filled(
        "CREATE TABLE 病人 (编号 INTEGER PRIMARY KEY, 姓名 TEXT, 性别 TEXT, 年龄 INT, 出生日期 DATE, 科室 TEXT, 费用 REAL);"
        "CREATE TABLE 检验 (检验号 INTEGER PRIMARY KEY, 病人编号 INTEGER REFERENCES 病人(编号), 项目名称 TEXT, 结果值 REAL);"
    )
    people = tables["病人"]
    assert {row["性别"] for row in people} - {None} == {"男", "女"}
    assert all(2 <= len(str(row["姓名"])) <= 4 and not str(row["姓名"]).isascii() for row in people)
    assert all(row["费用"] is None or float(str(row["费用"])) > 0 for row in people)
    assert "血红蛋白" in {row["项目名称"] for row in tables["检验"]}


def test_two_tables_that_are_each_others_keys_keep_rows() -> None:
    _, tables = filled(
        "CREATE TABLE a (id INTEGER PRIMARY KEY REFERENCES b(id), x TEXT);"
        "CREATE TABLE b (id INTEGER PRIMARY KEY REFERENCES a(id), y TEXT);"
    )
    assert {row["id"] for row in tables["a"]} == {row["id"] for row in tables["b"]}
    assert len(tables["a"]) >= 3


@pytest.mark.parametrize(
    "ddl",
    [
        "CREATE TABLE t (a INTEGER)",
        "CREATE TABLE t (a TEXT); CREATE TABLE u (b BLOB)",
        'CREATE TABLE "select" ("from" TEXT, "group by" INTEGER, "order" DATE, PRIMARY KEY ("from", "group by"))',
        "CREATE TABLE t (id INTEGER PRIMARY KEY, gone_id INTEGER REFERENCES nowhere(id))",
        "CREATE TABLE t (flag BOOLEAN PRIMARY KEY, other BOOLEAN)",
        "CREATE TABLE t (a INT, b INT, UNIQUE (a, b)); CREATE TABLE u (a INT, b INT, FOREIGN KEY (a, b) REFERENCES t(a, b))",
        (
            "CREATE TABLE a (x TEXT, y INT, PRIMARY KEY (x, y)); CREATE TABLE b (x TEXT, y INT, PRIMARY KEY (x, y));"
            "CREATE TABLE c (x TEXT, y INT, FOREIGN KEY (x, y) REFERENCES a(x, y), FOREIGN KEY (x, y) REFERENCES b(x, y))"
        ),
        "CREATE TABLE billing.bills (id INT PRIMARY KEY, cost REAL); CREATE TABLE visits (id INT PRIMARY KEY, day DATE)",
    ],
    ids=[
        "no keys",
        "blobs",
        "reserved",
        "dangling",
        "two rows at most",
        "unique pair",
        "two parents by one pair",
        "namespaces",
    ],
)
def test_odd_schemas_get_rows(ddl: str) -> None:
    schema = Schema.from_ddl(ddl)
    with MadeDatabase(schema, constraints=constraints_of(ddl, schema)) as made:
        assert all(len(rows) >= 2 for rows in made.rows)
        for table in range(len(schema.tables)):
            name = ".".join(f'"{part}"' for part in schema.table_name(table).split("."))
            ((count,),) = made.executor.run(f"SELECT COUNT(*) FROM {name}").rows
            assert count == len(made.rows[table])


def test_a_wide_schema_is_filled_at_once() -> None:
    columns = ", ".join(f"c_{number} {('INT', 'TEXT', 'DATE')[number % 3]}" for number in range(153))
    schema = Schema.from_ddl(";".join(f"CREATE TABLE t_{number} ({columns})" for number in range(10)))
    rows = make_rows(schema, suggest(schema), size=0.2)
    assert sum(map(len, rows)) == 10 * 9


def test_an_empty_schema_is_an_error() -> None:
    with pytest.raises(SchemaError):
        Schema.from_ddl("CREATE TABLE t ()")


def test_constraints_are_those_of_the_ddl() -> None:
    ddl = "CREATE TABLE t (a INT NOT NULL, b INT NULL, c TEXT UNIQUE, d INT, e INT, UNIQUE (d, e))"
    found = constraints_of(ddl, Schema.from_ddl(ddl))
    assert found.required == {0}
    assert set(found.unique) == {(2,), (3, 4)}


def test_ddl_that_cannot_be_parsed_is_told() -> None:
    ddl = "CREATE TABLE t (a INT NOT NULL); GRANT ((( ;"
    found = constraints_of(ddl, Schema.from_ddl(ddl))
    assert found.unread
    assert found.required == frozenset()
    assert not constraints_of("CREATE TABLE t (a INT)", Schema.from_ddl("CREATE TABLE t (a INT)")).unread
