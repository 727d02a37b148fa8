"""No verified statement makes a text, a pattern or a row that grows beyond bounds."""

from __future__ import annotations

import pytest

from fastsql.errors import VerificationError
from fastsql.execution import verify
from fastsql.verification.sizes import MOST_CELLS, MOST_REPEATED_CELLS, PADDED_CHARACTERS, PATTERN_CHARACTERS

from ..worlds.ward import ward_schema

SCHEMA = ward_schema()
TOO_LARGE = "text that is too large"


def doubled(times: int) -> str:
    """CTEs of which each joins the one before twice."""
    parts = ["c0 AS (SELECT name AS x FROM patients)"]
    parts += [f"c{number} AS (SELECT x || x AS x FROM c{number - 1})" for number in range(1, times + 1)]
    return f"WITH {', '.join(parts)} SELECT x FROM c{times}"


def test_a_chain_of_ctes_may_double_a_cell_four_times() -> None:
    assert MOST_CELLS == 2**4
    verify(doubled(4), SCHEMA)
    for times in (5, 12, 30):
        with pytest.raises(VerificationError, match="too large"):
            verify(doubled(times), SCHEMA)


@pytest.mark.parametrize("dialect", ["sqlite", "postgres", "duckdb"])
def test_a_text_may_join_so_many_cells(dialect: str) -> None:
    verify("SELECT " + " || ".join(["name"] * MOST_CELLS) + " FROM patients", SCHEMA, dialect=dialect)
    with pytest.raises(VerificationError, match=TOO_LARGE):
        verify(
            "SELECT " + " || ".join(["name"] * (MOST_CELLS + 1)) + " FROM patients", SCHEMA, dialect=dialect
        )


@pytest.mark.parametrize(
    "value",
    [
        "(SELECT x || x FROM w)",
        "UPPER(x || x)",
        "CASE WHEN 1 = 1 THEN x || x END",
        "COALESCE(x || x, 'none')",
        "MAX(x || x)",
        "CAST(x || x AS TEXT)",
        "SUBSTR(x || x, 1)",
        "NULLIF(x || x, 'none')",
        "MAX(x || x) OVER ()",
        "LAG(x || x) OVER (ORDER BY x)",
        "(x || x)",
    ],
)
def test_growth_is_followed_through_what_keeps_a_text(value: str) -> None:
    with pytest.raises(VerificationError, match=TOO_LARGE):
        verify(
            "WITH w AS (SELECT name || name || name || name || name AS x FROM patients),"
            f" v AS (SELECT {value} AS x FROM w) SELECT x || x FROM v",
            SCHEMA,
        )


@pytest.mark.parametrize(
    "value",
    [
        "STRFTIME('%Y', x || x)",
        "DATE(x || x, 'start of month')",
        "NULLIF(x, x)",
        "INSTR(x, x)",
        "COUNT(x) OVER ()",
    ],
)
def test_what_stays_short_does_not_count(value: str) -> None:
    verify(
        "WITH w AS (SELECT name || name || name || name || name AS x FROM patients),"
        f" v AS (SELECT {value} AS x FROM w) SELECT x || x || x FROM v",
        SCHEMA,
    )


def test_growth_is_followed_through_stars_set_operations_and_aliases() -> None:
    wide = "SELECT gender, " + " || ".join(["name"] * 9) + " AS x FROM patients"
    for sql in (
        f"SELECT x || x FROM (SELECT * FROM ({wide}) AS a) AS b",
        f"SELECT x || x FROM (SELECT ward AS gender, ward AS x FROM admissions UNION {wide}) AS b",
        f"{wide} WHERE x || x = 'a'",
    ):
        with pytest.raises(VerificationError, match=TOO_LARGE):
            verify(sql, SCHEMA)


def test_numbers_do_not_grow() -> None:
    verify(
        "SELECT LENGTH(name || name || name) || COUNT(*) FROM patients WHERE LENGTH(name) || 'x' = '3x'",
        SCHEMA,
    )


def test_a_row_may_repeat_cells_so_often() -> None:
    def row(count: int) -> str:
        return "SELECT " + ", ".join(["name"] * count) + " FROM patients"

    verify(row(MOST_REPEATED_CELLS + 1), SCHEMA)
    with pytest.raises(VerificationError, match="row that is too large"):
        verify(row(MOST_REPEATED_CELLS + 2), SCHEMA)


@pytest.mark.parametrize("dialect", ["sqlite", "postgres", "duckdb"])
def test_patterns_are_short_literals(dialect: str) -> None:
    def like(pattern: str) -> str:
        return f"SELECT name FROM patients WHERE name LIKE {pattern}"

    verify(like(f"'{'x' * PATTERN_CHARACTERS}'"), SCHEMA, dialect=dialect)
    for pattern in (
        f"'{'x' * (PATTERN_CHARACTERS + 1)}'",
        "gender",
        "'%' || gender",
        "UPPER('%a%')",
        "(SELECT 'a')",
    ):
        with pytest.raises(VerificationError, match="pattern"):
            verify(like(pattern), SCHEMA, dialect=dialect)


@pytest.mark.parametrize("pattern", ["name", "'a' || 'b'"])
def test_regular_expressions_are_literal(pattern: str) -> None:
    verify("SELECT REGEXP_REPLACE(name, 'a', 'b') FROM patients", SCHEMA, dialect="postgres")
    for sql in (f"REGEXP_REPLACE(name, {pattern}, 'b')", f"REGEXP_REPLACE(name, 'a', {pattern})"):
        with pytest.raises(VerificationError, match="pattern"):
            verify(f"SELECT {sql} FROM patients", SCHEMA, dialect="postgres")


def test_a_replacement_counts_for_every_character_that_it_replaces() -> None:
    replaced = "REGEXP_REPLACE({}, '', 'xxx', 'g')"
    verify(f"SELECT {replaced.format('name')} FROM patients", SCHEMA, dialect="postgres")
    with pytest.raises(VerificationError, match=TOO_LARGE):
        verify(
            f"SELECT {replaced.format(replaced.format(replaced.format('name')))} FROM patients",
            SCHEMA,
            dialect="postgres",
        )


def test_types_pad_to_so_many_characters() -> None:
    verify(f"SELECT CAST(name AS CHAR({PADDED_CHARACTERS})) FROM patients", SCHEMA, dialect="postgres")
    with pytest.raises(VerificationError, match="pads"):
        verify(
            f"SELECT CAST(name AS CHAR({PADDED_CHARACTERS + 1})) FROM patients", SCHEMA, dialect="postgres"
        )


def test_the_greatest_length_of_t_sql_is_no_padding() -> None:
    verify("SELECT CAST(name AS VARCHAR(MAX)) FROM patients", SCHEMA, dialect="tsql")


@pytest.mark.parametrize("number", ["1e65000", "'1e65000'", "'1E+99999'"])
def test_few_characters_are_not_many_digits(number: str) -> None:
    verify("SELECT CAST('1e308' AS DECIMAL) * 1e-300", SCHEMA, dialect="postgres")
    with pytest.raises(VerificationError, match="too many digits"):
        verify(f"SELECT CAST({number} AS DECIMAL)", SCHEMA, dialect="postgres")


def test_an_array_is_made_for_one_element() -> None:
    verify("SELECT (ARRAY_AGG(name))[1] FROM patients", SCHEMA, dialect="postgres")
    with pytest.raises(VerificationError, match="whole array"):
        verify("SELECT ARRAY_AGG(name) FROM patients", SCHEMA, dialect="postgres")


def test_a_text_that_ends_like_a_number_is_a_text() -> None:
    verify("SELECT 1 FROM patients WHERE name = 'dose1500' OR name = '12E34567'", SCHEMA)
