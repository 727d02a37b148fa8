"""Earlier turns in the relation graph."""

from __future__ import annotations

import numpy as np
import pytest

from fastsql.linking.prepare import Prepared, prepare
from fastsql.linking.relations import PLAIN_RELATIONS, RELATIONS, SchemaLinks
from fastsql.linking.turns import EarlierTurn

from ..worlds.toy_conversation import earlier_turns
from ..worlds.toy_model import SCHEMA, WORDPIECE

LINKS = SchemaLinks(SCHEMA)
QUESTION = "and of those with 5 of type elective or 'f'?"


def linked(*turns: EarlierTurn) -> Prepared:
    return prepare(QUESTION, LINKS, WORDPIECE, turns=turns)


def edges(prepared: Prepared, turn: int) -> tuple[dict[str, str], dict[str, str]]:
    """Relations from a turn to some nodes, and from these to it, but for those that have none of their own."""
    nodes = LINKS.nodes.with_question(len(prepared.token_ids), len(prepared.candidates), len(prepared.turns))
    places = {"token": nodes.tokens.start}
    places |= {
        f"={one.value}": nodes.candidates.start + index for index, one in enumerate(prepared.candidates)
    }
    places |= {table.name: nodes.table(index) for index, table in enumerate(SCHEMA.tables)}
    places |= {
        f"{SCHEMA.tables[column.table].name}.{column.name}": nodes.column(index)
        for index, column in enumerate(SCHEMA.columns)
    }
    places |= {f"turn {index}": nodes.turns.start + index for index in range(len(prepared.turns))}
    node = nodes.turns.start + turn
    there = {name: RELATIONS[prepared.relations[node, place]] for name, place in places.items()}
    back = {name: RELATIONS[prepared.relations[place, node]] for name, place in places.items()}
    return tuple(  # type: ignore[return-value]
        {name: relation for name, relation in one.items() if relation != "none"} for one in (there, back)
    )


def test_a_turn_sees_what_its_query_names_and_what_it_returns() -> None:
    there, back = edges(linked(*earlier_turns(4)), 0)
    assert there == {
        "=f": "turn-uses",
        "patients": "turn-uses",
        "patients.subject_id": "turn-returns",
        "patients.gender": "turn-returns",
        "turn 0": "turn-self",
        "turn 1": "turn-turn",
        "turn 2": "turn-turn",
    }
    assert back == {
        name: {"turn-uses": "used-by-turn", "turn-returns": "returned-by-turn"}.get(relation, relation)
        for name, relation in there.items()
    }


def test_what_a_derived_table_passes_on_is_returned() -> None:
    there, _ = edges(linked(*earlier_turns(4)), 1)
    assert there["admissions.subject_id"] == "turn-returns"
    assert there["admissions"] == "turn-uses"
    assert "patients" not in there


def test_numbers_and_text_that_are_written_alike_are_one_literal() -> None:
    there, _ = edges(linked(*earlier_turns(4)), 2)
    assert there["=5"] == "turn-uses"
    assert "=f" not in there


def test_nodes_that_are_no_turns_are_related_as_without_turns() -> None:
    plain, prepared = linked(), linked(*earlier_turns(4))
    nodes = LINKS.nodes.with_question(len(prepared.token_ids), len(prepared.candidates), 3)
    rest = np.delete(np.arange(nodes.size), nodes.turns)
    np.testing.assert_array_equal(prepared.relations[np.ix_(rest, rest)], plain.relations)
    assert plain.relations.max() < len(PLAIN_RELATIONS)


@pytest.mark.parametrize("name", ["turn-self", "returned-by-turn"])
def test_relations_of_turns_come_last(name: str) -> None:
    assert RELATIONS.index(name) >= len(PLAIN_RELATIONS)
