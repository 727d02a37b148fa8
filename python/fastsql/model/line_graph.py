"""The line graph of a question and a schema (LGESQL; Cao et al., ACL 2021, section 3): which edges it has, and which meet.

Its nodes are the local edges of the graph: those that say something of two nodes, not only of what kind they are. An edge
(i, j), by which row i sees row j, reads the edges (j, k) by which that one sees others, but not the way back (j, i). So what
a word is linked to knows which table that column lies in, and what else the word beside it is linked to.

The schema's own edges read each other, without any question, and are cached with its rows; a question's edges read them and
one another.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fastsql.linking.relations import RELATIONS

LOCAL = (
    *("token-before-1", "token-after-1"),
    *("token-in-candidate", "candidate-covers-token"),
    *("token-table-part", "token-table-name", "table-part-token", "table-name-token"),
    *("token-column-part", "token-column-name", "token-column-value"),
    *("column-part-token", "column-name-token", "column-value-token"),
    *("candidate-table-value", "table-value-candidate", "candidate-column-value", "column-value-candidate"),
    *("table-own-column", "table-own-key", "column-own-table", "key-own-table"),
    *("column-references", "column-referenced"),
    *("turn-uses", "used-by-turn", "turn-returns", "returned-by-turn"),
)
"""Relations of one hop. All others are non-local: distances, kinds of nodes, what follows from two hops."""

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]


def _among(names: tuple[str, ...]) -> Flags:
    return np.array([name in names for name in RELATIONS])


IS_LOCAL = _among(LOCAL)
"""bool[relations]: whether an edge is a node of the line graph."""
IS_SEEN = IS_LOCAL | _among(tuple(name for name in RELATIONS if name.endswith("-self")))
"""bool[relations]: what heads with the local view see: neighbours by local edges, and the row itself."""


@dataclass(frozen=True, eq=False)
class LineGraph:
    """E local edges of graphs of `nodes` rows each, and P pairs of an edge that reads and one that is read.

    Row b * nodes + i is row i of graph b. Edges are in the order of their rows, pairs in that of their readers.
    """

    nodes: int
    rows: Ints  # [E], the row that sees
    columns: Ints  # [E], the row that is seen
    relations: Ints  # [E]
    readers: Ints  # [P], edges
    read: Ints  # [P], edges; of a question's line graph, E and above are the schema's own edges

    def blocks(self, most: int) -> Iterator[slice]:
        """Runs of at most so many pairs, or of one reader's."""
        start = 0
        while start < len(self.readers):
            stop = min(start + most, len(self.readers))
            if stop < len(self.readers):
                whole = int(np.searchsorted(self.readers, self.readers[stop]))
                stop = (
                    whole
                    if whole > start
                    else int(np.searchsorted(self.readers, self.readers[start], "right"))
                )
            yield slice(start, stop)
            start = stop


@dataclass(frozen=True, eq=False)
class SchemaLines:
    """The schema's edges as a layer reads them: their line graph, and the states of its E edges, float32[E, edge_d]."""

    line: LineGraph
    edges: NDArray[np.float32]


def schema_line_graph(relations: NDArray[np.uint8]) -> LineGraph:
    """Of a schema's `relations` uint8[S, S] alone."""
    rows, columns = np.nonzero(IS_LOCAL[relations])
    readers, read = _meeting(columns, rows)
    onward = columns[read] != rows[readers]
    return LineGraph(
        len(relations),
        rows,
        columns,
        relations[rows, columns].astype(np.int64),
        readers[onward],
        read[onward],
    )


def question_line_graph(
    relations: NDArray[np.uint8], item_relations: NDArray[np.uint8], schema: LineGraph
) -> LineGraph:
    """Of B questions about one schema: the edges that have a question's row at an end, or at both.

    `relations` uint8[B, Q, Q + S] are those of question rows, `item_relations` uint8[B, S, Q] of schema rows towards them.
    """
    questions, size, nodes = relations.shape
    relation_of = np.zeros((questions, nodes, nodes), dtype=np.uint8)
    relation_of[:, :size] = relations
    relation_of[:, size:, :size] = item_relations
    number, row, column = np.nonzero(IS_LOCAL[relation_of])
    rows, columns = number * nodes + row, number * nodes + column
    readers, read = _meeting(columns, rows)
    onward = columns[read] != rows[readers]
    # No edge of the schema leads back to a question's row.
    of_item = np.flatnonzero(column >= size)
    item_readers, item_read = _meeting(column[of_item] - size, schema.rows)
    readers = np.concatenate([readers[onward], of_item[item_readers]])
    read = np.concatenate([read[onward], len(rows) + item_read])
    order = np.argsort(readers, kind="stable")
    found = relation_of[number, row, column].astype(np.int64)
    return LineGraph(nodes, rows, columns, found, readers[order], read[order])


def _meeting(columns: Ints, rows: Ints) -> tuple[Ints, Ints]:
    """Pairs of an edge to one of `columns` and an edge from the same of `rows`, which are sorted."""
    first, last = np.searchsorted(rows, columns), np.searchsorted(rows, columns, "right")
    counts = last - first
    readers = np.repeat(np.arange(len(columns)), counts)
    within = np.arange(len(readers)) - np.repeat(np.cumsum(counts) - counts, counts)
    return readers, np.repeat(first, counts) + within
