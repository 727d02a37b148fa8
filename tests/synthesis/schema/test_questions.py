"""Questions say exactly what their queries do, or nothing at all."""

from __future__ import annotations

import random

import pytest

from fastsql.grammar import render, sql_to_program
from fastsql.schema import Schema
from fastsql.synthesis.schema.questions import ask
from fastsql.synthesis.schema.words import UnsayableError, Words, is_row, is_thing, plural, singular
from fastsql.verification.parse import parse_query

_JOINED = "FROM patients p JOIN visits v ON p.patient_id = v.patient_id"


@pytest.fixture(autouse=True)
def every_part_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows are asked for by what names them, and not as such."""
    monkeypatch.setattr("fastsql.synthesis.schema.questions.NAMELESS", 0.0)


def asked(sql: str, schema: Schema, seed: int) -> str:
    query = parse_query(render(sql_to_program(sql, schema), schema))
    return ask(query, Words(schema), random.Random(seed)).lower()


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("SELECT name FROM patients WHERE sex = 'F'", ["name", "patients", "sex is f"]),
        ("SELECT COUNT(*) FROM patients WHERE weight > 70.5", ["patients", "weight is", "70.5"]),
        (
            f"SELECT p.name {_JOINED} WHERE v.reason = 'cough'",
            ["name", "patients", "a visit", "reason is cough"],
        ),
        (f"SELECT p.name {_JOINED}", ["name", "patients", "visit"]),
        ("SELECT name FROM patients WHERE name NOT LIKE '%Moss'", ["does not end with 'moss'"]),
        ("SELECT name FROM patients WHERE name LIKE 'Ada%'", ["starts with 'ada'"]),
        ("SELECT name FROM patients WHERE weight BETWEEN 50 AND 60", ["weight is between 50 and 60"]),
        ("SELECT name FROM patients WHERE weight NOT BETWEEN 50 AND 60", ["weight is not between 50 and 60"]),
        ("SELECT name FROM patients WHERE patient_id NOT IN (SELECT patient_id FROM visits)", ["visits"]),
        ("SELECT reason FROM visits GROUP BY reason HAVING COUNT(*) >= 4", ["reasons", "4 visits"]),
        ("SELECT name FROM patients WHERE weight > (SELECT AVG(weight) FROM patients)", ["weight is"]),
        ("SELECT sex, AVG(weight) FROM patients GROUP BY sex", ["weight", "sex"]),
    ],
)
def test_every_part_of_a_query_is_said(sql: str, said: list[str], clinic: Schema) -> None:
    for seed in range(8):
        question = asked(sql, clinic, seed)
        for part in said:
            assert part in question


def test_groups_of_values_are_said_with_their_table(clinic: Schema) -> None:
    for seed in range(8):
        question = asked("SELECT sex FROM patients GROUP BY sex HAVING AVG(weight) > 60", clinic, seed)
        assert "patient sexes" in question
        assert "weight" in question


def test_what_is_counted_is_the_rows_that_are_joined(clinic: Schema) -> None:
    sql = f"SELECT p.name {_JOINED} GROUP BY p.patient_id ORDER BY COUNT(*) DESC LIMIT 1"
    for seed in range(8):
        question = asked(sql, clinic, seed)
        assert "visits" in question
        assert "patients" not in question


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT name, AVG(weight) FROM patients",
        "SELECT name, COUNT(*) FROM patients GROUP BY sex",
        "SELECT name FROM patients LIMIT 3",
        "SELECT name FROM patients UNION SELECT reason FROM visits",
        "SELECT SUM(weight) / COUNT(*) FROM patients",
        "SELECT COUNT(*) FROM patients GROUP BY patient_id",
        "SELECT COUNT(*) FROM visits GROUP BY reason ORDER BY COUNT(*) DESC LIMIT 1",
        "SELECT name FROM patients WHERE name > 'Ada'",
        "SELECT name FROM patients WHERE patient_id NOT IN (SELECT visit_id FROM drugs)",
        "SELECT reason FROM visits WHERE patient_id IN (SELECT patient_id FROM visits WHERE cost > 5)",
        "SELECT reason, COUNT(*) FROM visits GROUP BY reason ORDER BY COUNT(*) DESC LIMIT 1",
        "SELECT sex FROM patients ORDER BY name LIMIT 1",
        "SELECT DISTINCT reason FROM visits ORDER BY cost",
        "SELECT sex, sex FROM patients",
        "SELECT sex FROM patients WHERE born BETWEEN '2001-05-04' AND '1999-02-01'",
        f"SELECT p.sex {_JOINED} WHERE v.patient_id = 5",
        f"SELECT sex FROM patients WHERE patient_id IN (SELECT v.patient_id {_JOINED} WHERE p.weight > 60)",
        f"SELECT v.patient_id {_JOINED} WHERE p.patient_id = 5",
        "SELECT sex FROM patients WHERE name = (SELECT MAX(name) FROM patients)",
        "SELECT sex FROM patients WHERE name = (SELECT MAX(name) FROM patients WHERE weight > 70)",
    ],
)
def test_what_no_question_says_well_is_not_asked(sql: str, clinic: Schema) -> None:
    with pytest.raises(UnsayableError):
        asked(sql, clinic, 0)


def test_values_are_never_read_as_patterns(clinic: Schema) -> None:
    for seed in range(8):
        assert "a|b [c] @" in asked("SELECT sex FROM patients WHERE name = 'a|b [c] @'", clinic, seed)


@pytest.mark.parametrize(
    ("one", "many"),
    [
        ("patient", "patients"),
        ("diagnosis", "diagnoses"),
        ("biopsy", "biopsies"),
        ("lab test", "lab tests"),
        ("size", "sizes"),
        ("movie", "movies"),
        ("calorie", "calories"),
        ("shed", "sheds"),
        ("goal against", "goals against"),
        ("criteria", "criteria"),
    ],
)
def test_nouns_have_a_plural(one: str, many: str) -> None:
    assert plural(one) == many
    assert singular(many) == one


@pytest.mark.parametrize(
    ("name", "thing", "row"),
    [
        ("undergoes", True, False),
        ("takes", True, False),
        ("likes", True, False),
        ("lives in", False, False),
        ("reports to", False, False),
        ("has amenity", False, False),
        ("on call", False, False),
        ("trained in", False, False),
        ("report", True, True),
        ("in patients", True, True),
        ("from date", True, True),
        ("visits a week", True, True),
        ("on hand quantity", True, True),
        ("treatment", True, True),
    ],
)
def test_what_somebody_does_is_no_row_and_mostly_no_thing(name: str, thing: bool, row: bool) -> None:
    assert (is_thing(name), is_row(name)) == (thing, row)
    assert (is_thing(singular(name)), is_row(singular(name))) == (thing, row)


@pytest.mark.parametrize(
    ("one", "many"),
    [("year born", "years born"), ("date arrived", "dates arrived"), ("dog breed", "dog breeds")],
)
def test_participles_stand_behind_the_plural(one: str, many: str) -> None:
    assert plural(one) == many
    assert singular(many) == one


def test_what_tells_more_of_a_thing_stays_as_it_is() -> None:
    assert plural("age on arrival") == "ages on arrival"
    assert [plural(one) for one in ("age at first use", "dose per day", "height in cm", "date of birth")] == [
        "ages at first use",
        "doses per day",
        "heights in cm",
        "dates of birth",
    ]


def test_labels_say_what_can_be_asked_for() -> None:
    schema = Schema.from_ddl(
        'CREATE TABLE address (id INTEGER PRIMARY KEY, address_2 VARCHAR(9), active VARCHAR(9), "first" VARCHAR(9),'
        ' owner_has_paid VARCHAR(9), against INTEGER, won INTEGER, "#" INTEGER, score VARCHAR(9), total INTEGER)'
    )
    for seed in range(8):
        assert "the address 2 of" in asked("SELECT address_2 FROM address", schema, seed)
        assert "first names" in asked('SELECT "first" FROM address', schema, seed)
    for column in ("against", "active", "owner_has_paid", "won", '"#"'):
        with pytest.raises(UnsayableError):
            asked(f"SELECT {column} FROM address", schema, 1)
    with pytest.raises(UnsayableError, match="total of totals"):
        asked("SELECT SUM(total) FROM address", schema, 1)
    with pytest.raises(UnsayableError, match="pattern"):
        asked("SELECT total FROM address WHERE score LIKE '4%'", schema, 1)
    one = {asked("SELECT DISTINCT total FROM address WHERE score = '4'", schema, seed) for seed in range(12)}
    assert all("totals of" in question for question in one)


def test_what_only_says_what_was_done_is_not_asked_for() -> None:
    halls = Schema.from_ddl(
        "CREATE TABLE halls (id INTEGER PRIMARY KEY, taken_via TEXT, completed TEXT, opened DATE, wounded INTEGER)"
    )
    assert [plural("alias"), plural("year to date")] == ["aliases", "years to date"]
    for name in ("taken_via", "completed", "wounded"):
        with pytest.raises(UnsayableError, match="no thing"):
            asked(f"SELECT {name} FROM halls", halls, 1)
    assert {"dates opened"} == {
        part
        for seed in range(8)
        for part in ("dates opened", "openeds")
        if part in asked("SELECT opened FROM halls", halls, seed)
    }


def test_a_table_that_only_says_what_was_done_is_not_asked_about() -> None:
    lessons = Schema.from_ddl("CREATE TABLE taughtBy (id INTEGER PRIMARY KEY, hours INTEGER)")
    with pytest.raises(UnsayableError, match="no thing"):
        asked("SELECT hours FROM taughtBy", lessons, 1)


def test_moments_are_called_dates_and_times() -> None:
    stays = Schema.from_ddl(
        "CREATE TABLE stays (id INTEGER PRIMARY KEY, admitted_on DATE, seen_at TIMESTAMP, ran_on TEXT)"
    )
    said = [Words(stays).label(column, random.Random(0)) for column in range(4)]
    assert said == ["id", "admitted date", "seen time", "ran on"]


def test_rows_are_asked_for_where_what_names_them_is_selected(
    clinic: Schema, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fastsql.synthesis.schema.questions.NAMELESS", 1.0)
    for seed in range(10):
        question = asked("SELECT name FROM patients WHERE sex = 'F'", clinic, seed)
        assert "patients" in question
        assert "name" not in question
        assert "sex" in asked("SELECT sex FROM patients WHERE name = 'Ada'", clinic, seed)


def test_rows_are_told_by_what_tells_them_apart(clinic: Schema) -> None:
    keyed = {asked("SELECT sex FROM patients WHERE patient_id = 5", clinic, seed) for seed in range(30)}
    assert any("with patient id 5" in question or "with id 5" in question for question in keyed)
    named = {asked("SELECT sex FROM patients WHERE name = 'Ada'", clinic, seed) for seed in range(30)}
    assert any("named ada" in question or "called ada" in question for question in named)
    of = {asked("SELECT reason FROM visits WHERE patient_id = 5", clinic, seed) for seed in range(30)}
    assert any("of patient 5" in question for question in of)
    either = {
        asked("SELECT sex FROM patients WHERE name = 'Ada' OR name = 'Bo'", clinic, seed)
        for seed in range(30)
    }
    assert all("whose name is ada or name is bo" in question for question in either)


def test_keys_are_asked_for_as_such(clinic: Schema) -> None:
    assert "patient id" in asked("SELECT patient_id FROM visits", clinic, 1)


def ways(sql: str, schema: Schema, count: int = 60) -> set[str]:
    """How a query is asked, without what opens the question."""
    return {asked(sql, schema, seed).rstrip("?. ").partition("the ")[2] for seed in range(count)}


def test_who_shares_a_home_town_is_several() -> None:
    people = Schema.from_ddl(
        "CREATE TABLE people (id INTEGER PRIMARY KEY, name VARCHAR(9), hometown VARCHAR(9))"
    )
    for seed in range(12):
        several = asked("SELECT DISTINCT name FROM people WHERE hometown = 'Ely'", people, seed)
        assert "people whose hometown" in several
    one = {
        asked("SELECT DISTINCT hometown FROM people WHERE name = 'Ada'", people, seed) for seed in range(12)
    }
    assert any("of the person" in question for question in one)


def test_a_row_that_a_key_names_may_be_asked_for_in_the_singular(clinic: Schema) -> None:
    found = ways("SELECT sex FROM patients WHERE patient_id = 7", clinic)
    assert any(said.startswith(("sex of the patient ", "sex of patient ")) for said in found)
    assert any("sexes of" in said for said in found)


def test_what_has_a_name_is_asked_for_once(clinic: Schema) -> None:
    once = ways("SELECT DISTINCT sex FROM patients WHERE name = 'Ada Moss'", clinic)
    assert any(said.startswith("sex of the patient") for said in once)
    assert all(
        "different" in said or "distinct" in said or "unique" in said or said.startswith("sex of")
        for said in once
    )
    rows = ways("SELECT sex FROM patients WHERE name = 'Ada Moss'", clinic)
    assert not any(said.startswith("sex of") for said in rows)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT DISTINCT sex FROM patients WHERE weight > 60",
        "SELECT DISTINCT name FROM patients WHERE sex = 'F'",
        "SELECT name FROM patients WHERE sex = 'F'",
    ],
)
def test_several_rows_stay_several(sql: str, clinic: Schema) -> None:
    assert not any("of the patient " in said for said in ways(sql, clinic))


def test_hours_are_not_compared_with_wages() -> None:
    carers = Schema.from_ddl(
        "CREATE TABLE carers (id INTEGER PRIMARY KEY, weekly_hours REAL, hourly_wage REAL, cost REAL)"
    )
    with pytest.raises(UnsayableError, match="in common"):
        asked("SELECT id FROM carers WHERE weekly_hours > hourly_wage", carers, 1)
    assert "cost" in asked("SELECT id FROM carers WHERE hourly_wage > cost", carers, 1)


def test_averages_and_shares_are_not_added_up() -> None:
    teams = Schema.from_ddl(
        "CREATE TABLE teams (id INTEGER PRIMARY KEY, average_age REAL, share REAL, seats REAL)"
    )
    for column in ("average_age", "share"):
        with pytest.raises(UnsayableError, match="added up"):
            asked(f"SELECT SUM({column}) FROM teams", teams, 1)
        assert asked(f"SELECT AVG({column}) FROM teams WHERE seats > 3", teams, 3)
    assert "total seats" in asked("SELECT SUM(seats) FROM teams", teams, 1)


def test_the_highest_of_dates_is_the_latest(clinic: Schema) -> None:
    sql = "SELECT reason FROM visits WHERE day > (SELECT MAX(day) FROM visits WHERE reason = 'cough')"
    for seed in range(8):
        assert "the latest day" in asked(sql, clinic, seed) or "the most recent day" in asked(
            sql, clinic, seed
        )
