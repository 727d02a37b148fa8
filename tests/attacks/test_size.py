"""Statements of any size and depth are answered in bounded time, without a crash, whatever they nest."""

from __future__ import annotations

import pytest

from fastsql.errors import VerificationError
from fastsql.execution import verify

from ..worlds.ward import ward_schema
from .cases import DIALECTS

NESTED = {
    "parentheses": ("(", "1", ")"),
    "functions": ("ABS(", "1", ")"),
    "casts": ("CAST(", "1", " AS INT)"),
    "subqueries": ("(SELECT ", "1", ")"),
    "IN": ("1 IN (SELECT ", "1", ")"),
    "EXISTS": ("EXISTS (SELECT ", "1", ")"),
    "CASE": ("CASE WHEN ", "1 = 1", " THEN 1 END"),
    "NOT": ("NOT ", "1 = 1", ""),
    "minus": ("- ", "1", ""),
    "plus": ("+ ", "1", ""),
    "mixed prefixes": ("NOT - + ", "1", ""),
    "open parentheses": ("(", "1", ""),
    "open functions": ("ABS(", "1", ""),
    "lambdas": ("f((x) -> ", "1", ")"),
    "brackets": ("[", "1", "]"),
    "braces": ("{'a': ", "1", "}"),
}
REPEATED = {
    "UNION": ("SELECT 1", " UNION SELECT 1"),
    "statements": ("SELECT 1", "; SELECT 1"),
    "semicolons": ("SELECT 1", ";"),
    "joins": ("SELECT 1 FROM patients", " JOIN patients"),
    "joins to names that are keywords": ("SELECT 1 FROM patients", " JOIN patients AS on"),
    "joins after names that are keywords": ("SELECT 1 FROM patients AS cross", " JOIN patients AS cross"),
    "straight joins": ("SELECT 1 FROM patients", " STRAIGHT_JOIN patients"),
    "joins of joins": ("SELECT 1 FROM patients", " JOIN patients JOIN patients ON 1 = 1"),
    "commas": ("SELECT 1 FROM patients", ", patients"),
    "CTEs": ("WITH a AS (SELECT 1)", ", a AS (SELECT 1)"),
    "casts": ("SELECT 1", "::int"),
    "sums": ("SELECT 1", " + 1"),
    "conditions": ("SELECT 1 WHERE 1 = 1", " AND 1 = 1"),
    "BETWEEN": ("SELECT 1 WHERE 1", " BETWEEN 1 AND 1"),
    "dots": ("SELECT a", ".a"),
    "quotes": ("SELECT ", "'a' "),
    "comments": ("SELECT 1", " /* */"),
    "comment marks": ("SELECT 1 ", "/*"),
    "strings of one quote": ("SELECT ", "'"),
}


@pytest.mark.parametrize("depth", [100, 5_000])
@pytest.mark.parametrize("kind", NESTED)
def test_deep_nesting_is_refused(kind: str, depth: int) -> None:
    begin, middle, end = NESTED[kind]
    for dialect in DIALECTS:
        with pytest.raises(VerificationError):
            verify(f"SELECT {begin * depth}{middle}{end * depth}", ward_schema(), dialect=dialect)


@pytest.mark.parametrize("kind", REPEATED)
def test_long_chains_are_refused(kind: str) -> None:
    begin, more = REPEATED[kind]
    with pytest.raises(VerificationError):
        verify(begin + more * 20_001, ward_schema(), dialect="postgres")


@pytest.mark.parametrize("count", [100, 2_000])
@pytest.mark.parametrize("kind", REPEATED)
def test_chains_of_any_length_end_in_a_verdict(kind: str, count: int) -> None:
    begin, more = REPEATED[kind]
    try:
        verify(begin + more * count, ward_schema(), dialect="postgres")
    except VerificationError as error:
        assert len(str(error)) < 300  # noqa: PT017 - either verdict will do; no other error may come
