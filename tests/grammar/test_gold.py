"""Gold SQL of a public data set, as far as a test has time; benchmarks/coverage.py does all of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from fastsql.datasets import Example, read_examples, read_schemas
from fastsql.execution import verify
from fastsql.grammar import read_program, render, sql_to_program, trace_program
from fastsql.schema import Schema

from .grounding import literals_as_candidates, space_for

EVERY = 5


@pytest.fixture(scope="module")
def gold(ehrsql2024: Path) -> list[Example]:
    examples = [example for example in read_examples(ehrsql2024 / "valid.json") if example.answerable]
    return examples[::EVERY]


@pytest.fixture(scope="module")
def schema(ehrsql2024: Path) -> Schema:
    return read_schemas(ehrsql2024 / "schemas.json")["mimic_iv"]


def test_gold_goes_to_actions_and_back(gold: list[Example], schema: Schema) -> None:
    for example in gold:
        assert example.sql is not None
        program = sql_to_program(example.sql, schema)
        ours = render(program, schema)
        verify(ours, schema)
        assert render(sql_to_program(ours, schema), schema) == ours, example.id
        space = space_for(schema, "?", literals_as_candidates(program))
        trace = trace_program(program, space)
        assert render(read_program(trace.actions.tolist(), space), schema) == ours, example.id
        assert len(trace.actions) < space.limits.actions
