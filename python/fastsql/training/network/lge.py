"""Line-graph-enhanced attention (LGESQL) in torch: what `fastsql.model.lge` computes for one question, for a batch.

Edges of all questions lie in one list, as their numbers differ; the schema's own edges are the batch's.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from fastsql.model.config import EDGE_HEADS, ModelConfig
from fastsql.model.line_graph import IS_SEEN, LineGraph
from fastsql.training.network.attention import LocalEdges
from fastsql.training.network.dropout import Dropout
from fastsql.training.network.graph import Edges, GraphLayer
from fastsql.training.network.linear import Linear


class Line(NamedTuple):
    """A `LineGraph` on the device of the rows: int64[E], but pairs, int64[P]."""

    rows: Tensor
    columns: Tensor
    relations: Tensor
    readers: Tensor
    read: Tensor

    @classmethod
    def of(cls, line: LineGraph, device: torch.device) -> Line:
        """The arrays as tensors."""
        arrays = (getattr(line, name) for name in cls._fields)
        return cls(*(torch.from_numpy(array).to(device, non_blocking=True) for array in arrays))


class View(NamedTuple):
    """Some edges of a line graph, `which` int64[E], as cells of a block of rows and columns; see `LocalEdges`."""

    which: Tensor
    rows: Tensor
    places: Tensor

    @classmethod
    def of(cls, line: Line, nodes: int, rows: range, columns: range) -> View:
        """Those whose row and column lie in the block, of graphs of `nodes` rows each."""
        graph, row, column = line.rows // nodes, line.rows % nodes, line.columns % nodes
        inside = (row >= rows.start) & (row < rows.stop) & (column >= columns.start) & (column < columns.stop)
        which = inside.nonzero()[:, 0]
        own = graph[which] * len(rows) + row[which] - rows.start
        return cls(which, own, own * len(columns) + column[which] - columns.start)

    def repeated(self, times: int, rows: int, columns: int) -> View:
        """The same edges in each of so many graphs."""
        shift = torch.arange(times, device=self.rows.device)[:, None]
        return View(
            self.which.repeat(times),
            (self.rows + shift * rows).flatten(),
            (self.places + shift * (rows * columns)).flatten(),
        )


class EdgeLayer(nn.Module):
    """Edges read edges: attention along the line graph, then a feed-forward net."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        width = config.edge_d
        self.ends = Linear(config.d, 2 * width)
        self.query = Linear(width, width)
        self.key_value = Linear(width, 2 * width)
        self.out = Linear(width, width)
        self.ffn_norm = nn.LayerNorm(width)
        self.ffn_in = Linear(width, 4 * width)
        self.ffn_out = Linear(4 * width, width)
        self.dropout = Dropout(config.dropout)

    def forward(self, edges: Tensor, states: Tensor, readable: Tensor, nodes: Tensor, line: Line) -> Tensor:
        """Edges [E, w] and their normed `states`, those that can be read [E', w], normed rows `nodes` [B * N, d]: [E, w]."""
        near, far = self.ends(nodes).chunk(2, dim=-1)
        ends = near[line.rows] + far[line.columns]
        key, value = self.key_value(readable).chunk(2, dim=-1)
        mixed = _meet(self.query(states + ends), key, value, line)
        edges = edges + self.dropout(self.out(mixed))
        hidden = F.relu(self.ffn_in(self.ffn_norm(edges) + ends))
        output: Tensor = edges + self.dropout(self.ffn_out(hidden))
        return output


def _meet(query: Tensor, key: Tensor, value: Tensor, line: Line) -> Tensor:
    """Attention along the line graph, in `EDGE_HEADS` heads: [E, w], zeros for an edge that meets none."""
    size = query.shape[-1] // EDGE_HEADS
    query, key, value = (part.reshape(len(part), EDGE_HEADS, size) for part in (query, key, value))
    scores = (query[line.readers] * key[line.read]).sum(dim=-1) * size**-0.5
    index = line.readers[:, None].expand_as(scores)
    top = scores.new_zeros(len(query), EDGE_HEADS)
    top = top.scatter_reduce(0, index, scores.detach(), "amax", include_self=False)
    raised = torch.exp(scores - top[line.readers])
    total = raised.new_zeros(len(query), EDGE_HEADS).index_add(0, line.readers, raised)
    shares = raised / total[line.readers]
    mixed = query.new_zeros(query.shape).index_add(0, line.readers, shares[..., None] * value[line.read])
    return mixed.flatten(1)


class LineGraphs(NamedTuple):
    """The line graphs of a batch and of its schema, with their blocks of rows and columns."""

    question: Line
    schema: Line
    to_all: View  # question rows to all rows
    to_question: View  # schema rows to question rows
    within: View  # schema rows to schema rows

    @classmethod
    def of(cls, question: LineGraph, schema: LineGraph, device: torch.device) -> LineGraphs:
        """Those of arrays."""
        own, items = Line.of(question, device), Line.of(schema, device)
        size = question.nodes - schema.nodes
        first, last, every = range(size), range(size, question.nodes), range(question.nodes)
        whole = range(schema.nodes)
        return cls(
            own,
            items,
            View.of(own, question.nodes, first, every),
            View.of(own, question.nodes, last, first),
            View.of(items, schema.nodes, whole, whole),
        )


class Seen(NamedTuple):
    """The relations of a batch, and what heads with the local view see of its blocks, bool."""

    edges: Edges
    question: Tensor
    items: Tensor
    schema: Tensor

    @classmethod
    def of(cls, edges: Edges) -> Seen:
        """That of relations."""
        is_seen = torch.from_numpy(IS_SEEN).to(edges.relations.device)
        return cls(
            edges, is_seen[edges.relations], is_seen[edges.item_relations], is_seen[edges.schema_relations]
        )


class LineStates(NamedTuple):
    """States of edges: the questions' [E, w], and the schema's own [E', w]."""

    own: Tensor
    schema: Tensor


class LineGraphLayer(GraphLayer):
    """Dual attention: rows read rows along edges, edges read edges through rows (but behind the last layer)."""

    def __init__(self, config: ModelConfig, last: bool) -> None:
        super().__init__(config)
        self.edge_norm = nn.LayerNorm(config.edge_d)
        self.edge_key = Linear(config.edge_d, config.d // config.heads, bias=False)
        self.edge_value = Linear(config.edge_d, config.d // config.heads, bias=False)
        # So a model begins as one of relation-aware attention whose heads see less.
        nn.init.zeros_(self.edge_key.weight)
        nn.init.zeros_(self.edge_value.weight)
        self.edges = None if last else EdgeLayer(config)

    def with_lines(
        self,
        question: Tensor,
        items: Tensor,
        states: LineStates,
        relations: Seen,
        lines: LineGraphs,
        joint: bool,
    ) -> tuple[Tensor, Tensor, LineStates]:
        """As `GraphLayer.forward`, with the states of edges behind the layer."""
        projected, item_projected = self._project(question), self._project(items)
        normed = LineStates(*map(self.edge_norm, states))
        size = items.shape[1]
        within = self._local(relations.schema, normed.schema, lines.within.repeated(len(items), size, size))
        read = self.read_schema(items, item_projected, relations.edges.schema_relations, within)
        to_all = self._local(relations.question, normed.own, lines.to_all)
        node_mask = relations.edges.node_mask
        rows = self.question(
            question, projected, item_projected, node_mask, relations.edges.relations, to_all
        )
        if joint:
            to_question = self._local(relations.items, normed.own, lines.to_question)
            item_relations = relations.edges.item_relations
            next_items = self.schema_with_question(read, projected, node_mask, item_relations, to_question)
        else:
            next_items = self.schema_without_question(read)
        return rows, next_items, self._read_edges(question, items, states, normed, lines, joint)

    def _local(self, seen: Tensor, normed: Tensor, view: View) -> LocalEdges:
        """What the local heads see of a block of rows and columns."""
        own = normed[view.which]
        return LocalEdges(seen, view.rows, view.places, self.edge_key(own), self.edge_value(own))

    def _read_edges(
        self,
        question: Tensor,
        items: Tensor,
        states: LineStates,
        normed: LineStates,
        lines: LineGraphs,
        joint: bool,
    ) -> LineStates:
        """The schema's edges change in cached layers only."""
        if self.edges is None:
            return states
        nodes = self.norm(torch.cat([question, items.expand(len(question), -1, -1)], dim=1)).flatten(0, 1)
        own = self.edges(states.own, normed.own, torch.cat(normed), nodes, lines.question)
        if joint:
            return LineStates(own, states.schema)
        nodes = self.norm(items).flatten(0, 1)
        return LineStates(own, self.edges(states.schema, normed.schema, normed.schema, nodes, lines.schema))


def run_graph(
    layers: nn.ModuleList,
    first_edges: nn.Embedding,
    cached_layers: int,
    question: Tensor,
    items: Tensor,
    edges: Edges,
    lines: LineGraphs,
) -> tuple[Tensor, Tensor, Tensor]:
    """As `fastsql.training.network.graph.run_graph`."""
    states = LineStates(first_edges(lines.question.relations), first_edges(lines.schema.relations))
    relations, cached = Seen.of(edges), items
    for index, layer in enumerate(layers):
        assert isinstance(layer, LineGraphLayer)
        joint = index >= cached_layers
        question, items, states = layer.with_lines(question, items, states, relations, lines, joint)
        if not joint:
            cached = items
    return question, items, cached
