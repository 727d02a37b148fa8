"""The line graph has the edges and meetings of its definition, and its layers compute what they say, edge by edge."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from fastsql.errors import ModelError
from fastsql.linking.relations import RELATIONS
from fastsql.model.attention import Array, LocalEdges, Part, softmax
from fastsql.model.config import EDGE_HEADS, LGE
from fastsql.model.lge import LineGraphEnhanced
from fastsql.model.line_graph import (
    IS_LOCAL,
    IS_SEEN,
    LOCAL,
    LineGraph,
    question_line_graph,
    schema_line_graph,
)
from fastsql.model.weights import weight_shapes

from ..worlds.toy_model import make_config, random_weights

CONFIG = replace(make_config(graph=LGE).with_turns(), cached_layers=2, joint_layers=2)
WEIGHTS = Part(random_weights(CONFIG))
QUESTION, SCHEMA = 6, 9
NODES = QUESTION + SCHEMA


def some_relations(seed: int, size: int = NODES) -> NDArray[np.uint8]:
    """Of any kind, a third of them local."""
    rng = np.random.default_rng(seed)
    relations = rng.choice(np.flatnonzero(~IS_SEEN), (size, size))
    local = rng.random((size, size)) < 1 / 3
    relations[local] = rng.choice(np.flatnonzero(IS_LOCAL), local.sum())
    np.fill_diagonal(relations, RELATIONS.index("token-self"))
    return relations.astype(np.uint8)


def edges_of(line: LineGraph) -> list[tuple[int, int]]:
    return list(zip(line.rows.tolist(), line.columns.tolist(), strict=True))


def plain_meetings(
    edges: list[tuple[int, int]], readable: list[tuple[int, int]]
) -> set[tuple[tuple[int, int], tuple[int, int]]]:
    return {(one, other) for one in edges for other in readable if one[1] == other[0] and other[1] != one[0]}


def test_local_relations_exist_and_are_no_ones_of_a_row_with_itself() -> None:
    assert set(LOCAL) < set(RELATIONS)
    assert not any(name.endswith("-self") for name in LOCAL)
    assert IS_LOCAL.sum() == len(LOCAL)


def test_a_schemas_edges_meet_where_one_ends_and_the_other_begins() -> None:
    relations = some_relations(1, SCHEMA)
    line = schema_line_graph(relations)
    edges = edges_of(line)
    assert edges == list(zip(*map(np.ndarray.tolist, np.nonzero(IS_LOCAL[relations])), strict=True))
    found = {(edges[one], edges[other]) for one, other in zip(line.readers, line.read, strict=True)}
    assert found == plain_meetings(edges, edges)
    assert len(found) == len(line.readers)
    assert (np.diff(line.readers) >= 0).all()


def test_each_question_of_a_batch_has_its_own_edges_and_reads_the_schemas() -> None:
    batch = [some_relations(seed) for seed in (2, 3)]
    schema = schema_line_graph(batch[0][QUESTION:, QUESTION:])
    line = question_line_graph(
        np.stack([one[:QUESTION] for one in batch]),
        np.stack([one[QUESTION:, :QUESTION] for one in batch]),
        schema,
    )
    edges = edges_of(line)
    wanted = []
    for number, relations in enumerate(batch):
        local = IS_LOCAL[relations]
        local[QUESTION:, QUESTION:] = False
        wanted += [(number * NODES + i, number * NODES + j) for i, j in zip(*np.nonzero(local), strict=True)]
    assert edges == wanted
    assert (np.diff(line.readers) >= 0).all()
    for number in range(2):
        first = number * NODES
        items = [(first + QUESTION + i, first + QUESTION + j) for i, j in edges_of(schema)]
        readable = edges + items
        own = [edge for edge in edges if first <= edge[0] < first + NODES]
        found = {
            (edges[one], readable[other])
            for one, other in zip(line.readers, line.read, strict=True)
            if edges[one] in own
        }
        assert found == plain_meetings(own, [edge for edge in readable if first <= edge[0] < first + NODES])


def test_without_edges_there_are_no_meetings() -> None:
    nothing = np.zeros((4, 4), np.uint8)
    schema = schema_line_graph(nothing)
    line = question_line_graph(np.zeros((1, 0, 4), np.uint8), np.zeros((1, 4, 0), np.uint8), schema)
    assert [len(one.rows) + len(one.readers) for one in (schema, line)] == [0, 0]
    assert list(schema.blocks(3)) == []


@pytest.mark.parametrize("most", [1, 3, 1000])
def test_blocks_hold_all_pairs_and_split_no_reader(most: int) -> None:
    line = schema_line_graph(some_relations(4, SCHEMA))
    blocks = list(line.blocks(most))
    assert [block.start for block in blocks[1:]] == [block.stop for block in blocks[:-1]]
    assert (blocks[0].start, blocks[-1].stop) == (0, len(line.readers))
    readers = [set(line.readers[block].tolist()) for block in blocks]
    assert sum(map(len, readers)) == len(set(line.readers.tolist()))
    assert all(
        block.stop - block.start <= most or len(own) == 1 for block, own in zip(blocks, readers, strict=True)
    )


def plain_read_edges(
    layer: Part, edges: dict[tuple[int, int], Array], readable: dict[tuple[int, int], Array], nodes: Array
) -> dict[tuple[int, int], Array]:
    """A layer's edges by their definition, one by one."""
    part = layer.at("edges")
    size = CONFIG.edge_d // EDGE_HEADS
    found = {}
    for (i, j), state in edges.items():
        normed = layer.norm("edge_norm", state)
        ends = part.linear("ends", layer.norm("norm", nodes))
        told = ends[i, : CONFIG.edge_d] + ends[j, CONFIG.edge_d :]
        query = part.linear("query", normed + told).reshape(EDGE_HEADS, size)
        met = [other for (row, column), other in readable.items() if row == j and column != i]
        mixed = np.zeros(CONFIG.edge_d, np.float32)
        if met:
            both = part.linear("key_value", layer.norm("edge_norm", np.stack(met)))
            key, value = (half.reshape(len(met), EDGE_HEADS, size) for half in np.split(both, 2, axis=1))
            weights = softmax(np.einsum("he,mhe->hm", query, key) / np.sqrt(size))
            mixed = np.einsum("hm,mhe->he", weights, value).ravel()
        state = state + part.linear("out", mixed)
        hidden = np.maximum(part.linear("ffn_in", part.norm("ffn_norm", state) + told), 0)
        found[i, j] = state + part.linear("ffn_out", hidden)
    return found


def plain_rows(
    layer: Part, rows: Array, relations: np.ndarray, visible: np.ndarray, edges: dict[tuple[int, int], Array]
) -> Array:
    """A layer's rows by their definition: an embedding for every pair, and for local heads what edges have learnt."""
    heads, e = CONFIG.heads, CONFIG.d // CONFIG.heads
    qkv = layer.linear("qkv", layer.norm("norm", rows)).reshape(len(rows), 3, heads, e)
    keys = np.repeat(layer["relation_key"][relations][:, :, None], heads, axis=2) + qkv[None, :, 1]
    values = np.repeat(layer["relation_value"][relations][:, :, None], heads, axis=2) + qkv[None, :, 2]
    for (i, j), state in edges.items():
        normed = layer.norm("edge_norm", state)
        keys[i, j, : heads // 2] += layer.linear("edge_key", normed)
        values[i, j, : heads // 2] += layer.linear("edge_value", normed)
    scores = np.einsum("nhe,nmhe->hnm", qkv[:, 0], keys) / np.sqrt(e)
    seen = np.where(np.arange(heads)[:, None, None] < heads // 2, visible & IS_SEEN[relations], visible)
    weights = softmax(np.where(seen, scores, -1e9))
    rows = rows + layer.linear("out", np.einsum("hnm,nmhe->nhe", weights, values).reshape(len(rows), -1))
    hidden = np.maximum(layer.linear("ffn_in", layer.norm("ffn_norm", rows)), 0)
    return rows + layer.linear("ffn_out", hidden)


@pytest.mark.parametrize("at_once", [1, 10**6])
def test_all_layers_equal_their_definition(at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fastsql.model.graph.SCORES_AT_ONCE", at_once)
    monkeypatch.setattr("fastsql.model.lge.PAIRS_AT_ONCE", at_once)
    rows = np.random.default_rng(5).normal(size=(NODES, CONFIG.d)).astype(np.float32)
    relations = some_relations(6)
    graph = LineGraphEnhanced(CONFIG, WEIGHTS)
    read = graph.read_schema(rows[QUESTION:], relations[QUESTION:, QUESTION:])
    question, items = graph.read(rows[:QUESTION], read, relations)

    first = WEIGHTS["edge.weight"]
    edges = {(i, j): first[relations[i, j]] for i, j in zip(*np.nonzero(IS_LOCAL[relations]), strict=True)}
    for index in range(4):
        layer = WEIGHTS.at(f"graph.{index}")
        visible = np.ones((NODES, NODES), dtype=bool)
        if index < CONFIG.cached_layers:
            visible[QUESTION:, :QUESTION] = False
        of_schema = {edge: state for edge, state in edges.items() if min(edge) >= QUESTION}
        seen = plain_rows(layer, rows, relations, visible, edges)
        if index < 3:
            read_on = edges if index < CONFIG.cached_layers else edges.keys() - of_schema.keys()
            own = {edge: edges[edge] for edge in read_on if edge not in of_schema}
            changed = plain_read_edges(layer, own, edges, rows)
            if index < CONFIG.cached_layers:
                changed |= plain_read_edges(layer, of_schema, of_schema, rows)
            edges = edges | changed
        rows = seen
    np.testing.assert_allclose(np.concatenate([question, items]), rows, rtol=1e-3, atol=1e-3)


def test_a_row_that_sees_nothing_local_here_leaves_all_to_the_other_half() -> None:
    """So its two halves can be merged (`merge_halves`)."""
    scores = np.random.default_rng(7).normal(size=(2, 1, 4)).astype(np.float32)
    none = np.zeros(0, np.int64)
    local = LocalEdges(
        np.zeros((1, 4), bool), none, none, np.zeros((0, 8), np.float32), np.zeros((0, 8), np.float32)
    )
    before = scores.copy()
    local.limit(scores, np.ones((2, 1, 8), np.float32))
    assert (scores[0] == -50).all()
    assert (scores[1] == before[1]).all(), "the other head sees everything"


def test_the_layer_behind_which_nothing_reads_edges_has_no_weights_for_them() -> None:
    with_weights = {name.split(".")[1] for name in weight_shapes(CONFIG) if ".edges." in name}
    assert with_weights == {"0", "1", "2"}


@pytest.mark.parametrize(
    ("sizes", "words"), [({"graph": "gnn"}, "none of rat, lge"), ({"edge_d": 10}, "multiple of 4")]
)
def test_what_no_line_graph_can_have_is_refused(sizes: dict[str, object], words: str) -> None:
    with pytest.raises(ModelError, match=words):
        replace(CONFIG, **sizes)
    with pytest.raises(ModelError, match="even number of heads"):
        replace(CONFIG, heads=1)
