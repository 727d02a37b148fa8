"""Earlier turns in the native core: the same rows, pointers and queries as in the reference."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from fastsql import ModelError
from fastsql.engine.native import NativeEngine
from fastsql.engine.reference import ReferenceEngine
from fastsql.grammar import load_grammar
from fastsql.linking.prepare import prepare
from fastsql.linking.relations import SchemaLinks
from fastsql.model.config import ModelConfig
from fastsql.model.turns import TurnInputs

from ..fuzz.native import draw_weights
from ..worlds import toy_bundle
from ..worlds.toy_bundle import load_toy
from ..worlds.toy_conversation import (
    FOND,
    QUESTIONS,
    converse,
    count_pointers,
    earlier_turns,
    space_of,
    write_bundle,
)
from ..worlds.toy_model import CONFIG_OF, SCHEMA, WORDPIECE
from .searches import BothDecoders, Rows, expect_same, store

TURNS = earlier_turns(16)


def make_config(cached_layers: int = 2, joint_layers: int = 1) -> ModelConfig:
    return replace(
        toy_bundle.make_config().with_turns(), cached_layers=cached_layers, joint_layers=joint_layers
    )


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("layers", CONFIG_OF.values(), ids=CONFIG_OF.keys())
def test_conversations_are_decoded_as_the_reference_decodes_them(
    core: ModuleType, tmp_path: Path, layers: tuple[int, int], seed: int
) -> None:
    folder = write_bundle(tmp_path / "toy", seed=seed, config=make_config(*layers))
    reference = load_toy(folder, encoder="numpy").engine
    native = load_toy(folder, device="cpu").engine
    assert isinstance(reference, ReferenceEngine)
    assert isinstance(native, NativeEngine)
    schema = native.encode_schema(SCHEMA)
    pointed = np.zeros(2, dtype=int)
    for asked in converse(reference, QUESTIONS, turns=TURNS):
        prepared = native.link(asked.prepared.text, schema, None, asked.prepared.turns)
        np.testing.assert_array_equal(prepared.relations, asked.prepared.relations)
        found = native.decode(prepared, schema, asked.space, 3)
        expect_same(found.search, asked.decoded.search)
        for ours, theirs in ((found.state, asked.decoded.state), (found.pooled, asked.decoded.pooled)):
            np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-4)
        for one in found.search.finished:
            pointed += count_pointers(asked.space, one.actions)
    assert pointed[0] > 0, "turns were pointed at"


@pytest.mark.parametrize("width", [1, 3, 8])
def test_decoders_point_at_whatever_turns_offer(core: ModuleType, width: int) -> None:
    """Weights and rows are drawn at random; the decoder is fond of earlier turns."""
    pointed, close = np.zeros(2, dtype=int), 0
    for seed in range(6):
        random = np.random.default_rng(seed)
        config = make_config()
        weights = draw_weights(config, random)
        weights["decoder.production_scores.bias"] += np.array(
            [FOND.get(name, -3.0) for name in load_grammar().productions], np.float32
        )
        both = BothDecoders(core, config, store(weights, 2**10 if seed % 2 else 1))
        prepared = prepare(QUESTIONS[seed % len(QUESTIONS)], SchemaLinks(SCHEMA), WORDPIECE, turns=TURNS)
        space = replace(space_of(prepared), strict_grouping=seed % 3 == 0)
        found, too_close = both.compare(space, Rows.draw(space, config.d, random), width)
        close += too_close
        for one in found.finished:
            pointed += count_pointers(space, one.actions)
    assert (pointed > 0).all()
    assert close <= 2


def test_turns_that_do_not_fit_are_refused(core: ModuleType, tmp_path: Path) -> None:
    engine = load_toy(write_bundle(tmp_path / "toy"), device="cpu").engine
    assert isinstance(engine, NativeEngine)
    schema = engine.encode_schema(SCHEMA)
    prepared = engine.link(QUESTIONS[0], schema, None, TURNS)
    asked, *others, turns = engine.arguments(prepared, schema, space_of(prepared))
    assert isinstance(turns, TurnInputs)

    def refused(message: str, given: TurnInputs | None) -> None:
        with pytest.raises(ModelError, match=message):
            engine._engine.search(engine._engine.read(schema.state, *others, given), asked, 2)

    def with_entry(place: int, number: int) -> TurnInputs:
        entries = turns.entries.copy()
        entries[0, place] = number
        return replace(turns, entries=entries)

    refused("relations has shape", None)
    refused("pooled has shape", replace(turns, pooled=turns.pooled[:, 1:].copy()))
    refused("features of turns has shape", replace(turns, features=turns.features[:, :1].copy()))
    refused("a turn's feature is 99", replace(turns, features=np.full_like(turns.features, 99)))
    refused("entries has shape", replace(turns, entries=turns.entries[:, 1:].copy()))
    refused("the turn that offers an entry is 3", with_entry(0, 3))
    refused("an entry's feature is -1", with_entry(1, -1))
    refused("the table or column of an entry is 11", with_entry(4, 11))
    refused(
        "the model has 10 things that earlier turns offer", replace(turns, entries=turns.entries[1:].copy())
    )


def test_a_core_without_weights_for_turns_refuses_them(core: ModuleType, tmp_path: Path) -> None:
    reading = load_toy(write_bundle(tmp_path / "turns"), device="cpu").engine
    plain = load_toy(toy_bundle.write_bundle(tmp_path / "plain"), device="cpu").engine
    assert isinstance(reading, NativeEngine)
    assert isinstance(plain, NativeEngine)
    schema = reading.encode_schema(SCHEMA)
    prepared = reading.link(QUESTIONS[0], schema, None, TURNS)
    _, *arguments = reading.arguments(prepared, schema, space_of(prepared))
    with pytest.raises(ModelError, match="no weights for earlier turns"):
        plain._engine.read(plain.encode_schema(SCHEMA).state, *arguments)
