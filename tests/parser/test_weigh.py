"""A second opinion: hypotheses over schemas never seen, weighed by a reverse model and a reranker."""

from __future__ import annotations

import importlib
import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fastsql import CalibrationWarning
from fastsql.errors import ModelError
from fastsql.parser import Parser
from fastsql.parser.weigh import OUT_OF_QUESTION
from fastsql.reliability.familiarity import Familiarity, TrainingQuestion
from fastsql.reliability.names import schema_names
from fastsql.reranker import open_rater, reranker_digest
from fastsql.reranker.weights import save_reranker
from fastsql.result import Result
from fastsql.reverse import load_reverse, reverse_digest
from fastsql.reverse.weights import save_reverse

from ..worlds import toy_reranker
from ..worlds.toy_bundle import AS_THE_SEQUENCE, load_toy, write_bundle
from ..worlds.toy_bundle import make_config as bundle_config
from ..worlds.toy_model import WORDPIECE
from ..worlds.toy_reverse import SCHEMA, make_config, random_weights

QUESTIONS = (
    "how many patients of gender f are there?",
    "诊断为 5 的就诊",
    "count 3 admissions with type urgent since 2101",
)
JUDGE: dict[str, Any] = {
    "right": {"intercept": 0.0, "weights": {"sequence": 1.0}},
    "unanswerable": {"intercept": -1e3, "weights": {}},
}
SECOND_JUDGE = {**JUDGE, "right": {"intercept": 0.5, "weights": {"likelihood": 0.1, "lead": 0.2}}}


@pytest.fixture
def reverse(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A reverse model of chance in the place of the one that comes with fastsql."""
    config = make_config()
    path = save_reverse(tmp_path / "reverse.safetensors", config, random_weights(config), WORDPIECE)
    monkeypatch.setattr("fastsql.parser.weigh.bundled_reverse", lambda: path)
    return path


@pytest.fixture
def reranker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A reranker of chance in the place of the one that comes with fastsql."""
    config = toy_reranker.make_config()
    weights = toy_reranker.random_weights(config)
    path = save_reranker(tmp_path / "reranker.safetensors", config, weights, WORDPIECE)
    monkeypatch.setattr("fastsql.parser.weigh.bundled_reranker", lambda: path)
    return path


def bundle(
    folder: Path,
    reverse: Path | None,
    *,
    weight: float = 1.0,
    known: tuple[str, ...] = (),
    reranker: Path | None = None,
    rating_weight: float = 1.0,
    **more: Any,
) -> Path:
    """A bundle that asks a reverse model over schemas whose columns are not `known`; none where there is none."""
    elsewhere: dict[str, Any] = {**JUDGE, "known": list(known)}
    if reverse is not None:
        digest = reverse_digest(reverse, WORDPIECE)
        elsewhere["second"] = {**SECOND_JUDGE, "reverse": digest, "weight": weight}
        if reranker is not None:
            told = {"reranker": reranker_digest(reranker, WORDPIECE), "rating_weight": rating_weight}
            elsewhere["second"] |= told
    return write_bundle(folder, reliability={**AS_THE_SEQUENCE, "elsewhere": elsewhere}, **more)


def asked(parser: Parser, question: str, **options: Any) -> Result:
    return parser.parse(question, SCHEMA, **options)


def told(result: Result) -> list[tuple[float, float]]:
    """The score and log P(question | program) of every hypothesis, the one that is given first."""
    search = result.background.written.decoded.search  # type: ignore[union-attr]
    return [(one.score, one.likelihood) for one in search.finished]


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("device", ["python", "auto"])
def test_the_first_hypothesis_is_the_one_that_both_models_find_likely(
    tmp_path: Path, reverse: Path, question: str, device: str
) -> None:
    plain = asked(load_toy(bundle(tmp_path / "plain", None), device=device), question)
    found = asked(load_toy(bundle(tmp_path / "second", reverse), device=device), question)
    assert "weigh" in found.timings
    assert "weigh" not in plain.timings
    programs = {one.score: one for one in plain.background.written.decoded.search.finished}  # type: ignore[union-attr]
    assert len(programs) > 1, "there is something to choose"
    assert sorted(score for score, _ in told(found)) == pytest.approx(sorted(programs))
    assert found.best is not None
    asked_about = [likelihood < 0 for _, likelihood in told(found)]
    least = max(programs) - OUT_OF_QUESTION
    assert asked_about == sorted((score >= least for score, _ in told(found)), reverse=True)
    scores = [score + likelihood for score, likelihood in told(found)[: sum(asked_about)]]
    assert scores == sorted(scores, reverse=True)
    model = load_reverse(reverse, WORDPIECE).over(SCHEMA)
    written = found.background.written  # type: ignore[union-attr]
    (expected,) = model.log_probability([question], [written.program])
    assert told(found)[0][1] == pytest.approx(expected, rel=1e-4)


def test_some_question_gets_another_query_than_the_search_found_likeliest(
    tmp_path: Path, reverse: Path
) -> None:
    plain = load_toy(bundle(tmp_path / "plain", None))
    second = load_toy(bundle(tmp_path / "second", reverse))
    indifferent = load_toy(bundle(tmp_path / "indifferent", reverse, weight=0.0))
    answers = [[asked(parser, one).best for one in QUESTIONS] for parser in (plain, second, indifferent)]
    assert answers[0] != answers[1]
    assert answers[0] == answers[2]


def test_nobody_asks_about_what_is_far_less_likely(
    tmp_path: Path, reverse: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fastsql.parser.weigh.OUT_OF_QUESTION", 1e-9)
    plain = asked(load_toy(bundle(tmp_path / "plain", None)), QUESTIONS[0])
    found = asked(load_toy(bundle(tmp_path / "second", reverse)), QUESTIONS[0])
    assert [likelihood < 0 for _, likelihood in told(found)] == [True] + [False] * (len(told(found)) - 1)
    assert found.best == plain.best
    assert [score for score, _ in told(found)] == pytest.approx([score for score, _ in told(plain)])


def test_the_probability_is_that_of_the_second_judge(tmp_path: Path, reverse: Path) -> None:
    found = asked(load_toy(bundle(tmp_path / "second", reverse)), QUESTIONS[0])
    (_, own), *others = told(found)
    rivals = [likelihood for _, likelihood in others if likelihood]
    lead = np.clip(own - max(rivals, default=-np.inf), -10, 10)
    pieces = len(WORDPIECE.tokenize(QUESTIONS[0]).ids) + 1
    odds = 0.5 + 0.1 * own / pieces + 0.2 * lead
    assert found.confidence == pytest.approx(1 / (1 + np.exp(-odds)), rel=1e-5)


def test_nobody_is_asked_over_a_schema_that_was_trained_on(tmp_path: Path, reverse: Path) -> None:
    every = schema_names(SCHEMA).columns
    known = asked(load_toy(bundle(tmp_path / "known", reverse, known=every)), QUESTIONS[0])
    in_part = asked(load_toy(bundle(tmp_path / "part", reverse, known=every[1:])), QUESTIONS[0])
    assert "weigh" not in known.timings
    assert all(likelihood == 0 for _, likelihood in told(known))
    assert "weigh" in in_part.timings


def test_in_doubt_a_single_question_is_given_one_over_a_schema_that_was_trained_on(
    tmp_path: Path, reverse: Path, reranker: Path
) -> None:
    met = TrainingQuestion("how many patients are there of a gender", frozenset({"patients", "gender"}))
    told_apart = {"familiarity": Familiarity.from_questions([met]).to_settings()}
    every = schema_names(SCHEMA).columns
    conversing = bundle_config().with_turns()
    folder = bundle(
        tmp_path / "known", reverse, known=every, reranker=reranker, config=conversing, **told_apart
    )
    parser = load_toy(folder)
    assert "weigh" not in asked(parser, QUESTIONS[0]).timings, "nobody compares by what is left out"
    parser._reliability = replace(parser.reliability, left_out=2.0)
    found = asked(parser, QUESTIONS[0])
    assert "weigh" in found.timings
    assert any(rated(found))
    turn = asked(parser, QUESTIONS[2], history=(asked(parser, QUESTIONS[0], history=()),))
    assert "weigh" not in turn.timings, "what goes on is what the model has learnt"
    assert not any(rated(turn))
    parser.remember(QUESTIONS[0], "SELECT MAX(age) FROM patients WHERE gender = 'f'", SCHEMA)
    assert "weigh" not in asked(parser, QUESTIONS[0]).timings, "somebody has confirmed what is meant"


def test_a_confirmed_query_stays_the_first(tmp_path: Path, reverse: Path) -> None:
    parser = load_toy(bundle(tmp_path / "second", reverse, weight=1e3))
    sql = "SELECT MAX(age) FROM patients WHERE gender = 'f'"
    parser.remember(QUESTIONS[0], sql, SCHEMA)
    found = asked(parser, QUESTIONS[0])
    assert found.remembered is not None
    assert "MAX" in (found.best or "")


def test_without_its_reverse_model_a_bundle_warns_and_answers_alone(
    tmp_path: Path, reverse: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = bundle(tmp_path / "second", reverse)
    expected = asked(load_toy(bundle(tmp_path / "plain", None)), QUESTIONS[0])
    config = make_config()
    other = save_reverse(tmp_path / "other.safetensors", config, random_weights(config, 1), WORDPIECE)
    for path in (other, tmp_path / "nowhere.safetensors"):
        monkeypatch.setattr("fastsql.parser.weigh.bundled_reverse", lambda path=path: path)
        with pytest.warns(CalibrationWarning, match="the reverse model that its probabilities"):
            parser = load_toy(folder)
        found = asked(parser, QUESTIONS[0])
        assert (found.best, found.confidence) == (expected.best, expected.confidence)


def test_a_damaged_reverse_model_is_an_error_and_no_second_opinion(tmp_path: Path, reverse: Path) -> None:
    parser = load_toy(bundle(tmp_path / "second", reverse))
    content = bytearray(reverse.read_bytes())
    content[-1] ^= 1
    reverse.write_bytes(content)
    with pytest.raises(ModelError, match="not what its header says"):
        asked(parser, QUESTIONS[0])


def test_threads_and_copies_agree(tmp_path: Path, reverse: Path) -> None:
    parser = load_toy(bundle(tmp_path / "second", reverse))
    expected = [(one.best, one.confidence) for one in (asked(parser, question) for question in QUESTIONS)]
    again = pickle.loads(pickle.dumps(parser))
    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(lambda question: asked(again, question), QUESTIONS * 4))
    assert [(one.best, one.confidence) for one in found] == expected * 4


def test_what_is_too_long_for_the_reverse_model_is_judged_alone(
    tmp_path: Path, reverse: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = asked(load_toy(bundle(tmp_path / "plain", None)), QUESTIONS[0])
    importlib.import_module(
        "fastsql.reverse.likelihood"
    )  # which keeps the number that it finds when it is imported
    monkeypatch.setattr("fastsql.reverse.source.MAX_TOKENS", 3)
    found = asked(load_toy(bundle(tmp_path / "second", reverse)), QUESTIONS[0])
    assert (found.best, found.confidence) == (expected.best, expected.confidence)


# ---------------------------------------------------------------- a reranker beside it


def rated(result: Result) -> list[float]:
    search = result.background.written.decoded.search  # type: ignore[union-attr]
    return [one.rating for one in search.finished]


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("device", ["python", "auto"])
def test_the_first_hypothesis_is_the_one_that_all_three_find_likely(
    tmp_path: Path, reverse: Path, reranker: Path, question: str, device: str
) -> None:
    folder = bundle(tmp_path / "second", reverse, weight=0.3, reranker=reranker, rating_weight=2.0)
    found = asked(load_toy(folder, device=device), question)
    ratings = rated(found)
    asked_about = [likelihood < 0 for _, likelihood in told(found)]
    assert [rating != 0 for rating in ratings] == asked_about
    assert sum(asked_about) > 1, "there is something to choose"
    both = zip(told(found), ratings, strict=True)
    scores = [score + 0.3 * likelihood + 2.0 * rating for (score, likelihood), rating in both]
    first = scores[: sum(asked_about)]
    assert first == sorted(first, reverse=True)
    rate = open_rater(reranker, WORDPIECE)
    (expected,) = rate(question, [], [found.background.written.program], SCHEMA)  # type: ignore[union-attr]
    assert ratings[0] == pytest.approx(expected, rel=1e-4)


def test_a_reranker_may_choose_another_query(tmp_path: Path, reverse: Path, reranker: Path) -> None:
    plain = load_toy(bundle(tmp_path / "plain", reverse, weight=0.0))
    second = load_toy(bundle(tmp_path / "second", reverse, weight=0.0, reranker=reranker, rating_weight=9.0))
    answers = [[asked(parser, one).best for one in QUESTIONS] for parser in (plain, second)]
    assert answers[0] != answers[1]


def test_in_a_conversation_it_reads_the_questions_before_and_no_reverse_model_is_asked(
    tmp_path: Path, reverse: Path, reranker: Path
) -> None:
    folder = bundle(tmp_path / "second", reverse, reranker=reranker, config=bundle_config().with_turns())
    parser = load_toy(folder)
    first = asked(parser, QUESTIONS[0], penalty=0, history=())
    rate = open_rater(reranker, WORDPIECE)
    continued = 0
    for question in ("only those over 60", "and of type urgent?", "count them", "and 3?"):
        turn = asked(parser, question, penalty=0, history=(first,))
        written = turn.background.written  # type: ignore[union-attr]
        (expected,) = rate(question, [QUESTIONS[0]], [written.program], SCHEMA)
        assert rated(turn)[written.number] == pytest.approx(expected, rel=1e-4)
        if written.linked.space.turns:
            continued += 1
            assert all(likelihood == 0 for _, likelihood in told(turn))
    assert continued, "some question was read with the one before it"


def test_without_its_reranker_a_bundle_warns_and_answers_alone(
    tmp_path: Path, reverse: Path, reranker: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = bundle(tmp_path / "second", reverse, reranker=reranker)
    expected = asked(load_toy(bundle(tmp_path / "plain", None)), QUESTIONS[0])
    config = toy_reranker.make_config()
    weights = toy_reranker.random_weights(config, 1)
    other = save_reranker(tmp_path / "other.safetensors", config, weights, WORDPIECE)
    for path in (other, tmp_path / "nowhere.safetensors"):
        monkeypatch.setattr("fastsql.parser.weigh.bundled_reranker", lambda path=path: path)
        with pytest.warns(CalibrationWarning, match="the reranker that its probabilities"):
            parser = load_toy(folder)
        found = asked(parser, QUESTIONS[0])
        assert (found.best, found.confidence) == (expected.best, expected.confidence)


def test_a_program_that_a_reranker_does_not_read_leaves_all_as_they_were(
    tmp_path: Path, reverse: Path, reranker: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = asked(load_toy(bundle(tmp_path / "plain", None)), QUESTIONS[0])
    monkeypatch.setattr("fastsql.reranker.rating.PROGRAM_TOKENS", 3)
    found = asked(load_toy(bundle(tmp_path / "second", reverse, reranker=reranker)), QUESTIONS[0])
    assert (found.best, found.confidence) == (expected.best, expected.confidence)


def test_a_damaged_reranker_is_an_error(tmp_path: Path, reverse: Path, reranker: Path) -> None:
    parser = load_toy(bundle(tmp_path / "second", reverse, reranker=reranker))
    content = bytearray(reranker.read_bytes())
    content[-1] ^= 1
    reranker.write_bytes(content)
    with pytest.raises(ModelError, match="not what its header says"):
        asked(parser, QUESTIONS[0])
