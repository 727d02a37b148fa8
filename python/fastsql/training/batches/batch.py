"""Padding questions of one schema, with their gold actions, to the arrays that the torch model reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fastsql.grammar.actions import CANDIDATE, KINDS, PRODUCTION, START, STEP, WEIGHT_NAMES, ActionLayout
from fastsql.grammar.trace import Trace
from fastsql.linking.nodes import NodeLayout
from fastsql.linking.prepare import Prepared
from fastsql.linking.relations import span_weights
from fastsql.model.config import ModelConfig, features_of
from fastsql.model.pointing import first_rows
from fastsql.model.schema_inputs import SchemaInputs

START_KIND = len(WEIGHT_NAMES)
"""Kind of the action before the first: none has been taken."""

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Instance:
    """One training example: a linked question and its gold decisions in the question's own layout."""

    prepared: Prepared
    trace: Trace


@dataclass(frozen=True, eq=False)
class Batch:
    """B questions of one schema: Q tokens, V candidates, D decisions after padding; S schema items.

    The padded layout of flat actions is `layout`. `node_mask` and `decision_mask` are true where there is
    something. Previous actions are split to kind, production (`n_productions` if it is none, + 1 if nothing
    was taken yet) and row: a row of [Q tokens][V candidates][S items][W values][nothing]. A step pointer
    stands for what was decided at that step.
    """

    schema: SchemaInputs
    layout: ActionLayout
    token_ids: Ints  # [B, Q + 2], with [CLS] and [SEP]
    token_lengths: Ints  # [B], with [CLS] and [SEP]
    candidate_weights: NDArray[np.float32]  # [B, V, Q]
    candidate_features: Ints  # [B, V, 4]
    node_mask: NDArray[np.bool_]  # [B, Q + V]
    relations: NDArray[np.uint8]  # [B, Q + V, Q + V + S]: question rows
    item_relations: NDArray[np.uint8]  # [B, S, Q + V]: schema rows towards the question
    actions: Ints  # [B, D]
    previous_kind: Ints  # [B, D]
    previous_production: Ints  # [B, D]
    previous_row: Ints  # [B, D]
    symbols: Ints  # [B, D]
    parents: Ints  # [B, D]
    legal: NDArray[np.bool_]  # [B, D, A]; padded decisions allow action 0 only
    decision_mask: NDArray[np.bool_]  # [B, D]

    def __len__(self) -> int:
        return len(self.token_ids)


def instance_layout(instance: Instance, schema: SchemaInputs, config: ModelConfig) -> ActionLayout:
    """The flat layout that an instance's trace counts in."""
    n_tokens = len(instance.prepared.token_ids)
    width = instance.trace.legal.shape[1]
    rest = _layout(schema, config, n_tokens, len(instance.prepared.candidates), 0)
    if width < rest.size:
        raise ValueError(f"a trace over {width} actions is too narrow for {rest.sizes}")
    return _layout(schema, config, n_tokens, len(instance.prepared.candidates), width - rest.size)


def _layout(
    schema: SchemaInputs, config: ModelConfig, tokens: int, candidates: int, steps: int
) -> ActionLayout:
    return ActionLayout.of(
        productions=config.n_productions,
        tables=schema.n_tables,
        columns=schema.n_columns,
        candidates=candidates,
        schema_values=schema.n_values,
        tokens=tokens,
        steps=steps,
    )


def shared_actions(own: ActionLayout, padded: ActionLayout) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Flat numbers in both layouts of the actions that both have."""
    pairs = [
        (own.offsets[kind] + np.arange(width), padded.offsets[kind] + np.arange(width))
        for kind, width in enumerate(map(min, own.sizes, padded.sizes))
    ]
    return np.concatenate([first for first, _ in pairs]), np.concatenate([second for _, second in pairs])


def collate(
    instances: Sequence[Instance], schema: SchemaInputs, config: ModelConfig, tokenizer_ids: tuple[int, int]
) -> Batch:
    """Pad instances of one schema; `tokenizer_ids` are the ids of [CLS] and [SEP]."""
    n_batch = len(instances)
    n_tokens = max(len(instance.prepared.token_ids) for instance in instances)
    n_candidates = max(len(instance.prepared.candidates) for instance in instances)
    n_decisions = max(len(instance.trace.actions) for instance in instances)
    nodes = schema.nodes.with_question(n_tokens, n_candidates)
    n_items, n_question = schema.n_items, nodes.question.stop
    layout = _layout(schema, config, n_tokens, n_candidates, n_decisions)
    nothing = nodes.size + schema.n_values
    batch = Batch(
        schema=schema,
        layout=layout,
        token_ids=np.zeros((n_batch, n_tokens + 2), dtype=np.int64),
        token_lengths=np.zeros(n_batch, dtype=np.int64),
        candidate_weights=np.zeros((n_batch, n_candidates, n_tokens), dtype=np.float32),
        candidate_features=np.zeros((n_batch, n_candidates, 4), dtype=np.int64),
        node_mask=np.zeros((n_batch, n_question), dtype=bool),
        relations=np.zeros((n_batch, n_question, n_question + n_items), dtype=np.uint8),
        item_relations=np.zeros((n_batch, n_items, n_question), dtype=np.uint8),
        actions=np.zeros((n_batch, n_decisions), dtype=np.int64),
        previous_kind=np.full((n_batch, n_decisions), START_KIND, dtype=np.int64),
        previous_production=np.full((n_batch, n_decisions), config.n_productions + 1, dtype=np.int64),
        previous_row=np.full((n_batch, n_decisions), nothing, dtype=np.int64),
        symbols=np.zeros((n_batch, n_decisions), dtype=np.int64),
        parents=np.zeros((n_batch, n_decisions), dtype=np.int64),
        legal=np.zeros((n_batch, n_decisions, layout.size), dtype=bool),
        decision_mask=np.zeros((n_batch, n_decisions), dtype=bool),
    )
    for index, instance in enumerate(instances):
        _fill_question(batch, index, instance.prepared, nodes, tokenizer_ids)
        _fill_decisions(batch, index, instance, instance_layout(instance, schema, config), config)
    batch.legal[~batch.decision_mask, 0] = True
    return batch


def _fill_question(
    batch: Batch, index: int, prepared: Prepared, padded: NodeLayout, tokenizer_ids: tuple[int, int]
) -> None:
    cls, sep = tokenizer_ids
    tokens, values = len(prepared.token_ids), len(prepared.candidates)
    own = padded.with_question(tokens, values)
    batch.token_ids[index, 0] = cls
    batch.token_ids[index, 1 : tokens + 1] = prepared.token_ids
    batch.token_ids[index, tokens + 1] = sep
    batch.token_lengths[index] = tokens + 2
    if values:
        batch.candidate_weights[index, :values, :tokens] = span_weights(prepared.offsets, prepared.candidates)
        batch.candidate_features[index, :values] = features_of(prepared.candidates)

    # Tokens and candidates move apart when the tokens are padded; the schema moves behind both.
    begin = padded.candidates.start
    blocks = ((own.tokens, own.tokens), (own.candidates, slice(begin, begin + values)))
    source = prepared.relations
    for rows, padded_rows in blocks:
        batch.node_mask[index, padded_rows] = True
        for columns, padded_columns in blocks:
            batch.relations[index, padded_rows, padded_columns] = source[rows, columns]
        batch.relations[index, padded_rows, padded.schema] = source[rows, own.schema]
        batch.item_relations[index, :, padded_rows] = source[own.schema, rows]


def _fill_decisions(
    batch: Batch, index: int, instance: Instance, own: ActionLayout, config: ModelConfig
) -> None:
    trace, padded = instance.trace, batch.layout
    length = len(trace.actions)
    kinds = np.searchsorted(own.offsets, trace.actions, side="right") - 1
    # An empty kind shares its offset with the next one; searching from the right finds the kind that is not.
    places = trace.actions - np.asarray(own.offsets)[kinds]
    batch.actions[index, :length] = np.asarray(padded.offsets)[kinds] + places
    batch.symbols[index, :length] = trace.symbols
    batch.parents[index, :length] = trace.parents
    batch.decision_mask[index, :length] = True
    for kind in range(len(KINDS)):
        width = min(own.sizes[kind], padded.sizes[kind])
        batch.legal[index, :length, padded.offsets[kind] : padded.offsets[kind] + width] = trace.legal[
            :, own.offsets[kind] : own.offsets[kind] + width
        ]

    meant_kinds, meant_places = kinds.copy(), places.copy()
    for step in np.nonzero(kinds == STEP)[0]:
        # Earlier steps are resolved already, so one look-up follows any chain of step pointers.
        meant_kinds[step], meant_places[step] = meant_kinds[places[step]], meant_places[places[step]]
    nodes = batch.schema.nodes.with_question(padded.sizes[START], padded.sizes[CANDIDATE])
    first_row = np.array(first_rows(nodes))
    is_production = meant_kinds == PRODUCTION
    nothing = nodes.size + batch.schema.n_values
    batch.previous_kind[index, 1:length] = kinds[:-1]
    batch.previous_production[index, 1:length] = np.where(is_production, meant_places, config.n_productions)[
        :-1
    ]
    batch.previous_row[index, 1:length] = np.where(
        is_production, nothing, first_row[meant_kinds] + meant_places
    )[:-1]
