"""The engine on a GPU: whole batches of linked questions to hypotheses in one call of the native core."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from fastsql.backends import SIMULATED
from fastsql.engine.base import Decoded
from fastsql.engine.gathering import Gathering
from fastsql.engine.native import NativeEngine, NativeSchema, decoded
from fastsql.engine.stopwatch import Stopwatch
from fastsql.errors import LimitError, ModelError
from fastsql.model.bundle import ENCODER

if TYPE_CHECKING:
    from fastsql.engine.native import Arguments, Parsed
    from fastsql.grammar import ActionSpace
    from fastsql.linking.prepare import Prepared
    from fastsql.model import Bundle
    from fastsql.model.onnx_encoder import DeviceEncoder

MOST_QUESTIONS = 256
"""Of one batch: more bring the GPU nothing and take its memory."""
Key = tuple[NativeSchema, int, float]
"""What the questions of one batch have in common: their schema, the width of the beam, and the search's patience."""


class CudaEngine(NativeEngine):
    """The CUDA core. Questions that threads ask at the same time, of one schema, become one batch.

    Schemas are read by the processor, once, and kept on the GPU. What a question gets does not depend on its batch, unless
    ONNX Runtime encodes: that may round otherwise for another number of texts.
    """

    device = "cuda"
    core_class = "CudaEngine"

    _onnx: DeviceEncoder | None

    def __init__(self, bundle: Bundle, threads: int = 0, encoder: str = "auto") -> None:
        """Raises ModelError: no GPU, a module that was built without CUDA, no such encoder, or a damaged bundle."""
        super().__init__(bundle, threads, encoder)
        self.threads = MOST_QUESTIONS
        self._gathering: Gathering[Key, Arguments, Parsed] = Gathering(self._parse_batch, MOST_QUESTIONS)

    def decode(
        self,
        prepared: Prepared,
        schema: NativeSchema,
        space: ActionSpace,
        beam: int,
        patience: float = 0.0,
    ) -> Decoded:
        """See `Engine`. Raises LimitError where the GPU has no memory for the question."""
        watch = Stopwatch()
        parsed = self._gathering.ask((schema, beam, patience), self.arguments(prepared, schema, space))
        watch.lap("decode")
        return _decoded(parsed, watch.laps["decode"])

    def decode_batch(
        self, asked: Sequence[tuple[Prepared, ActionSpace]], schema: NativeSchema, beam: int
    ) -> list[Decoded]:
        """What `decode` gives for each of several questions of one schema. Raises what the first that fails does."""
        watch = Stopwatch()
        arguments = [self.arguments(prepared, schema, space) for prepared, space in asked]
        found = self._parse_batch((schema, beam, 0.0), arguments)
        watch.lap("decode")
        for parsed in found:
            if isinstance(parsed, BaseException):
                raise parsed
        return [
            _decoded(parsed, watch.laps["decode"])
            for parsed in found
            if not isinstance(parsed, BaseException)
        ]

    def _parse_batch(self, key: Key, asked: Sequence[Arguments]) -> list[Parsed | BaseException]:
        """The native call: an answer or an exception for each.

        A batch that is refused, because the GPU has no memory for it or because of what one of it holds, is taken in
        halves: what is wrong with one question is no other's concern.
        """
        try:
            found = self._parse_at_once(asked, *key)
        except (LimitError, ModelError) as error:
            if len(asked) == 1:
                return [error]
        else:
            return found
        half = len(asked) // 2
        return self._parse_batch(key, asked[:half]) + self._parse_batch(key, asked[half:])

    def _parse_at_once(
        self, asked: Sequence[Arguments], schema: NativeSchema, beam: int, patience: float
    ) -> list[Parsed | BaseException]:
        """The native call, behind ONNX Runtime's where that encodes: it takes texts of one length at a time."""
        if self._onnx is None:
            found: list[Parsed | BaseException] = self._engine.parse(
                schema.state, list(asked), beam, patience=patience
            )
            return found
        order = sorted(range(len(asked)), key=lambda index: len(asked[index][1]))
        with self._onnx.states([self._text(asked[index][1]) for index in order]) as address:
            ordered = [asked[index] for index in order]
            found = self._engine.parse(schema.state, ordered, beam, address, patience=patience)
        by_question = dict(zip(order, found, strict=True))
        return [by_question[index] for index in range(len(asked))]

    def _open_onnx(self, bundle: Bundle) -> DeviceEncoder:
        from fastsql.model.onnx_encoder import DeviceEncoder

        return DeviceEncoder(
            bundle.path / ENCODER,
            bundle.config.model.encoder.hidden,
            simulated=self._core.gpus()[0][0][0] == SIMULATED,
        )


def _decoded(parsed: Parsed, milliseconds: float) -> Decoded:
    """What the core found, in a call that took so long: what is neither encoder nor graph counts as search."""
    encoder, graph, _ = parsed[-1]
    return decoded(parsed, {"encode": encoder, "graph": graph, "decode": milliseconds - encoder - graph})
