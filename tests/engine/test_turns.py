"""Earlier turns of a conversation: no model has weights for them yet, and engines say so."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from fastsql import ModelError, backends
from fastsql.grammar import read_turn, sql_to_program

from ..worlds.toy_bundle import QUESTIONS, load_toy, search, write_bundle
from ..worlds.toy_model import SCHEMA


@pytest.mark.parametrize("device", ["python", "cpu"])
def test_a_model_without_weights_for_turns_says_so(tmp_path: Path, device: str) -> None:
    if device == "cpu" and backends.native() is None:
        pytest.skip("the native module is missing; reinstall where a C++20 compiler is, to run this")
    parser = load_toy(write_bundle(tmp_path / "toy"), device=device)
    _, space = search(parser, QUESTIONS[0], SCHEMA)
    assert space.sizes[-1] == 0
    table = SCHEMA.tables[0]
    program = sql_to_program(f"SELECT {SCHEMA.columns[table.columns[0]].name} FROM {table.name}", SCHEMA)
    asked = replace(space, turns=(read_turn(program, space),))
    schema = parser.engine.encode_schema(SCHEMA)
    prepared = parser.engine.link(QUESTIONS[0], schema, None)
    with pytest.raises(ModelError, match="no weights for earlier turns"):
        parser.engine.decode(prepared, schema, asked, 2)
