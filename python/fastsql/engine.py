"""The engines: one behaviour, several speeds (design, section 4).

An engine is the model's part of a parse. It reads a schema once, and takes a linked question to finished hypotheses:

    Prepared --encoder, graph, beam search--> Decoded

`ReferenceEngine` is the NumPy model under the search of `fastsql.decode`; `NativeEngine` does the same in one call of the
C++ core, `CudaEngine` (cuda_engine.py) on a GPU. All give the same hypotheses; scores differ by rounding.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fastsql.backends import encoder_runtime, native, resolve_device
from fastsql.decode import Hypothesis, Search, beam_search
from fastsql.grammar import load_grammar
from fastsql.grammar.tables import grammar_table, question_table, schema_table
from fastsql.linking.prepare import Prepared, prepare
from fastsql.linking.relations import SchemaLinks, span_weights
from fastsql.model import Bundle, Model, SchemaState
from fastsql.model.config import features_of
from fastsql.model.schema_inputs import SchemaInputs
from fastsql.pipeline.stopwatch import Stopwatch

if TYPE_CHECKING:
    from fastsql import _core
    from fastsql.grammar import ActionSpace
    from fastsql.linking.dictionary import ValueDictionary
    from fastsql.model.tokenizer import Tokenizer
    from fastsql.schema import Schema

_ENCODERS = {"onnxruntime": "onnx", "numpy": "numpy"}
MOST_THREADS = 4
"""Threads of the native core where none are asked for: a question is too small for more."""


class Encoded(Protocol):
    """A schema as an engine keeps it."""

    @property
    def links(self) -> SchemaLinks:
        """The schema's part of linking."""
        ...


@dataclass(frozen=True, eq=False)
class Decoded:
    """What an engine makes of a question."""

    search: Search
    state: NDArray[np.float32]
    """The mean of the question's rows in the graph, float32[d]; zeros where it has no token."""
    milliseconds: Mapping[str, float]
    """Of each stage."""


class Engine(Protocol):
    """What a parser asks of the model. Thread-safe. The schemas that it is given are those that it has encoded."""

    device: str
    threads: int
    """Questions that are worth giving it at a time."""
    tokenizer: Tokenizer

    def encode_schema(self, schema: Schema) -> Encoded:
        """Everything about a schema that does not depend on a question. Raises ModelError for one without tables."""
        ...

    def link(self, text: str, schema: Any, dictionary: ValueDictionary | None) -> Prepared:
        """A question linked to a schema. Raises LimitError where it has more tokens than the encoder has positions."""
        ...

    def decode(self, prepared: Prepared, schema: Any, space: ActionSpace, beam: int) -> Decoded:
        """The likeliest queries for a linked question."""
        ...


def open_engine(bundle: Bundle, device: str, threads: int) -> Engine:
    """The engine of a bundle on a device; `threads` 0 leaves their number to the engine.

    Raises ModelError: no such device here, or a file of the bundle is damaged.
    """
    found = resolve_device(device)
    if found == "cuda":
        from fastsql.cuda_engine import CudaEngine

        return CudaEngine(bundle, threads)
    if found == "cpu":
        return NativeEngine(bundle, threads)
    return ReferenceEngine(bundle.model(_ENCODERS[encoder_runtime()], threads))


class ReferenceEngine:
    """The NumPy model, its encoder on ONNX Runtime where that is installed."""

    device = "python"
    threads = 1

    def __init__(self, model: Model) -> None:
        self.model = model
        self.tokenizer = model.tokenizer

    def encode_schema(self, schema: Schema) -> SchemaState:
        """See `Engine`."""
        return self.model.encode_schema(schema)

    def link(self, text: str, schema: SchemaState, dictionary: ValueDictionary | None) -> Prepared:
        """See `Engine`."""
        return prepare(text, schema.links, self.tokenizer, dictionary=dictionary)

    def decode(self, prepared: Prepared, schema: SchemaState, space: ActionSpace, beam: int) -> Decoded:
        """See `Engine`."""
        watch = Stopwatch()
        tokens = self.model.encode_tokens(prepared)
        watch.lap("encode")
        encoded = self.model.encode_question(prepared, schema, tokens)
        watch.lap("graph")
        search = beam_search(self.model, encoded, space, beam=beam)
        watch.lap("decode")
        return Decoded(search, mean_state(encoded.memory.rows[: len(prepared.offsets)]), watch.laps)


@dataclass(frozen=True, eq=False)
class NativeSchema:
    """A schema in the native core."""

    links: SchemaLinks
    state: _core.SchemaState | _core.CudaSchemaState
    items: _core.SchemaItems


Arguments: TypeAlias = (
    "tuple[_core.ActionSpace, NDArray[np.int32], NDArray[np.float32], NDArray[np.int64], NDArray[np.uint8]]"
)
"""A question as the native core takes it: action space, token ids, weights of tokens in candidates, features, relations."""
Parsed: TypeAlias = "tuple[list[Any], float, int, NDArray[np.float32], tuple[float, float, float]]"
"""What it makes of one: hypotheses, best unfinished score, steps, mean state, milliseconds of encoder, graph and search."""


class NativeEngine:
    """The C++ core: encoder, graph and beam search in one call, without the interpreter's lock."""

    device = "cpu"
    core_class = "Engine"

    def __init__(self, bundle: Bundle, threads: int = 0) -> None:
        """Raises ModelError where the native module or a file of the bundle is missing or damaged."""
        resolve_device(self.device)  # says why where there is no native module
        core: Any = native()
        self._core = core
        self.tokenizer = bundle.tokenizer()
        self.threads = threads or min(os.cpu_count() or 1, MOST_THREADS)
        self._grammar = self._core.Grammar(grammar_table(load_grammar()))
        self._engine = getattr(core, self.core_class)(
            bundle.config.model.to_dict(),
            bundle.weights().stored(),
            cls=self.tokenizer.cls,
            sep=self.tokenizer.sep,
            threads=self.threads,
        )

    def encode_schema(self, schema: Schema) -> NativeSchema:
        """See `Engine`."""
        links = SchemaLinks(schema, core=self._core)
        inputs = SchemaInputs.build(links, self.tokenizer)
        return NativeSchema(
            links,
            self._engine.encode_schema(inputs),
            self._core.SchemaItems(self._grammar, schema_table(schema)),
        )

    def link(self, text: str, schema: NativeSchema, dictionary: ValueDictionary | None) -> Prepared:
        """See `Engine`."""
        return prepare(text, schema.links, self.tokenizer, dictionary=dictionary)

    def decode(self, prepared: Prepared, schema: NativeSchema, space: ActionSpace, beam: int) -> Decoded:
        """See `Engine`."""
        watch = Stopwatch()
        parsed = self._engine.parse(schema.state, *self.arguments(prepared, schema, space), beam)
        watch.lap("decode")
        return self.decoded(parsed, watch.laps["decode"])

    def arguments(self, prepared: Prepared, schema: NativeSchema, space: ActionSpace) -> Arguments:
        """A linked question as the core takes it."""
        return (
            self._core.ActionSpace(schema.items, question_table(space)),
            prepared.token_ids,
            span_weights(prepared.offsets, prepared.candidates),
            features_of(prepared.candidates),
            prepared.relations,
        )

    def decoded(self, parsed: Parsed, milliseconds: float) -> Decoded:
        """What the core found, in a call that took so long: what is neither encoder nor graph counts as search."""
        found, unfinished, steps, state, (encoder_ms, graph_ms, _) = parsed
        finished = tuple(
            Hypothesis(tuple(actions.tolist()), tuple(gains.tolist()), tuple(path.tolist()))
            for actions, gains, path in found
        )
        stages = {"encode": encoder_ms, "graph": graph_ms, "decode": milliseconds - encoder_ms - graph_ms}
        return Decoded(Search(finished, unfinished, steps), state, stages)


def mean_state(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """The mean of rows float32[Q, d], float32[d]; zeros where there is none."""
    if not len(rows):
        return np.zeros(rows.shape[1], np.float32)
    mean: NDArray[np.float32] = rows.mean(axis=0)
    return mean
