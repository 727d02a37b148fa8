"""Line-graph-enhanced attention (LGESQL; Cao et al., ACL 2021, section 3.3) over the rows of `fastsql.model.graph`.

Every head of a layer of RAT-SQL sees all rows, under one embedding for each relation. Here edges have states of their own,
which a layer reads and changes; the first half of its heads sees neighbours by local edges alone, and knows of each what its
edge has learnt of the edges around it (the paper's multi-head multi-view).

Two things differ from the paper. The schema's edges change in cached layers only, so they cost a question nothing. And an
edge takes what its two rows say into its query and its feed-forward net, not into what other edges read of it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fastsql.model.attention import Array, LocalEdges, Part, softmax_of_groups
from fastsql.model.config import EDGE_HEADS, ModelConfig
from fastsql.model.graph import Graph, GraphLayer, Relations, SchemaGraph, SchemaRows
from fastsql.model.line_graph import IS_SEEN, LineGraph, SchemaLines, question_line_graph, schema_line_graph

PAIRS_AT_ONCE = 2**16
"""Pairs of edges whose keys and values are held in memory at a time."""


class LineGraphLayer(GraphLayer):
    """Dual attention: rows read rows along edges, edges read edges through rows."""

    def local(
        self, relations: Relations, line: LineGraph, edges: Array, block: tuple[slice, slice]
    ) -> LocalEdges:
        """What the local heads see of a block of rows and columns, whose `relations` are uint8[n, m]."""
        (first_row, last_row), (first, last) = ((part.start, part.stop) for part in block)
        inside = (
            (line.rows >= first_row)
            & (line.rows < last_row)
            & (line.columns >= first)
            & (line.columns < last)
        )
        states = self.weights.norm("edge_norm", edges[inside])
        return LocalEdges(
            IS_SEEN[relations],
            line.rows[inside] - first_row,
            line.columns[inside] - first,
            self.weights.linear("edge_key", states),
            self.weights.linear("edge_value", states),
        )

    def read_edges(self, edges: Array, schema: Array, line: LineGraph, nodes: Array) -> Array:
        """States of edges [E, edge_d] behind the layer: each reads those it meets, here or in the schema's [E', edge_d].

        `nodes` [N, d] are the rows that the line graph counts.
        """
        weights = self.weights.at("edges")
        states = self.weights.norm("edge_norm", edges)
        near, far = np.split(weights.linear("ends", self.weights.norm("norm", nodes)), 2, axis=1)
        ends = near[line.rows] + far[line.columns]
        query = weights.linear("query", states + ends)
        readable = np.concatenate([states, self.weights.norm("edge_norm", schema)])
        key, value = np.split(weights.linear("key_value", readable), 2, axis=1)
        edges = edges + weights.linear("out", _meet(query, key, value, line))
        hidden = np.maximum(weights.linear("ffn_in", weights.norm("ffn_norm", edges) + ends), 0)
        return edges + weights.linear("ffn_out", hidden)


def _meet(query: Array, key: Array, value: Array, line: LineGraph) -> Array:
    """Attention along the line graph, in `EDGE_HEADS` heads: [E, edge_d], zeros for an edge that meets none."""
    size = query.shape[1] // EDGE_HEADS
    query, key, value = (array.reshape(len(array), EDGE_HEADS, size) for array in (query, key, value))
    mixed = np.zeros(query.shape, np.float32)
    for block in line.blocks(PAIRS_AT_ONCE):
        readers, read = line.readers[block], line.read[block]
        scores = (query[readers] * key[read]).sum(axis=-1) * np.float32(size**-0.5)
        starts = np.flatnonzero(np.diff(readers, prepend=-1))
        shares = softmax_of_groups(scores, starts)
        mixed[readers[starts]] = np.add.reduceat(shares[..., None] * value[read], starts, axis=0)
    return mixed.reshape(len(mixed), EDGE_HEADS * size)


class LineGraphEnhanced(Graph):
    """All layers, and the first states of edges: the encoder `lge`."""

    layers: Sequence[LineGraphLayer]
    layer_class = LineGraphLayer

    def __init__(self, config: ModelConfig, weights: Part) -> None:
        super().__init__(config, weights)
        self.first_edges = weights["edge.weight"]

    def read_schema(self, rows: Array, relations: Relations) -> SchemaGraph:
        """See `Graph.read_schema`; its edges are read by the same layers."""
        line = schema_line_graph(relations)
        edges = self.first_edges[line.relations]
        layers: list[SchemaRows] = []
        lines: list[SchemaLines] = []
        items = rows
        for index, layer in enumerate(self.layers[: self.cached_layers + 1]):
            lines.append(SchemaLines(line, edges))
            layers.append(self._read_items(layer, items, relations, lines[-1]))
            if index < self.cached_layers:
                if index + 1 < len(self.layers):
                    edges = layer.read_edges(edges, edges[:0], line, items)
                items = layer.schema_without_question(layers[-1])
        return SchemaGraph(tuple(layers), items, relations, tuple(lines))

    def read(self, rows: Array, schema: SchemaGraph, relations: Relations) -> tuple[Array, Array]:
        """See `Graph.read`."""
        question, items = slice(0, len(rows)), slice(len(rows), len(relations))
        line = question_line_graph(
            relations[None, question], relations[None, items, question], schema.lines[-1].line
        )
        edges, item_rows = self.first_edges[line.relations], schema.items
        for index, layer in enumerate(self.layers):
            known = schema.lines[min(index, len(schema.lines) - 1)]
            read = (
                schema.layers[index]
                if index < len(schema.layers)
                else self._read_items(layer, item_rows, schema.relations, known)
            )
            before = np.concatenate([rows, read.rows])
            if index >= self.cached_layers:
                seen = layer.local(relations[items, question], line, edges, (items, question))
                item_rows = layer.schema_with_question(read, rows, relations, seen)
            everything = slice(0, len(relations))
            seen = layer.local(relations[question], line, edges, (question, everything))
            rows = layer.question(rows, read, relations, seen)
            if index + 1 < len(self.layers):
                edges = layer.read_edges(edges, known.edges, line, before)
        return rows, item_rows

    @staticmethod
    def _read_items(
        layer: LineGraphLayer, items: Array, relations: Relations, own: SchemaLines
    ) -> SchemaRows:
        everything = slice(0, len(relations))
        return layer.read_schema(
            items, relations, layer.local(relations, own.line, own.edges, (everything, everything))
        )
