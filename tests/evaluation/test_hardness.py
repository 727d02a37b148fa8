"""Hardness is Spider's."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from fastsql.datasets import read_examples
from fastsql.evaluation.hardness import LEVELS, hardness
from fastsql.verification.verify import parse_query

from .fixtures import rows

ROWS = rows("hardness.tsv")


@pytest.mark.parametrize(("level", "sql"), ROWS)
def test_queries_have_their_level(level: str, sql: str) -> None:
    assert hardness(parse_query(sql)) == level


def test_every_level_has_a_case() -> None:
    assert {row[0] for row in ROWS} == set(LEVELS)


def test_spider_lies_within_its_own_grammar_and_near_its_published_shares(fastsql_data: Path) -> None:
    if not (fastsql_data / "spider").is_dir():
        pytest.skip("put spider into the folder that FASTSQL_DATA names to run this")
    examples = read_examples(fastsql_data / "spider" / "dev.json")[::2]
    found = Counter(hardness(parse_query(example.sql)) for example in examples if example.sql is not None)
    assert found["beyond"] == 0
    # Of the 1,034 questions of dev, the script published with Spider calls 248 easy, 446 medium, 174 hard, 166 extra hard.
    published = {"easy": 248, "medium": 446, "hard": 174, "extra": 166}
    for level, count in published.items():
        assert found[level] / found.total() == pytest.approx(count / 1034, abs=0.07), level
