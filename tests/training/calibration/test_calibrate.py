from __future__ import annotations

import json
import random
import re
import warnings
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch", reason="pip install '.[train]' runs this")
pytest.importorskip("onnx", reason="pip install '.[train]' runs this")

import fastsql
from fastsql.cli.calibrate import held_out_alone
from fastsql.cli.main import main
from fastsql.errors import FastSQLError, ModelError
from fastsql.model.bundle import CONFIG, open_bundle
from fastsql.reliability import Evidence, Reliability
from fastsql.reliability.assess import BESIDE_RATING, RATING_WEIGHT, SETTING, SecondModels, Weights
from fastsql.reliability.familiarity import Familiarity
from fastsql.training.calibration import calibrate as module
from fastsql.training.calibration import figures as figures_module
from fastsql.training.calibration.calibrate import (
    calibrate,
    calibrate_elsewhere,
    calibrate_turns,
    calibration,
    describe,
    with_settings,
    write_settings,
)
from fastsql.training.calibration.conversations import TurnObservation
from fastsql.training.calibration.figures import STEPS, STEPS_ELSEWHERE, steps_table
from fastsql.training.calibration.fit import UNANSWERED, predict_across
from fastsql.training.calibration.observations import asked_models, load_observations, save_observations
from fastsql.training.calibration.observe import Observation, observe, open_databases
from fastsql.training.calibration.questions import (
    AS_WRITTEN,
    EVERYDAY,
    FOREIGN,
    FOREIGN_MADE,
    MADE,
    PLAIN,
    SEEN,
    UNANSWERABLE,
    UNSEEN,
    Question,
    held_out,
)
from fastsql.training.calibration.table import FOREIGN_PRIOR, MOST_OF_A_SCHEMA, NAMES, PRIOR, tabulate
from fastsql.training.calibration.usable import CalibrationError
from fastsql.training.config import TrainConfig
from fastsql.training.corpus.corpus import Corpus, load_corpus
from fastsql.training.corpus.split import Pair

from ...worlds.training_ward import SCHEMA
from ..untrained import write_untrained

D = 16
MODELS = SecondModels("a digest", "another")


@pytest.fixture(scope="module")
def corpus(config: TrainConfig, tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return load_corpus(config.data, config.seed, tmp_path_factory.mktemp("cache"))


@pytest.fixture
def bundle(config: TrainConfig, tmp_path: Path) -> Path:
    """A bundle that has learned nothing."""
    return write_untrained(config, tmp_path / "untrained", training={"seed": 7})


def observations(number: int = 300) -> list[Observation]:
    """The surer the model, the oftener it is right; unanswerable questions have strange words, a state and no answer."""
    rng = random.Random(0)
    made = []
    for place in range(number):
        part = rng.choice((SEEN, UNSEEN, UNANSWERABLE, MADE))
        refuse = part in (UNANSWERABLE, MADE)
        sequence = rng.gauss(3 if part == SEEN else 1, 2)
        right = not refuse and rng.random() < 1 / (1 + 2.718 ** (-sequence - 1))
        evidence = Evidence(sequence=sequence, margin=rng.gauss(3, 1), strangeness=rng.gauss(4 * refuse, 2))
        looked = replace(evidence, void=float(rng.random() < (0.9 if refuse else 0.1)))
        state = np.array([rng.gauss(refuse and not axis, 1) for axis in range(D)], dtype=np.float32)
        group = f"removed {place % 7}" if part == MADE and place % 2 else f"{part} {place // 2}"
        pair = Pair(str(place), f"{'why' if refuse else 'how many'} {place}", "", "ward")
        kind = group.partition(" ")[0] if part == MADE else ""
        question = Question(pair, part, group, None, kind=kind)
        made.append(Observation(question, evidence, looked, state, 0.3, right))
    asked = [item for item in made if item.question.part == UNANSWERABLE][:20]
    written = [replace(item, question=replace(item.question, part=AS_WRITTEN)) for item in asked]
    return [*made, *written]


def of_parts(*parts: str) -> list[Observation]:
    """Those of some parts."""
    return [item for item in observations() if item.question.part in parts]


def of_other_schemas(number: int = 200) -> list[Observation]:
    """Over six databases: a query of what the question does not say is oftener wrong, and what is not met has no answer."""
    rng = random.Random(1)
    made = []
    for place in range(number):
        refuse = rng.random() < 0.3
        unsaid = float(rng.randrange(3))
        evidence = Evidence(
            sequence=rng.gauss(1, 1),
            strangeness=rng.gauss(6, 1),
            unmet=min(max(rng.gauss(0.3 + 0.5 * refuse, 0.15), 0), 1),
            unsaid=unsaid,
        )
        right = not refuse and rng.random() < (0.9, 0.5, 0.1)[int(unsaid)]
        part, kind = (FOREIGN_MADE, "lacking") if refuse else (FOREIGN, "")
        pair = Pair(str(place), "how many", "", f"shop{place % 6}")
        question = Question(pair, part, f"database shop{place % 6}", None, values=place % 2 == 0, kind=kind)
        state = np.full(D, 5.0, dtype=np.float32)
        made.append(Observation(question, evidence, evidence, state, 0.3, right))
    return made


def seconded() -> list[Observation]:
    """Those over other schemas, with a second opinion: where it is doubtful, the query is wrong."""
    rng = random.Random(2)

    def asked(item: Observation) -> Observation:
        lead = rng.gauss(3 if item.right else -3, 1)
        evidence = replace(item.evidence, likelihood=rng.gauss(-2 if item.right else -4, 0.5), lead=lead)
        return replace(item, evidence=evidence, inspected=evidence)

    return [asked(item) for item in of_other_schemas()]


# ---------------------------------------------------------------- what becomes of them


def test_every_question_is_observed_as_the_parser_sees_it(
    bundle: Path, config: TrainConfig, corpus: Corpus, tmp_path: Path
) -> None:
    questions = held_out(config, corpus, 2)
    notes: list[str] = []
    found = observe(open_bundle(bundle), config, questions, threads=1, report=notes.append)
    assert {item.question for item in found} == set(questions)
    assert not any(item.right for item in found if item.question.sql is None)
    assert all(item.state.shape == (D,) for item in found)
    assert all(item.evidence.void == 0 for item in found)
    assert any(item.inspected is not None for item in found)
    assert {item.question.part for item in found if item.others} <= {SEEN, UNSEEN}
    assert any(item.others for item in found), "the further hypotheses are seen as well"
    assert notes == [f"{len(questions)} of {len(questions)} parsed"]
    file = tmp_path / "observed.json.gz"
    save_observations(found, file)
    for old, new in zip(found, load_observations(file), strict=True):
        assert (old.question, old.evidence, old.inspected, old.right, old.others) == (
            new.question,
            new.evidence,
            new.inspected,
            new.right,
            new.others,
        )
        np.testing.assert_allclose(old.state, new.state, atol=1e-5)


def test_several_processes_observe_what_one_does(bundle: Path, config: TrainConfig, corpus: Corpus) -> None:
    questions = held_out(config, corpus, 2)
    opened = open_bundle(bundle)
    one = observe(opened, config, questions, threads=1)
    notes: list[str] = []
    two = observe(opened, config, questions, processes=2, report=notes.append)
    assert notes[-1] == f"{len(questions)} of {len(questions)} parsed"
    for mine, theirs in zip(one, two, strict=True):
        assert (mine.question, mine.evidence, mine.inspected, mine.right, mine.others) == (
            theirs.question,
            theirs.evidence,
            theirs.inspected,
            theirs.right,
            theirs.others,
        )
        np.testing.assert_array_equal(mine.state, theirs.state)


def test_databases_that_nobody_asks_for_are_not_opened(config: TrainConfig) -> None:
    with ExitStack() as stack:
        assert open_databases(config.data.sources, stack, {"nowhere"}) == ({}, {})
        schemas, _ = open_databases(config.data.sources, stack, {"ward"})
        assert set(schemas) == {"ward"}


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


def test_observations_say_which_models_were_asked(tmp_path: Path) -> None:
    file = tmp_path / "observed.json.gz"
    save_observations(seconded(), file, MODELS)
    assert asked_models(file) == MODELS
    assert [item.evidence.lead for item in load_observations(file)] == [
        item.evidence.lead for item in seconded()
    ]
    save_observations(of_other_schemas(), file)
    assert asked_models(file) is None


def test_a_file_of_something_else_holds_no_observations(tmp_path: Path) -> None:
    file = tmp_path / "observed.json.gz"
    file.write_bytes(b"[]")
    with pytest.raises(FastSQLError, match="holds no observations"):
        load_observations(file)


# ---------------------------------------------------------------- the fit


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
    left_out = [f"| all but {what}" for what in ("what is left out", "contradictions")]
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


# ---------------------------------------------------------------- what is stored


def test_the_bundle_holds_what_was_fitted(
    bundle: Path, config: TrainConfig, corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "observe", lambda *_args, **_options: tuple(observations()))
    found = calibrate(bundle, config, corpus)
    settings = open_bundle(bundle).config.settings
    stored = Reliability.from_settings(settings, D)
    assert stored.to_settings() == found.reliability.to_settings()
    assert settings["reliability"]["figures"] == json.loads(json.dumps(found.figures))
    assert stored.familiarity.questions == len(corpus.train)
    assert "confidence" not in settings
    once = (bundle / "config.json").read_bytes()
    calibrate(bundle, config, corpus)
    assert (bundle / "config.json").read_bytes() == once


@pytest.mark.parametrize(
    ("parts", "elsewhere"),
    [
        pytest.param((SEEN, UNSEEN), False, id="answerable"),
        pytest.param((SEEN, UNSEEN), True, id="answerable, other schemas"),
        pytest.param((SEEN, UNSEEN, MADE), False, id="made"),
        pytest.param((SEEN, UNSEEN, UNANSWERABLE, MADE), True, id="all"),
    ],
)
def test_a_calibrated_bundle_loads_whatever_could_be_fitted(
    bundle: Path,
    config_file: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    parts: tuple[str, ...],
    elsewhere: bool,
) -> None:
    found = [*of_parts(*parts), *(of_other_schemas() if elsewhere else ())]
    monkeypatch.setattr(module, "observe", lambda *_args, **_options: tuple(found))
    assert main(["calibrate", str(bundle), "--config", str(config_file)]) == 0
    said = capsys.readouterr().out
    assert " nan" not in said
    assert ("u was NOT fitted" in said) == (MADE not in parts)
    json.loads((bundle / CONFIG).read_text(encoding="utf-8"), parse_constant=pytest.fail)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        parser = fastsql.load(bundle, device="python")
    assert [item.category for item in caught] == [fastsql.CalibrationWarning] * (MADE not in parts)
    result = parser.parse("How many items are there?", SCHEMA)
    assert "calibrated" not in result.reason
    assert result.threshold is not None


@pytest.mark.parametrize("observed", [[], [replace(item, right=False) for item in observations()]])
def test_what_cannot_be_fitted_leaves_the_bundle_alone(
    bundle: Path,
    config_file: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    observed: list[Observation],
) -> None:
    before = {path.name: path.read_bytes() for path in bundle.iterdir()}
    monkeypatch.setattr(module, "observe", lambda *_args, **_options: tuple(observed))
    assert main(["calibrate", str(bundle), "--config", str(config_file)]) == 2
    assert capsys.readouterr().err.splitlines()[-1].startswith("fastsql: calibration: ")
    assert {path.name: path.read_bytes() for path in bundle.iterdir()} == before


def test_without_questions_held_out_nothing_is_parsed(
    bundle: Path, config: TrainConfig, corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "observe", lambda *_args, **_options: pytest.fail("questions were parsed"))
    with pytest.raises(CalibrationError, match="no question with an answer was held out"):
        calibrate(bundle, config, replace(corpus, dev_templates=(), dev_examples=()))


def test_turns_alone_may_be_fitted_again(
    bundle: Path, config: TrainConfig, corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(CalibrationError, match="never calibrated"):
        calibrate_turns(bundle, config, corpus)
    seen = [*observations(), *of_other_schemas()]
    monkeypatch.setattr(module, "observe", lambda *_args, **_options: tuple(seen))
    before = calibrate(bundle, config, corpus)
    turns = [
        TurnObservation(Evidence(sequence=place % 7 - 3.0), right=place % 7 + shift > 3, part=part)
        for part, shift in ((FOREIGN, -1), (EVERYDAY, 1))
        for place in range(210)
    ]
    monkeypatch.setattr(module, "observe_turns", lambda *_args, **_options: tuple(turns))
    kept = (bundle / CONFIG).read_bytes()
    figures = calibrate_turns(bundle, config, corpus, store=False)
    assert {part: found["count"] for part, found in figures.items()} == {EVERYDAY: 210, FOREIGN: 210}
    assert (bundle / CONFIG).read_bytes() == kept
    calibrate_turns(bundle, config, corpus)
    settings = open_bundle(bundle).config.settings["reliability"]
    stored = Reliability.from_settings({**open_bundle(bundle).config.settings}, D)
    assert stored.elsewhere is not None
    assert stored.turns is not None
    assert stored.elsewhere.turns is not None
    assert stored.turns != stored.elsewhere.turns
    without = replace(stored, turns=None, elsewhere=replace(stored.elsewhere, turns=None))
    assert without.to_settings() == before.reliability.to_settings()
    assert settings["figures"]["turns"] == figures


def test_what_is_over_schemas_never_seen_may_be_fitted_again(
    bundle: Path, config: TrainConfig, corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(CalibrationError, match="never calibrated"):
        calibrate_elsewhere(bundle, config, corpus)
    monkeypatch.setattr(module, "observe", lambda *_args, **_options: tuple(observations()))
    calibrate(bundle, config, corpus)
    with pytest.raises(CalibrationError, match="no probabilities over schemas never seen"):
        calibrate_elsewhere(bundle, config, corpus)
    seen = [*observations(), *of_other_schemas()]
    monkeypatch.setattr(module, "observe", lambda *_args, **_options: tuple(seen))
    before = calibrate(bundle, config, corpus)

    def observe_others(
        _bundle: object, _config: object, questions: Sequence[Question], **_: object
    ) -> object:
        assert {one.part for one in questions} <= {FOREIGN, FOREIGN_MADE}
        return (*observations(), *seconded())  # as a file of all that is observed has them

    turns = [
        TurnObservation(
            Evidence(sequence=place % 7 - 3.0, rating=place % 5 - 2.2), place % 7 > 3, part=FOREIGN
        )
        for place in range(210)
    ]
    monkeypatch.setattr(module, "observe", observe_others)
    monkeypatch.setattr(
        module, "observe_turns", lambda *_args, foreign, **_options: tuple(turns) if foreign else ()
    )
    monkeypatch.setattr(module, "bundled_models", lambda _tokenizer: MODELS)
    kept = (bundle / CONFIG).read_bytes()
    calibrate_elsewhere(bundle, config, corpus, conversations=corpus, store=False)
    assert (bundle / CONFIG).read_bytes() == kept
    found = calibrate_elsewhere(bundle, config, corpus, conversations=corpus)
    stored = Reliability.from_settings(open_bundle(bundle).config.settings, D)
    assert stored.elsewhere is not None
    assert stored.elsewhere.second is not None
    assert stored.elsewhere.second.models == MODELS
    assert stored.elsewhere.second.turns is not None
    assert {"rating", "sequence"} <= stored.elsewhere.second.turns.right.weights.keys()
    assert stored.elsewhere.turns is not None
    assert not {"rating"} & stored.elsewhere.turns.right.weights.keys()
    whole = calibration([*observations(), *seconded()], Familiarity(), second=MODELS).reliability.elsewhere
    assert whole is not None
    assert whole.second is not None
    assert stored.elsewhere.second.judge.right.weights == pytest.approx(
        whole.second.judge.right.weights, abs=1e-4
    )
    assert stored.elsewhere.known == before.reliability.elsewhere.known  # type: ignore[union-attr]
    calibrate_elsewhere(bundle, config, corpus)
    again = Reliability.from_settings(open_bundle(bundle).config.settings, D).elsewhere
    assert again is not None
    assert (again.turns, again.second) == (stored.elsewhere.turns, stored.elsewhere.second), (
        "turns are left as they are"
    )
    without = replace(stored, elsewhere=before.reliability.elsewhere)
    assert without.to_settings() == before.reliability.to_settings()
    assert found.figures["ece"] == before.figures["ece"]
    assert found.figures["elsewhere"] != before.figures["elsewhere"]
    assert found.figures["turns"][FOREIGN]["count"] == 210
    assert "schemas never seen: ECE" in describe(found)


def test_what_is_held_out_alone_is_of_few_sources(config: TrainConfig, tmp_path: Path) -> None:
    (source,) = config.data.sources
    file = tmp_path / "held_out.json"
    file.write_text(json.dumps({"templates": [], "examples": [], "databases": ["elsewhere"]}))
    assert held_out_alone(replace(config, data=replace(config.data, held_out=str(file)))).data.sources == ()
    file.write_text(json.dumps({"templates": [], "examples": [], "databases": ["ward"]}))
    found = held_out_alone(replace(config, data=replace(config.data, held_out=str(file)))).data
    assert found.sources == (source,)
    assert (found.made.schemas, found.written.pairs, found.written.hospital_weight) == (0, 0, 0)
    assert held_out_alone(config).data.sources == ()


def test_what_says_that_turns_cannot_be_fitted(
    bundle: Path,
    config: TrainConfig,
    corpus: Corpus,
    config_file: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    command = ["calibrate", str(bundle), "--config", str(config_file), "--turns"]
    assert main(command) == 2
    assert "never calibrated" in capsys.readouterr().err, "before anything is read"
    monkeypatch.setattr(module, "observe", lambda *_args, **_options: tuple(observations()))
    calibrate(bundle, config, corpus)
    assert main(command) == 2
    assert "has no conversations" in capsys.readouterr().err
    assert main([*command, "--table"]) == 2
    assert "--table is about" in capsys.readouterr().err
    assert main([*command, "--elsewhere"]) == 2
    assert "--elsewhere is about" in capsys.readouterr().err
    assert main([*command[:-1], "--elsewhere", "--folds", "x"]) == 2
    assert "--folds is about" in capsys.readouterr().err


def test_settings_that_no_parser_could_read_are_not_stored(bundle: Path) -> None:
    before = (bundle / CONFIG).read_bytes()
    opened = with_settings(
        open_bundle(bundle), {"reliability": {"right": {"weights": {"sequence": float("nan")}}}}
    )
    with pytest.raises(ModelError, match="a weight is not a number"):
        write_settings(opened)
    assert (bundle / CONFIG).read_bytes() == before


def test_observations_of_another_model_are_refused(
    bundle: Path, config: TrainConfig, corpus: Corpus, tmp_path: Path
) -> None:
    before = (bundle / CONFIG).read_bytes()
    wider = [replace(item, state=np.zeros(D + 1, dtype=np.float32)) for item in observations()]
    save_observations(wider, tmp_path / "observed.json.gz")
    with pytest.raises(CalibrationError, match="of another model"):
        calibrate(bundle, config, corpus, observations=tmp_path / "observed.json.gz")
    assert (bundle / CONFIG).read_bytes() == before


def test_the_figures_can_be_read() -> None:
    text = describe(calibration(observations(), Familiarity()))
    assert "cross-fitted: ECE 0." in text
    assert re.search(r"ECE 0\.\d{3} \(0\.\d{3} to 0\.\d{3}\)", text), "with its interval"
    assert "answers inspected: ECE 0." in text
    assert "with numbers as written" in text


# ---------------------------------------------------------------- command line


@pytest.fixture
def config_file(config: TrainConfig, tmp_path: Path) -> Path:
    (source,) = config.data.sources
    file = tmp_path / "ward.toml"
    file.write_text(
        f'name = "ward-en"\nseed = 3\n[data]\ndev_templates = 0.17\ndev_examples = 0.1\n[[data.sources]]\n'
        f'examples = "{source.examples}"\nschemas = "{source.schemas}"\ndatabase = "{source.database}"\n',
        encoding="utf-8",
    )
    return file


def test_the_command_reads_schemas_with_the_profiles_that_the_configuration_names(
    bundle: Path,
    config_file: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """What is observed is asked over these, too; one of no use is told with its line and key before anything is observed."""
    asked: list[str] = []

    def observed(_bundle: Any, config: TrainConfig, *_args: Any, **_options: Any) -> tuple[Observation, ...]:
        with ExitStack() as stack:
            schemas, _ = open_databases(config.data.sources, stack)
        asked.extend(table.label for table in schemas["ward"].tables)
        return tuple(observations())

    monkeypatch.setattr(module, "observe", observed)
    profile = tmp_path / "profile.toml"
    with config_file.open("a", encoding="utf-8") as out:
        out.write(f'profile = "{profile}"\n')
    command = ["calibrate", str(bundle), "--config", str(config_file)]
    assert main(command) == 2
    assert "there is no such file" in capsys.readouterr().err
    profile.write_text('format = 1\n[table.items]\nlabels = "things"\n', encoding="utf-8")
    assert main(command) == 2
    assert f"{profile}, line 3, table.items.labels: there is no such key" in capsys.readouterr().err
    assert not asked
    profile.write_text('format = 1\n[table.items]\nlabel = "things"\n', encoding="utf-8")
    assert main(command) == 0
    assert asked == ["admissions", "prescriptions", "things"]


def test_the_command_line_splits_by_the_bundles_seed(
    bundle: Path,
    config_file: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    seeds: list[int] = []

    def observed(_bundle: Any, config: TrainConfig, *_args: Any, **_options: Any) -> tuple[Observation, ...]:
        seeds.append(config.seed)
        return tuple(observations())

    monkeypatch.setattr(module, "observe", observed)
    assert main(["calibrate", str(bundle), "--config", str(config_file)]) == 0
    assert main(["calibrate", str(bundle), "--config", str(config_file), "--seed", "5"]) == 0
    assert seeds == [7, 5]
    assert "cross-fitted" in capsys.readouterr().out


def test_a_dry_run_leaves_the_bundle_alone_and_observations_are_used_again(
    bundle: Path,
    config_file: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    runs: list[int] = []
    monkeypatch.setattr(module, "observe", lambda *_a, **_o: (runs.append(1), tuple(observations()))[1])
    monkeypatch.setattr(figures_module, "STEPS", {"beam": ("sequence",), "all": ("sequence",)})
    before = (bundle / "config.json").read_bytes()
    file = tmp_path / "observed.json.gz"
    common = [
        "calibrate",
        str(bundle),
        "--config",
        str(config_file),
        "--dry-run",
        "--observations",
        str(file),
    ]
    assert main([*common, "--table"]) == 0
    assert main([*common, "--features", ",".join(UNANSWERED[:2])]) == 0
    assert (bundle / "config.json").read_bytes() == before
    assert len(runs) == 1
    assert "| all, answers inspected |" in capsys.readouterr().out
    assert main([*common, "--features", "mood"]) == 2
    assert "no feature 'mood'" in capsys.readouterr().err


def test_the_command_line_names_what_is_wrong(
    tmp_path: Path, bundle: Path, config_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["calibrate", str(tmp_path / "none"), "--config", str(config_file)]) == 2
    assert "no such model bundle" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["calibrate", str(bundle), "--config", str(config_file), "--limit", "0"])
    assert "--limit: 0 is not a whole number of at least 1" in capsys.readouterr().err


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
