"""An encoder in ONNX Runtime: the bundle's `encoder.onnx`, or another graph of the same interface.

    input   int64[texts, tokens]            ids of the bundle's tokenizer, with [CLS] and [SEP]; nothing is padded
    output  float32[texts, tokens, hidden]  a state for each token; `hidden` is that of the bundle's `config.json`

Both axes of the input are free, and the names of input and output do not matter (docs/encoders.md).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastsql.backends import CUDA_PROVIDER, PROVIDER
from fastsql.errors import ModelError

Ids = NDArray[np.int32]

_INPUT, _OUTPUT = "tensor(int64)", "tensor(float)"
_REMEDY = "Install the model bundle again; one of your own needs the interface of docs/encoders.md."


class OnnxEncoder:
    """The encoder in ONNX Runtime. Thread-safe."""

    def __init__(
        self,
        path: Path,
        threads: int = 0,
        hidden: int | None = None,
        *,
        provider: str = PROVIDER,
        spinning: bool = True,
    ) -> None:
        """Load a graph and try it on two short texts.

        Args:
            path: of the graph.
            threads: 0 leaves the choice to ONNX Runtime.
            hidden: the width of a state, if it is known.
            provider: what ONNX Runtime is to run it on.
            spinning: whether idle threads look for work for a while, which costs those of others their processor.

        Raises ModelError: ONNX Runtime or its provider is not there, or the file is no such encoder.
        """
        ort = _onnxruntime(provider)
        self._path, self._hidden = path, hidden
        options = ort.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        options.add_session_config_entry("session.intra_op.allow_spinning", "1" if spinning else "0")
        try:
            self._session: Any = ort.InferenceSession(str(path), options, providers=[provider])
        except Exception as error:  # ONNX Runtime's errors share no base class but Exception
            raise self._error("ONNX Runtime cannot load it") from error
        found = self._session.get_providers()[0]
        if found != provider:
            raise ModelError(
                f"ONNX Runtime could not load its {provider} and took {found}",
                where=str(path),
                remedy="Install the CUDA and cuDNN that this onnxruntime-gpu was built for, or use encoder='native'.",
            )
        self._input, self._output = self._names()
        self._expect_finite(self.encode(np.zeros((2, 3), np.int32)))

    def encode(self, ids: Ids) -> NDArray[np.float32]:
        """See `Encoder.encode`. Raises `ModelError` where the graph gives anything else."""
        try:
            (states,) = self._session.run([self._output], {self._input: ids.astype(np.int64)})
        except Exception:  # noqa: BLE001 - ONNX Runtime's errors share no other base class
            states = (
                None  # raised below, as the library's message may hold ids, which are the question's words
            )
        if not isinstance(states, np.ndarray) or not self._fits(states, ids):
            raise self._stateless()
        result: NDArray[np.float32] = states
        return result

    def _names(self) -> tuple[str, str]:
        """Of input and output. Raises ModelError where the graph declares others than an encoder has."""
        inputs, outputs = self._session.get_inputs(), self._session.get_outputs()
        free = len(inputs) == 1 and not any(isinstance(axis, int) for axis in inputs[0].shape)
        if not free or inputs[0].type != _INPUT or len(inputs[0].shape) != 2:
            raise self._error(
                f"it takes {_described(inputs)}, where an encoder takes int64[texts, tokens], both axes free"
            )
        if len(outputs) != 1 or outputs[0].type != _OUTPUT or not self._may_fit(outputs[0].shape):
            width = "hidden" if self._hidden is None else self._hidden
            raise self._stateless(
                f": it gives {_described(outputs)}, where an encoder gives float32[texts, tokens, {width}]"
            )
        return inputs[0].name, outputs[0].name

    def _may_fit(self, declared: list[Any]) -> bool:
        """Whether a declared shape, which may be unknown, can be that of states."""
        return not declared or (
            len(declared) == 3 and (not isinstance(declared[2], int) or self._hidden in (None, declared[2]))
        )

    def _fits(self, states: NDArray[Any], ids: Ids) -> bool:
        width = states.shape[-1] if self._hidden is None and states.ndim else self._hidden
        return states.dtype == np.float32 and states.shape == (*ids.shape, width)

    def _expect_finite(self, states: NDArray[np.float32]) -> None:
        if not np.isfinite(states).all():
            raise self._error("its states are not finite numbers")

    def _stateless(self, how: str = "") -> ModelError:
        return self._error(f"it gives no state for each token{how}")

    def _error(self, what: str) -> ModelError:
        return ModelError(what, where=str(self._path), remedy=_REMEDY)


@dataclass(frozen=True, eq=False)
class _DeviceMemory:
    """Room for so many tokens on a device: ids int64[tokens] and states float32[tokens, hidden]."""

    tokens: int
    ids: Any
    states: Any


class DeviceEncoder(OnnxEncoder):
    """The encoder on a device, whose ids and states lie in that device's memory.

    Ids are uploaded once a batch; states stay where the graph layers read them. A simulated GPU's memory is the host's.
    No GPU has run this yet.
    """

    def __init__(self, path: Path, hidden: int, *, simulated: bool = False) -> None:
        """Raises as `OnnxEncoder` does."""
        super().__init__(path, 1, hidden, provider=PROVIDER if simulated else CUDA_PROVIDER)
        self._device = "cpu" if simulated else "cuda"
        self._width = hidden
        self._spare: list[_DeviceMemory] = []

    @contextmanager
    def states(self, texts: Sequence[Ids]) -> Iterator[int]:
        """The address of the states of texts float32[tokens of all, hidden], complete, until the block is left.

        `texts`, int32[tokens] each with [CLS] and [SEP], are ordered by length: those of one length are one run.
        Raises ModelError where the graph gives anything else, or the device has no memory.
        """
        memory = self._take(sum(map(len, texts)))
        try:
            self._encode_into(memory, texts)
            yield int(memory.states.data_ptr())
        finally:
            self._spare.append(memory)

    def _encode_into(self, memory: _DeviceMemory, texts: Sequence[Ids]) -> None:
        ids = np.zeros(memory.tokens, np.int64)
        ids[: sum(map(len, texts))] = np.concatenate(texts)
        first = 0
        try:
            memory.ids.update_inplace(ids)
            for length, group in groupby(texts, len):
                shape = (len(list(group)), length)
                binding = self._session.io_binding()
                at = memory.ids.data_ptr() + 8 * first
                binding.bind_input(self._input, self._device, 0, np.int64, shape, at)
                at = memory.states.data_ptr() + 4 * first * self._width
                binding.bind_output(self._output, self._device, 0, np.float32, (*shape, self._width), at)
                self._session.run_with_iobinding(binding)
                binding.synchronize_outputs()
                first += shape[0] * length
        except Exception:  # noqa: BLE001 - as in `encode`
            first = -1
        if first < 0:
            raise self._stateless()

    def _take(self, tokens: int) -> _DeviceMemory:
        """Memory that no other batch uses, large enough; the last batch's where that is."""
        try:
            memory = self._spare.pop()
        except IndexError:
            memory = None
        if memory is not None and memory.tokens >= tokens:
            return memory
        room = 2 ** max(8, (tokens - 1).bit_length())
        ort = _onnxruntime()
        try:
            return _DeviceMemory(
                room,
                ort.OrtValue.ortvalue_from_shape_and_type([room], np.int64, self._device, 0),
                ort.OrtValue.ortvalue_from_shape_and_type([room, self._width], np.float32, self._device, 0),
            )
        except Exception as error:  # ONNX Runtime's errors share no base class but Exception
            raise self._error("ONNX Runtime gives no memory for it") from error


def _onnxruntime(provider: str = PROVIDER) -> Any:
    extra = "gpu" if provider == CUDA_PROVIDER else "cpu"
    try:
        import onnxruntime
    except ImportError as error:
        raise ModelError(
            f"ONNX Runtime is not installed or cannot be imported ({type(error).__name__})",
            where="encoder 'onnxruntime'",
            remedy=f"Run: pip install 'fastsql[{extra}]'",
        ) from error
    if provider not in onnxruntime.get_available_providers():
        raise ModelError(
            f"this ONNX Runtime has no {provider}",
            where="encoder 'onnxruntime'",
            remedy=f"Install the extra {extra} (onnxruntime-gpu in place of onnxruntime), or use encoder='native'.",
        )
    return onnxruntime


def _described(ends: Sequence[Any]) -> str:
    """Inputs or outputs of a graph, for people; names come from the file and are cut."""
    shown = [f"{str(end.name)[:40]!r} {str(end.type)[:40]}{list(end.shape)}"[:120] for end in ends[:4]]
    return ", ".join(shown) or "nothing"
