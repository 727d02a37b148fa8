"""What is told from observations: p and u, over schemas that were trained on, in doubt, and over others."""

from __future__ import annotations

import random
import re
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("torch", reason="pip install '.[train]' runs this")
pytest.importorskip("onnx", reason="pip install '.[train]' runs this")

from fastsql.reliability import Evidence
from fastsql.reliability.familiarity import Familiarity
from fastsql.training.calibration.calibrate import calibration, describe
from fastsql.training.calibration.figures import STEPS, STEPS_ELSEWHERE, steps_table
from fastsql.training.calibration.fit import predict_across
from fastsql.training.calibration.observe import Observation
from fastsql.training.calibration.questions import (
    AS_WRITTEN,
    EVERYDAY,
    FOREIGN,
    MADE,
    PLAIN,
    SEEN,
    UNANSWERABLE,
    UNSEEN,
    Question,
)
from fastsql.training.calibration.table import NAMES, PRIOR, tabulate
from fastsql.training.calibration.usable import CalibrationError
from fastsql.training.corpus.split import Pair

from .observed import D, observations, of_other_schemas, of_parts


def test_parts_of_the_questions_count_as_much_as_in_use() -> None:
    assert sum(PRIOR.values()) == pytest.approx(1.0)
    table = tabulate(observations())
    total = table.mass.sum()
    for part, share in PRIOR.items():
        assert table.mass[table.parts == part].sum() / total == pytest.approx(share)
    assert not table.mass[table.parts == AS_WRITTEN].any(), "to report, not to fit"


def test_a_missing_kind_leaves_its_share_to_its_like() -> None:
    table = tabulate([item for item in observations() if item.question.part not in (MADE, SEEN)])
    assert table.mass[table.unanswerable].sum() / table.mass.sum() == pytest.approx(0.2)


def test_the_fit_uses_what_tells_right_from_wrong_and_answerable_from_not() -> None:
    found = calibration(observations(), Familiarity())
    judge = found.reliability.judge
    assert judge.unanswerable is not None
    assert judge.right.weights["sequence"] > 0.3
    assert judge.unanswerable.weights["strangeness"] > 0.2
    assert judge.unanswerable.weights["state"] > 0.1
    assert found.figures["auc"] > 0.8
    assert found.figures["ece"] < 0.1
    low, high = found.figures["ece_interval"]
    assert 0 < low < high < 0.2
    assert found.figures["auc_unanswerable"] > 0.85
    inspected = found.reliability.inspected
    assert inspected is not None
    assert inspected.unanswerable is not None
    assert inspected.unanswerable.weights["void"] > 1
    assert found.figures["inspected"]["auc_unanswerable"] > found.figures["auc_unanswerable"]


def test_hollow_answers_are_weighed_by_the_hypotheses_that_were_not_the_likeliest() -> None:
    """Of the likeliest ones, none was hollow: what this says of a query is learnt from those behind them."""
    plain = observations()
    with_others = [
        replace(item, others=tuple((replace(item.evidence, void=1.0, hollow=1.0), False) for _ in range(2)))
        if item.right
        else item
        for item in plain
    ]
    without, found = (calibration(items, Familiarity()).reliability for items in (plain, with_others))
    assert without.inspected is not None
    assert found.inspected is not None
    assert without.inspected.right.weights["hollow"] == pytest.approx(0, abs=1e-9)
    assert found.inspected.right.weights["hollow"] < -0.5
    assert found.judge.unanswerable == without.judge.unanswerable, (
        "who looks at no answer learns nothing from them"
    )
    told, untold = ({**one.judge.right.weights} for one in (found, without))
    assert told.pop("contradicted") < untold.pop("contradicted"), (
        "but for what makes an answer hollow without looking"
    )
    assert told == untold
    assert found.inspected.unanswerable == without.inspected.unanswerable


def test_further_hypotheses_stay_with_their_question() -> None:
    items = observations(40)
    marked = [
        replace(item, others=((replace(item.evidence, sequence=100.0 + place), bool(place % 2)),))
        for place, item in enumerate(items)
    ]
    table = tabulate(marked)
    chosen = np.array([30, 4, 17])
    others = table.rows(chosen).others
    assert others.rows.tolist() == [1, 2, 0]
    np.testing.assert_array_equal(others.inspected, table.others.inspected[[4, 17, 30]])
    np.testing.assert_array_equal(others.right, table.others.right[[4, 17, 30]])


def test_predictions_are_across_folds() -> None:
    table = tabulate(observations())
    one = predict_across(table)
    flipped = replace(table, right=table.right.copy())
    group = np.array(table.groups) == table.groups[int(np.flatnonzero(table.parts == SEEN)[0])]
    flipped.right[group] = ~flipped.right[group]
    other = predict_across(flipped)
    np.testing.assert_array_equal(one.confidence[group], other.confidence[group])
    assert (one.confidence != other.confidence).any(), "others learn from it"
    assert (one.confidence + one.unanswerable <= 1).all()


def test_a_question_as_it_was_written_is_judged_by_folds_without_it() -> None:
    table = tabulate(observations())
    found = predict_across(table)
    written = {table.groups[i]: i for i in np.flatnonzero(table.parts == AS_WRITTEN)}
    for i in np.flatnonzero(table.changed):
        # The observation is the same but for its part here, so are the predictions.
        assert table.groups[i] in written
    assert found.unanswerable[table.parts == AS_WRITTEN].mean() > 0.5


def test_figures_are_of_decisions_by_the_penalty() -> None:
    figures = calibration(observations(), Familiarity()).figures
    assert figures["rs"]["10"] == figures["rs_10"]["10"]
    assert figures["rs"]["0"] >= figures["rs_10"]["0"] - 1
    assert figures["rs_10"]["0"] - figures["rs_10"]["10"] == pytest.approx(10 * figures["wrong"], abs=0.1)
    assert 0 < figures["answered"] < 60
    assert set(figures["made"]) == {"removed", MADE}


def test_without_unanswerable_questions_u_is_not_known_and_that_is_said() -> None:
    found = calibration(of_parts(SEEN, UNSEEN), Familiarity())
    assert found.reliability.judge.unanswerable is None
    assert found.reliability.probe is None
    assert found.figures["auc"] > 0.6
    assert (found.figures["auc_unanswerable"], found.figures["se"]) == (None, None)
    assert found.lacking == (
        "u was NOT fitted, so every question is taken to have an answer: no question without an answer was parsed.",
    )
    text = describe(found)
    assert text.startswith(found.lacking[0])
    assert " nan" not in text
    assert "None" not in text


@pytest.mark.parametrize(
    ("parts", "reason"),
    [
        pytest.param({UNANSWERABLE: 4}, "4 questions without an answer are too few", id="few"),
        pytest.param(
            {UNANSWERABLE: 4, AS_WRITTEN: 4}, "4 questions without an answer are too few", id="twice"
        ),
    ],
)
def test_of_too_few_unanswerable_questions_u_is_not_fitted(parts: dict[str, int], reason: str) -> None:
    few = [item for part, count in parts.items() for item in of_parts(part)[:count]]
    found = calibration([*of_parts(SEEN, UNSEEN), *few], Familiarity())
    alone = calibration(of_parts(SEEN, UNSEEN), Familiarity())
    assert reason in found.lacking[-1]
    assert found.reliability.to_settings() == alone.reliability.to_settings()
    assert found.figures == alone.figures


def test_unanswerable_questions_of_one_kind_leave_no_fold_to_judge_them_by() -> None:
    alike = [replace(item, question=replace(item.question, group="why")) for item in of_parts(UNANSWERABLE)]
    found = calibration([*of_parts(SEEN, UNSEEN), *alike], Familiarity())
    assert "all questions without an answer are of one kind" in found.lacking[-1]
    assert found.reliability.judge.unanswerable is None


def test_where_only_made_questions_have_no_answer_they_stand_for_users() -> None:
    found = calibration(of_parts(SEEN, UNSEEN, MADE), Familiarity())
    assert found.reliability.judge.unanswerable is not None
    assert found.lacking == ()
    assert re.search(r"made +\d+ questions, counted as 20% of use", describe(found))
    assert found.figures["auc_unanswerable"] > 0.8
    assert found.figures["se"] > 50


def test_few_wrong_parses_are_enough_and_that_is_said() -> None:
    asked = of_parts(SEEN, UNSEEN)
    wrong = [item for item in asked if not item.right]
    found = calibration([*(item for item in asked if item.right), wrong[0]], Familiarity())
    assert found.lacking[0].startswith("p is known roughly: of ")
    assert found.lacking[0].endswith(", 1 is wrong.")
    assert all(np.isfinite(list(found.reliability.judge.right.weights.values())))


def test_two_templates_are_enough_to_cut_folds() -> None:
    """Each fold then lacks one of them, and inner folds have nothing answerable left."""
    asked = of_parts(SEEN, UNSEEN, MADE)
    halves = [
        replace(item, question=replace(item.question, group=f"half {place % 2}"))
        if item.question.part != MADE
        else replace(item, question=replace(item.question, kind="removed"))
        for place, item in enumerate(asked)
    ]
    with np.errstate(all="raise"):
        found = calibration(halves, Familiarity())
    assert found.reliability.judge.unanswerable is not None
    assert 0 <= found.figures["ece"] <= 1


def test_correspondence_alone_may_tell_u() -> None:
    found = calibration(observations(), Familiarity(), ["correspondence"])
    judge, model = found.reliability.judge, found.reliability.correspondence
    assert judge.unanswerable is not None
    assert model is not None
    assert list(judge.unanswerable.weights) == ["correspondence"]
    assert model.log_odds("why 12", frozenset()) > model.log_odds("how many 12", frozenset())
    assert found.reliability.probe is None


def test_the_steps_are_a_table() -> None:
    both = (
        steps_table(tabulate([*observations(), *of_other_schemas()]), seeds=(0,)).split("\n\n")[1].split("\n")
    )
    assert both[0].startswith("| on schemas never seen |")
    assert [line.split(" | ")[0] for line in both[2:]][: len(STEPS_ELSEWHERE)] == [
        f"| {name}" for name in STEPS_ELSEWHERE
    ]
    lines = steps_table(tabulate(observations()), seeds=(0,)).split("\n")
    assert [line.split(" | ")[0] for line in lines[2:]][: len(STEPS)] == [f"| {name}" for name in STEPS]
    left_out = [
        f"| all but {what}" for what in ("what is left out", "contradictions", "what the second opinion says")
    ]
    names = [line.split(" | ")[0] for line in lines[2 + len(STEPS) :]]
    looked = [f"| {name}" for name in ("beam", "all")] + left_out
    assert names == [*left_out, *(f"{name}, answers inspected" for name in looked)]


def contradicted(number: int = 300) -> list[Observation]:
    """As `observations`, every third unanswerable question's query contradicting a reference table, and its answer void."""
    asked = []
    for place, item in enumerate(observations(number)):
        if item.inspected is not None and item.question.part in (UNANSWERABLE, MADE) and place % 3 == 0:
            looked = replace(item.inspected, void=1.0, hollow=1.0, contradicted=1.0)
            item = replace(item, evidence=replace(item.evidence, contradicted=1.0), inspected=looked)
        elif item.question.part in (SEEN, UNSEEN):
            item = replace(item, others=((replace(item.evidence, void=1.0, hollow=1.0), False),))
        asked.append(item)
    return asked


def test_a_contradiction_counts_as_a_hollow_answer_does_and_for_there_being_none() -> None:
    found = calibration([*contradicted(), *of_other_schemas()], Familiarity()).reliability
    assert found.inspected is not None
    assert found.elsewhere is not None
    hollow = sum(found.inspected.right.weights[name] for name in ("void", "hollow"))
    assert found.judge.right.weights["contradicted"] == pytest.approx(hollow)
    assert hollow < -1
    assert found.judge.unanswerable is not None
    assert found.elsewhere.judge.unanswerable is not None
    weight = found.judge.unanswerable.weights["contradicted"]
    assert weight > 2
    assert found.elsewhere.judge.unanswerable.weights["contradicted"] == weight


def test_a_feature_may_be_left_out_of_both_numbers() -> None:
    table = tabulate(contradicted())
    one, other = predict_across(table), predict_across(table, without=["contradicted"])
    asked = table.plain[:, [name == "contradicted" for name in NAMES]][:, 0] > 0
    assert one.unanswerable[asked].mean() > other.unanswerable[asked].mean()


@pytest.mark.parametrize("right", [True, False])
def test_nothing_can_be_learned_from_parses_all_alike(right: bool) -> None:
    alike = [replace(item, right=right) for item in observations()]
    with pytest.raises(CalibrationError, match="right" if right else "wrong"):
        tabulate(alike)


@pytest.mark.parametrize("parts", [(), (UNANSWERABLE, MADE), (FOREIGN,)])
def test_nothing_can_be_learned_without_a_question_that_has_an_answer(parts: tuple[str, ...]) -> None:
    with pytest.raises(CalibrationError, match="no question with an answer was held out"):
        tabulate([item for item in (*observations(), *of_other_schemas()) if item.question.part in parts])


def test_nothing_can_be_judged_where_all_questions_are_of_one_template() -> None:
    one = [replace(item, question=replace(item.question, group="one")) for item in of_parts(SEEN)]
    with pytest.raises(CalibrationError, match="are of one template"):
        tabulate(one)


def test_plain_questions_say_that_short_ones_have_answers_and_nothing_of_right_queries() -> None:
    rng = random.Random(2)
    plain = []
    for place in range(120):
        # They look as those without an answer do, but for one thing.
        evidence = Evidence(sequence=rng.gauss(1, 2), strangeness=rng.gauss(4, 2), coverage=1.0)
        question = Question(
            Pair(f"p{place}", f"count {place}", "", "ward"), PLAIN, f"{PLAIN} {place % 20}", "SELECT 1"
        )
        plain.append(Observation(question, evidence, evidence, np.ones(D, np.float32), 0.3, place % 2 == 0))
    features = ("strangeness", "coverage")
    without, with_them = (
        calibration([*observations(), *given], Familiarity(), features) for given in ([], plain)
    )
    right = [dict(found.reliability.judge.right.weights) for found in (without, with_them)]
    assert right[0] == pytest.approx(right[1])
    u = [found.reliability.judge.unanswerable for found in (without, with_them)]
    assert u[0] is not None
    assert u[1] is not None
    shown = {"strangeness": 4.0, "coverage": 1.0}
    told = [one.intercept + sum(one.weights[name] * shown[name] for name in features) for one in u if one]
    assert told[1] < told[0] - 1
    assert with_them.figures["questions"][PLAIN] == 120
    assert with_them.figures["right"][PLAIN] == 60


def test_everyday_questions_beside_the_others_count_a_tenth() -> None:
    rng = random.Random(3)
    everyday = []
    for place in range(120):
        # What is sure of them is wrong as often as right.
        evidence = Evidence(sequence=rng.gauss(3, 1), margin=rng.gauss(3, 1), strangeness=rng.gauss(0, 2))
        pair, group = Pair(f"e{place}", f"who {place}", "", "ward"), f"{EVERYDAY} {place % 40}"
        question = Question(pair, EVERYDAY, group, "SELECT 1")
        state = np.zeros(D, dtype=np.float32)
        everyday.append(Observation(question, evidence, evidence, state, 0.3, place % 2 == 0))
    alike = [replace(one, question=replace(one.question, part=UNSEEN)) for one in everyday]
    sure = Evidence(sequence=3.0, margin=3.0)
    without, beside, among = (
        calibration([*observations(), *given], Familiarity()) for given in ([], everyday, alike)
    )
    odds = [one.reliability.judge.right.log_odds(sure) for one in (without, beside, among)]
    assert odds[0] > odds[1] > odds[2]
    assert (beside.figures["questions"][EVERYDAY], beside.figures["right"][EVERYDAY]) == (120, 60)
    assert beside.figures["questions"][UNSEEN] == without.figures["questions"][UNSEEN]
