"""Parts of a data set have their own scores, and templates are counted."""

from __future__ import annotations

import pytest

from fastsql.evaluation.breakdown import KINDS, TEMPLATES, parts_of, spread
from fastsql.evaluation.shares import Share

from .judging import judged, right, wrong

ITEMS = [
    right("a", hardness="extra", extra={"level": "复杂", "template_id": 7}),
    wrong("b", em=True, hardness="easy", extra={"level": "简单", "template_id": 7}),
    right("c", gold="SELECT 2", hardness="easy", extra={"level": "简单", "template_id": 0}),
    right("d", gold="SELECT x FROM t", hardness="beyond", template="how many [x]?"),
    judged("e", gold=None, template="-"),
]


def test_parts_have_their_scores_and_leave_unanswerable_questions_out() -> None:
    parts = {part.name: part for part in parts_of(ITEMS, KINDS["level"])}
    assert list(parts) == ["简单", "复杂"]
    easy = parts["简单"]
    assert (easy.n, easy.ex, easy.em, easy.em_values, easy.wrong) == (
        2,
        Share(1, 2),
        Share(2, 2),
        Share(1, 2),
        1,
    )
    assert easy.to_json()["em"] == 100
    assert easy.to_json()["intervals"]["em"] == (pytest.approx(34.24, abs=0.01), 100)
    assert sum(part.n for part in parts_of(ITEMS, KINDS["db_id"])) == 4


def test_hardness_keeps_its_order() -> None:
    assert [part.name for part in parts_of(ITEMS, KINDS["hardness"])] == ["easy", "extra", "beyond"]


def test_queries_that_differ_in_values_are_one_template() -> None:
    assert [(part.name, part.n) for part in parts_of(ITEMS, TEMPLATES["skeleton"])] == [
        ("select n", 3),
        ("select x from t", 1),
    ]


@pytest.mark.parametrize(
    ("kind", "names"),
    [("template", ["how many [x]?"]), ("template_id", ["7", "0"]), ("q_tag", [])],
)
def test_templates_are_those_that_the_data_set_states(kind: str, names: list[str]) -> None:
    assert [part.name for part in parts_of(ITEMS, TEMPLATES[kind])] == names


def test_the_spread_counts_every_template_once() -> None:
    found = spread(parts_of(ITEMS, TEMPLATES["skeleton"]))
    assert (found["distinct"], found["singletons"], found["largest"], found["all_right"]) == (2, 1, 3, 1)
    assert found["macro_ex"] == pytest.approx((100 * 2 / 3 + 100) / 2, abs=1e-4)
    assert spread(())["macro_ex"] is None
