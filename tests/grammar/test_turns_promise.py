"""Conversations: whatever the scores, each turn prepares, and points at earlier ones in every way."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings

from fastsql.datasets import read_schemas
from fastsql.grammar import ActionSpace, render
from fastsql.grammar.bounds import MAX_NESTING
from fastsql.limits import DEFAULT
from fastsql.linking import find_candidates
from fastsql.schema import Schema
from fastsql.verification.text import scan_text
from fastsql.verification.verify import prepare

from ..worlds.grammar_hospitals import CLINIC, HOSPITAL, SCHEMAS
from .conversations import POINTING, converse, count_pointing
from .grounding import space_for
from .strategies import habits, spaces
from .test_promises import EXAMPLES, QUESTION, SEEDS, promise
from .walking import HABITS, Bias

a_few = settings(promise, max_examples=EXAMPLES // 13)


def hold(space: ActionSpace, seed: int, bias: Bias = HABITS["none"]) -> set[str]:
    """Holds a conversation of six turns, each of which must prepare; returns what pointed at earlier ones."""
    found: set[str] = set()
    for one in converse(space, seed, bias):
        assert one.walk.used <= DEFAULT.actions
        assert one.turn.nesting <= MAX_NESTING
        sql = render(one.program, space.schema, turns=one.space.turns)
        scan_text(sql, "sqlite", DEFAULT)
        prepare(sql, space.schema)
        found |= count_pointing(one.space, one.walk.decisions)
    return found


def test_random_conversations_prepare_and_point_at_turns_in_every_way() -> None:
    schemas = {21: CLINIC, 22: SCHEMAS["traps"]}
    found: set[str] = set()
    for seed in (*range(21, 28), 36):  # so that every production that points at turns occurs
        schema = schemas.get(seed, HOSPITAL)
        space = space_for(schema, QUESTION, find_candidates(QUESTION, schema))
        found |= hold(replace(space, strict_grouping=seed % 2 > 0), seed)
    assert found == set(POINTING)


@a_few
@given(spaces(), habits(), SEEDS)
def test_conversations_prepare_on_any_schema(space: ActionSpace, bias: Bias, seed: int) -> None:
    hold(space, seed, bias)


@pytest.mark.parametrize("folder", ["spider", "bird"])
def test_conversations_prepare_on_schemas_of_data_sets(fastsql_data: Path, folder: str) -> None:
    if not (fastsql_data / folder / "schemas.json").is_file():
        pytest.skip(f"put {folder} into the folder that FASTSQL_DATA names to run this")
    schemas: list[Schema] = list(read_schemas(fastsql_data / folder / "schemas.json").values())
    hold(space_for(schemas[-1], QUESTION, find_candidates(QUESTION, schemas[-1])), 1)
