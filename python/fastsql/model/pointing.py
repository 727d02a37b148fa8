"""What actions point at: rows of the graph, and behind those the schema values."""

from __future__ import annotations

from fastsql.grammar.actions import CANDIDATE, COLUMN, END, KINDS, SCHEMA_VALUE, START, TABLE, TURN
from fastsql.linking.nodes import NodeLayout


def first_rows(nodes: NodeLayout) -> tuple[int, ...]:
    """The row that the first action of each kind points at, rows being [N nodes][W schema values].

    Productions point at nothing, and steps at what was decided there or at what earlier turns offer: 0.
    """
    rows = {
        TABLE: nodes.tables.start,
        COLUMN: nodes.columns.start,
        CANDIDATE: nodes.candidates.start,
        SCHEMA_VALUE: nodes.size,
        START: nodes.tokens.start,
        END: nodes.tokens.start,
        TURN: nodes.turns.start,
    }
    return tuple(rows.get(kind, 0) for kind in range(len(KINDS)))
