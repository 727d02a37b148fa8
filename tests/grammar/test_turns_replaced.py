"""Conversations: what a query says anew stands in the place of what an earlier one said, or beside it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fastsql.grammar import Literal, TurnRef, render, sql_to_program
from fastsql.grammar.compile import load_grammar
from fastsql.grammar.replacing import replace_contradicted
from fastsql.grammar.showing import beside_names
from fastsql.grammar.tree import is_program

from ..worlds.grammar_hospitals import HOSPITAL
from .earlier_turns import ADMITTED, P, column, said, turn

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
