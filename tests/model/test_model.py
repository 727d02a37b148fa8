"""The NumPy model: what is cached, what beams share, and what happens at the edges."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fastsql.errors import LimitError
from fastsql.grammar.actions import NO_ACTION, STEP
from fastsql.model import Model, SchemaState, load_bundle
from fastsql.model.config import GRAPHS
from fastsql.model.decoder import DecoderState

from ..worlds.toy_model import QUESTIONS, SCHEMA, WORDPIECE, link, make_config, question_layout, write_bundle

ZERO = np.zeros(1, dtype=np.int64)


@pytest.fixture(scope="module", params=GRAPHS)
def model(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Model:
    folder: Path = write_bundle(tmp_path_factory.mktemp("toy"), make_config(graph=request.param))
    return load_bundle(folder, encoder="numpy")


@pytest.fixture(scope="module")
def schema(model: Model) -> SchemaState:
    return model.encode_schema(SCHEMA)


def run(state: DecoderState, actions: list[int]) -> np.ndarray:
    """Scores after each of a single hypothesis's actions."""
    rows = [state.step(np.array([action]), ZERO + 1, ZERO + 2)[0] for action in [NO_ACTION, *actions]]
    return np.stack(rows)


def test_memory_limits_change_no_state(
    model: Model, schema: SchemaState, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fastsql.model.encoder.TOKENS_AT_ONCE", 1)
    monkeypatch.setattr("fastsql.model.graph.SCORES_AT_ONCE", 1)
    again = model.encode_schema(SCHEMA)
    np.testing.assert_allclose(again.graph.items, schema.graph.items, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(again.values, schema.values, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("text", QUESTIONS)
def test_scores_lie_in_the_layout_of_the_question(model: Model, schema: SchemaState, text: str) -> None:
    prepared = link(text)
    state = model.start(model.encode_question(prepared, schema), hypotheses=3)
    scores = state.step(np.full(3, NO_ACTION), np.zeros(3, int), np.zeros(3, int))
    layout = question_layout(prepared, schema.inputs, model.config)
    assert scores.shape == (3, layout.size)
    assert np.isfinite(scores[:, : layout.offsets[STEP]]).all()
    assert np.isneginf(scores[:, layout.offsets[STEP] :]).all(), "there is no step to point at yet"


def test_a_question_without_tokens_has_only_the_schema_to_point_at(model: Model, schema: SchemaState) -> None:
    prepared = link("")
    assert len(prepared.token_ids) == 0
    scores = model.start(model.encode_question(prepared, schema)).step(ZERO + NO_ACTION, ZERO, ZERO)
    assert np.isfinite(scores[0, : model.config.n_productions + schema.inputs.n_items]).all()


def test_a_beam_scores_as_its_hypotheses_would_alone(model: Model, schema: SchemaState) -> None:
    question = model.encode_question(link(QUESTIONS[1]), schema)
    layout = question.memory.layout
    first, second = [1, 11, layout.offsets[STEP]], [2, 12, 3]
    beam = model.start(question, 1)
    beam.step(np.array([NO_ACTION]), ZERO + 1, ZERO + 2)
    beam.reorder(np.array([0, 0]))
    pairs = zip(first, second, strict=True)
    scores = [beam.step(np.array(pair), np.full(2, 1), np.full(2, 2)) for pair in pairs]
    beam.reorder(np.array([1, 0, 1]))
    last = beam.step(np.array([4, 5, 4]), np.full(3, 1), np.full(3, 2))

    alone_first = run(model.start(question), [*first, 5])
    alone_second = run(model.start(question), [*second, 4])
    together = np.stack(scores)
    np.testing.assert_allclose(together[:, 0], alone_first[1:4], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(together[:, 1], alone_second[1:4], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(
        last, np.stack([alone_second[4], alone_first[4], alone_second[4]]), rtol=1e-4, atol=1e-5
    )


def test_earlier_steps_can_be_pointed_at_and_later_ones_not(model: Model, schema: SchemaState) -> None:
    question = model.encode_question(link(QUESTIONS[0]), schema)
    scores = run(model.start(question), [1, 2, 3])
    steps = scores[:, question.memory.layout.offsets[STEP] :]
    assert (np.isfinite(steps).sum(axis=1) == [0, 1, 2, 3]).all()


def test_decisions_end_where_the_model_has_no_more_positions(model: Model, schema: SchemaState) -> None:
    state = model.start(model.encode_question(link(QUESTIONS[0]), schema))
    run(state, [1] * (model.config.max_steps - 1))
    with pytest.raises(LimitError, match="64"):
        state.step(ZERO, ZERO, ZERO)


def test_a_question_longer_than_the_encoder_is_refused_without_being_quoted() -> None:
    with pytest.raises(LimitError) as error:
        WORDPIECE.tokenize("secret " * 600)
    assert "secret" not in str(error.value)


def test_texts_encode_alike_alone_and_in_a_group(model: Model) -> None:
    ids = np.array([[2, 5, 6, 3], [2, 9, 10, 3]], dtype=np.int32)
    np.testing.assert_allclose(
        model.encoder.encode(ids)[1:], model.encoder.encode(ids[1:]), rtol=1e-4, atol=1e-5
    )
