"""Conversations: a query may go on from an earlier one, with more tables, conditions and columns, or with others."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fastsql.grammar import (
    ColumnRef,
    DerivedRef,
    Literal,
    Program,
    State,
    TableRef,
    Turn,
    TurnRef,
    read_program,
    read_turn,
    render,
    sql_to_program,
    trace_program,
)
from fastsql.grammar.inlining import count_part, count_shown

from ..worlds.grammar_hospitals import CLINIC
from .earlier_turns import (
    BOTH,
    END,
    EVERYTHING,
    FIRST,
    PATIENTS,
    WARDS,
    P,
    asked,
    column,
    offered,
    said,
    table,
    turn,
)
from .grounding import literals_as_candidates, space_for


def test_a_query_is_extended_by_a_condition() -> None:
    program = (
        *(P("extend"), TurnRef(0), P("is_null"), column("patients", "dob"), P("keep")),
    )  # fmt: skip
    assert said(program, PATIENTS) == (
        "SELECT patients.subject_id FROM patients WHERE patients.gender = 'f' AND patients.dob IS NULL"
    )


def test_the_conditions_of_an_earlier_query_are_replaced() -> None:
    program = (P("extend_from"), TurnRef(0), P("is_null"), column("patients", "dob"), P("keep"))
    assert said(program, PATIENTS) == "SELECT patients.subject_id FROM patients WHERE patients.dob IS NULL"


def test_a_query_is_extended_by_a_table() -> None:
    program = (
        *(P("extend"), TurnRef(0), P("join"), table("admissions"), column("patients", "subject_id")),
        *(column("admissions", "subject_id", 1), P("not_null"), column("admissions", "ward", 1), P("keep")),
    )
    assert said(program, PATIENTS) == (
        "SELECT patients.subject_id FROM patients JOIN admissions ON patients.subject_id = admissions.subject_id "
        "WHERE patients.gender = 'f' AND NOT admissions.ward IS NULL"
    ).replace("NOT admissions.ward IS NULL", "admissions.ward IS NOT NULL")


@pytest.mark.parametrize(
    ("conditions", "written"),
    [
        ((), "SELECT COUNT(DISTINCT patients.gender) FROM patients"),
        (
            (P("is_null"), column("patients", "dob")),
            "SELECT COUNT(DISTINCT patients.gender) FROM patients WHERE patients.dob IS NULL",
        ),
    ],
)
def test_what_was_shown_once_is_counted_once(conditions: Program, written: str) -> None:
    genders = turn("SELECT DISTINCT patients.gender FROM patients")
    program = (P("extend"), TurnRef(0), *conditions, P("count_all"), END)
    assert said(count_shown(program, [genders]), genders) == written


@pytest.mark.parametrize(
    "sql",
    ["SELECT patients.gender FROM patients", "SELECT DISTINCT patients.gender, patients.dob FROM patients"],
)
def test_rows_are_counted_where_rows_were_shown(sql: str) -> None:
    program = (P("extend"), TurnRef(0), P("count_all"), END)
    assert count_shown(program, [turn(sql)]) == program


@pytest.mark.parametrize("goes_on", ["extend", "extend_from"])
def test_a_part_of_what_was_listed_is_counted(goes_on: str) -> None:
    program = (P(goes_on), TurnRef(0), P("is_null"), column("patients", "dob"), P("keep"))
    counted = count_part(program, [PATIENTS])
    assert said(counted, PATIENTS).startswith("SELECT COUNT(*) FROM patients WHERE ")
    assert said(counted, PATIENTS).endswith("patients.dob IS NULL")


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) FROM patients",
        "SELECT patients.gender, COUNT(*) FROM patients GROUP BY patients.gender",
        "SELECT patients.subject_id FROM patients ORDER BY patients.dob DESC LIMIT 5",
    ],
)
def test_what_was_counted_grouped_or_cut_stays_so(sql: str) -> None:
    program = (P("extend"), TurnRef(0), P("is_null"), column("patients", "dob"), P("keep"))
    assert count_part(program, [turn(sql)]) == program


def test_the_select_list_of_an_earlier_query_is_replaced() -> None:
    program = (P("extend"), TurnRef(0), P("count"), column("patients", "name"), END)
    assert said(program, PATIENTS).startswith(
        "SELECT COUNT(patients.name) FROM patients WHERE patients.gender"
    )
    grouped = (
        *(P("extend"), TurnRef(0), P("group"), column("patients", "name"), column("patients", "name")),
        *(P("count_all"), END),
    )
    assert said(grouped, PATIENTS, strict=True).endswith("GROUP BY patients.name")


def test_the_order_and_limit_of_an_earlier_query_are_replaced() -> None:
    program = (
        P("extend"),
        TurnRef(0),
        P("sort_groups"),
        P("desc"),
        P("count_all"),
        P("limit"),
        P("one"),
        END,
    )
    assert said(program, WARDS, strict=True) == (
        "SELECT admissions.ward, COUNT(*) FROM admissions GROUP BY admissions.ward ORDER BY COUNT(*) DESC LIMIT 1"
    )
    first = turn(program, WARDS)
    assert said((P("extend"), TurnRef(0), P("sort_groups"), END), first).endswith("GROUP BY admissions.ward")
    rows = (
        P("extend"),
        TurnRef(0),
        P("sort_rows"),
        P("asc"),
        column("patients", "dob"),
        P("limit"),
        P("one"),
        END,
    )
    assert said(rows, PATIENTS).endswith("ORDER BY patients.dob ASC LIMIT 1")


def test_conditions_on_groups_are_added() -> None:
    program = (
        *(P("extend"), TurnRef(0), P("and_having"), P("gt"), P("count_all"), P("two"), P("keep")),
    )  # fmt: skip
    once = turn(program, WARDS)
    twice = (
        *(P("extend"), TurnRef(0), P("and_having"), P("lt"), P("count_all"), Literal(9)),
        *(P("sort_groups"), P("asc"), P("count_all"), END),
    )
    assert said(twice, once, strict=True).endswith(
        "GROUP BY admissions.ward HAVING COUNT(*) > 2 AND COUNT(*) < 9 ORDER BY COUNT(*) ASC"
    )


def test_from_is_extended_along_keys() -> None:
    labs = sql_to_program("SELECT labs.code FROM labs", CLINIC)
    space = space_for(CLINIC, "?", literals_as_candidates(labs))
    space = replace(space, turns=(read_turn(labs, space),))
    payers, stays = (TableRef(CLINIC.table_index(name)) for name in ("payers", "stays"))
    of_labs, of_stays, payer, key = (
        ColumnRef(CLINIC.column_index(table, name), source)
        for table, name, source in (
            ("labs", "stay", 0),
            ("stays", "id", 1),
            ("stays", "payer", 1),
            ("payers", "id", 2),
        )
    )
    program = (
        *(P("extend"), TurnRef(0), P("along"), payers, stays, of_labs, of_stays),
        *(
            P("further"),
            payers,
            payer,
            key,
            P("not_null"),
            ColumnRef(CLINIC.column_index("payers", "name"), 2),
            P("keep"),
        ),
    )
    again = read_program(trace_program(program, space).actions.tolist(), space)
    assert render(again, CLINIC, turns=space.turns) == (
        "SELECT labs.code FROM labs JOIN stays ON labs.stay = stays.id JOIN payers ON stays.payer = payers.id"
        " WHERE payers.name IS NOT NULL"
    )


def test_an_extension_of_a_query_of_all_columns_selects_all_columns() -> None:
    program = (P("extend"), TurnRef(0), P("not_null"), column("d_items", "unit"), P("keep"))
    assert said(program, EVERYTHING) == (
        "SELECT d_items.itemid, d_items.label, d_items.unit FROM d_items WHERE d_items.unit IS NOT NULL"
    )


def test_an_extension_is_extended() -> None:
    once = turn((P("extend"), TurnRef(0), P("is_null"), column("patients", "dob"), P("keep")), PATIENTS)
    program = (P("extend"), TurnRef(1), P("is_null"), column("patients", "name"), P("keep"))
    assert said(program, PATIENTS, once).endswith(
        "WHERE patients.gender = 'f' AND patients.dob IS NULL AND patients.name IS NULL"
    )


def test_the_columns_of_a_derived_table_are_in_scope_again() -> None:
    often = turn((FIRST, TurnRef(0), P("gt"), DerivedRef(0, 1), P("two"), DerivedRef(0, 0), END), WARDS)
    program = (P("extend"), TurnRef(1), P("not_null"), DerivedRef(0, 0), DerivedRef(0, 1), END)
    assert said(program, WARDS, often).endswith("AS T1 WHERE T1.C2 > 2 AND T1.ward IS NOT NULL")


def test_of_two_sources_of_one_table_the_one_meant_is_named() -> None:
    twice = turn("SELECT a.ward FROM admissions AS a JOIN admissions AS b ON a.subject_id = b.subject_id")
    for source in (0, 1):
        program = (P("extend"), TurnRef(0), P("is_null"), column("admissions", "age", source), P("keep"))
        assert said(program, twice).endswith(f"WHERE T{source + 1}.age IS NULL")


@pytest.mark.parametrize(
    "put_together",
    [BOTH, turn("SELECT (SELECT MAX(age) FROM admissions) - (SELECT MIN(age) FROM admissions)")],
)
def test_only_a_single_select_from_tables_is_extended(put_together: Turn) -> None:
    assert offered(State.start(asked((), [put_together]))) & {"extend", "extend_from"} == set()
    assert "previous" in offered(State.start(asked((), [put_together])))


def test_a_subquery_extends_nothing() -> None:
    space = asked((), [PATIENTS])
    for opening in ("derived", "union"):
        state = State.start(space)
        state = state.advance(space.grammar.production(opening))
        assert offered(state) & {"extend", "extend_from"} == set()
