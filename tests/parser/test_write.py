"""Hypotheses that make no sense come after those that may, whatever the model thinks of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import sqlglot
from sqlglot import exp

from fastsql.parser import Parser
from fastsql.schema import Schema

from ..worlds.toy_bundle import load_toy, write_bundle

SCHEMA = Schema.from_ddl(
    "CREATE TABLE wards (ward_id INT PRIMARY KEY, beds INT);"
    "CREATE TABLE stays (stay_id INT PRIMARY KEY, ward_id INT REFERENCES wards (ward_id), days INT);"
)
KEYS = {"ward_id", "stay_id"}
QUESTIONS = [
    f"{words} {number}" for words in ("days", "beds of wards", "stays", "病房") for number in range(8)
]


@pytest.fixture(scope="module")
def adding(tmp_path_factory: pytest.TempPathFactory) -> Parser:
    """A parser of chance that likes to add up."""
    likely = {"end": 5.0, "sum": 4.0, "avg": 4.0, "one_value": 2.0}
    return load_toy(write_bundle(tmp_path_factory.mktemp("adding") / "toy", likely=likely))


def adds_up_keys(sql: str) -> bool:
    totals = sqlglot.parse_one(sql, read="sqlite").find_all(exp.Sum, exp.Avg)
    return any(isinstance(total.this, exp.Column) and total.this.name in KEYS for total in totals)


def hypotheses(parser: Parser, question: str, **options: Any) -> list[str]:
    """The SQL of all, the one that is given first."""
    written = parser.parse(question, SCHEMA, beam=8, **options).background.written  # type: ignore[union-attr]
    return [written.sql, *(written.other(number).sql for number in written.others)]


def test_a_hypothesis_that_adds_up_keys_is_given_only_where_all_do(adding: Parser) -> None:
    mixed = 0
    for question in QUESTIONS:
        senseless = [adds_up_keys(sql) for sql in hypotheses(adding, question)]
        assert all(senseless) or not senseless[0]
        mixed += len(set(senseless)) == 2
    assert mixed


def test_a_sum_of_keys_that_somebody_confirmed_is_given(toy_bundle: Path) -> None:
    parser = load_toy(toy_bundle)
    parser.remember("days of all", "SELECT SUM(stays.stay_id) FROM stays", SCHEMA)
    assert adds_up_keys(parser.parse("days of all", SCHEMA).sql or "")
