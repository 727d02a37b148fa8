"""Skeletons forget values, and names where asked to."""

from __future__ import annotations

from pathlib import Path

import pytest

from fastsql.datasets import read_examples
from fastsql.evaluation import skeleton


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("SELECT a FROM t WHERE b = 'x'", "select a  from t where b='it''s y' ;"),
        ("SELECT a FROM t WHERE b = 1", "SELECT a FROM t WHERE b = 20.50"),
        ("SELECT a FROM t WHERE b <> 1", "SELECT a FROM t WHERE b != 2"),
        ("SELECT a FROM t WHERE b == 1", "SELECT a FROM t WHERE b = 1"),
        ('SELECT "a" FROM `t`', "SELECT a FROM t"),
        ("SELECT a FROM t WHERE d > '2100'", "SELECT a FROM t WHERE d > '病房'"),
    ],
)
def test_queries_that_differ_in_values_only_have_one_skeleton(one: str, other: str) -> None:
    assert skeleton(one) == skeleton(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("SELECT a FROM t", "SELECT b FROM t"),
        ("SELECT T1.a FROM t AS T1", "SELECT T2.a FROM t AS T2"),
        ("SELECT a FROM t WHERE b < 1", "SELECT a FROM t WHERE b <= 1"),
        ("SELECT MAX(a) FROM t", "SELECT MIN(a) FROM t"),
    ],
)
def test_queries_built_otherwise_have_another_skeleton(one: str, other: str) -> None:
    assert skeleton(one) != skeleton(other)


def test_without_names_only_the_form_is_left() -> None:
    one = "SELECT MAX(a.x) AS y FROM a WHERE strftime('%Y', a.d) = '2100' ORDER BY y DESC LIMIT 1"
    assert skeleton(one, names=False) == (
        "select max ( _ . _ ) as _ from _ where strftime ( 'v' , _ . _ ) = 'v' order by _ desc limit n"
    )
    assert skeleton("SELECT MIN(a) FROM b", names=False) != skeleton("SELECT MAX(a) FROM b", names=False)


def test_digits_inside_names_are_no_numbers() -> None:
    assert skeleton("SELECT T1.C1 FROM a2") == "select t1 . c1 from a2"


def test_28_percent_of_ehrsql2024_valid_have_skeletons_that_train_lacks(ehrsql2024: Path) -> None:
    train, valid = (
        [skeleton(example.sql) for example in read_examples(ehrsql2024 / name) if example.sql is not None]
        for name in ("train.json", "valid.json")
    )
    seen = frozenset(train)
    assert sum(one not in seen for one in valid) / len(valid) == pytest.approx(0.28, abs=0.005)
