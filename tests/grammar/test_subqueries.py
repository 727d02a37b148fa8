"""Subqueries that are compared with keys: what a search passes over, and what it leaves alone."""

from __future__ import annotations

import pytest

from fastsql.grammar import State, sql_to_program, trace_program
from fastsql.grammar.actions import PRODUCTION, TABLE
from fastsql.schema import Schema

from ..worlds.grammar_hospitals import CLINIC, REPORTS
from ..worlds.wide import numbered_columns
from .grounding import literals_as_candidates, space_for
from .steps import columns, decisions, state_after

SPACE = space_for(CLINIC, "how many")
EQUATED = (("in",), ("not_in",), ("not_exists",), ("eq", "scalar"), ("ne", "scalar"))


def within(*steps: str, opening: tuple[str, ...] = ("in",), left: str = "labs.patient") -> State:
    """A query over labs behind the comparison of a column with a subquery, and what follows."""
    return state_after(SPACE, "labs", opening[0], left, *opening[1:], *steps)


def names(state: State, kind: int) -> set[str]:
    """The tables or productions that may be taken."""
    found = (SPACE.locate(int(action)) for action in state.legal()[state.takable()])
    known = SPACE.grammar.productions if kind == PRODUCTION else [table.name for table in CLINIC.tables]
    return {known[index] for place, index in found if place == kind}


@pytest.mark.parametrize("opening", EQUATED)
def test_a_subquery_selects_a_key_of_the_group_that_it_is_compared_with(opening: tuple[str, ...]) -> None:
    state = within("stays", opening=opening)
    assert columns(state) == {"stays.patient"}
    assert columns(state, all_legal=True) == {"stays.id", "stays.patient", "stays.payer"}
    assert columns(within("stays", "distinct", opening=opening)) == {"stays.patient"}
    assert columns(within("stays", "group", "stays.payer", opening=opening)) == {"stays.patient"}


@pytest.mark.parametrize("opening", EQUATED)
def test_from_names_a_table_that_has_the_key_or_shares_one_with_such(opening: tuple[str, ...]) -> None:
    assert names(within(opening=opening), TABLE) == {"patients", "stays", "labs", "payers"}
    state = within(opening=opening, left="labs.stay")
    assert names(state, TABLE) == {"patients", "stays", "labs", "payers"}
    assert "codes" in {
        CLINIC.tables[SPACE.locate(int(a))[1]].name for a in state.legal() if SPACE.locate(int(a))[0] == TABLE
    }


def test_a_table_without_the_key_is_joined_with_one_that_has_it() -> None:
    state = within("payers")
    assert names(state, PRODUCTION) == {"join", "left_join", "cross_join", "along"}
    assert not columns(state)
    assert names(within("payers", "join"), TABLE) == {"stays"}
    joined = within("payers", "join", "stays", "payers.id", "stays.payer")
    assert columns(joined) == {"stays.patient"}
    assert {"eq", "join", "on"} < names(joined, PRODUCTION)


def test_what_is_computed_is_no_key_but_the_least_and_the_greatest_are() -> None:
    taken = names(within("stays"), PRODUCTION)
    assert {"min", "max", "distinct", "group", "eq"} < taken
    assert not taken & {"count", "count_all", "sum", "plus", "test", "year_of", "dense_rank"}
    assert columns(within("stays", "max")) == {"stays.patient"}
    assert "stays.id" in columns(within("stays", "group", "stays.patient", "having", "is_null", "max"))
    legal = within("stays").legal()
    assert SPACE.flat(PRODUCTION, SPACE.grammar.production("count")) in legal


@pytest.mark.parametrize("opening", [("lt", "scalar"), ("ge", "scalar")])
def test_a_subquery_compared_by_order_is_free(opening: tuple[str, ...]) -> None:
    assert columns(within("stays", opening=opening)) == {"stays.id", "stays.patient", "stays.payer"}
    assert len(names(within(opening=opening), TABLE)) == len(CLINIC.tables)


@pytest.mark.parametrize("opening", EQUATED)
def test_what_is_no_key_is_compared_with_anything(opening: tuple[str, ...]) -> None:
    state = within("codes", opening=opening, left="labs.code")
    assert columns(state) == {"codes.code", "codes.label"}
    assert len(names(within(opening=opening, left="labs.code"), TABLE)) == len(CLINIC.tables)


def test_a_scalar_that_is_no_whole_side_of_an_equation_is_free() -> None:
    """What was completed before it is not what it is compared with."""
    state = state_after(SPACE, "labs", "eq", "labs.patient", "plus", "labs.patient", "scalar", "stays")
    assert columns(state) == {"stays.id", "stays.patient", "stays.payer"}
    left = state_after(SPACE, "labs", "is_null", "labs.patient", "eq", "scalar", "stays")
    assert columns(left) == {"stays.id", "stays.patient", "stays.payer"}


def test_only_the_select_list_of_the_subquery_itself_is_bound() -> None:
    assert "stays.id" in columns(within("stays", "is_null"))
    inner = within("stays", "in", "stays.id", "labs")
    assert columns(inner) == {"labs.stay"}
    behind = state_after(SPACE, "labs", "in", "labs.patient", "patients", "patients.id", "end")
    assert columns(behind) == {"labs.patient", "labs.stay", "labs.code", "labs.value"}


def test_a_derived_table_passes_keys_on() -> None:
    one = within("derived", "stays", "stays.patient", "stays.id", "end")
    items = [SPACE.locate(int(action)) for action in one.legal()[one.takable()]]
    assert len([kind for kind, _ in items if kind != PRODUCTION]) == 1
    none = within("derived", "labs", "labs.value", "labs.stay", "end")
    pointed = [a for a in none.legal()[none.takable()] if SPACE.locate(int(a))[0] != PRODUCTION]
    assert len(pointed) == 1  # the value, which is no key; not the stay, which is another


def test_tables_that_refer_to_each_other_and_to_themselves() -> None:
    schema = Schema.from_ddl("""
    CREATE TABLE staff (id INTEGER PRIMARY KEY, boss INTEGER REFERENCES staff (id), unit INTEGER REFERENCES units (id));
    CREATE TABLE units (id INTEGER PRIMARY KEY, head INTEGER REFERENCES staff (id)); CREATE TABLE notes (x TEXT);
    """)
    space = space_for(schema, "how many")
    assert columns(state_after(space, "staff", "in", "staff.boss", "staff")) == {"staff.id", "staff.boss"}
    assert columns(state_after(space, "staff", "in", "staff.boss", "units")) == {"units.head"}
    assert columns(state_after(space, "units", "in", "units.id", "staff")) == {"staff.unit"}


def test_the_column_that_tells_a_composite_key_is_compared_with_its_own() -> None:
    """What is wide, such as the hospital's number, is a key of nothing by itself."""
    schema = Schema.from_ddl("""
    CREATE TABLE visits (patient INTEGER, number INTEGER, PRIMARY KEY (patient, number));
    CREATE TABLE notes (p INTEGER, n INTEGER, FOREIGN KEY (p, n) REFERENCES visits (patient, number));
    """)
    space = space_for(schema, "how many")
    assert columns(state_after(space, "visits", "in", "visits.number", "notes")) == {"notes.n"}
    assert columns(state_after(space, "visits", "in", "visits.patient", "notes")) == {"notes.p", "notes.n"}


def test_a_schema_without_keys_is_left_alone() -> None:
    schema = Schema.from_dict({"a": {"x": "INT", "y": "INT"}, "b": {"z": "INT", "w": "TEXT"}})
    space = space_for(schema, "how many")
    assert state_after(space, "a", "in", "a.x").takable().all()
    assert columns(state_after(space, "a", "in", "a.x", "b")) == {"b.z", "b.w"}


def test_a_schema_of_1530_columns_binds_as_a_small_one_does() -> None:
    tables = {f"t{place}": {"patient_id": "INT", **numbered_columns(15)} for place in range(95)}
    patients = {"columns": [{"name": "id", "type": "INT", "primary_key": True}, "name"]}
    schema = Schema.from_dict(
        {**tables, "patients": patients, "codes": dict.fromkeys(map("k{}".format, range(8)), "INT")}
    )
    assert len(schema.columns) == 1530
    space = space_for(schema, "how many")
    opening = state_after(space, "t0", "in", "t0.patient_id")
    assert len(opening.legal()) - opening.takable().sum() == 1  # codes
    assert columns(state_after(space, "t0", "in", "t0.patient_id", "t94")) == {"t94.patient_id"}


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT value FROM labs WHERE patient IN (SELECT id FROM patients WHERE sex = 'f')",
        "SELECT value FROM labs WHERE patient NOT IN (SELECT DISTINCT patient FROM stays)",
        "SELECT value FROM labs WHERE patient IN (SELECT T.p FROM (SELECT patient AS p, COUNT(*) FROM stays) AS T)",
        "SELECT value FROM labs WHERE patient IN (SELECT stays.patient FROM payers JOIN stays ON payers.id = stays.payer)",
        "SELECT value FROM labs WHERE stay = (SELECT MAX(id) FROM stays)",
        "SELECT value FROM labs WHERE patient IN (SELECT id FROM patients UNION SELECT patient FROM stays)",
        "SELECT value FROM labs WHERE code IN (SELECT code FROM codes) AND value > (SELECT AVG(value) FROM labs)",
        "SELECT name FROM payers WHERE id IN (SELECT payer FROM stays GROUP BY payer HAVING COUNT(*) > 2)",
    ],
)
def test_queries_that_follow_keys_are_taken(sql: str) -> None:
    space = space_for(CLINIC, "how many", literals_as_candidates(sql_to_program(sql, CLINIC)))
    for state, action in decisions(space, sql):
        assert action in state.legal()[state.takable()]


def test_no_legal_action_becomes_illegal() -> None:
    """What a search passes over can still be written: it is a matter of the search, not of the language."""
    sql = "SELECT value FROM labs WHERE patient IN (SELECT payer FROM stays)"
    assert len(trace_program(sql_to_program(sql, CLINIC), SPACE).actions) > 3


REPORT_SPACE = space_for(REPORTS, "how many")


@pytest.mark.parametrize("opening", EQUATED)
def test_a_column_that_is_called_like_the_key_may_be_selected_beside_it(opening: tuple[str, ...]) -> None:
    """Which of a report's visits is meant only its table's makers know."""
    state = state_after(REPORT_SPACE, "stays", opening[0], "stays.visit", *opening[1:], "reports")
    assert columns(state) == {"reports.stay_visit", "reports.visit"}
    state = state_after(REPORT_SPACE, "stays", opening[0], "stays.visit", *opening[1:], "reports", "max")
    assert columns(state) == {"reports.stay_visit", "reports.visit"}
    whole = state_after(REPORT_SPACE, "stays", opening[0], "stays.visit", *opening[1:], "days")
    assert "days.visit" not in columns(whole), "a key of other rows"


def test_taken_in_parts_keys_alone_are_selected() -> None:
    space = space_for(REPORTS.in_parts, "how many")
    state = state_after(space, "stays", "in", "stays.visit", "reports")
    assert columns(state) == {"reports.stay_visit"}
