"""What tests of conversations over the hospital begin with: earlier turns, and programs that point at them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fastsql.execution import verify
from fastsql.grammar import (
    ActionSpace,
    ColumnRef,
    Production,
    Program,
    State,
    TableRef,
    Turn,
    read_program,
    read_turn,
    render,
    sql_to_program,
    trace_program,
)

from ..worlds.grammar_hospitals import HOSPITAL
from .grounding import literals_as_candidates, space_for

P = Production
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
ADMITTED = "SELECT admissions.hadm_id FROM admissions WHERE "
