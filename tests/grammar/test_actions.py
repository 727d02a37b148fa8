"""The numbering of actions."""

from __future__ import annotations

import pytest

from fastsql.grammar.actions import (
    CANDIDATE,
    COLUMN,
    END,
    KINDS,
    PRODUCTION,
    SCHEMA_VALUE,
    START,
    STEP,
    TABLE,
    TURN,
    ActionLayout,
)
from fastsql.grammar.schema_values import schema_values
from fastsql.schema import Constant, Schema

LAYOUT = ActionLayout.of(
    productions=3, tables=1, columns=2, candidates=0, schema_values=0, tokens=2, steps=4, turns=2
)


def test_kinds_of_actions_lie_in_the_documented_order() -> None:
    order = (PRODUCTION, TABLE, COLUMN, CANDIDATE, SCHEMA_VALUE, START, END, STEP, TURN)
    assert order == tuple(range(len(KINDS)))
    assert LAYOUT.sizes == (3, 1, 2, 0, 0, 2, 2, 4, 2)
    assert LAYOUT.offsets == (0, 3, 4, 6, 6, 6, 8, 10, 14, 16)


def test_a_flat_action_is_found_even_beside_empty_kinds() -> None:
    places = [(kind, index) for kind, size in enumerate(LAYOUT.sizes) for index in range(size)]
    assert [LAYOUT.locate(action) for action in range(LAYOUT.size)] == places
    assert [LAYOUT.flat(*place) for place in places] == list(range(LAYOUT.size))


@pytest.mark.parametrize("action", [-1, 16])
def test_numbers_outside_of_a_layout_are_no_actions(action: int) -> None:
    with pytest.raises(IndexError):
        LAYOUT.locate(action)


def test_values_of_columns_stand_before_constants_and_the_model_reads_words() -> None:
    schema = Schema.from_dict({"t": {"x": "INT", "y": "TEXT"}})
    schema = schema.with_values({("t", "y"): ["b", "a"], ("t", "x"): [2]})
    schema = schema.with_constants(
        [Constant("sao2_lower", 95.0), Constant("fever", 38, "a fever", schema.column_index("t", "x"))]
    )
    values = schema_values(schema)
    assert [(value.value, value.column) for value in values] == [
        (2, 0),
        ("b", 1),
        ("a", 1),
        (95.0, None),
        (38, 0),
    ]
    assert [value.text for value in values] == ["2", "b", "a", "sao2 lower", "a fever"]
