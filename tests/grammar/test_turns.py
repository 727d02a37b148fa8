"""Conversations: a query may point at earlier ones. Whatever it takes of them, what is written is one query alone."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

from fastsql.datasets import read_schemas
from fastsql.errors import LimitError
from fastsql.execution import verify
from fastsql.grammar import (
    ActionSpace,
    ColumnRef,
    DerivedRef,
    GroundingError,
    Literal,
    Production,
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
from fastsql.grammar.actions import STEP
from fastsql.grammar.bounds import MAX_NESTING
from fastsql.grammar.compile import load_grammar
from fastsql.grammar.inlining import count_part, count_shown, inline, program_of
from fastsql.grammar.replacing import replace_contradicted
from fastsql.grammar.showing import beside_names
from fastsql.grammar.tree import is_program, read_tree
from fastsql.limits import DEFAULT
from fastsql.linking import find_candidates
from fastsql.schema import Schema
from fastsql.training.corpus.programs import dump_program, parse_program
from fastsql.verification.text import scan_text
from fastsql.verification.verify import prepare

from ..worlds.grammar_hospitals import CLINIC, HOSPITAL, SCHEMAS
from .conversations import FOND, POINTING, converse, count_pointing
from .grounding import literals_as_candidates, space_for
from .parser_stack import STACK, is_bounded, stack_depth
from .strategies import habits, spaces
from .test_promises import EXAMPLES, QUESTION, SEEDS, promise
from .walking import HABITS, Bias, walk

P = Production
a_few = settings(promise, max_examples=EXAMPLES // 13)
FIRST = P("previous")
END = P("end")


def column(table: str, name: str, source: int = 0) -> ColumnRef:
    return ColumnRef(HOSPITAL.column_index(table, name), source)


def table(name: str) -> TableRef:
    return TableRef(next(k for k, one in enumerate(HOSPITAL.tables) if one.name == name))


def asked(program: Program, turns: Sequence[Turn] = (), *, strict: bool = False) -> ActionSpace:
    """A space in which the program's literals can be said."""
    space = space_for(HOSPITAL, "?", literals_as_candidates(program))
    return replace(space, turns=tuple(turns), strict_grouping=strict)


def turn(sql: str | Program, *turns: Turn, usable: bool = True) -> Turn:
    program = sql_to_program(sql, HOSPITAL) if isinstance(sql, str) else sql
    return read_turn(program, asked(program, turns), usable=usable)


def said(program: Program, *turns: Turn, strict: bool = False) -> str:
    """The SQL of a program that the automaton lets through, turns written out."""
    space = asked(program, turns, strict=strict)
    decisions = trace_program(program, space).actions.tolist()
    again = read_program(decisions, space)
    assert [type(one) for one in again] == [type(one) for one in program]
    sql = render(again, HOSPITAL, turns=turns)
    verify(sql, HOSPITAL)
    return sql


def offered(state: State) -> set[str]:
    """The productions that may come next."""
    names = state.space.grammar.productions
    return {names[a] for a in state.legal().tolist() if a < len(names)}


PATIENTS = turn("SELECT patients.subject_id FROM patients WHERE patients.gender = 'f'")
WARDS = turn("SELECT admissions.ward, COUNT(*) FROM admissions GROUP BY admissions.ward")
EVERYTHING = turn("SELECT * FROM d_items")
OLDEST = turn("SELECT MAX(admissions.age) FROM admissions")
TIMES = turn("SELECT admissions.admittime FROM admissions")
BOTH = turn("SELECT hadm_id FROM admissions UNION SELECT hadm_id FROM cost")


# ---------------------------------------------------------------- what a query may take of earlier ones


def test_a_result_is_a_derived_table() -> None:
    program = (FIRST, TurnRef(0), DerivedRef(0, 0), END)
    assert said(program, WARDS) == (
        "SELECT T1.ward FROM (SELECT admissions.ward, COUNT(*) AS C2 FROM admissions GROUP BY admissions.ward) AS T1"
    )


def test_two_results_are_joined() -> None:
    program = (
        *(FIRST, TurnRef(0), P("join"), FIRST, TurnRef(1), DerivedRef(0, 0), DerivedRef(1, 0)),
        *(DerivedRef(1, 0), END),
    )
    sql = said(program, PATIENTS, turn("SELECT admissions.subject_id FROM admissions"))
    assert (
        "AS T1 JOIN (SELECT admissions.subject_id FROM admissions) AS T2 ON T1.subject_id = T2.subject_id"
        in sql
    )


def test_the_columns_of_star_can_be_pointed_at() -> None:
    sql = said((FIRST, TurnRef(0), DerivedRef(0, 1), END), EVERYTHING)
    assert sql == (
        "SELECT T1.label FROM (SELECT d_items.itemid, d_items.label, d_items.unit FROM d_items) AS T1"
    )


def test_conditions_behind_a_result_are_kept() -> None:
    program = (
        *(table("admissions"), P("in_previous"), TurnRef(0), column("admissions", "subject_id")),
        *(P("is_null"), column("admissions", "dischtime"), column("admissions", "hadm_id"), END),
    )
    assert said(program, PATIENTS).endswith("'f') AND admissions.dischtime IS NULL")


def test_a_result_is_a_set() -> None:
    program = (
        *(table("admissions"), P("in_previous"), TurnRef(0), column("admissions", "subject_id")),
        *(column("admissions", "hadm_id"), END),
    )
    assert said(program, PATIENTS).endswith(
        "admissions.subject_id IN (SELECT patients.subject_id FROM patients WHERE patients.gender = 'f')"
    )
    outside = (*program[:1], P("not_in_previous"), *program[2:])
    assert "subject_id NOT IN (SELECT" in said(outside, PATIENTS)


def test_a_result_is_a_value() -> None:
    program = (
        *(table("admissions"), P("eq"), column("admissions", "age"), P("previous_value"), TurnRef(0)),
        *(column("admissions", "hadm_id"), END),
    )
    assert "age = (SELECT MAX(admissions.age) FROM admissions)" in said(program, OLDEST)


def test_results_are_compared_without_a_table() -> None:
    youngest = turn("SELECT MIN(admissions.age) FROM admissions")
    program = (P("bare"), P("minus"), P("previous_value"), TurnRef(0), P("previous_value"), TurnRef(1), END)
    assert said(program, OLDEST, youngest) == (
        "SELECT (SELECT MAX(admissions.age) FROM admissions) - (SELECT MIN(admissions.age) FROM admissions)"
    )


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


ADMITTED = "SELECT admissions.hadm_id FROM admissions WHERE "
MARCH = "STRFTIME('%Y-%m', admissions.admittime) = '2100-03'"
THE_31ST = "STRFTIME('%Y-%m-%d', admissions.admittime) = '2100-03-31'"
IN_2100 = "STRFTIME('%Y', admissions.admittime) = '2100'"


@pytest.mark.parametrize(
    ("before", "added", "together"),
    [
        ("admissions.ward = 'icu' AND admissions.age > 70", "admissions.ward = 'micu'", "admissions.age > 70 AND {added}"),
        ("admissions.ward = 'icu'", "admissions.ward = 'ICU'", "{before} AND {added}"),
        ("admissions.ward = 'icu'", "admissions.ward <> 'micu'", "{before} AND {added}"),
        ("admissions.age > 70", "admissions.age > 80", "{before} AND {added}"),
        ("admissions.ward = 'icu'", "admissions.age = 70", "{before} AND {added}"),
        ("admissions.ward IN ('icu', 'micu')", "admissions.ward = 'icu'", "{before} AND {added}"),
        (MARCH, MARCH.replace("03", "08"), "{added}"),
        (MARCH, "STRFTIME('%m', admissions.admittime) = '08'", MARCH.replace("03", "08")),
        (MARCH, "STRFTIME('%Y', admissions.admittime) = '2099'", "{added}"),
        (THE_31ST, "STRFTIME('%m', admissions.admittime) = '02'", MARCH.replace("03", "02")),
        (MARCH, "STRFTIME('%Y-%m-%d', admissions.admittime) = '2100-03-05'", "{before} AND {added}"),
        (MARCH, "STRFTIME('%Y-%m-%d', admissions.admittime) = '2100-04-05'", "{added}"),
        (MARCH, "STRFTIME('%m', admissions.dischtime) = '08'", "{before} AND {added}"),
        (IN_2100, "STRFTIME('%m', admissions.admittime) = '08'", "{before} AND {added}"),
        ("admissions.age > 140", "admissions.age > 120", "{added}"),
        ("admissions.age > 140", "admissions.age >= 140", "{added}"),
        ("admissions.age >= 140", "admissions.age > 140", "{before} AND {added}"),
        ("admissions.age > 140", "admissions.age > 140", "{before} AND {added}"),
        ("admissions.age < 30 AND admissions.ward = 'icu'", "admissions.age <= 40", "admissions.ward = 'icu' AND {added}"),
        ("admissions.age > 60", "admissions.age < 50", "{added}"),
        ("admissions.age > 60", "admissions.age <= 60", "{added}"),
        ("admissions.age >= 60", "admissions.age <= 60", "{before} AND {added}"),
        ("admissions.age > 60", "admissions.age < 80", "{before} AND {added}"),
        ("admissions.age > 60", "admissions.age = 20", "{added}"),
        ("admissions.age = 20", "admissions.age > 10", "{added}"),
        ("admissions.age > 60", "admissions.age <> 20", "{before} AND {added}"),
        ("admissions.age > 60", "admissions.hadm_id > 50", "{before} AND {added}"),
        ("(admissions.age + 1) < 20", "(admissions.age + 1) > 60", "{added}"),
        ("(admissions.age + 1) < 20", "(admissions.age + 2) > 60", "{before} AND {added}"),
        ("admissions.age = 1", "admissions.age = 0", "{added}"),
        (MARCH.replace("=", ">"), MARCH.replace("=", ">").replace("03", "01"), "{added}"),
        (MARCH.replace("=", ">"), MARCH.replace("=", "<").replace("03", "01"), "{added}"),
        (MARCH.replace("=", ">"), IN_2100.replace("=", ">"), "{before} AND {added}"),
    ],
)  # fmt: skip
def test_a_condition_takes_the_place_of_one_beside_which_it_says_nothing(
    before: str, added: str, together: str
) -> None:
    admitted = turn(ADMITTED + before)
    condition = sql_to_program(ADMITTED + added, HOSPITAL)[1:-2]
    program = (P("extend"), TurnRef(0), *condition, P("keep"))
    replaced = replace_contradicted(program, [admitted], load_grammar())
    written = render(replaced, HOSPITAL, turns=[admitted])
    conditions = together.format(before=before, added=added).split(" AND ")
    assert written.startswith(ADMITTED)
    assert sorted(written.removeprefix(ADMITTED).split(" AND ")) == sorted(conditions)
    assert (replaced == program) == (together == "{before} AND {added}")


@pytest.mark.parametrize(
    ("before", "said", "together"),
    [
        ("admissions.ward = 'icu' AND admissions.age > 2", "admissions.ward = 'micu'", "admissions.age > 2 AND {said}"),
        (f"{MARCH} AND admissions.age > 20", IN_2100.replace("2100", "2099"), "admissions.age > 20 AND {said}"),
        (
            "admissions.age > 7 AND admissions.ward = 'icu'",
            "admissions.ward IN ('er', 'micu')",
            "admissions.age > 7 AND {said}",
        ),
        ("admissions.ward = 'icu' AND admissions.age > 20", "admissions.hadm_id > 50", "{before} AND {said}"),
        (
            "admissions.ward = 'icu' AND admissions.age > 20 AND admissions.hadm_id > 50",
            "admissions.age > 20 AND admissions.ward = 'micu'",
            "admissions.age > 20 AND admissions.hadm_id > 50 AND admissions.ward = 'micu'",
        ),
        (
            "admissions.ward = 'icu' AND admissions.age > 20",
            "admissions.ward = 'micu' AND admissions.ward <> 'icu'",
            "admissions.age > 20 AND {said}",
        ),
        ("admissions.ward = 'icu' AND admissions.age > 20", "admissions.age > 20", "{said}"),
        ("admissions.ward = 'icu' AND admissions.age > 20", "admissions.age > 20 AND admissions.ward = 'micu'", "{said}"),
        ("admissions.ward = 'icu'", "admissions.ward = 'micu'", "{said}"),
        ("admissions.ward = 'icu'", "admissions.age > 20", "{said}"),
    ],
)  # fmt: skip
def test_conditions_that_a_turn_forgets_beside_one_that_it_changes_are_kept(
    before: str, said: str, together: str
) -> None:
    admitted = turn(ADMITTED + before)
    conditions = sql_to_program(ADMITTED + said, HOSPITAL)[1:-2]
    program = (P("extend_from"), TurnRef(0), *conditions, P("keep"))
    replaced = replace_contradicted(program, [admitted], load_grammar())
    assert is_program(replaced, load_grammar())
    written = render(replaced, HOSPITAL, turns=[admitted])
    expected = together.format(before=before, said=said).split(" AND ")
    assert sorted(written.removeprefix(ADMITTED).split(" AND ")) == sorted(expected)
    assert (replaced == program) == (together == "{said}")


def test_a_further_value_stands_beside_the_one_that_it_was_to_replace() -> None:
    admitted = turn(ADMITTED + "admissions.ward = 'icu'")
    condition = sql_to_program(ADMITTED + "admissions.ward = 'micu'", HOSPITAL)[1:-2]
    program = (P("extend_from"), TurnRef(0), *condition, P("keep"))
    replaced = replace_contradicted(program, [admitted], load_grammar(), besides=True)
    assert render(replaced, HOSPITAL, turns=[admitted]) == ADMITTED + "admissions.ward IN ('icu', 'micu')"
    assert replace_contradicted(program, [admitted], load_grammar()) == program


NAME = HOSPITAL.column_index("patients", "name")


@pytest.mark.parametrize(
    ("before", "further", "together"),
    [
        ("patients.name FROM patients", "patients.dob", "patients.name, patients.dob FROM patients"),
        (
            "patients.name FROM patients WHERE patients.gender = 'f' ORDER BY patients.dob",
            "patients.gender",
            "patients.name, patients.gender FROM patients WHERE patients.gender = 'f' ORDER BY patients.dob ASC",
        ),
        (
            "patients.name FROM patients ORDER BY patients.name",
            "patients.dob FROM patients ORDER BY patients.dob DESC",
            "patients.name, patients.dob FROM patients ORDER BY patients.dob DESC",
        ),
        ("patients.gender FROM patients", "patients.dob", None),
        ("patients.name FROM patients ORDER BY patients.dob LIMIT 1", "patients.dob", None),
        ("patients.name FROM patients", "patients.name, patients.dob", None),
        ("patients.name FROM patients", "COUNT(*)", None),
        ("COUNT(*) FROM patients", "patients.dob", None),
    ],
)
def test_further_columns_stand_beside_the_names_of_rows(
    before: str, further: str, together: str | None
) -> None:
    named = turn(f"SELECT {before}")
    body = sql_to_program(f"SELECT {further}" + " FROM patients" * ("FROM" not in further), HOSPITAL)[1:]
    program = (P("extend"), TurnRef(0), *body)
    found = beside_names(program, [named], HOSPITAL, load_grammar(), lambda _: {NAME})
    if together is None:
        assert found == program
    else:
        assert said(found, named) == f"SELECT {together}"


def test_a_turn_that_takes_something_back_forgets_nothing() -> None:
    admitted = turn(ADMITTED + "admissions.ward = 'icu' AND admissions.age > 20")
    condition = sql_to_program(ADMITTED + "admissions.ward = 'micu'", HOSPITAL)[1:-2]
    program = (P("extend_from"), TurnRef(0), *condition, P("keep"))
    assert replace_contradicted(program, [admitted], load_grammar(), whole=False) == program


@pytest.mark.parametrize(
    ("added", "together"),
    [
        ("admissions.admittime > admissions.dischtime", "admissions.ward = 'icu' AND {added}"),
        ("admissions.ward = 'icu'", "admissions.ward = 'icu' AND admissions.admittime < admissions.dischtime AND {added}"),
    ],
)  # fmt: skip
def test_what_is_compared_anew_behind_later_turns_is_not_compared_as_before(
    added: str, together: str
) -> None:
    admitted = turn(ADMITTED + "admissions.ward = 'icu' AND admissions.admittime < admissions.dischtime")
    condition = sql_to_program(ADMITTED + added, HOSPITAL)[1:-2]
    program = (P("extend"), TurnRef(0), *condition, P("keep"))
    replaced = replace_contradicted(program, [admitted], load_grammar(), moved=True)
    written = render(replaced, HOSPITAL, turns=[admitted]).removeprefix(ADMITTED)
    assert sorted(written.split(" AND ")) == sorted(together.format(added=added).split(" AND "))


def test_only_what_a_question_says_is_added_to_earlier_values() -> None:
    admitted = turn(ADMITTED + "admissions.ward = 'icu'")
    program = sql_to_program(ADMITTED + "admissions.ward IN ('er', 'micu')", HOSPITAL)
    said = [replace(one, span=(3, 7)) if one == Literal("micu") else one for one in program[1:-2]]
    replaced = replace_contradicted(
        (P("extend_from"), TurnRef(0), *said, P("keep")), [admitted], load_grammar(), besides=True
    )
    assert render(replaced, HOSPITAL, turns=[admitted]) == ADMITTED + "admissions.ward IN ('icu', 'micu')"


def test_conditions_of_other_rows_are_kept() -> None:
    """The same column of two sources is not one value."""
    sql = (
        "SELECT T1.hadm_id FROM admissions AS T1 JOIN admissions AS T2 ON T1.subject_id = T2.subject_id "
        "WHERE T1.ward = 'icu'"
    )
    twice = turn(sql)
    program = (P("extend"), TurnRef(0), P("eq"), column("admissions", "ward", 1), Literal("micu"), P("keep"))
    assert replace_contradicted(program, [twice], load_grammar()) == program
    again = (*program[:3], column("admissions", "ward", 0), *program[4:])
    assert replace_contradicted(again, [twice], load_grammar())[0] == P("extend_from")


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


# ---------------------------------------------------------------- what it may not


def test_without_earlier_turns_nothing_points_at_one() -> None:
    space = space_for(HOSPITAL, QUESTION)
    assert space.sizes[-1] == 0
    assert offered(State.start(space)).isdisjoint(POINTING)
    with pytest.raises(GroundingError):
        trace_program((FIRST, TurnRef(0), DerivedRef(0, 0), END), space)


def test_what_was_refused_cannot_be_pointed_at() -> None:
    state = State.start(asked((), [WARDS.unusable, PATIENTS.unusable]))
    assert offered(state).isdisjoint(POINTING)
    assert not WARDS.unusable.usable


@pytest.mark.parametrize("unfit", [WARDS, EVERYTHING])
def test_a_set_has_one_column(unfit: Turn) -> None:
    program = (table("admissions"), P("in_previous"), TurnRef(0), column("admissions", "hadm_id"))
    with pytest.raises(GroundingError):
        said((*program, column("admissions", "hadm_id"), END), unfit)


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


def test_a_result_stands_once_in_a_from() -> None:
    program = (FIRST, TurnRef(0), P("cross_join"), FIRST, TurnRef(0), DerivedRef(0, 0), END)
    with pytest.raises(GroundingError):
        said(program, WARDS)
    assert "CROSS JOIN" in said((*program[:4], TurnRef(1), *program[5:]), WARDS, OLDEST)


def test_a_time_is_not_sought_among_numbers() -> None:
    space = asked((), [OLDEST, TIMES])
    state = State.start(space)
    for action in (
        space.flat(1, table("admissions").table),
        space.grammar.production("in_previous"),
        space.flat(8, 1),
    ):
        state = state.advance(action)
    taken = {space.locate(a)[1] for a, kept in zip(state.legal(), state.takable(), strict=True) if kept}
    assert column("admissions", "dischtime").column in taken
    assert column("admissions", "age").column not in taken


def test_a_number_is_not_compared_with_a_time_that_a_turn_returned() -> None:
    space = asked((), [OLDEST, TIMES])
    state = State.start(space)
    for action in (
        space.flat(1, table("admissions").table),
        space.grammar.production("eq"),
        space.flat(2, column("admissions", "age").column),
        space.grammar.production("previous_value"),
    ):
        state = state.advance(action)
    assert state.legal().tolist() == [space.flat(8, 0), space.flat(8, 1)]
    assert state.takable().tolist() == [True, False]


def test_what_is_taken_counts_against_the_budget() -> None:
    space = asked((), [WARDS])
    least = WARDS.spelled + 1 + len((FIRST, TurnRef(0), DerivedRef(0, 0), END))
    for budget in range(4, least + 3):
        tight = replace(space, limits=replace(DEFAULT, actions=budget))
        assert ("previous" in offered(State.start(tight))) == (budget >= least)
        for seed in range(20):
            assert walk(tight, seed, FOND[3]).used <= budget


def test_turns_nest_as_deep_as_sqlite_can_read() -> None:
    connection = sqlite3.connect(":memory:")
    if not is_bounded(connection):
        pytest.skip("a SQLite before 3.46, whose parser's stack cannot grow, runs this")
    connection.executescript(HOSPITAL.to_ddl())
    turns = [turn("SELECT admissions.hadm_id FROM admissions")]
    while True:
        program = (
            *(
                table("admissions"),
                P("in_previous"),
                TurnRef(len(turns) - 1),
                column("admissions", "hadm_id"),
            ),
            *(column("admissions", "hadm_id"), END),
        )
        try:
            sql = said(program, *turns)
        except GroundingError:
            break
        turns.append(turn(program, *turns))
    assert len(turns) > 4
    assert turns[-1].nesting <= MAX_NESTING < turns[-1].nesting + 11
    assert stack_depth(connection, sql) <= STACK


# ---------------------------------------------------------------- programs


def test_a_tree_with_turns_becomes_a_program_and_back() -> None:
    program = (
        *(P("extend"), TurnRef(0), P("eq"), column("patients", "dob"), P("previous_value"), TurnRef(1), P("keep")),
    )  # fmt: skip
    space = asked(program, [PATIENTS, TIMES])
    tree = read_tree(program, space.grammar)
    assert program_of(tree) == program
    trace = trace_program(program_of(tree), space)
    assert read_program(trace.actions.tolist(), space) == program
    assert parse_program(dump_program(program)) == program


def test_what_was_said_before_has_no_words_in_this_question() -> None:
    plain = inline((P("extend"), TurnRef(0), P("keep")), [PATIENTS], HOSPITAL, asked(()).grammar)
    (literal,) = (one for one in plain if isinstance(one, Literal))
    assert (literal.value, literal.provenance, literal.span) == ("f", "turn", None)


def test_entries_stand_behind_the_steps_of_the_query() -> None:
    space = asked((), [WARDS, PATIENTS])
    assert space.sizes[STEP] == DEFAULT.actions + WARDS.entries + PATIENTS.entries
    steps = [item.step for one in space.offered_by for item in one.items]
    steps += [source.step for one in space.offered_by for source in one.sources]
    assert sorted(steps) == list(range(DEFAULT.actions, space.sizes[STEP]))
    assert [item.typed.type for item in space.offered_by[0].items] == ["text", "number"]


@pytest.mark.parametrize("dialect", ["postgres", "duckdb", "mysql", "tsql"])
def test_every_dialect_writes_turns_out(dialect: str) -> None:
    program = (
        *(
            FIRST,
            TurnRef(0),
            P("join"),
            table("admissions"),
            DerivedRef(0, 0),
            column("admissions", "ward", 1),
        ),
        *(P("in_previous"), TurnRef(1), column("admissions", "subject_id", 1), DerivedRef(0, 1), END),
    )
    turns = (WARDS, PATIENTS)
    plain = inline(program, turns, HOSPITAL, asked(program).grammar)
    sql = render(program, HOSPITAL, dialect=dialect, turns=turns)
    assert sql == render(plain, HOSPITAL, dialect=dialect)
    verify(sql, HOSPITAL, dialect=dialect)


# ---------------------------------------------------------------- whatever the scores


def hold(space: ActionSpace, seed: int, bias: Bias = HABITS["none"]) -> set[str]:
    """Holds a conversation of six turns, each of which must prepare; returns what pointed at earlier ones."""
    found: set[str] = set()
    for one in converse(space, seed, bias):
        assert one.walk.used <= DEFAULT.actions
        assert one.turn.nesting <= MAX_NESTING
        sql = render(one.program, space.schema, turns=one.space.turns)
        scan_text(sql, "sqlite", DEFAULT)
        prepare(sql, space.schema)
        found |= count_pointing(one.space, one.walk.decisions)
    return found


def test_random_conversations_prepare_and_point_at_turns_in_every_way() -> None:
    schemas = {21: CLINIC, 22: SCHEMAS["traps"]}
    found: set[str] = set()
    for seed in (*range(21, 28), 36):  # so that every production that points at turns occurs
        schema = schemas.get(seed, HOSPITAL)
        space = space_for(schema, QUESTION, find_candidates(QUESTION, schema))
        found |= hold(replace(space, strict_grouping=seed % 2 > 0), seed)
    assert found == set(POINTING)


@a_few
@given(spaces(), habits(), SEEDS)
def test_conversations_prepare_on_any_schema(space: ActionSpace, bias: Bias, seed: int) -> None:
    hold(space, seed, bias)


@pytest.mark.parametrize("folder", ["spider", "bird"])
def test_conversations_prepare_on_schemas_of_data_sets(fastsql_data: Path, folder: str) -> None:
    if not (fastsql_data / folder / "schemas.json").is_file():
        pytest.skip(f"put {folder} into the folder that FASTSQL_DATA names to run this")
    schemas: list[Schema] = list(read_schemas(fastsql_data / folder / "schemas.json").values())
    hold(space_for(schemas[-1], QUESTION, find_candidates(QUESTION, schemas[-1])), 1)


def test_a_turn_is_read_from_any_program() -> None:
    """Gold queries of training say literals that their question does not offer."""
    program = sql_to_program("SELECT name FROM patients WHERE gender = 'somebody else'", HOSPITAL)
    found = read_turn(program, space_for(HOSPITAL, "?"))
    assert found.program == program
    assert [item.typed.column for item in found.offered.items] == [HOSPITAL.column_index("patients", "name")]
    assert found.actions == found.spelled == len(program) + 1  # a span would be two actions
    assert np.all([source.table == table("patients").table for source in found.offered.sources])


@pytest.mark.parametrize("bound", ["turns", "turn_entries"])
def test_a_question_points_at_so_many_turns_and_no_more(bound: str) -> None:
    turn = read_turn(
        sql_to_program("SELECT subject_id, gender FROM patients", HOSPITAL), space_for(HOSPITAL, "?")
    )
    most = 3 if bound == "turns" else 3 * turn.entries
    limits = replace(DEFAULT, **{bound: most})
    tokens = np.asarray([[0, 1]], dtype=np.int32)
    ActionSpace.for_question(HOSPITAL, "?", tokens, limits=limits, turns=(turn,) * 3)
    with pytest.raises(LimitError, match=bound):
        ActionSpace.for_question(HOSPITAL, "?", tokens, limits=limits, turns=(turn,) * 4)


@pytest.mark.parametrize(
    ("before", "together"),
    [
        ("admissions.ward = 'icu'", "admissions.ward IN ('icu', 'micu')"),
        ("admissions.ward IN ('icu', 'er')", "admissions.ward IN ('icu', 'micu', 'er')"),
        ("admissions.ward = 'micu'", "admissions.ward = 'micu' AND admissions.ward = 'micu'"),
        ("admissions.age = 20", "admissions.age = 20 AND admissions.ward = 'micu'"),
        (
            "admissions.age > 20 AND admissions.ward = 'icu'",
            "admissions.age > 20 AND admissions.ward IN ('icu', 'micu')",
        ),
    ],
)
def test_a_further_value_stands_beside_the_earlier_one_where_both_are_asked_for(
    before: str, together: str
) -> None:
    admitted = turn(ADMITTED + before)
    condition = sql_to_program(ADMITTED + "admissions.ward = 'micu'", HOSPITAL)[1:-2]
    program = (P("extend"), TurnRef(0), *condition, P("keep"))
    replaced = replace_contradicted(program, [admitted], load_grammar(), besides=True)
    assert is_program(replaced, load_grammar())
    assert render(replaced, HOSPITAL, turns=[admitted]) == ADMITTED + together
