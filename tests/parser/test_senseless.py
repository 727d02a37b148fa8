"""Queries that mean nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fastsql.grammar import load_grammar, sql_to_program
from fastsql.grammar.program import Literal, Production
from fastsql.parser.senseless import says_nothing
from fastsql.schema import Schema

from ..worlds.stays_in_time import STAYS


@pytest.mark.parametrize(
    ("condition", "nothing"),
    [
        ("days > (SELECT AVG(days) FROM stays)", False),
        ("days > (SELECT AVG(begun) FROM stays)", False),  # which may be how long it took
        ("days > (SELECT AVG(ended) FROM stays)", True),
        ("days - days > 3", True),
        ("days - 2 > 3", False),
        ("days * days > 3", True),
        ("days * 2 > 3", False),
        ("(SELECT SUM(CASE WHEN days > 3 THEN 1 ELSE 1 END) FROM stays) > 3", True),
        ("(SELECT SUM(CASE WHEN days > 3 THEN 1 ELSE 0 END) FROM stays) > 3", False),
        ("(days + 1) / (days + 1) > 3", True),
        ("(SELECT SUM(days) / SUM(days) FROM stays) > 3", True),
        ("(SELECT SUM(days) / COUNT(days) FROM stays) > 3", False),
        ("STRFTIME('%J', begun) - STRFTIME('%J', begun) > 3", True),
        ("STRFTIME('%J', begun) - STRFTIME('%J', season) > 3", False),
        ("days * 'ward' > 3", True),
        ("days * '1.5' > 3", False),
        ("days * (days + 'ward') > 3", True),
        ("days * 2 > 3 AND code = 'ward'", False),
        ("days BETWEEN 8 AND 8", True),
        ("begun NOT BETWEEN '2018-01-01' AND '2018-01-01'", True),
        ("days BETWEEN 8 AND 9", False),
        ("code = 'a' AND code = 'b'", True),
        ("code = 'a' AND days > 3 AND code <> 'a'", True),
        ("days IN (SELECT days FROM stays WHERE code = 'a' AND code = 'b')", True),
        ("code = 'a' AND code <> 'b'", False),
        ("code <> 'a' AND code <> 'b'", False),
        ("code = 'a' OR code = 'b'", False),
        ("code = 'a' AND days IN (SELECT days FROM stays WHERE code = 'b')", False),
        ("code > 'ward'", True),
        ("code > 'a1'", False),
        ("begun > code", True),
        ("begun <= ended", False),
        ("days = begun", True),
        ("days > code", False),  # texts may be numbers
        ("begun BETWEEN (SELECT COUNT(*) FROM stays) AND '2018-01-01'", True),
        ("code = 'a' INTERSECT SELECT COUNT(*) FROM stays WHERE code = 'b'", False),
    ],
)
def test_what_means_nothing_is_told_by_the_query_alone(condition: str, nothing: bool) -> None:
    program = sql_to_program(f"SELECT COUNT(*) FROM stays WHERE {condition}", STAYS)
    assert says_nothing(program, STAYS, load_grammar()) == nothing


@pytest.mark.parametrize(
    ("condition", "nothing"),
    [
        ("COUNT(*) > code", True),
        ("COUNT(*) BETWEEN 3 AND code", True),
        ("COUNT(*) BETWEEN 3 AND 5", False),
        ("COUNT(*) BETWEEN 1 AND 1", True),
        ("COUNT(*) = MIN(days)", False),
        ("COUNT(*) BETWEEN COUNT(code) AND 5", False),
        ("COUNT(*) BETWEEN COUNT(DISTINCT code) AND 50", False),
        ("COUNT(DISTINCT days) > code", True),
        ("COUNT(DISTINCT days) > 3", False),
        ("MAX(code) > code", False),
    ],
)
def test_a_number_of_rows_is_no_text(condition: str, nothing: bool) -> None:
    program = sql_to_program(f"SELECT code FROM stays GROUP BY code HAVING {condition}", STAYS)
    assert says_nothing(program, STAYS, load_grammar()) == nothing


@pytest.mark.parametrize(
    ("values", "nothing"), [(("open", "closed"), True), (("2018", "2019"), False), ((), False)]
)
def test_texts_of_which_none_is_a_date_are_compared_with_none(values: tuple[str, ...], nothing: bool) -> None:
    schema = STAYS.with_values({("stays", "code"): values}) if values else STAYS
    program = sql_to_program("SELECT COUNT(*) FROM stays WHERE code >= '2018'", schema)
    assert not says_nothing(program, schema, load_grammar())  # a text
    dated = tuple(replace(item, format="%Y") if isinstance(item, Literal) else item for item in program)
    assert says_nothing(dated, schema, load_grammar()) == nothing


@pytest.mark.parametrize(
    ("values", "condition", "nothing"),
    [
        ((0, 1), "days > 5", True),
        ((0, 1), "days >= 2", True),
        ((0, 1), "days > 0", False),
        ((0, 1), "days = 1", False),
        ((), "days > 5", False),
        ((0, 1), "days > (SELECT AVG(days) FROM stays)", False),
        ((0, 1), "STRFTIME('%J', ended) - STRFTIME('%J', days) > 3", True),
        ((), "STRFTIME('%J', ended) - STRFTIME('%J', days) > 3", False),
        ((0, 1), "DATETIME(days, 'start of year') = DATETIME('now', 'start of year', '-1 year')", True),
        ((), "DATETIME(days, 'start of year') = DATETIME('now', 'start of year', '-1 year')", False),
    ],
)
def test_what_says_no_or_yes_has_no_more_and_no_time(
    values: tuple[int, ...], condition: str, nothing: bool
) -> None:
    schema = STAYS.with_values({("stays", "days"): values}) if values else STAYS
    program = sql_to_program(f"SELECT COUNT(*) FROM stays WHERE {condition}", schema)
    assert says_nothing(program, schema, load_grammar()) == nothing


@pytest.mark.parametrize("values", [("N", "Y"), ("0", "1")])
def test_a_flag_of_texts_is_compared_as_texts_are(values: tuple[str, str]) -> None:
    schema = STAYS.with_values({("stays", "code"): values})
    for condition, nothing in (("code > 'Y'", True), ("code >= 1", False), ("code > 0", False)):
        program = sql_to_program(f"SELECT COUNT(*) FROM stays WHERE {condition}", schema)
        assert says_nothing(program, schema, load_grammar()) == nothing


def test_a_mark_of_a_column_beside_a_flag_is_one_still() -> None:
    """Where all are the same, or codes are 1 and 2, nothing tells that a column says no or yes."""
    schema = Schema.from_ddl("CREATE TABLE visit (id INTEGER PRIMARY KEY, urgent INTEGER, leading INTEGER)")
    schema = schema.with_values({("visit", "urgent"): (0, 1)})
    program = sql_to_program("SELECT COUNT(*) FROM visit WHERE leading = 1", schema)
    marked = tuple(Production("one") if isinstance(item, Literal) else item for item in program)
    assert not says_nothing(marked, schema, load_grammar())


def test_no_date_is_compared_with_a_number_that_tells_rows_apart() -> None:
    schema = Schema.from_ddl("CREATE TABLE visit (id INTEGER PRIMARY KEY, year_seen INTEGER)")
    for column, nothing in (("id", True), ("year_seen", False)):
        program = sql_to_program(f"SELECT COUNT(*) FROM visit WHERE {column} = '2018'", schema)
        dated = tuple(replace(item, format="%Y") if isinstance(item, Literal) else item for item in program)
        assert says_nothing(dated, schema, load_grammar()) == nothing


@pytest.mark.parametrize(
    ("pattern", "provenance", "nothing"),
    [
        ("F:", "span", True),
        ("F", "span", False),
        ("F:", "quoted", False),
        ("姓，", "span", True),
        ("51e6: drug", "span", True),
        ("Bern, CH 10:30", "span", False),
    ],
)
def test_the_mark_behind_or_within_a_text_is_no_part_of_it(
    pattern: str, provenance: str, nothing: bool
) -> None:
    program = sql_to_program(f"SELECT COUNT(*) FROM stays WHERE code LIKE '{pattern}%'", STAYS)
    found = tuple(
        replace(item, provenance=provenance) if isinstance(item, Literal) else item for item in program
    )
    assert says_nothing(found, STAYS, load_grammar()) == nothing


@pytest.mark.parametrize(
    ("condition", "nothing"),
    [
        ("cost = 1", True),
        ("cost <> 2", True),
        ("cost > 1", False),
        ("cost = 0", False),
        ("marked = 1", False),
    ],
)
def test_a_measure_is_no_mark(condition: str, nothing: bool) -> None:
    schema = Schema.from_ddl("CREATE TABLE stays (cost DECIMAL(8, 2), marked INTEGER);")
    program = sql_to_program(f"SELECT COUNT(*) FROM stays WHERE {condition}", schema)
    own = tuple(
        {1: Production("one"), 2: Production("two")}.get(item.value, item)
        if isinstance(item, Literal)
        else item
        for item in program
    )
    assert says_nothing(own, schema, load_grammar()) == nothing


SHIFTS = Schema.from_ddl(
    """
    CREATE TABLE wards (ward_id INTEGER PRIMARY KEY);
    CREATE TABLE nurses (nurse_id INTEGER PRIMARY KEY, ward_id INTEGER REFERENCES wards (ward_id), badge TEXT,
        head_id INTEGER REFERENCES nurses (nurse_id));
    CREATE TABLE shifts (ward_id INTEGER REFERENCES wards (ward_id), nurse_id INTEGER REFERENCES nurses (nurse_id));
    CREATE TABLE beds (bed_id INTEGER PRIMARY KEY, ward_id INTEGER REFERENCES wards (ward_id));
    """
)


@pytest.mark.parametrize(
    ("query", "nothing"),
    [
        ("nurses WHERE nurse_id IS NULL", True),
        ("nurses WHERE nurse_id IS NOT NULL", False),
        ("nurses WHERE badge IS NULL", False),
        ("shifts LEFT JOIN nurses ON shifts.nurse_id = nurses.nurse_id WHERE nurses.nurse_id IS NULL", False),
        ("shifts JOIN nurses ON shifts.nurse_id = nurses.nurse_id", False),
        ("shifts JOIN nurses ON shifts.ward_id = nurses.ward_id", True),
        ("beds JOIN nurses ON beds.ward_id = nurses.ward_id", False),
        ("nurses JOIN nurses AS n ON nurses.ward_id = n.ward_id", False),
    ],
)
def test_keys_are_there_and_joined_on(query: str, nothing: bool) -> None:
    program = sql_to_program(f"SELECT COUNT(*) FROM {query}", SHIFTS)
    assert says_nothing(program, SHIFTS, load_grammar()) == nothing
