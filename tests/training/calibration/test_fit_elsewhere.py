"""What is fitted for schemas never seen, and for questions that a second opinion was asked about."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("torch", reason="pip install '.[train]' runs this")
pytest.importorskip("onnx", reason="pip install '.[train]' runs this")

from fastsql.reliability import Reliability
from fastsql.reliability.assess import SETTING
from fastsql.reliability.evidence import SECONDED
from fastsql.reliability.familiarity import Familiarity
from fastsql.reliability.judges import BESIDE_RATING, RATING_WEIGHT, Weights
from fastsql.training.calibration import figures as figures_module
from fastsql.training.calibration.calibrate import calibration, describe
from fastsql.training.calibration.figures import steps_table
from fastsql.training.calibration.fit import predict_across
from fastsql.training.calibration.questions import FOREIGN
from fastsql.training.calibration.table import FOREIGN_PRIOR, MOST_OF_A_SCHEMA, tabulate

from .observed import MODELS, D, doubted, observations, of_other_schemas, seconded

# ---------------------------------------------------------------- in doubt


def test_queries_in_doubt_have_judges_of_their_own_where_a_second_opinion_was_asked_for() -> None:
    alone, told = (
        calibration([*given, *seconded()], Familiarity(), second=MODELS)
        for given in (observations(), doubted())
    )
    assert alone.reliability.doubted is None, "nobody was asked"
    found = told.reliability.doubted
    assert found is not None
    assert found.inspected is not None
    assert found.judge.right.weights["lead"] > 0
    assert found.judge.unanswerable is not None
    assert {"likelihood", "rating", "state"} <= found.judge.unanswerable.weights.keys()
    assert found.inspected.unanswerable is not None
    assert {"likelihood", "void"} <= found.inspected.unanswerable.weights.keys()
    assert not {"state", "named"} & found.inspected.unanswerable.weights.keys(), "as elsewhere with answers"
    assert (told.reliability.judge, told.reliability.inspected) == (
        alone.reliability.judge,
        alone.reliability.inspected,
    ), "who is not asked about is judged as before"
    assert told.figures["auc"] > alone.figures["auc"] + 0.03
    again = Reliability.from_settings({SETTING: told.reliability.to_settings()}, D)
    assert again.to_settings() == told.reliability.to_settings()
    without = predict_across(tabulate(doubted()), without=SECONDED)
    own = np.flatnonzero([item.told is None for item in doubted()])
    across = predict_across(tabulate(doubted()))
    np.testing.assert_array_equal(across.confidence[own], without.confidence[own])


def test_without_a_wrong_parse_in_doubt_these_are_judged_as_all_others() -> None:
    rightly = [
        item if item.told is None else replace(item, told=replace(item.told, right=True))
        for item in doubted()
    ]
    found = calibration([*rightly, *seconded()], Familiarity(), second=MODELS)
    assert found.reliability.doubted is None


def test_without_judges_of_schemas_never_seen_nobody_is_asked_in_doubt() -> None:
    found, alone = (calibration(given, Familiarity(), second=MODELS) for given in (doubted(), observations()))
    assert found.reliability.doubted is None
    assert found.figures == alone.figures, "in use, nobody is asked"


# ---------------------------------------------------------------- schemas never seen


def test_other_schemas_change_nothing_for_those_that_were_trained_on() -> None:
    alone = calibration(observations(), Familiarity())
    both = calibration([*observations(), *of_other_schemas()], Familiarity(), known=frozenset({"ward.beds"}))
    assert both.reliability.judge == alone.reliability.judge
    assert both.reliability.inspected == alone.reliability.inspected
    assert alone.reliability.elsewhere is None
    assert {key: both.figures[key] for key in ("ece", "rs", "se", "sp")} == {
        key: alone.figures[key] for key in ("ece", "rs", "se", "sp")
    }


def test_other_schemas_have_regressions_of_their_own() -> None:
    found = calibration([*observations(), *of_other_schemas()], Familiarity(), known=frozenset({"ward.beds"}))
    elsewhere = found.reliability.elsewhere
    assert elsewhere is not None
    assert elsewhere.known == {"ward.beds"}
    assert elsewhere.judge.right.weights["unsaid"] < -0.5
    assert elsewhere.judge.unanswerable is not None
    assert elsewhere.judge.unanswerable.weights["unmet"] > 2
    assert "state" not in elsewhere.judge.unanswerable.weights, "the probe knows the schemas that it met"
    figures = found.figures["elsewhere"]
    assert figures["auc_unanswerable"] > 0.9
    assert figures["auc"] > 0.8
    assert figures["penalties"]["1"]["answered"] > figures["penalties"]["10"]["answered"] > 0
    assert figures["penalties"]["1"]["right"] > 70
    assert set(figures["made"]) == {"lacking"}
    text = describe(found)
    assert "schemas never seen: ECE 0." in text
    assert "at penalty 1 " in text


def test_parts_of_questions_over_other_schemas_count_as_much_as_in_use() -> None:
    table = tabulate([*observations(), *of_other_schemas()])
    total = table.mass[table.foreign].sum()
    for part, share in FOREIGN_PRIOR.items():
        assert table.mass[table.parts == part].sum() / total == pytest.approx(share)


def test_many_questions_over_one_other_schema_count_no_more_than_the_most() -> None:
    rest = [item for item in of_other_schemas() if item.question.pair.db_id != "shop0"]
    one = next(item for item in of_other_schemas() if item.question.part == FOREIGN)

    def shop(count: int) -> float:
        question = replace(one.question, group="database shop0")
        table = tabulate([*observations(), *rest, *count * [replace(one, question=question)]])
        own = np.array(table.groups) == "database shop0"
        return float(table.mass[own].sum() / table.mass[table.parts == FOREIGN].sum())

    assert shop(MOST_OF_A_SCHEMA) == pytest.approx(shop(10 * MOST_OF_A_SCHEMA))
    assert shop(MOST_OF_A_SCHEMA // 2) < 0.7 * shop(MOST_OF_A_SCHEMA)


def test_a_database_is_judged_by_the_others_alone() -> None:
    table = tabulate([*observations(), *of_other_schemas()])
    one = predict_across(table)
    own = np.array(table.groups) == "database shop3"
    flipped = replace(table, right=table.right.copy())
    flipped.right[own & ~table.unanswerable] = ~flipped.right[own & ~table.unanswerable]
    other = predict_across(flipped)
    np.testing.assert_array_equal(one.confidence[own], other.confidence[own])
    assert (one.confidence != other.confidence).any()


def test_where_parses_of_other_schemas_are_all_alike_they_have_no_regressions() -> None:
    alike = [replace(item, right=False) for item in of_other_schemas()]
    found = calibration([*observations(), *alike], Familiarity())
    assert found.reliability.elsewhere is None
    assert "elsewhere" not in found.figures, "figures are of what the bundle holds"
    assert re.search(r"schemas never seen, .*: all of \d+ parses are wrong", found.lacking[-1])


def test_one_database_held_out_whole_is_too_few_to_judge_others_by() -> None:
    one = [item for item in of_other_schemas() if item.question.pair.db_id == "shop3"]
    found = calibration([*observations(), *one], Familiarity())
    assert found.reliability.elsewhere is None
    assert "one database held out whole is too few" in found.lacking[-1]


def test_without_made_questions_schemas_never_seen_have_no_u(monkeypatch: pytest.MonkeyPatch) -> None:
    for steps in ("STEPS", "STEPS_ELSEWHERE"):
        monkeypatch.setattr(figures_module, steps, {"beam": ("sequence",), "all": ("sequence",)})
    asked = [item for item in of_other_schemas() if item.question.part == FOREIGN]
    found = calibration([*observations(), *asked], Familiarity())
    elsewhere = found.reliability.elsewhere
    assert elsewhere is not None
    assert elsewhere.judge.unanswerable is None
    assert found.figures["elsewhere"]["auc_unanswerable"] is None
    assert "u was NOT fitted for schemas never seen" in found.lacking[-1]
    text = describe(found)
    assert " nan" not in text
    assert "None" not in text
    assert "| - |" in steps_table(tabulate([*observations(), *asked]), seeds=(0,))


# ---------------------------------------------------------------- a second opinion


def test_a_second_opinion_has_judges_of_its_own() -> None:
    alone = calibration([*observations(), *of_other_schemas()], Familiarity(), second=MODELS)
    assert alone.reliability.elsewhere is not None
    assert alone.reliability.elsewhere.second is None, "nobody was asked"
    found = calibration([*observations(), *seconded()], Familiarity(), second=MODELS)
    unnamed = calibration([*observations(), *seconded()], Familiarity())
    elsewhere = found.reliability.elsewhere
    assert elsewhere is not None
    second = elsewhere.second
    assert second is not None
    assert (second.models, second.weights) == (MODELS, Weights(BESIDE_RATING, RATING_WEIGHT))
    assert second.judge.right.weights["lead"] > 0
    assert second.judge.right.weights["likelihood"] > 0
    assert {"rating", "rating_lead"} <= second.judge.right.weights.keys()
    assert not {"lead", "likelihood", "rating", "rating_lead"} & elsewhere.judge.right.weights.keys()
    before = calibration([*observations(), *seconded()], Familiarity(), second=replace(MODELS, reranker=None))
    assert before.reliability.elsewhere is not None
    assert before.reliability.elsewhere.second is not None
    assert not {"rating", "rating_lead"} & before.reliability.elsewhere.second.judge.right.weights.keys()
    assert unnamed.reliability.elsewhere == replace(elsewhere, second=None)
    assert found.figures["elsewhere"]["auc"] > alone.figures["elsewhere"]["auc"] + 0.05
    again = Reliability.from_settings({SETTING: found.reliability.to_settings()}, D)
    assert again.elsewhere is not None
    assert again.elsewhere.to_settings() == elsewhere.to_settings()
    assert "all but the second opinion" in steps_table(tabulate([*observations(), *seconded()]), (0,))


def test_errors_of_other_folds_leave_the_second_opinion_as_it_is() -> None:
    base, folds = [*observations(), *seconded()], [of_other_schemas()]
    alone, wide = (calibration(base, Familiarity(), second=MODELS, folds=given) for given in ([], folds))
    assert wide.figures["elsewhere"]["auc"] == pytest.approx(alone.figures["elsewhere"]["auc"], abs=0.02)
    assert alone.reliability.elsewhere is not None
    assert wide.reliability.elsewhere is not None
    assert wide.reliability.elsewhere.second == alone.reliability.elsewhere.second
