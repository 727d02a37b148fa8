"""What `benchmarks/set_statistics.py` counts, on texts that a reader can count by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ..test_benchmarks import module, script

pytest.importorskip("rapidfuzz", reason="pip install '.[dev]' runs this")


@pytest.fixture(scope="module")
def counted() -> Any:
    return module("set_statistics")


@pytest.mark.parametrize(
    ("one", "other", "ratio"),
    [
        ("", "", 0.0),
        ("abc", "abc", 0.0),
        ("", "abc", 1.0),
        ("abcd", "abxd", 1 / 8),
        ("患者有几个", "有几个病人", 4 / 10),
    ],
)
def test_rewriting_ratio_is_the_edit_distance_over_both_lengths(
    counted: Any, one: str, other: str, ratio: float
) -> None:
    assert counted.rewriting_ratio(one, other) == pytest.approx(ratio)
    assert counted.rewriting_ratio(other, one) == pytest.approx(ratio)


def test_diversity_is_a_mean_over_templates_of_a_mean_over_pairs(counted: Any) -> None:
    # Pairs: 0, 1/4, 1/4 and 1; a lone question has no pair.
    assert counted.diversity([["ab", "ab", "ax"], ["", "z"], ["alone"]]) == pytest.approx((1 / 6 + 1) / 2)
    assert counted.diversity([["alone"], []]) is None


@pytest.mark.parametrize(
    ("sql", "length"),
    [
        ("select count(*) from t", 7),
        ("select t.a from t where t.b == 'x y' ;", 8),
        ("SELECT a FROM t WHERE b >= 1.5", 8),
        ('select "odd name"."of it" from t', 4),
    ],
)
def test_a_qualified_name_is_one_token(counted: Any, sql: str, length: int) -> None:
    assert counted.length(sql) == length


def test_a_set_is_counted_by_its_templates_and_databases(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def example(number: int, db_id: str, template: int | None, question: str, sql: str | None) -> object:
        return {
            "id": str(number),
            "db_id": db_id,
            "question": question,
            "sql": sql,
            "template_id": template,
        }

    examples = [
        example(0, "one", 1, "几个病人", "select count(*) from t where a = 'x'"),
        example(1, "one", 1, "几位病人", "select count(*) from u where b = 'y'"),
        example(2, "two", 1, "其他", "select a from t"),
        example(3, "two", None, "没有", None),
    ]
    (tmp_path / "set.json").write_text(json.dumps(examples), encoding="utf-8")
    report = tmp_path / "report.json"
    assert script("set_statistics")([str(tmp_path / "set.json"), "--json", str(report)]) == 0
    assert "几" not in capsys.readouterr().out
    (row,) = json.loads(report.read_text(encoding="utf-8"))["sets"]
    assert row == {
        "set": "set",
        "queries": 3,
        "skeletons": 2,
        "tokens, mean": pytest.approx((11 + 11 + 4) / 3),
        "most": 11,
        "rewriting ratio": pytest.approx(1 / 8),
    }
