"""Both cores from token ids to action sequences: the native module's engines with their arguments made beforehand."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any

from fastsql import backends
from fastsql.decode import Hypothesis, Search
from fastsql.engine import NativeEngine
from fastsql.errors import ModelError
from fastsql.grammar import ActionSpace, load_grammar
from fastsql.grammar.tables import grammar_table, question_table, schema_table
from fastsql.linking.prepare import Prepared
from fastsql.linking.relations import SchemaLinks, span_weights
from fastsql.model import Bundle
from fastsql.model.config import features_of
from fastsql.model.schema_inputs import SchemaInputs
from fastsql.schema import Schema

Arguments = tuple[Any, ...]
"""(action space, token ids, span weights, features, relations) of a question, as engines of the native module take them."""


@dataclass(frozen=True, eq=False)
class Encoded:
    """A schema in both cores."""

    schema: Schema
    links: SchemaLinks
    items: Any
    cpu: Any
    cuda: Any


@dataclass(frozen=True)
class Asked:
    """A linked question."""

    prepared: Prepared
    space: ActionSpace
    arguments: Arguments


class Cores:
    """The engines of a bundle in the native module, on the processor and on the GPU."""

    def __init__(self, bundle: Bundle, cpu_threads: int) -> None:
        """Raises ModelError where the native module has no CUDA core, or there is no GPU."""
        core: Any = backends.native()
        if core is None or not hasattr(core, "CudaEngine"):
            raise ModelError(
                "it has no CUDA core",
                where="the native module",
                remedy="Build it with -DFASTSQL_CUDA=ON, or SIMULATED to try things out; benchmarks/gpu_build.py does.",
            )
        self.core = core
        self.bundle = bundle
        self.tokenizer = bundle.tokenizer()
        self._grammar = core.Grammar(grammar_table(load_grammar()))
        self._linking = NativeEngine(bundle, 1)
        made = (bundle.config.model.to_dict(), bundle.weights().stored())
        named = {"cls": self.tokenizer.cls, "sep": self.tokenizer.sep}
        self.cpu = core.Engine(*made, **named, threads=cpu_threads)
        self.cuda = core.CudaEngine(*made, **named, threads=cpu_threads)

    def encode(self, schema: Schema) -> Encoded:
        """A schema for both."""
        links = SchemaLinks(schema, core=self.core)
        inputs = SchemaInputs.build(links, self.tokenizer)
        items = self.core.SchemaItems(self._grammar, schema_table(schema))
        return Encoded(schema, links, items, self.cpu.encode_schema(inputs), self.cuda.encode_schema(inputs))

    def ask(self, question: str, encoded: Encoded) -> Asked:
        """A question, linked, without a dictionary of values."""
        prepared = self._linking.link(question, encoded, None)
        space = ActionSpace.for_question(encoded.schema, question, prepared.offsets, prepared.candidates)
        arguments = (
            self.core.ActionSpace(encoded.items, question_table(space)),
            prepared.token_ids,
            span_weights(prepared.offsets, prepared.candidates),
            features_of(prepared.candidates),
            prepared.relations,
        )
        return Asked(prepared, space, arguments)

    def on_cpu(self, encoded: Encoded, asked: Sequence[Asked], beam: int, pool: Executor) -> list[Any]:
        """One call a question, as many at a time as the pool has threads."""
        return list(pool.map(lambda one: self.cpu.parse(encoded.cpu, *one.arguments, beam), asked))

    def on_cuda(self, encoded: Encoded, asked: Sequence[Asked], beam: int) -> list[Any]:
        """One batch: a tuple a question, or the exception that is its outcome."""
        found: list[Any] = self.cuda.parse(encoded.cuda, [one.arguments for one in asked], beam)
        return found


def search_of(found: Any) -> Search:
    """What an engine found, in the terms of the reference."""
    finished, unfinished, steps = found[:3]
    hypotheses = tuple(Hypothesis(*(tuple(part.tolist()) for part in one)) for one in finished)
    return Search(hypotheses, unfinished, steps)
