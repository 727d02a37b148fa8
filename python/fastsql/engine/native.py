"""The C++ core: encoder and graph in one call, the first perhaps in ONNX Runtime, and any number of beam searches."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fastsql.backends import native, resolve_device
from fastsql.decode import Hypothesis, Search
from fastsql.engine.base import MOST_THREADS, Decoded, LastReading, check_space, link_question
from fastsql.engine.encoders import resolve_encoder
from fastsql.engine.stopwatch import Stopwatch
from fastsql.grammar import load_grammar
from fastsql.grammar.tables import grammar_table, question_table, schema_table
from fastsql.linking.prepare import Prepared
from fastsql.linking.relations import SchemaLinks, span_weights
from fastsql.model import Bundle
from fastsql.model.bundle import ENCODER
from fastsql.model.config import features_of
from fastsql.model.schema_inputs import SchemaInputs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fastsql import _core
    from fastsql.grammar import ActionSpace
    from fastsql.linking.dictionary import ValueDictionary
    from fastsql.linking.turns import EarlierTurn
    from fastsql.model.onnx_encoder import OnnxEncoder
    from fastsql.model.turns import TurnInputs
    from fastsql.schema import Schema


@dataclass(frozen=True, eq=False)
class NativeSchema:
    """A schema in the native core."""

    links: SchemaLinks
    state: _core.SchemaState | _core.CudaSchemaState
    items: _core.SchemaItems


Arguments: TypeAlias = (
    "tuple[_core.ActionSpace, NDArray[np.int32], NDArray[np.float32], NDArray[np.int64], NDArray[np.uint8], "
    "TurnInputs | None]"
)
"""A question as the native core takes it: action space, token ids, weights of tokens in candidates, features, relations,
earlier turns."""
Parsed: TypeAlias = (
    "tuple[list[Any], float, int, NDArray[np.float32], NDArray[np.float32], tuple[float, float, float]]"
)
"""What it makes of one: hypotheses, best unfinished score, steps, mean state, pooled tokens, milliseconds of encoder, graph
and search."""


class NativeEngine:
    """The C++ core, which works without the interpreter's lock: it reads a question, then searches in what it has read."""

    device = "cpu"
    core_class = "Engine"

    def __init__(self, bundle: Bundle, threads: int = 0, encoder: str = "auto") -> None:
        """Raises ModelError: no native module, a file of the bundle is missing or damaged, or no such encoder."""
        resolve_device(self.device)  # says why where there is no native module
        core: Any = native()
        self._core = core
        self.tokenizer = bundle.tokenizer()
        self.threads = threads or min(os.cpu_count() or 1, MOST_THREADS)
        self._config = bundle.config.model
        self._grammar = self._core.Grammar(grammar_table(load_grammar()))
        weights = bundle.weights()
        self.encoder = resolve_encoder(encoder, self.device, weights)
        self._onnx = self._open_onnx(bundle) if self.encoder == "onnxruntime" else None
        stored = weights.stored(encoder=self._onnx is None)
        del weights  # the pages of its file, which are read, would count beside the core's copy
        self._engine = getattr(core, self.core_class)(
            bundle.config.model.to_dict(),
            stored,
            cls=self.tokenizer.cls,
            sep=self.tokenizer.sep,
            threads=self.threads,
        )
        self._last: LastReading[_core.Reading] = LastReading()

    def encode_schema(self, schema: Schema) -> NativeSchema:
        """See `Engine`."""
        links = SchemaLinks(self._config.as_read(schema), core=self._core)
        inputs = SchemaInputs.build(links, self.tokenizer)
        return NativeSchema(
            links,
            self._engine.encode_schema(inputs, *self._means(inputs)),
            self._core.SchemaItems(self._grammar, schema_table(links.schema)),
        )

    def link(
        self,
        text: str,
        schema: NativeSchema,
        dictionary: ValueDictionary | None,
        turns: Sequence[EarlierTurn] = (),
    ) -> Prepared:
        """See `Engine`."""
        return link_question(text, schema.links, self.tokenizer, self._config, dictionary, turns)

    def decode(
        self,
        prepared: Prepared,
        schema: NativeSchema,
        space: ActionSpace,
        beam: int,
        patience: float = 0.0,
    ) -> Decoded:
        """See `Engine`."""
        watch = Stopwatch()
        native_space, *question = self.arguments(prepared, schema, space)
        reading = self._last.take(prepared, schema)
        known = reading is not None
        if reading is None:
            reading = self._engine.read(schema.state, *question, *self._states(prepared))
            self._last.keep(prepared, schema, reading)
        watch.lap("encode")
        parsed = self._engine.search(reading, native_space, beam, patience)
        watch.lap("decode")
        graph = 0.0 if known else parsed[-1][1]
        laps = watch.laps
        return decoded(parsed, {"encode": laps["encode"] - graph, "graph": graph, "decode": laps["decode"]})

    def arguments(self, prepared: Prepared, schema: NativeSchema, space: ActionSpace) -> Arguments:
        """A linked question as the core takes it."""
        check_space(prepared, space, self._config)
        turns = None
        if prepared.turns:
            from fastsql.model.turns import TurnInputs  # for conversations

            turns = TurnInputs.of(
                prepared.turns, schema.links.nodes, self._config.d, named=self._config.named_turns
            )
        return (
            self._core.ActionSpace(schema.items, question_table(space)),
            prepared.token_ids,
            span_weights(prepared.offsets, prepared.candidates),
            features_of(prepared.candidates),
            prepared.relations,
            turns,
        )

    def _open_onnx(self, bundle: Bundle) -> OnnxEncoder:
        """Its threads do not look for work when there is none: the core's need the processor next."""
        from fastsql.model.onnx_encoder import OnnxEncoder

        return OnnxEncoder(
            bundle.path / ENCODER, self.threads, bundle.config.model.encoder.hidden, spinning=False
        )

    def _means(self, inputs: SchemaInputs) -> tuple[NDArray[np.float32] | None, ...]:
        """Mean states of a schema's texts and values by ONNX Runtime; nothing where the core's own encoder reads them."""
        if self._onnx is None:
            return ()
        from fastsql.model.encoder import encode_groups

        return tuple(
            encode_groups(self._onnx, groups) if groups else None
            for groups in (inputs.texts, inputs.value_texts)
        )

    def _states(self, prepared: Prepared) -> tuple[NDArray[np.float32], ...]:
        """States of a question's tokens by ONNX Runtime; nothing where the core's own encoder reads it."""
        if self._onnx is None:
            return ()
        return (self._onnx.encode(self._text(prepared.token_ids)[None])[0, 1:-1],)

    def _text(self, token_ids: NDArray[np.int32]) -> NDArray[np.int32]:
        """A question's tokens between [CLS] and [SEP]."""
        return np.concatenate([[self.tokenizer.cls], token_ids, [self.tokenizer.sep]]).astype(np.int32)


def decoded(parsed: Parsed, stages: Mapping[str, float]) -> Decoded:
    """What the core found, with the milliseconds of each stage."""
    found, unfinished, steps, state, pooled, _ = parsed
    finished = tuple(hypothesis(*parts) for parts in found)
    return Decoded(Search(finished, unfinished, steps), state, pooled, stages)


def hypothesis(*parts: NDArray[Any]) -> Hypothesis:
    """A hypothesis of the core: actions, their log-probabilities, the path of decisions, what of it was kept."""
    actions, log_probabilities, path, kept = (tuple(part.tolist()) for part in parts)
    return Hypothesis(actions, log_probabilities, path, kept)
