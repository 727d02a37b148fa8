"""Both cores from token ids to action sequences: the native module's engines with their arguments made beforehand."""

from __future__ import annotations

if __name__ == "__main__":
    import sys
    from pathlib import Path

    sys.path.insert(0, str(Path(__file__).parents[1]))
    from parts import explain

    explain(__file__)

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any

from fastsql import backends
from fastsql.decode import Hypothesis, Search
from fastsql.engine.native import NativeEngine, NativeSchema
from fastsql.errors import ModelError
from fastsql.grammar import ActionSpace
from fastsql.limits import DEFAULT, Limits
from fastsql.linking.prepare import Prepared
from fastsql.model import Bundle
from fastsql.model.schema_inputs import SchemaInputs
from fastsql.schema import Schema


@dataclass(frozen=True, eq=False)
class Encoded:
    """A schema in both cores."""

    schema: Schema
    cpu: NativeSchema
    cuda: Any


@dataclass(frozen=True)
class Asked:
    """A linked question, and what engines of the native module take of it."""

    prepared: Prepared
    space: ActionSpace
    arguments: tuple[Any, ...]


class Cores:
    """The engines of a bundle in the native module, on the processor and on the GPU."""

    def __init__(self, bundle: Bundle, cpu_threads: int, limits: Limits = DEFAULT) -> None:
        """Raises ModelError where the native module has no CUDA core, or there is no GPU."""
        self.bundle = bundle
        self._limits = limits
        self._native = NativeEngine(bundle, 1)
        self._core: Any = backends.native()
        if not hasattr(self._core, "CudaEngine"):
            raise ModelError(
                "it has no CUDA core",
                where="the native module",
                remedy="Build it with -DFASTSQL_CUDA=ON, or SIMULATED to try things out: benchmarks/gpu/build.py does.",
            )
        self.cpu = self.engine("Engine", cpu_threads)
        self.cuda = self.engine("CudaEngine", cpu_threads)

    def engine(self, name: str, threads: int) -> Any:
        """An engine of the native module by the name of its class."""
        tokenizer = self.bundle.tokenizer()
        return getattr(self._core, name)(
            self.bundle.config.model.to_dict(),
            self.bundle.weights().stored(),
            cls=tokenizer.cls,
            sep=tokenizer.sep,
            threads=threads,
        )

    def encode(self, schema: Schema) -> Encoded:
        """A schema for both."""
        read = self._native.encode_schema(schema)
        inputs = SchemaInputs.build(read.links, self._native.tokenizer)
        return Encoded(schema, read, self.cuda.encode_schema(inputs))

    def ask(self, question: str, encoded: Encoded) -> Asked:
        """A question, linked, without a dictionary of values."""
        prepared = self._native.link(question, encoded.cpu, None)
        space = ActionSpace.for_question(
            encoded.schema, question, prepared.offsets, prepared.candidates, limits=self._limits
        )
        return Asked(prepared, space, self._native.arguments(prepared, encoded.cpu, space))

    def one_on_cpu(self, encoded: Encoded, asked: Asked, beam: int, engine: Any = None) -> Any:
        """A question's outcome by the C++ core, or by that engine of it."""
        core, (space, *question) = engine or self.cpu, asked.arguments
        return core.search(core.read(encoded.cpu.state, *question), space, beam)

    def on_cpu(self, encoded: Encoded, asked: Sequence[Asked], beam: int, pool: Executor) -> list[Any]:
        """One call a question, as many at a time as the pool has threads."""
        return list(pool.map(lambda one: self.one_on_cpu(encoded, one, beam), asked))

    def on_cuda(self, encoded: Encoded, asked: Sequence[Asked], beam: int) -> list[Any]:
        """One batch: a tuple a question, or the exception that is its outcome."""
        found: list[Any] = self.cuda.parse(encoded.cuda, [one.arguments for one in asked], beam)
        return found


def search_of(found: Any) -> Search:
    """What an engine found, in the terms of the reference."""
    finished, unfinished, steps = found[:3]
    hypotheses = tuple(Hypothesis(*(tuple(part.tolist()) for part in one)) for one in finished)
    return Search(hypotheses, unfinished, steps)
