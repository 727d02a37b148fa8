"""The whole model in torch: what `fastsql.model` computes for one question, for a padded batch.

Parameter names are the names of the weights in a bundle. Every question of a batch asks about one schema, whose
texts and graph rows are therefore computed once a batch.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from fastsql.model.config import CANDIDATE_SIZES, ITEM_TYPES, LGE, ModelConfig
from fastsql.model.line_graph import question_line_graph, schema_line_graph
from fastsql.model.schema_inputs import SchemaInputs
from fastsql.training.batches.batch import Batch
from fastsql.training.network import lge
from fastsql.training.network.attention import additive_mask
from fastsql.training.network.decoder import Decoder, Memory
from fastsql.training.network.dropout import Dropout
from fastsql.training.network.encoder import Encoder
from fastsql.training.network.graph import Edges, GraphLayer, run_graph
from fastsql.training.network.linear import Linear
from fastsql.training.network.pretrained import Pretrained
from fastsql.training.network.turns import Turns

VALUE_REFRESH = 300
"""In training, the text of a schema value is encoded anew when so many batches have passed, and without a gradient: there
are more of them than questions in a batch, and what they say hardly changes."""


class Model(nn.Module):
    """Encoder, graph and decoder."""

    def __init__(self, config: ModelConfig, frozen_layers: int = 0) -> None:
        """`frozen_layers` of the encoder keep their weights in training, and its embeddings with them."""
        super().__init__()
        self.config = config
        d, hidden = config.d, config.encoder.hidden
        self.encoder = Encoder(config.encoder, config.encoder_dropout, frozen_layers)
        self.token_in = Linear(hidden, d)
        self.item_in = Linear(hidden, d)
        self.owner_in = Linear(hidden, d)
        self.value_in = Linear(hidden, d)
        self.item_type = nn.Embedding(len(ITEM_TYPES), d)
        self.candidate = nn.ModuleList(nn.Embedding(count, d) for count in CANDIDATE_SIZES)
        self.edge = nn.Embedding(config.relations, config.edge_d) if config.graph == LGE else None
        self.graph = nn.ModuleList(_layers(config))
        self.graph_norm = nn.LayerNorm(d)
        self.value_norm = nn.LayerNorm(d)
        self.decoder = Decoder(config)
        self.dropout = Dropout(config.dropout)
        for embedding in (self.item_type, *self.candidate):
            nn.init.normal_(embedding.weight, std=0.1)
        self.turn = Turns(config) if config.turns else None
        self._value_texts: dict[bytes, tuple[int, Tensor]] = {}
        self._batches = 0

    @classmethod
    def start(
        cls, config: ModelConfig, pretrained: Pretrained | None = None, frozen_layers: int = 0
    ) -> Model:
        """A new model; its encoder starts from `pretrained`, or from scratch."""
        model = cls(config, frozen_layers)
        if pretrained is not None:
            model.encoder.load_state_dict(pretrained.weights)
        return model

    def remove_relations(self) -> None:
        """Sets what the graph knows of relations to zero, for good: its attention then sees rows only."""
        for name, parameter in self.graph.named_parameters():
            if "relation_" in name:
                nn.init.zeros_(parameter).requires_grad_(False)

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return self.token_in.weight.device

    def forward(self, batch: Batch) -> Tensor:
        """Unmasked scores of all actions, float[B, D, A] in `batch.layout`."""
        return self.decide(batch, self.read(batch))

    def read(self, batch: Batch) -> Memory:
        """Encoder and graph: what the decoder reads, whatever it decides."""
        schema = batch.schema
        groups = [self._tensor(group).long() for group in schema.texts]
        groups += [self._tensor(group) for group in batch.turn_texts]
        states = self.encoder([*groups, self._tensor(batch.token_ids)], self._tensor(batch.token_lengths))
        item_texts = torch.cat([group.mean(dim=1) for group in states[: len(schema.texts)]])

        tokens = self.token_in(states[-1][:, 1:-1])
        candidates = self._candidate_states(batch, tokens)
        turns = self._turn_states(batch, states[len(schema.texts) : -1], tokens)
        question = self.dropout(torch.cat([tokens.to(candidates.dtype), candidates, *turns], dim=1))
        items = self.dropout(self._item_states(item_texts, schema))[None]

        node_mask = self._tensor(batch.node_mask)
        bias = additive_mask(node_mask[:, None, None, :], tokens.dtype)
        question, items, cached = self._run_graph(batch, question, items, bias)
        memory = self.graph_norm(torch.cat([question, items.expand(len(question), -1, -1)], dim=1))
        memory_mask = torch.cat([bias, bias.new_zeros(len(question), 1, 1, schema.n_items)], dim=-1)
        values = self._value_states(schema, cached[0])
        nodes = schema.nodes.with_question(tokens.shape[1], candidates.shape[1], batch.turn_text.shape[1])
        entries = memory.new_zeros(len(memory), 0, self.config.d)
        if self.turn is not None and nodes.n_turns:
            entries = self.turn.entry_states(
                self._tensor(batch.entries), memory[:, nodes.turns], memory[:, nodes.schema]
            )
        return Memory(memory, memory_mask, nodes, values, entries)

    def decide(self, batch: Batch, memory: Memory) -> Tensor:
        """Unmasked scores of all actions at every decision of the batch, float[B, D, A]."""
        scores: Tensor = self.decoder(
            (
                self._tensor(batch.previous_kind),
                self._tensor(batch.previous_production),
                self._tensor(batch.previous_row),
            ),
            self._tensor(batch.symbols),
            self._tensor(batch.parents),
            memory,
        )
        return scores

    def _run_graph(
        self, batch: Batch, question: Tensor, items: Tensor, node_mask: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """The questions' rows and the schema's behind all layers, and the schema's behind the cached ones."""
        edges = Edges(
            node_mask,
            self._tensor(batch.relations).long()[:, None],
            self._tensor(batch.item_relations).long()[:, None],
            self._tensor(batch.schema.relations).long()[None, None],
        )
        if self.edge is None:
            return run_graph(self.graph, self.config.cached_layers, question, items, edges)
        schema = schema_line_graph(batch.schema.relations)
        line = question_line_graph(batch.relations, batch.item_relations, schema)
        lines = lge.LineGraphs.of(line, schema, self.device)
        return lge.run_graph(self.graph, self.edge, self.config.cached_layers, question, items, edges, lines)

    def _candidate_states(self, batch: Batch, tokens: Tensor) -> Tensor:
        """First states of the value candidates, [B, V, d]: the mean of their span, and what they are."""
        states = self._tensor(batch.candidate_weights).to(tokens.dtype) @ tokens
        features = self._tensor(batch.candidate_features)
        for index, embedding in enumerate(self.candidate):
            states = states + embedding(features[..., index])
        return states

    def _turn_states(self, batch: Batch, texts: Sequence[Tensor], tokens: Tensor) -> list[Tensor]:
        """First states of the earlier turns, [B, K, d], if there are any; `texts` are encoder states of their questions."""
        if self.turn is None or not batch.turn_text.shape[1]:
            return []
        pooled = self._tensor(batch.turn_pooled).to(tokens.dtype)
        if texts:
            means = torch.cat([_mean_of_tokens(self.token_in(states)) for states in texts])
            place = self._tensor(batch.turn_text)
            pooled = torch.where((place >= 0)[..., None], means[place.clamp(min=0)].to(pooled.dtype), pooled)
        return [self.turn.first_states(pooled, self._tensor(batch.turn_features))]

    def _item_states(self, texts: Tensor, schema: SchemaInputs) -> Tensor:
        """First states of tables and columns, [S, d]; a column's also says whose it is, as labels repeat."""
        item_text, nodes = self._tensor(schema.item_text), schema.nodes
        items = self.item_in(texts)[item_text] + self.item_type(self._tensor(schema.item_type))
        tables = self.owner_in(texts)[item_text[nodes.tables]]
        owners = tables[self._tensor(schema.column_table)]
        return torch.cat([items[nodes.tables], items[nodes.columns] + owners])

    def _value_states(self, schema: SchemaInputs, items: Tensor) -> Tensor:
        """States of the schema values, [W, d], from their text and the cached state of their column."""
        if not schema.n_values:
            return items.new_zeros(0, self.config.d)
        texts = self.value_in(self._encoded_values(schema))[self._tensor(schema.value_text)]
        # Row T + C stands for "no column".
        items = torch.cat([items, items.new_zeros(1, self.config.d)])
        columns = self._tensor(schema.value_column)
        rows = torch.where(columns < 0, schema.nodes.size, schema.nodes.column(0) + columns)
        states: Tensor = self.value_norm(texts + items[rows])
        return states

    def _encoded_values(self, schema: SchemaInputs) -> Tensor:
        """The texts of the schema values, [texts, hidden], in the order of `schema.value_texts`."""
        if not self.training:
            with torch.no_grad():
                return self._encode_groups(schema.value_texts)
        self._batches += 1
        oldest = self._batches - VALUE_REFRESH
        keys = [[row.tobytes() for row in group] for group in schema.value_texts]
        stale = [
            [
                number
                for number, key in enumerate(group)
                if self._value_texts.get(key, (oldest, None))[0] <= oldest
            ]
            for group in keys
        ]
        with torch.no_grad():
            states = self._encode_groups(
                [group[rows] for group, rows in zip(schema.value_texts, stale, strict=True) if rows]
            )
        renewed = [group[number] for group, rows in zip(keys, stale, strict=True) for number in rows]
        for key, state in zip(renewed, states, strict=True):
            self._value_texts[key] = (self._batches, state)
        return torch.stack([self._value_texts[key][1] for group in keys for key in group])

    def _encode_groups(self, groups: Sequence[NDArray[np.int32]]) -> Tensor:
        """The mean state of every text of all groups, [texts, hidden]."""
        if not groups:
            return torch.empty(0, self.config.encoder.hidden)
        encoded = self.encoder([self._tensor(group).long() for group in groups])
        return torch.cat([group.mean(dim=1) for group in encoded])

    def _tensor(self, array: NDArray[np.generic]) -> Tensor:
        return torch.from_numpy(array).to(self.device, non_blocking=True)


def _layers(config: ModelConfig) -> Iterable[GraphLayer]:
    """The graph's layers, of the encoder that a configuration names."""
    count = config.cached_layers + config.joint_layers
    if config.graph == LGE:
        return (lge.LineGraphLayer(config, last=index == count - 1) for index in range(count))
    return (GraphLayer(config) for _ in range(count))


def _mean_of_tokens(states: Tensor) -> Tensor:
    """Means [texts, d] of states [texts, tokens, d] between [CLS] and [SEP]; zeros where there is nothing between."""
    inner = states[:, 1:-1]
    return inner.mean(dim=1) if inner.shape[1] else states.new_zeros(len(states), states.shape[-1])
