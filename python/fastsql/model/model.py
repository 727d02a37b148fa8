"""The model in NumPy, in the order in which data flows: schema, question, decoder.

schema   --encode_schema-->   SchemaState    once, to be cached by the schema's fingerprint
question --encode_question--> QuestionState  tokens, encoder, graph, memory of the decoder
start --> DecoderState.step, .reorder        beam search's part
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fastsql.errors import ModelError
from fastsql.grammar.actions import SCHEMA_VALUE
from fastsql.linking.prepare import Prepared
from fastsql.linking.relations import SchemaLinks, span_weights
from fastsql.model.attention import Array, Part
from fastsql.model.config import LGE, ModelConfig, features_of
from fastsql.model.decoder import Decoder, DecoderState, Memory, SchemaMemory
from fastsql.model.encoder import Encoder, encode_groups
from fastsql.model.graph import Graph, SchemaGraph
from fastsql.model.schema_inputs import SchemaInputs
from fastsql.model.tokenizer import Tokenizer
from fastsql.model.turns import TurnInputs, entry_states, first_states
from fastsql.schema import Schema


@dataclass(frozen=True, eq=False)
class SchemaState:
    """Everything about a schema that does not depend on a question: T tables, C columns, W values."""

    links: SchemaLinks
    inputs: SchemaInputs
    graph: SchemaGraph
    memory: SchemaMemory | None  # the decoder's, where no layer is joint
    values: Array  # [W, d]
    value_keys: Array  # [W, d]


@dataclass(frozen=True, eq=False)
class QuestionState:
    """A question in the graph and ready for the decoder. Immutable, so several searches may share it."""

    prepared: Prepared
    memory: Memory


class Model:
    """Encoder, graph and decoder. Immutable, so threads may share it."""

    def __init__(self, config: ModelConfig, weights: Part, encoder: Encoder, tokenizer: Tokenizer) -> None:
        self.config = config
        self.weights = weights
        self.encoder = encoder
        self.tokenizer = tokenizer
        self.graph = _graph(config, weights)
        self.decoder = Decoder(config, weights.at("decoder"))

    # ---------------------------------------------------------------- schema

    def encode_schema(self, schema: Schema) -> SchemaState:
        """Texts of the schema through the encoder, its rows through the cached graph layers."""
        links = SchemaLinks(self.config.as_read(schema))
        inputs = SchemaInputs.build(links, self.tokenizer)
        if not inputs.n_items:
            raise ModelError("a schema without tables cannot be encoded", where=f"schema {schema.name!r}")
        graph = self.graph.read_schema(self._item_states(inputs), inputs.relations)
        memory = None if self.config.joint_layers else self._schema_memory(graph.items, inputs)
        values = self._value_states(inputs, graph.items)
        keys = self.decoder.pointer_keys(SCHEMA_VALUE, values)
        return SchemaState(links, inputs, graph, memory, values, keys)

    def _schema_memory(self, items: Array, inputs: SchemaInputs) -> SchemaMemory:
        return self.decoder.read_schema(self.weights.norm("graph_norm", items), inputs.nodes)

    def _item_states(self, inputs: SchemaInputs) -> Array:
        """First states of tables and columns, [T + C, d]; a column's also says whose it is, as labels repeat."""
        weights, nodes = self.weights, inputs.nodes
        texts = encode_groups(self.encoder, inputs.texts)[inputs.item_text]
        items = weights.linear("item_in", texts) + weights["item_type.weight"][inputs.item_type]
        items[nodes.columns] += weights.linear("owner_in", texts[nodes.tables])[inputs.column_table]
        return items

    def _value_states(self, inputs: SchemaInputs, items: Array) -> Array:
        """States of the schema values, [W, d], from their text and the cached state of their column."""
        if not inputs.n_values:
            return np.zeros((0, self.config.d), np.float32)
        texts = encode_groups(self.encoder, inputs.value_texts)[inputs.value_text]
        states = self.weights.linear("value_in", texts)
        has_column = inputs.value_column >= 0
        states[has_column] += items[inputs.nodes.columns][inputs.value_column[has_column]]
        return self.weights.norm("value_norm", states)

    # ---------------------------------------------------------------- question

    def encode_question(
        self,
        prepared: Prepared,
        schema: SchemaState,
        tokens: Array | None = None,
        steps: int | None = None,
    ) -> QuestionState:
        """A question linked with `schema.links` through the encoder and the graph.

        `tokens` is what `encode_tokens` gave for it, where that has been asked already; `steps` the decisions that its query
        may take, behind which earlier turns are numbered: as many as the model has if None.
        """
        tokens = self.encode_tokens(prepared) if tokens is None else tokens
        turns = TurnInputs.of(
            prepared.turns, schema.inputs.nodes, self.config.d, named=self.config.named_turns
        )
        rows = np.concatenate([tokens, self._candidate_states(prepared, tokens)])
        if prepared.turns:
            rows = np.concatenate([rows, first_states(self.weights.at("turn"), turns)])
        rows, items = self.graph.read(rows, schema.graph, prepared.relations)
        nodes = schema.inputs.nodes.with_question(len(tokens), len(prepared.candidates), len(prepared.turns))
        rows = self.weights.norm("graph_norm", rows)
        read_schema = schema.memory or self._schema_memory(items, schema.inputs)
        entries = None
        if prepared.turns:
            entries = entry_states(self.weights.at("turn"), turns, rows[nodes.turns], read_schema.items.rows)
        memory = self.decoder.read(rows, nodes, read_schema, schema.values, schema.value_keys, entries, steps)
        return QuestionState(prepared, memory)

    def encode_tokens(self, prepared: Prepared) -> Array:
        """The question's tokens through the encoder, in the width of the graph, [Q, d]."""
        ids = np.concatenate([[self.tokenizer.cls], prepared.token_ids, [self.tokenizer.sep]])
        states = self.encoder.encode(ids.astype(np.int32)[None])[0]
        return self.weights.linear("token_in", states[1:-1])

    def _candidate_states(self, prepared: Prepared, tokens: Array) -> Array:
        """First states of the value candidates, [V, d]: the mean of their span, and what they are."""
        states: Array = span_weights(prepared.offsets, prepared.candidates) @ tokens
        features = features_of(prepared.candidates)
        for index in range(features.shape[1]):
            states = states + self.weights[f"candidate.{index}.weight"][features[:, index]]
        return states

    # ---------------------------------------------------------------- decoder

    def start(self, question: QuestionState, hypotheses: int = 1) -> DecoderState:
        """A fresh beam; `DecoderState.step` and `.reorder` take it from there."""
        return DecoderState(self.decoder, question.memory, hypotheses)


def _graph(config: ModelConfig, weights: Part) -> Graph:
    """The encoder that a configuration names."""
    if config.graph == LGE:
        from fastsql.model.lge import LineGraphEnhanced  # no bundled model has it

        return LineGraphEnhanced(config, weights)
    return Graph(config, weights)
