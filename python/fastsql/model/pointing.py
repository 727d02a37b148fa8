"""What actions point at: rows of the graph, and behind those the schema values."""

from __future__ import annotations

from fastsql.grammar.actions import CANDIDATE, COLUMN, END, KINDS, SCHEMA_VALUE, START, TABLE, TURN
from fastsql.linking.nodes import NodeLayout


def pointed_nodes(nodes: NodeLayout) -> dict[int, slice]:
    """The nodes that actions of each kind point at, of the kinds that point at any."""
    return {
        TABLE: nodes.tables,
        COLUMN: nodes.columns,
        CANDIDATE: nodes.candidates,
        START: nodes.tokens,
        END: nodes.tokens,
        TURN: nodes.turns,
    }


def first_rows(nodes: NodeLayout) -> tuple[int, ...]:
    """The row that the first action of each kind points at, rows being [N nodes][W schema values].

    Productions point at nothing, and steps at what was decided there or at what earlier turns offer: 0.
    """
    rows = {kind: part.start for kind, part in pointed_nodes(nodes).items()} | {SCHEMA_VALUE: nodes.size}
    return tuple(rows.get(kind, 0) for kind in range(len(KINDS)))
