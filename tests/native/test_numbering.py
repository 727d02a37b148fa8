"""Python and the native core count the same things in the same order."""

from __future__ import annotations

from types import ModuleType

import pytest

from fastsql.grammar import actions, reading, tables
from fastsql.linking import candidate, nodes
from fastsql.linking.nodes import NodeLayout
from fastsql.model.config import features_of
from fastsql.model.pointing import first_rows
from fastsql.schema.sqltypes import TYPE_CLASSES

ORDERS = {
    "kinds": actions.WEIGHT_NAMES,
    "pointers": reading.POINTERS,
    "effects": reading.EFFECTS,
    "requirements": reading.REQUIREMENTS,
    "type_classes": TYPE_CLASSES,
    "candidate_kinds": candidate.KINDS,
    "nodes": nodes.KINDS,
}


@pytest.mark.parametrize("name", ORDERS)
def test_python_and_the_core_have_one_order(core: ModuleType, name: str) -> None:
    assert getattr(core.numbering, name) == tuple(ORDERS[name])


def test_the_core_reads_a_bit_for_each_role(core: ModuleType) -> None:
    assert core.numbering.symbol_roles == (1 << len(tables.SYMBOL_ROLES)) - 1
    assert core.numbering.production_roles == (1 << len(tables.PRODUCTION_ROLES)) - 1


def test_the_core_reads_every_feature_of_a_candidate(core: ModuleType) -> None:
    assert core.numbering.candidate_features == features_of(()).shape[1]


def test_the_core_knows_what_stands_for_no_action(core: ModuleType) -> None:
    assert core.numbering.no_action == actions.NO_ACTION


def test_actions_point_at_the_same_rows_in_the_core(core: ModuleType) -> None:
    layout = NodeLayout(n_tokens=5, n_candidates=3, n_turns=6, n_tables=2, n_columns=7)
    rows = core.numbering.pointed_rows(tokens=5, candidates=3, turns=6, tables=2, columns=7, values=4)
    assert tuple(first for first, _ in rows) == first_rows(layout)
    sizes = actions.ActionLayout.of(
        productions=0, tables=2, columns=7, candidates=3, schema_values=4, tokens=5, steps=0, turns=6
    ).sizes
    assert tuple(count for _, count in rows) == sizes
