"""Padding questions of one schema, with their gold actions, to the arrays that the torch model reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from fastsql.explanation.roles import ROLES
from fastsql.grammar.actions import CANDIDATE, PRODUCTION, START, STEP, TURN, WEIGHT_NAMES, ActionLayout
from fastsql.grammar.trace import Trace
from fastsql.linking.nodes import NodeLayout
from fastsql.linking.prepare import Prepared
from fastsql.linking.relations import span_weights
from fastsql.model.config import CANDIDATE_SIZES, ModelConfig, features_of
from fastsql.model.pointing import first_rows
from fastsql.model.schema_inputs import SchemaInputs
from fastsql.model.turns import ENTRY_NUMBERS, TURN_FEATURES, TurnInputs

START_KIND = len(WEIGHT_NAMES)
"""Kind of the action before the first: none has been taken."""
TURN_KIND = START_KIND + 1
"""Kind of a pointer at an earlier turn, as embeddings count."""

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Parts:
    """What auxiliary objectives ask: `roles` bool[Q, 16] of the question's tokens, `used` bool[S] of the schema's items."""

    roles: NDArray[np.bool_]
    used: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Instance:
    """One training example: a linked question and its gold decisions in the question's own layout.

    `earlier` int32[tokens] each are the questions of its earlier turns, for the network to read; where there are none, what
    turns were pooled to is taken for given.
    """

    prepared: Prepared
    trace: Trace
    earlier: tuple[NDArray[np.int32], ...] = ()
    parts: Parts | None = None

    @property
    def entries(self) -> int:
        """What its earlier turns offer."""
        return sum(turn.turn.entries for turn in self.prepared.turns)


@dataclass(frozen=True, eq=False)
class Batch:
    """B questions of one schema: Q tokens, V candidates, K earlier turns that offer E entries, D decisions after padding;
    S schema items.

    The padded layout of flat actions is `layout`. `node_mask` and `decision_mask` are true where there is
    something. Previous actions are split to kind, production (`n_productions` if it is none, + 1 if nothing
    was taken yet) and row: a row of [Q tokens][V candidates][K turns][S items][W values][E entries][nothing]. A
    step pointer stands for what was decided at that step; behind the D steps it points at entries.
    """

    schema: SchemaInputs
    layout: ActionLayout
    token_ids: Ints  # [B, Q + 2], with [CLS] and [SEP]
    token_lengths: Ints  # [B], with [CLS] and [SEP]
    candidate_weights: NDArray[np.float32]  # [B, V, Q]
    candidate_features: Ints  # [B, V, 4]
    turn_texts: tuple[Ints, ...]  # questions of earlier turns, [texts, tokens] each, with [CLS] and [SEP]
    turn_text: Ints  # [B, K], a text's place through all groups, or -1: pooled already
    turn_pooled: NDArray[np.float32]  # [B, K, d]
    turn_features: Ints  # [B, K, 2]
    entries: Ints  # [B, E, 5]
    node_mask: NDArray[np.bool_]  # [B, Q + V + K]
    relations: NDArray[np.uint8]  # [B, Q + V + K, Q + V + K + S]: question rows
    item_relations: NDArray[np.uint8]  # [B, S, Q + V + K]: schema rows towards the question
    actions: Ints  # [B, D]
    previous_kind: Ints  # [B, D]
    previous_production: Ints  # [B, D]
    previous_row: Ints  # [B, D]
    symbols: Ints  # [B, D]
    parents: Ints  # [B, D]
    legal: NDArray[np.bool_]  # [B, D, A]; padded decisions allow action 0 only
    decision_mask: NDArray[np.bool_]  # [B, D]
    known_roles: NDArray[np.bool_]  # [B], whether the next two are known
    token_roles: NDArray[np.bool_]  # [B, Q, 16]
    used_items: NDArray[np.bool_]  # [B, S]

    def __len__(self) -> int:
        return len(self.token_ids)


def instance_layout(instance: Instance, schema: SchemaInputs, config: ModelConfig) -> ActionLayout:
    """The flat layout that an instance's trace counts in."""
    prepared = instance.prepared
    width = instance.trace.legal.shape[1]
    sizes = (len(prepared.token_ids), len(prepared.candidates), len(prepared.turns))
    rest = _layout(schema, config, *sizes, instance.entries)
    if width < rest.size:
        raise ValueError(f"a trace over {width} actions is too narrow for {rest.sizes}")
    return _layout(schema, config, *sizes, instance.entries + width - rest.size)


def _layout(
    schema: SchemaInputs, config: ModelConfig, tokens: int, candidates: int, turns: int, steps: int
) -> ActionLayout:
    return ActionLayout.of(
        productions=config.n_productions,
        tables=schema.n_tables,
        columns=schema.n_columns,
        candidates=candidates,
        schema_values=schema.n_values,
        tokens=tokens,
        steps=steps,
        turns=turns,
    )


def shared_actions(
    own: ActionLayout, padded: ActionLayout, entries: int = 0, padded_entries: int = 0
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Flat numbers in both layouts of the actions that both have; so many of their steps are entries of earlier turns."""
    parts = zip(_parts(own, entries), _parts(padded, padded_entries), strict=True)
    pairs = [
        (first + np.arange(min(width, other_width)), other_first + np.arange(min(width, other_width)))
        for (first, width), (other_first, other_width) in parts
    ]
    return np.concatenate([first for first, _ in pairs]), np.concatenate([second for _, second in pairs])


def _parts(layout: ActionLayout, entries: int) -> list[tuple[int, int]]:
    """First action and number of actions of each kind, entries being one of their own."""
    sizes = list(layout.sizes)
    sizes[STEP : STEP + 1] = [layout.sizes[STEP] - entries, entries]
    return list(zip(np.cumsum([0, *sizes]).tolist(), sizes, strict=False))


@dataclass(frozen=True, eq=False)
class TurnTexts:
    """The distinct questions of earlier turns: `groups` of one length each, and each one's place through all groups."""

    groups: tuple[Ints, ...]
    places: dict[bytes, int]

    @classmethod
    def of(cls, instances: Sequence[Instance], tokenizer_ids: tuple[int, int]) -> TurnTexts:
        """Those that the network is to read."""
        distinct = {ids.tobytes(): ids for instance in instances for ids in instance.earlier}
        ordered = sorted(distinct, key=len)
        cls_id, sep_id = tokenizer_ids
        groups = [
            np.array([[cls_id, *distinct[key], sep_id] for key in keys], dtype=np.int64)
            for _, keys in groupby(ordered, len)
        ]
        return cls(tuple(groups), {key: place for place, key in enumerate(ordered)})


def collate(
    instances: Sequence[Instance], schema: SchemaInputs, config: ModelConfig, tokenizer_ids: tuple[int, int]
) -> Batch:
    """Pad instances of one schema; `tokenizer_ids` are the ids of [CLS] and [SEP].

    Raises ValueError where there are earlier turns, but `config` has none.
    """
    n_batch = len(instances)
    n_tokens = max(len(instance.prepared.token_ids) for instance in instances)
    n_candidates = max(len(instance.prepared.candidates) for instance in instances)
    n_decisions = max(len(instance.trace.actions) for instance in instances)
    n_turns = max(len(instance.prepared.turns) for instance in instances)
    n_entries = max(instance.entries for instance in instances)
    if n_turns and not config.turns:
        raise ValueError("the model has no weights for earlier turns")
    texts = TurnTexts.of(instances, tokenizer_ids)
    nodes = schema.nodes.with_question(n_tokens, n_candidates, n_turns)
    n_items, n_question = schema.n_items, nodes.question.stop
    layout = _layout(schema, config, n_tokens, n_candidates, n_turns, n_decisions + n_entries)
    nothing = nodes.size + schema.n_values + n_entries
    batch = Batch(
        schema=schema,
        layout=layout,
        token_ids=np.zeros((n_batch, n_tokens + 2), dtype=np.int64),
        token_lengths=np.zeros(n_batch, dtype=np.int64),
        candidate_weights=np.zeros((n_batch, n_candidates, n_tokens), dtype=np.float32),
        candidate_features=np.zeros((n_batch, n_candidates, len(CANDIDATE_SIZES)), dtype=np.int64),
        turn_texts=texts.groups,
        turn_text=np.full((n_batch, n_turns), -1, dtype=np.int64),
        turn_pooled=np.zeros((n_batch, n_turns, config.d), dtype=np.float32),
        turn_features=np.zeros((n_batch, n_turns, len(TURN_FEATURES)), dtype=np.int64),
        entries=np.zeros((n_batch, n_entries, ENTRY_NUMBERS), dtype=np.int64),
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
        known_roles=np.array([instance.parts is not None for instance in instances]),
        token_roles=np.zeros((n_batch, n_tokens, len(ROLES)), dtype=bool),
        used_items=np.zeros((n_batch, n_items), dtype=bool),
    )
    for index, instance in enumerate(instances):
        _fill_question(batch, index, instance.prepared, nodes, tokenizer_ids)
        _fill_turns(batch, index, instance, texts, config)
        _fill_decisions(batch, index, instance, instance_layout(instance, schema, config), config)
        if instance.parts is not None:
            batch.token_roles[index, : len(instance.parts.roles)] = instance.parts.roles
            batch.used_items[index] = instance.parts.used
    batch.legal[~batch.decision_mask, 0] = True
    return batch


def _fill_question(
    batch: Batch, index: int, prepared: Prepared, padded: NodeLayout, tokenizer_ids: tuple[int, int]
) -> None:
    cls, sep = tokenizer_ids
    tokens, values = len(prepared.token_ids), len(prepared.candidates)
    own = padded.with_question(tokens, values, len(prepared.turns))
    batch.token_ids[index, 0] = cls
    batch.token_ids[index, 1 : tokens + 1] = prepared.token_ids
    batch.token_ids[index, tokens + 1] = sep
    batch.token_lengths[index] = tokens + 2
    if values:
        batch.candidate_weights[index, :values, :tokens] = span_weights(prepared.offsets, prepared.candidates)
        batch.candidate_features[index, :values] = features_of(prepared.candidates)

    # Tokens, candidates and turns move apart where they are padded; the schema moves behind them.
    blocks = [
        (mine, slice(theirs.start, theirs.start + mine.stop - mine.start))
        for mine, theirs in (
            (own.tokens, padded.tokens),
            (own.candidates, padded.candidates),
            (own.turns, padded.turns),
        )
    ]
    source = prepared.relations
    for rows, padded_rows in blocks:
        batch.node_mask[index, padded_rows] = True
        for columns, padded_columns in blocks:
            batch.relations[index, padded_rows, padded_columns] = source[rows, columns]
        batch.relations[index, padded_rows, padded.schema] = source[rows, own.schema]
        batch.item_relations[index, :, padded_rows] = source[own.schema, rows]


def _fill_turns(batch: Batch, index: int, instance: Instance, texts: TurnTexts, config: ModelConfig) -> None:
    turns = instance.prepared.turns
    if not turns:
        return
    if instance.earlier:
        batch.turn_text[index, : len(turns)] = [texts.places[ids.tobytes()] for ids in instance.earlier]
        turns = tuple(replace(turn, pooled=np.zeros(config.d, np.float32)) for turn in turns)
    inputs = TurnInputs.of(turns, batch.schema.nodes, config.d, named=config.named_turns)
    batch.turn_pooled[index, : len(turns)] = inputs.pooled
    batch.turn_features[index, : len(turns)] = inputs.features
    batch.entries[index, : len(inputs.entries)] = inputs.entries


def _fill_decisions(
    batch: Batch, index: int, instance: Instance, own: ActionLayout, config: ModelConfig
) -> None:
    trace, padded = instance.trace, batch.layout
    length = len(trace.actions)
    kinds = np.searchsorted(own.offsets, trace.actions, side="right") - 1
    # An empty kind shares its offset with the next one; searching from the right finds the kind that is not.
    places = trace.actions - np.asarray(own.offsets)[kinds]
    padded_entries = batch.entries.shape[1]
    steps, padded_steps = own.sizes[STEP] - instance.entries, padded.sizes[STEP] - padded_entries
    is_entry = (kinds == STEP) & (places >= steps)
    places[is_entry] += padded_steps - steps
    batch.actions[index, :length] = np.asarray(padded.offsets)[kinds] + places
    batch.symbols[index, :length] = trace.symbols
    batch.parents[index, :length] = trace.parents
    batch.decision_mask[index, :length] = True
    here, there = shared_actions(own, padded, instance.entries, padded_entries)
    batch.legal[index, :length, there] = trace.legal[:, here].T

    meant_kinds, meant_places = kinds.copy(), places.copy()
    for step in np.nonzero((kinds == STEP) & ~is_entry)[0]:
        # Earlier steps are resolved already, so one look-up follows any chain of step pointers.
        meant_kinds[step], meant_places[step] = meant_kinds[places[step]], meant_places[places[step]]
    nodes = batch.schema.nodes.with_question(padded.sizes[START], padded.sizes[CANDIDATE], padded.sizes[TURN])
    first_row = np.array(first_rows(nodes))
    first_row[STEP] = nodes.size + batch.schema.n_values - padded_steps  # that remain are pointers at entries
    is_production = meant_kinds == PRODUCTION
    nothing = nodes.size + batch.schema.n_values + padded_entries
    batch.previous_kind[index, 1:length] = np.where(kinds == TURN, TURN_KIND, kinds)[:-1]
    batch.previous_production[index, 1:length] = np.where(is_production, meant_places, config.n_productions)[
        :-1
    ]
    batch.previous_row[index, 1:length] = np.where(
        is_production, nothing, first_row[meant_kinds] + meant_places
    )[:-1]
