"""Ways along keys: where they lead, what is implied on them, and what is asked."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fastsql.grammar import ActionSpace, Production, State, TableRef, sql_to_program, trace_program
from fastsql.grammar.actions import TABLE
from fastsql.grammar.bounds import MAX_HOPS, MAX_SOURCES
from fastsql.limits import DEFAULT
from fastsql.schema import Schema

from ..worlds.grammar_hospitals import CLINIC
from .grounding import space_for
from .steps import columns, state_after, unforced

SPACE = space_for(CLINIC, "how many")
TRAVEL = Schema.from_ddl(
    """
    CREATE TABLE airports (code TEXT PRIMARY KEY, city TEXT);
    CREATE TABLE flights (
        id INTEGER PRIMARY KEY, origin TEXT REFERENCES airports (code), goal TEXT REFERENCES airports (code)
    );
    CREATE TABLE trains (id INTEGER PRIMARY KEY, origin TEXT REFERENCES airports (code));
    CREATE TABLE crews (flight INTEGER REFERENCES flights (id), train INTEGER REFERENCES trains (id), name TEXT);
    """
)
"""One table refers to another twice, and two ways of one length lead from it to a third."""


def chain(length: int) -> Schema:
    """Tables each of which refers to the one before."""
    lines = (
        f"CREATE TABLE t{n} (id{n} INTEGER PRIMARY KEY, up INTEGER REFERENCES t{n - 1} (id{n - 1}));"
        for n in range(1, length)
    )
    return Schema.from_ddl("\n".join(("CREATE TABLE t0 (id0 INTEGER PRIMARY KEY);", *lines)))


def after(*steps: str, space: ActionSpace = SPACE) -> State:
    return unforced(state_after(space, *steps))


def tables(state: State) -> set[str]:
    """The tables that are legal."""
    found = (state.space.locate(int(action)) for action in state.legal())
    return {state.space.schema.tables[index].name for kind, index in found if kind == TABLE}


def leads_on(state: State) -> bool:
    return state.space.grammar.production("along") in state.legal()


def decisions(sql: str) -> int:
    return len(trace_program(sql_to_program(sql, CLINIC), SPACE).actions)


def test_ways_lead_to_every_table_that_keys_connect_with_from() -> None:
    assert tables(after("payers", "along")) == {"stays", "patients", "labs"}


def test_no_way_leads_from_a_table_without_keys_or_back_into_from() -> None:
    assert leads_on(after("payers"))
    assert not leads_on(after("codes"))
    assert not leads_on(after("staff"))  # it refers to itself alone


def test_what_lies_between_is_implied() -> None:
    way = "FROM payers JOIN stays ON payers.id = stays.payer JOIN labs ON stays.id = labs.stay"
    direct = "FROM payers JOIN stays ON payers.id = stays.payer"
    assert decisions(f"SELECT COUNT(*) {direct}") == decisions("SELECT COUNT(*) FROM payers") + 2
    # From stays to labs lead two keys: that is one more decision.
    assert decisions(f"SELECT COUNT(*) {way}") == decisions(f"SELECT COUNT(*) {direct}") + 1


def test_a_pointer_chooses_among_keys() -> None:
    assert columns(after("labs", "along", "stays"), all_legal=True) == {"labs.patient", "labs.stay"}
    state = after("airports", "along", "flights", space=space_for(TRAVEL, "how many"))
    assert columns(state, all_legal=True) == {"flights.origin", "flights.goal"}


def test_a_pointer_chooses_among_tables_on_ways_of_one_length() -> None:
    state = after("crews", "along", "airports", space=space_for(TRAVEL, "how many"))
    assert tables(state) == {"flights", "trains"}


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT labs.code FROM labs JOIN codes ON labs.code = codes.code",
        "SELECT labs.code FROM labs LEFT JOIN stays ON labs.stay = stays.id",
        "SELECT labs.code FROM labs JOIN stays ON labs.stay = stays.id AND labs.patient = stays.patient",
        "SELECT labs.code FROM labs JOIN stays ON labs.stay = stays.payer",
        "SELECT * FROM labs JOIN stays ON labs.stay = stays.id",
        "SELECT T1.boss FROM staff AS T1 JOIN staff AS T2 ON T1.boss = T2.id",
    ],
)
def test_joins_that_no_way_implies_are_said(sql: str) -> None:
    assert Production("along") not in sql_to_program(sql, CLINIC)


def test_of_several_ways_the_longest_is_said() -> None:
    program = sql_to_program(
        "SELECT labs.code FROM payers JOIN stays ON payers.id = stays.payer JOIN labs ON stays.id = labs.stay",
        CLINIC,
    )
    assert program.count(Production("along")) == 1
    assert program[program.index(Production("along")) + 1] == TableRef(CLINIC.table_index("labs"))


def test_a_way_has_a_longest() -> None:
    state = after("t0", "along", space=space_for(chain(MAX_HOPS + 4), ""))
    assert tables(state) == {f"t{n}" for n in range(1, MAX_HOPS + 1)}


def test_a_way_is_no_longer_than_from_has_room_for() -> None:
    space = space_for(chain(MAX_SOURCES + 3), "")
    assert tables(state_after(space, "t0", "along", "t4", "along", "t6", "along")) == {"t7"}


def test_a_way_is_no_longer_than_the_budget_has_room_for() -> None:
    space = space_for(chain(6), "")
    grammar = space.grammar
    way = grammar.by_production[grammar.symbol("joins")][grammar.production("along")]
    least = grammar.cost[0] + way.cost + grammar.hop_cost
    for actions, found in ((least, {"t1", "t2"}), (least - 1, {"t1"})):
        tight = replace(space, limits=replace(DEFAULT, actions=actions))
        assert tables(state_after(tight, "t0", "along")) == found
