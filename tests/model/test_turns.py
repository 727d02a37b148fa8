"""Earlier turns in the NumPy model: what it reads of them, what it points at, and models that have no weights for them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fastsql.errors import ModelError
from fastsql.grammar.actions import NO_ACTION, STEP, TURN
from fastsql.linking.prepare import prepare
from fastsql.linking.relations import PLAIN_RELATIONS
from fastsql.linking.turns import EarlierTurn
from fastsql.model import Model, SchemaState, load_bundle, open_bundle
from fastsql.model.attention import Part
from fastsql.model.bundle import CONFIG, write_json, write_manifest
from fastsql.model.config import AGES, ModelConfig
from fastsql.model.turns import TurnInputs
from fastsql.model.weights import WORD, weight_shapes

from ..worlds.toy_conversation import earlier_turns
from ..worlds.toy_model import QUESTIONS, SCHEMA, make_config, write_bundle

ZERO = np.zeros(1, dtype=np.int64)
STEPS = 40
TURNS = earlier_turns(16)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_bundle(tmp_path_factory.mktemp("toy") / "turns", make_config().with_turns())


@pytest.fixture(scope="module")
def model(folder: Path) -> Model:
    return load_bundle(folder, encoder="numpy")


@pytest.fixture(scope="module")
def schema(model: Model) -> SchemaState:
    return model.encode_schema(SCHEMA)


def scores_after(
    model: Model, schema: SchemaState, turns: tuple[EarlierTurn, ...], *actions: int
) -> np.ndarray:
    """Scores [A] after a hypothesis's actions."""
    prepared = replace(prepare(QUESTIONS[0], schema.links, model.tokenizer, turns=turns), turns=turns)
    state = model.start(model.encode_question(prepared, schema, steps=STEPS))
    return [state.step(np.array([action]), ZERO + 1, ZERO + 2)[0] for action in (NO_ACTION, *actions)][-1]


def place(schema: SchemaState, model: Model, kind: int, index: int) -> int:
    prepared = prepare(QUESTIONS[0], schema.links, model.tokenizer, turns=TURNS)
    layout = model.encode_question(prepared, schema, steps=STEPS).memory.layout
    return layout.offsets[kind] + index


def test_turns_and_what_they_offer_are_scored_from_the_first_decision(
    model: Model, schema: SchemaState
) -> None:
    scores = scores_after(model, schema, TURNS)
    first = place(schema, model, STEP, 0)
    offered = sum(turn.turn.entries for turn in TURNS)
    finite = np.isfinite(scores[first:])
    assert not finite[:STEPS].any(), "no decision has been taken"
    assert finite[STEPS:].sum() == offered + len(TURNS)
    assert len(np.unique(scores[first + STEPS :])) == offered + len(TURNS), "each has a score of its own"


@pytest.mark.parametrize(("kind", "index"), [(TURN, 1), (STEP, STEPS), (STEP, STEPS + 3)])
def test_what_was_pointed_at_is_read_by_the_next_decision(
    model: Model, schema: SchemaState, kind: int, index: int
) -> None:
    one = place(schema, model, kind, index)
    scores = [scores_after(model, schema, TURNS, action) for action in (one, one + 1)]
    assert np.abs(scores[0][:9] - scores[1][:9]).max() > 1e-3


def test_a_pointer_at_a_decision_that_pointed_at_an_entry_stands_for_the_entry(
    model: Model, schema: SchemaState
) -> None:
    """Both embed the same row: what is left to tell them apart is where they lie."""
    entry, step = place(schema, model, STEP, STEPS + 1), place(schema, model, STEP, 0)
    np.testing.assert_allclose(
        scores_after(model, schema, TURNS, entry, step)[:9],
        scores_after(model, schema, TURNS, entry, entry)[:9],
        rtol=1e-5,
        atol=1e-5,
    )


def test_how_long_ago_a_turn_was_and_whether_it_is_usable_are_read(model: Model, schema: SchemaState) -> None:
    first, second, _ = TURNS
    unusable = EarlierTurn(first.turn.unusable, first.pooled)
    asked = [(first,), (unusable,), (first, second), (second, first)]
    scores = [scores_after(model, schema, turns)[:9] for turns in asked]
    for index, one in enumerate(scores):
        for other in scores[index + 1 :]:
            assert np.abs(one - other).max() > 1e-4


def test_a_turn_that_is_called_by_its_number_is_told_from_others(model: Model, schema: SchemaState) -> None:
    first, second, third = TURNS
    said = [
        (first, second, third),
        (replace(first, named=True), second, third),
        (first, second, replace(third, named=True)),
    ]
    scores = [scores_after(model, schema, turns)[:9] for turns in said]
    for index, one in enumerate(scores):
        for other in scores[index + 1 :]:
            assert np.abs(one - other).max() > 1e-4
    called = [replace(turn, named=True) for turn in TURNS]
    assert TurnInputs.of(called, schema.inputs.nodes, 16, named=True).features[:, 1].tolist() == [2, 0, 2]
    assert TurnInputs.of(called, schema.inputs.nodes, 16, named=False).features[:, 1].tolist() == [1, 0, 1]


def test_the_oldest_turns_share_an_age(schema: SchemaState) -> None:
    inputs = TurnInputs.of(TURNS[:1] * (AGES + 2), schema.inputs.nodes, 16, named=True)
    assert inputs.features[:, 0].tolist() == [AGES - 1] * 3 + list(range(AGES - 1))[::-1]


def test_without_turns_a_model_that_reads_them_scores_as_one_that_does_not(
    model: Model, schema: SchemaState
) -> None:
    config = make_config()
    names = [name for name in weight_shapes(config) if name != WORD]
    weights = {
        name: model.weights[name][: len(PLAIN_RELATIONS)] if "relation_" in name else model.weights[name]
        for name in names
    }
    plain = Model(config, Part(weights), model.encoder, model.tokenizer)
    np.testing.assert_array_equal(
        scores_after(model, schema, ()), scores_after(plain, plain.encode_schema(SCHEMA), ())
    )


def test_turns_of_another_model_are_refused(model: Model, schema: SchemaState) -> None:
    with pytest.raises(ModelError, match="read by another model"):
        scores_after(model, schema, earlier_turns(8))


def test_turns_that_are_not_finite_are_refused(schema: SchemaState) -> None:
    broken = EarlierTurn(TURNS[0].turn, np.full(16, np.nan, np.float32))
    with pytest.raises(ModelError, match="finite"):
        TurnInputs.of((broken,), schema.inputs.nodes, 16, named=True)


def test_columns_of_two_derived_tables_are_told_apart(schema: SchemaState) -> None:
    counted = "(SELECT subject_id, COUNT(*) AS n FROM admissions GROUP BY subject_id)"
    query = f"SELECT a.n FROM {counted} AS a JOIN {counted} AS b ON a.subject_id = b.subject_id"
    (turn,) = earlier_turns(16, [query])
    entries = TurnInputs.of((turn,), schema.inputs.nodes, 16, named=True).entries
    assert len(turn.turn.offered.sources) == 2
    assert len(np.unique(entries, axis=0)) == len(entries)


# ---------------------------------------------------------------- bundles


def change_config(folder: Path, **changes: object) -> None:
    config = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
    write_json(folder / CONFIG, {**config, **changes})
    write_manifest(folder)


def test_a_bundle_of_before_turns_opens_as_it_is(tmp_path: Path) -> None:
    folder = write_bundle(tmp_path / "plain", make_config())
    config = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
    assert config["relations"] == list(PLAIN_RELATIONS)
    change_config(folder, model={name: size for name, size in config["model"].items() if name != "turns"})
    assert not open_bundle(folder).config.model.turns
    open_bundle(folder).weights()


def test_turns_without_their_relations_are_refused(folder: Path, tmp_path: Path) -> None:
    plain = write_bundle(tmp_path / "plain", make_config())
    sizes = make_config().to_dict()
    change_config(plain, model={**sizes, "turns": True})
    with pytest.raises(ModelError, match="relations are not those of this fastsql"):
        open_bundle(plain)
    change_config(plain, model={**sizes, "turns": 1})
    with pytest.raises(ModelError, match="turns is neither true nor false"):
        open_bundle(plain)


def test_turns_without_their_weights_are_refused(tmp_path: Path) -> None:
    plain = write_bundle(tmp_path / "plain", make_config())
    content = replace(open_bundle(plain).config, model=make_config().with_turns()).to_dict()
    change_config(plain, **{name: content[name] for name in ("model", "relations")})
    with pytest.raises(ModelError, match=r"weight 'decoder.turn.key.weight' is missing"):
        open_bundle(plain).weights()


def test_sizes_of_a_model_with_turns_say_so() -> None:
    config = make_config().with_turns()
    assert ModelConfig.from_dict(config.to_dict()) == config
