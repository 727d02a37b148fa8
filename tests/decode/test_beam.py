"""Beam search: what it promises of scores and widths, and that only the grammar's choices cost a step."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fastsql import Parser
from fastsql.decode import Hypothesis, Search, beam_search
from fastsql.decode.beam import NO_ACTION
from fastsql.grammar import ActionSpace, State
from fastsql.grammar.actions import COLUMN, END, START, TABLE
from fastsql.grammar.grounding import Grounds
from fastsql.grammar.transitions import fill_in
from fastsql.limits import Limits

from ..worlds.toy_bundle import QUESTIONS, load_toy, search, write_bundle
from ..worlds.toy_model import SCHEMA

SEEDS = (3, 5, 8, 10)


@pytest.fixture(scope="module", params=SEEDS)
def parser(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Parser:
    folder: Path = write_bundle(tmp_path_factory.mktemp("beam") / "toy", seed=request.param)
    return load_toy(folder)


def settle(state: State) -> State:
    """Past all actions that are the only legal ones."""
    while not state.finished and len(state.legal()) == 1:
        state = state.advance(int(state.legal()[0]), decision=False)
    return state


def log_softmax(scores: np.ndarray) -> np.ndarray:
    shifted = scores.astype(np.float64) - scores.max()
    return shifted - np.log(np.exp(shifted).sum())


def steps(parser: Parser, question: str, space: ActionSpace, choose: Any) -> tuple[list[int], list[float]]:
    """Decisions and their log-probabilities where `choose(place, gains)` picks one of the legal actions."""
    model = parser.engine.model
    linked = model.encode_schema(SCHEMA)
    from fastsql.linking.prepare import prepare

    prepared = prepare(question, linked.links, model.tokenizer)
    decoder = model.start(model.encode_question(prepared, linked))
    state, actions, gains = settle(State.start(space)), [NO_ACTION], []
    while not state.finished:
        scores = decoder.step(np.array(actions[-1:]), np.array([state.symbol]), np.array([state.parent]))
        legal = state.legal()
        found = log_softmax(scores[0, legal])
        place = choose(len(gains), legal, np.where(state.takable(), found, -np.inf))
        actions.append(int(legal[place]))
        gains.append(float(found[place]))
        state = settle(state.advance(actions[-1]))
    return actions[1:], gains


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_beam_of_one_is_greedy(parser: Parser, question: str) -> None:
    found, space = search(parser, question, SCHEMA, beam=1)
    greedy, _ = steps(parser, question, space, lambda step, legal, gains: int(np.argmax(gains)))
    assert [list(h.actions) for h in found.finished] == [greedy]
    assert found.unfinished == -math.inf


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_hypothesis_scores_in_a_beam_as_it_would_alone(parser: Parser, question: str) -> None:
    found, space = search(parser, question, SCHEMA, beam=6)
    for hypothesis in found.finished:
        wanted = hypothesis.actions
        _, gains = steps(
            parser,
            question,
            space,
            lambda step, legal, _, wanted=wanted: int(np.flatnonzero(legal == wanted[step])[0]),
        )
        np.testing.assert_allclose(hypothesis.log_probabilities, gains, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("beam", [1, 2, 4, 16])
def test_scores_only_fall_and_the_first_is_the_best(parser: Parser, beam: int) -> None:
    for question in QUESTIONS:
        found, space = search(parser, question, SCHEMA, beam=beam)
        assert 1 <= len(found.finished) <= beam
        assert len({h.actions for h in found.finished}) == len(found.finished)
        assert all(h.path == fill_in(h.actions, space) for h in found.finished), "every one is complete"
        for hypothesis in found.finished:
            assert max(hypothesis.log_probabilities) <= 1e-6
            assert hypothesis.score == pytest.approx(sum(hypothesis.log_probabilities))
            assert hypothesis.worst == min(hypothesis.log_probabilities)
        scores = [h.score for h in found.finished]
        assert scores == sorted(scores, reverse=True)
        assert found.unfinished <= scores[0]


def test_no_beam_finds_anything_better_than_one_that_forgets_nothing(toy_bundle: Path) -> None:
    """Wider is not better in general, but a beam with room for all queries of a small budget is exact."""
    parser = load_toy(toy_bundle, limits=Limits(actions=6))
    for question in QUESTIONS:
        best = search(parser, question, SCHEMA, beam=10**6)[0].finished[0].score
        scores = [search(parser, question, SCHEMA, beam=beam)[0].finished[0].score for beam in (1, 2, 4, 16)]
        assert max(scores) <= best + 1e-5
        assert scores[-1] == pytest.approx(best, abs=1e-4), "16 are enough on these"


def test_forced_actions_are_no_decisions(parser: Parser, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = 0
    start = parser.engine.model.start

    def counting(*arguments: Any) -> Any:
        decoder = start(*arguments)
        step = decoder.step

        def counted(*inputs: Any) -> Any:
            nonlocal asked
            asked += 1
            return step(*inputs)

        decoder.step = counted  # type: ignore[method-assign]
        return decoder

    monkeypatch.setattr(parser.engine.model, "start", counting)
    found, space = search(parser, QUESTIONS[0], SCHEMA, beam=1)
    (hypothesis,) = found.finished
    assert asked == len(hypothesis.actions), "one step of the decoder for each decision"

    state, forced = State.start(space), 0
    decisions = iter(hypothesis.actions)
    while not state.finished:
        legal = state.legal()
        if len(legal) == 1:
            forced += 1
            state = state.advance(int(legal[0]), decision=False)
        else:
            state = state.advance(next(decisions))
    assert next(decisions, None) is None
    assert state.used == forced + len(hypothesis.actions) == len(hypothesis.path)
    assert tuple(a for a in hypothesis.path if a >= 0) == hypothesis.actions


@pytest.mark.parametrize("actions", [4, 5, 10])
def test_a_query_fits_whatever_budget_there_is(toy_bundle: Path, actions: int) -> None:
    parser = load_toy(toy_bundle, limits=Limits(actions=actions))
    for question in QUESTIONS:
        found, _ = search(parser, question, SCHEMA)
        assert max(len(h.path) for h in found.finished) <= actions


def test_nothing_is_asked_of_the_model_where_nothing_is_to_decide(toy: Parser) -> None:
    end = Hypothesis((), ())
    assert (end.score, end.worst) == (0, 0)


class Scripted:
    """Stands in for model and decoder: the same made-up scores for an action whenever it is asked about."""

    def __init__(self, size: int, seed: int, spoiled: bool = False) -> None:
        self.scores = np.random.default_rng(seed).normal(0, 3, size).astype(np.float32)
        if spoiled:
            self.scores[:] = np.nan

    def start(self, question: object, hypotheses: int) -> Scripted:
        return self

    def step(self, previous: np.ndarray, symbols: np.ndarray, parents: np.ndarray) -> np.ndarray:
        return np.stack([np.roll(self.scores, int(action)) for action in previous])

    def reorder(self, parents: np.ndarray) -> None:
        pass


SPACE = ActionSpace.for_question(
    SCHEMA, "how many", np.array([[0, 3], [4, 8]], np.int32), limits=Limits(actions=12)
)


def scripted(seed: int, beam: int, *, spoiled: bool = False, patience: float = 0.0) -> Search:
    model: Any = Scripted(SPACE.size, seed, spoiled)
    return beam_search(model, model, SPACE, beam=beam, patience=patience)


def test_the_search_does_not_end_while_something_better_is_unfinished() -> None:
    """A full beam of finished hypotheses once ended it, and the best was lost."""
    for seed in range(20):
        found = scripted(seed, beam=3)
        assert found.unfinished <= found.finished[0].score
        assert found.finished[0].score >= scripted(seed, beam=1).finished[0].score


def test_a_patient_search_goes_on_for_what_is_less_likely_and_finds_the_same_first() -> None:
    further = 0
    for seed in range(20):
        plain, patient = scripted(seed, beam=4), scripted(seed, beam=4, patience=6.0)
        assert patient.finished[0] == plain.finished[0]
        assert patient.unfinished <= plain.finished[0].score - 6.0
        assert patient.steps >= plain.steps
        assert [one.score for one in patient.finished] >= [one.score for one in plain.finished]
        further += len(patient.finished) > len(plain.finished)
    assert further, "for nothing"


def test_scores_that_are_no_numbers_end_the_search_all_the_same() -> None:
    found = scripted(0, beam=2, spoiled=True)
    assert found.finished[0].path == fill_in(found.finished[0].actions, SPACE)


def test_what_may_not_be_said_keeps_its_probability() -> None:
    """The likeliest literal is passed over where it does not exist, and what is said instead is no likelier for it."""
    gender = SCHEMA.column_index("patients", "gender")
    free = replace(SPACE, schema_values=())
    bound = replace(free, grounds=Grounds(frozenset({gender})))

    class Insistent(Scripted):
        def step(self, previous: np.ndarray, symbols: np.ndarray, parents: np.ndarray) -> np.ndarray:
            scores = np.zeros((len(previous), free.size), np.float32)
            scores[:, wanted] = 5.0
            scores[:, free.flat(START, 1)] = 9.0
            return scores

    names = free.grammar.productions
    wanted = [
        free.flat(TABLE, 0),
        names.index("eq"),
        free.flat(COLUMN, gender),
        free.flat(START, 1),
        free.flat(END, 1),
        names.index("count_all"),
        names.index("end"),
    ]
    model: Any = Insistent(free.size, 0)
    likeliest = beam_search(model, model, free, beam=1).finished[0]
    held = beam_search(model, model, bound, beam=1).finished[0]
    assert free.flat(START, 1) in likeliest.actions
    assert free.flat(START, 1) not in held.actions
    state, place = State.start(bound), held.actions.index(free.flat(COLUMN, gender)) + 1
    for action in held.path:
        if action >= 0 and state.decisions == place:
            break
        state = state.advance(action if action >= 0 else ~action, decision=action >= 0)
    assert len(state.legal()) > state.takable().sum()
    assert free.flat(START, 1) in state.legal()
    assert held.log_probabilities[place] < -3.9
    scores = model.step(np.zeros(1), np.zeros(1), np.zeros(1))[0, state.legal()]
    assert held.kept[place] == pytest.approx(
        np.log(np.exp(log_softmax(scores)[state.takable()]).sum()), abs=1e-5
    )
    assert held.kept[place] < -3.9
    assert len(held.kept) == len(held.actions)
    assert max(held.kept) <= 0
