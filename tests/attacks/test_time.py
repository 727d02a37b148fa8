"""Whatever a text nests, verification reads it in time that grows with its length, or refuses it."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress

import pytest

from fastsql.errors import VerificationError
from fastsql.execution import verify
from fastsql.schema import Schema
from fastsql.verification.allowed import words
from fastsql.verification.text import SQL_CHARACTERS, SQL_SELECTS, SQL_TOKENS
from fastsql.verification.verify import runnable

from ..worlds.ward import ward_schema
from .growing import WIDE, aliases, ctes, growing, stars, wide
from .nests import nest, nests

SCHEMA = ward_schema()

FAR_TOO_LONG = 2.5
"""Seconds of processor time: ten times what is promised, for slow machines. What doubles by the level takes minutes."""
Check = Callable[..., object]
DIALECTS = ("sqlite", "postgres", "duckdb", "mysql", "tsql")


def seconds(sql: str, dialect: str, schema: Schema = SCHEMA, check: Check = verify) -> float:
    begun = time.process_time()
    with suppress(VerificationError):  # either verdict will do
        check(sql, schema, dialect=dialect)
    return time.process_time() - begun


@pytest.mark.parametrize("dialect", DIALECTS)
def test_no_nest_takes_long(dialect: str) -> None:
    # Each construct at one of two depths: what doubles by the level takes minutes at either.
    both = list(nests(dialect, range(12, 49, 36), mixed=100, seed=1))
    constructs, mixed = both[:-100], both[-100:]
    for sql in [*constructs[::4], *constructs[3::4], *mixed]:
        assert seconds(sql, dialect) < FAR_TOO_LONG, sql[:200]


@pytest.mark.parametrize(
    "name", sorted(words("date time timestamp char float double varchar numeric row array"))
)
def test_calls_named_like_types_nest_a_little(name: str) -> None:
    for depth in (17, 20, 48):
        with pytest.raises(VerificationError):
            verify(nest([(f"{name.upper()}(", ")")] * depth, "'a'"), SCHEMA)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1 FROM patients" + " JOIN patients" * 40,
        "SELECT 1 FROM patients" + " JOIN patients JOIN patients ON 1 = 1" * 40,
        "SELECT 1 FROM patients" + " JOIN patients CROSS JOIN patients" * 40,
        "SELECT 1 FROM patients AS cross" + " JOIN patients AS cross" * 40,
        nest([("(SELECT 1 LIMIT (", "))")] * 20),
        nest([("(SELECT 1 LIMIT 1 OFFSET (", "))")] * 20),
        nest([("union(", ")")] * 30),
    ],
)
def test_what_would_be_read_exponentially_often_is_refused(sql: str) -> None:
    with pytest.raises(VerificationError, match="exponential"):
        verify(sql, SCHEMA)


@pytest.mark.parametrize("check", [verify, runnable])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_nothing_that_grows_or_is_wide_takes_long(dialect: str, check: Check) -> None:
    for sql in (*growing(), *wide()):
        assert seconds(sql, dialect, WIDE, check) < FAR_TOO_LONG, sql[:200]


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        (aliases(6, 8), "stand for too much"),
        (aliases(17, 2), "stand for too much"),
        (ctes(16, 1), "stand for too much"),
        (ctes(14, 300), "stand for too much"),
        (stars(14), "more than 10,000 columns"),
        ("SELECT 1 FROM small AS s0" + "".join(f", small AS s{n}" for n in range(1, 257)), "256 sources"),
    ],
)
def test_what_is_huge_once_its_names_are_replaced_is_refused(sql: str, reason: str) -> None:
    with pytest.raises(VerificationError, match=reason):
        verify(sql, WIDE)


def test_ctes_that_are_named_a_few_times_pass() -> None:
    verify(ctes(8, 10), WIDE)
    runnable(ctes(8, 10), WIDE)


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        ("SELECT 1" + " + 1" * (SQL_TOKENS // 2), "words"),
        ("SELECT 1" + " UNION SELECT 1" * SQL_SELECTS, "SELECTs"),
        ("SELECT '" + "x" * SQL_CHARACTERS + "'", "characters"),
    ],
)
def test_texts_are_bounded_before_they_are_read(sql: str, reason: str) -> None:
    with pytest.raises(VerificationError, match=reason):
        verify(sql, SCHEMA)


def test_the_longest_texts_pass() -> None:
    verify("SELECT 1" + " + 1" * (SQL_TOKENS // 2 - 500), SCHEMA, dialect="postgres")
    verify("SELECT '" + "x" * (SQL_CHARACTERS - 9) + "'", SCHEMA)
    verify("SELECT 1" + " UNION SELECT 1" * 100, SCHEMA)


def test_calls_named_like_types_nest_as_deep_as_queries_need() -> None:
    verify("SELECT DATETIME(DATETIME(DATETIME(DATETIME('now'))))", SCHEMA)
