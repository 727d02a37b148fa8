"""The action decoder: one step scores every action for a beam of hypotheses.

A step reads what was decided last, which symbol of the grammar is to be expanded, and under which production it
stands; it attends to earlier decisions (cached keys) and to the graph's rows, and points into those rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastsql.errors import LimitError
from fastsql.grammar.actions import (
    CANDIDATE,
    COLUMN,
    END,
    NO_ACTION,
    POINTER_KINDS,
    PRODUCTION,
    SCHEMA_VALUE,
    START,
    STEP,
    TABLE,
    TURN,
    WEIGHT_NAMES,
    ActionLayout,
)
from fastsql.linking.nodes import NodeLayout
from fastsql.model.attention import Array, Part, attention, heads_first
from fastsql.model.config import ModelConfig
from fastsql.model.pointing import first_rows, pointed_nodes

Ints = NDArray[np.integer[Any]]


@dataclass(frozen=True, eq=False)
class Memory:
    """What the decoder reads of one question: N graph rows, W schema values, E entries of earlier turns.

    Shared by all hypotheses.
    """

    layout: ActionLayout
    rows: Array  # [N + W + E, d], what a previous action can have pointed at
    first_rows: tuple[int, ...]  # of each kind of action, see `fastsql.model.pointing`
    keys: tuple[Array, ...]  # per decoder layer [h, N, e]
    values: tuple[Array, ...]  # per decoder layer [h, N, e]
    pointer_keys: dict[int, Array]  # by kind, but for steps: [actions, d]
    steps: int  # decisions of a query; pointers to steps behind these point at entries
    entry_keys: Array  # [E, d], pointer keys

    def parts(self) -> list[Array]:
        """The rows of the question, of its schema's items, of the schema's values and of what earlier turns offer."""
        borders = (
            self.first_rows[TABLE],
            self.first_rows[SCHEMA_VALUE],
            len(self.rows) - len(self.entry_keys),
        )
        return [np.ascontiguousarray(part) for part in np.split(self.rows, borders)]

    def row(self, kind: int, place: int) -> Array:
        """What a pointer of a kind points at, [d]; a pointer to a step, at an entry."""
        entry = kind == STEP
        first = len(self.rows) - len(self.entry_keys) - self.steps if entry else self.first_rows[kind]
        row: Array = self.rows[first + place]
        return row


@dataclass(frozen=True, eq=False)
class Keyed:
    """Rows of the graph [n, d] with their keys and values in every decoder layer, each [h, n, e]."""

    rows: Array
    keys: tuple[Array, ...]
    values: tuple[Array, ...]


@dataclass(frozen=True, eq=False)
class SchemaMemory:
    """The schema's part of a memory: T tables and C columns, and their pointer keys [T, d] and [C, d]."""

    items: Keyed
    table_keys: Array
    column_keys: Array


class Decoder:
    """The decoder's weights, and how a question is made ready for it."""

    def __init__(self, config: ModelConfig, weights: Part) -> None:
        self.config = config
        self.weights = weights
        self.layers = [weights.at(f"layers.{index}") for index in range(config.decoder_layers)]

    def pointer_keys(self, kind: int, rows: Array) -> Array:
        """What queries of a kind of pointer are compared with, for rows [n, d] that it can point at."""
        name = "turn.key" if kind == TURN else f"pointer_key.{WEIGHT_NAMES[kind]}"
        return self.weights.linear(name, rows)

    def read_rows(self, rows: Array) -> Keyed:
        """The graph's final states, [n, d], with their keys and values in every layer."""
        pairs = [heads_first(layer.linear("cross_kv", rows), 2, self.config.heads) for layer in self.layers]
        return Keyed(rows, tuple(pair[0] for pair in pairs), tuple(pair[1] for pair in pairs))

    def read_schema(self, items: Array, nodes: NodeLayout) -> SchemaMemory:
        """Make ready `items` [T + C, d], the schema's `nodes`.

        They are the part of the memory that is a question's own only where a layer is joint.
        """
        tables = self.pointer_keys(TABLE, items[nodes.tables])
        columns = self.pointer_keys(COLUMN, items[nodes.columns])
        return SchemaMemory(self.read_rows(items), tables, columns)

    def read(
        self,
        question: Array,
        nodes: NodeLayout,
        schema: SchemaMemory,
        values: Array,
        value_keys: Array,
        entries: Array | None = None,
        steps: int | None = None,
    ) -> Memory:
        """Make ready `question` rows [Q + V + K, d], behind them the schema's, and schema `values` [W, d].

        `entries` [E, d] are what earlier turns offer, at the steps behind the `steps` of a query.
        """
        own, items = self.read_rows(question), schema.items
        entries = values[:0] if entries is None else entries
        steps = self.config.max_steps if steps is None else steps
        keys = {TABLE: schema.table_keys, COLUMN: schema.column_keys, SCHEMA_VALUE: value_keys}
        for kind in (CANDIDATE, START, END, *((TURN,) if nodes.n_turns else ())):
            keys[kind] = self.pointer_keys(kind, question[pointed_nodes(nodes)[kind]])
        return Memory(
            layout=ActionLayout.of(
                productions=self.config.n_productions,
                tables=nodes.n_tables,
                columns=nodes.n_columns,
                candidates=nodes.n_candidates,
                schema_values=len(values),
                tokens=nodes.n_tokens,
                steps=steps + len(entries),
                turns=nodes.n_turns,
            ),
            rows=np.concatenate([question, items.rows, values, entries]),
            first_rows=first_rows(nodes),
            keys=_behind(own.keys, items.keys),
            values=_behind(own.values, items.values),
            pointer_keys=keys,
            steps=steps,
            entry_keys=self.pointer_keys(STEP, entries),
        )


def _behind(question: tuple[Array, ...], items: tuple[Array, ...]) -> tuple[Array, ...]:
    return tuple(np.concatenate(pair, axis=1) for pair in zip(question, items, strict=True))


def _feed_forward(layer: Part, x: Array) -> Array:
    hidden = np.maximum(layer.linear("ffn_in", layer.norm("ffn_norm", x)), 0)
    return x + layer.linear("ffn_out", hidden)


class DecoderState:
    """A beam of hypotheses, all after the same number of decisions. Not to be shared between threads."""

    def __init__(self, decoder: Decoder, memory: Memory, hypotheses: int) -> None:
        self.decoder = decoder
        self.memory = memory
        self.steps = 0
        config = decoder.config
        shape = (hypotheses, config.heads, 32, config.d // config.heads)
        # Keys and values of decisions so far, [hypotheses, heads, steps, e] per layer; they grow by doubling.
        self._keys = [np.empty(shape, np.float32) for _ in decoder.layers]
        self._values = [np.empty(shape, np.float32) for _ in decoder.layers]
        self._step_keys = np.empty((hypotheses, 32, config.d), np.float32)
        self._taken = np.empty((hypotheses, 32), np.int64)

    @property
    def hypotheses(self) -> int:
        """How many hypotheses the beam has."""
        return len(self._taken)

    def step(self, previous: Ints, symbols: Ints, parents: Ints) -> Array:
        """Score the next decision of each of B hypotheses; returns float32[B, A], illegal actions among them.

        `previous` int[B] are flat actions, `NO_ACTION` before the first decision; `symbols` and `parents` int[B] are
        the grammar's. Steps that have not been taken score -inf. Raises `LimitError` after `max_steps` decisions.
        """
        decoder, weights, step = self.decoder, self.decoder.weights, self.steps
        if step >= decoder.config.max_steps:
            raise LimitError(
                f"the decoder was asked for decision {step + 1}, the model has {decoder.config.max_steps}",
                remedy="Give the automaton a step budget no larger than the model's.",
            )
        self._grow()
        x = self._embed(np.asarray(previous)) + weights["symbol.weight"][symbols]
        x = x + weights["parent.weight"][parents] + weights["position.weight"][step]
        for index, layer in enumerate(decoder.layers):
            x = self._attend_to_decisions(index, layer, x)
            x = self._attend_to_graph(index, layer, x)
            x = _feed_forward(layer, x)
        x = weights.norm("norm", x)
        self._step_keys[:, step] = decoder.pointer_keys(STEP, x)
        self.steps += 1
        return self._scores(x)

    def reorder(self, parents: Ints) -> None:
        """Continue from the hypotheses `parents` int[B'], in that order and possibly more than once."""
        parents = np.asarray(parents)
        if np.array_equal(parents, np.arange(self.hypotheses)):
            return
        self._keys = [keys[parents] for keys in self._keys]
        self._values = [values[parents] for values in self._values]
        self._step_keys = self._step_keys[parents]
        self._taken = self._taken[parents]

    def _embed(self, previous: Ints) -> Array:
        """The embedding of the last action, [B, d]; what a step pointer stands for is what was decided there."""
        weights, layout = self.decoder.weights, self.memory.layout
        x = np.zeros((len(previous), self.decoder.config.d), np.float32)
        for index, action in enumerate(previous.tolist()):
            if action == NO_ACTION:
                x[index] = weights["production.weight"][-1] + weights["kind.weight"][-1] + weights["row.bias"]
                continue
            kind, place = layout.locate(action)
            x[index] = weights["turn.kind.weight"][0] if kind == TURN else weights["kind.weight"][kind]
            if kind == STEP and place < self.memory.steps:
                action = int(self._taken[index, place])
                kind, place = layout.locate(action)
            self._taken[index, self.steps - 1] = action
            if kind == PRODUCTION:
                x[index] += weights["production.weight"][place] + weights["row.bias"]
            else:
                row = self.memory.row(kind, place)
                x[index] += weights["production.weight"][-2] + weights.linear("row", row)
        return x

    def _attend_to_decisions(self, index: int, layer: Part, x: Array) -> Array:
        """The first third of a pre-norm layer, x [B, d]; keys and values of this step are kept for later ones."""
        hypotheses, step, heads = len(x), self.steps, self.decoder.config.heads
        qkv = layer.linear("self_qkv", layer.norm("self_norm", x)).reshape(hypotheses, 3, heads, 1, -1)
        keys, values = self._keys[index], self._values[index]
        keys[:, :, step], values[:, :, step] = qkv[:, 1, :, 0], qkv[:, 2, :, 0]
        mixed = attention(qkv[:, 0], keys[:, :, : step + 1], values[:, :, : step + 1])
        return x + layer.linear("self_out", mixed.reshape(hypotheses, -1))

    def _attend_to_graph(self, index: int, layer: Part, x: Array) -> Array:
        heads = self.decoder.config.heads
        query = heads_first(layer.linear("cross_query", layer.norm("cross_norm", x)), 1, heads)[0]
        mixed = attention(query, self.memory.keys[index], self.memory.values[index])
        return x + layer.linear("cross_out", mixed.transpose(1, 0, 2).reshape(len(x), -1))

    def _scores(self, x: Array) -> Array:
        """Scores of all actions for final states x [B, d]."""
        config, weights, layout = self.decoder.config, self.decoder.weights, self.memory.layout
        scores = np.full((len(x), layout.size), -np.inf, np.float32)
        scores[:, : config.n_productions] = weights.linear("production_scores", x)
        scale = np.float32(config.d**-0.5)
        queries = weights.linear("pointer_query", x) * scale
        query_of = dict(zip(POINTER_KINDS, queries.reshape(len(x), -1, config.d).swapaxes(0, 1), strict=True))
        if TURN in self.memory.pointer_keys:
            query_of[TURN] = weights.linear("turn.query", x) * scale
        for kind, keys in self.memory.pointer_keys.items():
            scores[:, layout.offsets[kind] : layout.offsets[kind + 1]] = query_of[kind] @ keys.T
        # A decision can point at those before it: the one being taken is the newest in the cache.
        earlier = self._step_keys[:, : self.steps - 1]
        start = layout.offsets[STEP]
        scores[:, start : start + self.steps - 1] = (earlier @ query_of[STEP][..., None])[..., 0]
        scores[:, start + self.memory.steps : layout.offsets[STEP + 1]] = (
            query_of[STEP] @ self.memory.entry_keys.T
        )
        return scores

    def _grow(self) -> None:
        room = self._taken.shape[1]
        if self.steps < room:
            return
        self._keys = [np.concatenate([keys, np.empty_like(keys)], axis=2) for keys in self._keys]
        self._values = [np.concatenate([values, np.empty_like(values)], axis=2) for values in self._values]
        self._step_keys = np.concatenate([self._step_keys, np.empty_like(self._step_keys)], axis=1)
        self._taken = np.concatenate([self._taken, np.empty_like(self._taken)], axis=1)
