"""Where the nodes of the relation graph lie."""

from __future__ import annotations

import numpy as np

from fastsql.grammar.actions import CANDIDATE, COLUMN, END, PRODUCTION, SCHEMA_VALUE, START, STEP, TABLE, TURN
from fastsql.linking.nodes import KINDS, NodeLayout
from fastsql.model.pointing import first_rows

NODES = NodeLayout(n_tables=2, n_columns=5).with_question(4, 3, 2)


def test_kinds_of_nodes_lie_one_behind_the_other() -> None:
    nodes = np.arange(NODES.size)
    parts = [nodes[getattr(NODES, f"{kind}s")] for kind in KINDS]
    assert [len(part) for part in parts] == [4, 3, 2, 2, 5]
    np.testing.assert_array_equal(np.concatenate(parts), nodes)
    np.testing.assert_array_equal(np.concatenate([nodes[NODES.question], nodes[NODES.schema]]), nodes)
    assert (NODES.table(1), NODES.column(4)) == (10, 15)


def test_a_schema_alone_begins_at_the_first_node() -> None:
    alone = NodeLayout(n_tables=2, n_columns=5)
    assert (alone.size, alone.schema, alone.column(0)) == (7, slice(0, 7), 2)


def test_actions_point_at_the_nodes_of_their_kind() -> None:
    rows = first_rows(NODES)
    assert {kind: rows[kind] for kind in (START, END, CANDIDATE, TURN, TABLE, COLUMN)} == {
        START: 0,
        END: 0,
        CANDIDATE: 4,
        TURN: 7,
        TABLE: 9,
        COLUMN: 11,
    }
    assert rows[SCHEMA_VALUE] == NODES.size, "schema values lie behind all nodes"
    assert rows[PRODUCTION] == rows[STEP] == 0
