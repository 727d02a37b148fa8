"""Python and the native core count the same things in the same order."""

from __future__ import annotations

from types import ModuleType

import pytest

from fastsql.grammar import actions, reading, tables
from fastsql.grammar.actions import KINDS, NO_ACTION, POINTERS_OF
from fastsql.linking import candidate, nodes
from fastsql.linking.nodes import NodeLayout
from fastsql.linking.prepare import prepare
from fastsql.linking.relations import SchemaLinks
from fastsql.model.config import CANDIDATE_SIZES
from fastsql.model.pointing import first_rows, pointed_nodes
from fastsql.model.turns import ENTRY_FEATURES, TURN_FEATURES
from fastsql.reverse.source import Kind
from fastsql.schema.sqltypes import TYPE_CLASSES

from ..worlds.toy_conversation import QUESTIONS, earlier_turns, space_of
from ..worlds.toy_model import SCHEMA, WORDPIECE
from .automata import native_space

ORDERS = {
    "kinds": actions.KINDS,
    "weight_names": actions.WEIGHT_NAMES,
    "pointers": reading.POINTERS,
    "effects": reading.EFFECTS,
    "requirements": reading.REQUIREMENTS,
    "symbol_roles": tables.SYMBOL_ROLES,
    "production_roles": tables.PRODUCTION_ROLES,
    "type_classes": TYPE_CLASSES,
    "candidate_kinds": candidate.KINDS,
    "node_kinds": nodes.KINDS,
    "turn_weights": [f"turn.{name}.weight" for name in TURN_FEATURES],
    "entry_weights": [f"turn.{name}.weight" for name in ENTRY_FEATURES],
}
SIZES = {"tokens": 5, "candidates": 3, "turns": 6, "tables": 2, "columns": 7}
"""All different, so that no two kinds can be taken for each other."""
LAYOUT = NodeLayout(**{f"n_{kind}": size for kind, size in SIZES.items()})


@pytest.mark.parametrize("name", ORDERS)
def test_python_and_the_core_have_one_order(core: ModuleType, name: str) -> None:
    assert getattr(core.numbering, name) == tuple(ORDERS[name])


def test_numbers_of_the_core_are_those_of_python(core: ModuleType) -> None:
    assert core.numbering.candidate_features == len(CANDIDATE_SIZES)
    assert core.numbering.no_action == NO_ACTION
    assert core.numbering.program_symbol == Kind.SYMBOL


def test_actions_answer_the_same_pointers_in_the_core(core: ModuleType) -> None:
    assert core.numbering.pointers_of == {name: POINTERS_OF.get(kind, ()) for kind, name in enumerate(KINDS)}


def test_nodes_lie_in_the_same_places_in_the_core(core: ModuleType) -> None:
    parts = {kind: getattr(LAYOUT, f"{kind}s") for kind in nodes.KINDS}
    parts |= {"question": LAYOUT.question, "schema": LAYOUT.schema}
    assert core.numbering.nodes(**SIZES) == {name: _first_and_count(part) for name, part in parts.items()}


def test_actions_point_at_the_same_rows_in_the_core(core: ModuleType) -> None:
    rows = core.numbering.pointed_rows(**SIZES, values=4)
    assert tuple(rows) == KINDS
    assert tuple(first for first, _ in rows.values()) == first_rows(LAYOUT)
    pointed = {kind: _first_and_count(part) for kind, part in pointed_nodes(LAYOUT).items()}
    assert {kind: rows[KINDS[kind]] for kind in pointed} == pointed
    assert rows["schema_value"] == (LAYOUT.size, 4)


def test_flat_ids_begin_at_the_same_places_in_the_core(core: ModuleType) -> None:
    space = space_of(prepare(QUESTIONS[0], SchemaLinks(SCHEMA), WORDPIECE, turns=earlier_turns(16)))
    assert min(space.layout.sizes) > 0
    assert native_space(core, space).offsets == space.offsets


def _first_and_count(part: slice) -> tuple[int, int]:
    return part.start, part.stop - part.start
