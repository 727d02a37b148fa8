"""The graph's attention equals the plain definition, however it is cut into cached and joint halves."""

from __future__ import annotations

import numpy as np
import pytest

from fastsql.model.attention import Array, Part, relation_scores, relation_values, softmax
from fastsql.model.graph import GraphLayer

from ..worlds.toy_model import make_config, random_weights

CONFIG = make_config()
LAYER = Part(random_weights(CONFIG)).at("graph.2")
QUESTION, SCHEMA = 7, 11


def plain_layer(rows: Array, relations: np.ndarray, visible: np.ndarray) -> Array:
    """The layer by its definition: an embedding for every pair of rows, one softmax a row."""
    heads, e = CONFIG.heads, CONFIG.d // CONFIG.heads
    qkv = LAYER.linear("qkv", LAYER.norm("norm", rows)).reshape(len(rows), 3, heads, e)
    keys = qkv[None, :, 1] + LAYER["relation_key"][relations][:, :, None]  # [N, N, h, e]
    values = qkv[None, :, 2] + LAYER["relation_value"][relations][:, :, None]
    scores = np.einsum("nhe,nmhe->hnm", qkv[:, 0], keys) / np.sqrt(e)
    weights = softmax(np.where(visible, scores, -np.inf))
    mixed = np.einsum("hnm,nmhe->nhe", weights, values).reshape(len(rows), -1)
    rows = rows + LAYER.linear("out", mixed)
    hidden = np.maximum(LAYER.linear("ffn_in", LAYER.norm("ffn_norm", rows)), 0)
    return rows + LAYER.linear("ffn_out", hidden)


@pytest.mark.parametrize("at_once", [1, 100, 10**6])
@pytest.mark.parametrize("joint", [False, True])
def test_a_layer_equals_its_definition(joint: bool, at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fastsql.model.graph.SCORES_AT_ONCE", at_once)
    rng = np.random.default_rng(3)
    n = QUESTION + SCHEMA
    rows = rng.normal(size=(n, CONFIG.d)).astype(np.float32)
    relations = rng.integers(0, CONFIG.relations, (n, n)).astype(np.uint8)
    visible = np.ones((n, n), dtype=bool)
    if not joint:
        visible[QUESTION:, :QUESTION] = False

    layer = GraphLayer(CONFIG, LAYER)
    read = layer.read_schema(rows[QUESTION:], relations[QUESTION:, QUESTION:])
    question = layer.question(rows[:QUESTION], read, relations)
    seen = layer.schema_with_question(read, rows[:QUESTION], relations)
    schema = seen if joint else layer.schema_without_question(read)

    np.testing.assert_allclose(
        np.concatenate([question, schema]), plain_layer(rows, relations, visible), rtol=1e-4, atol=1e-4
    )


def test_relations_are_gathered_and_summed_by_type() -> None:
    rng = np.random.default_rng(4)
    query = rng.normal(size=(2, 3, 4)).astype(np.float32)
    embedding = rng.normal(size=(6, 4)).astype(np.float32)
    weights = rng.random((2, 3, 5)).astype(np.float32)
    relations = rng.integers(0, 6, (3, 5)).astype(np.uint8)
    edges = embedding[relations]  # [n, m, e]
    np.testing.assert_allclose(
        relation_scores(query, embedding, relations), np.einsum("hne,nme->hnm", query, edges), rtol=1e-5
    )
    np.testing.assert_allclose(
        relation_values(weights, embedding, relations), np.einsum("hnm,nme->hne", weights, edges), rtol=1e-4
    )
