"""Earlier turns of a conversation: whatever a model scores, queries are valid; models without weights for them say so."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fastsql import ModelError, backends
from fastsql.grammar import render
from fastsql.parser import Parser

from ..worlds import toy_bundle
from ..worlds.toy_bundle import QUESTIONS, load_toy, search
from ..worlds.toy_conversation import (
    converse,
    count_pointers,
    earlier_turns,
    space_of,
    write_bundle,
)
from ..worlds.toy_model import SCHEMA

DEVICES = ["python", "cpu"]
SEEDS = range(4)


def load_here(folder: Path, device: str) -> Parser:
    if device == "cpu" and backends.native() is None:
        pytest.skip("the native module is missing; reinstall where a C++20 compiler is, to run this")
    return load_toy(folder, device=device, encoder=None if device == "cpu" else "numpy")


@pytest.mark.parametrize("device", DEVICES)
def test_random_models_write_valid_queries_from_earlier_turns(tmp_path: Path, device: str) -> None:
    pointed = np.zeros(2, dtype=int)
    with sqlite3.connect(":memory:") as connection:
        connection.executescript(SCHEMA.to_ddl())
        for seed in SEEDS:
            engine = load_here(write_bundle(tmp_path / f"toy{seed}", seed=seed), device).engine
            for asked in converse(engine, turns=earlier_turns(16)):
                turns = [turn.turn for turn in asked.prepared.turns]
                sql = render(asked.program, SCHEMA, turns=turns)
                connection.execute(f"EXPLAIN {sql}")
                pointed += count_pointers(asked.space, asked.decoded.search.finished[0].actions)
    connection.close()
    assert (pointed > 10).all(), "turns, and what they offer, were pointed at"


@pytest.mark.parametrize("device", DEVICES)
def test_a_question_is_pooled_for_those_after_it(tmp_path: Path, device: str) -> None:
    """What it is pooled to depends on the question alone, not on the turns before it."""
    engine = load_here(write_bundle(tmp_path / "toy"), device).engine
    alone, again = (next(converse(engine, turns=turns)).decoded for turns in ((), earlier_turns(16)))
    np.testing.assert_allclose(alone.pooled, again.pooled, rtol=1e-5, atol=1e-6)
    assert np.abs(alone.pooled).max() > 0
    assert np.abs(alone.state - again.state).max() > 1e-3


@pytest.mark.parametrize("device", DEVICES)
def test_a_model_without_weights_for_turns_says_so(tmp_path: Path, device: str) -> None:
    parser = load_here(toy_bundle.write_bundle(tmp_path / "toy"), device)
    schema = parser.engine.encode_schema(SCHEMA)
    turns = earlier_turns(16)
    with pytest.raises(ModelError, match="no weights for earlier turns"):
        parser.engine.link(QUESTIONS[0], schema, None, turns)
    _, space = search(parser, QUESTIONS[0], SCHEMA)
    assert space.sizes[-1] == 0
    prepared = parser.engine.link(QUESTIONS[0], schema, None)
    with pytest.raises(ModelError, match="no weights for earlier turns"):
        parser.engine.decode(prepared, schema, replace(space, turns=(turns[0].turn,)), 2)


@pytest.mark.parametrize("device", DEVICES)
def test_a_question_is_decoded_with_the_turns_that_it_was_linked_to(tmp_path: Path, device: str) -> None:
    engine = load_here(write_bundle(tmp_path / "toy"), device).engine
    schema = engine.encode_schema(SCHEMA)
    turns = earlier_turns(16)
    prepared = engine.link(QUESTIONS[0], schema, None, turns)
    space = space_of(prepared)
    for others in ((), space.turns[:2], space.turns[::-1]):
        with pytest.raises(ModelError, match="the action space"):
            engine.decode(prepared, schema, replace(space, turns=others), 2)
