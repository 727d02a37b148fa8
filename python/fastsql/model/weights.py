"""The weights of a bundle: which there must be, and how they are stored.

A large matrix is stored as int8 with one float32 scale for each of its rows (its output channels), as tensors `name` and
`name.scale`; everything else is float32. Every backend multiplies back to the same float32 values.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fastsql.errors import ModelError
from fastsql.grammar.actions import POINTER_KINDS, WEIGHT_NAMES
from fastsql.model.config import (
    AGES,
    CANDIDATE_SIZES,
    ENTRY_KINDS,
    ENTRY_PLACES,
    ITEM_TYPES,
    LGE,
    ModelConfig,
)
from fastsql.schema.sqltypes import TYPE_CLASSES

if TYPE_CHECKING:
    from fastsql.model.attention import Array

WORD = "encoder.word.weight"
SCALE = ".scale"
REMEDY = "Install the model bundle again."

Shape = tuple[int, ...]


def weight_shapes(config: ModelConfig) -> dict[str, Shape]:
    """Name and shape of every weight that a model of these sizes has."""
    d, e, hidden = config.d, config.d // config.heads, config.encoder.hidden
    shapes: dict[str, Shape] = {}

    def linear(name: str, out: int, width: int, bias: bool = True) -> None:
        shapes[f"{name}.weight"] = (out, width)
        if bias:
            shapes[f"{name}.bias"] = (out,)

    def norm(name: str, width: int) -> None:
        shapes[f"{name}.weight"] = shapes[f"{name}.bias"] = (width,)

    shapes[WORD] = (config.encoder.vocabulary, hidden)
    shapes["encoder.position.weight"] = (config.encoder.positions, hidden)
    norm("encoder.norm", hidden)
    for index in range(config.encoder.layers):
        layer = f"encoder.layers.{index}"
        linear(f"{layer}.qkv", 3 * hidden, hidden)
        linear(f"{layer}.out", hidden, hidden)
        norm(f"{layer}.attention_norm", hidden)
        linear(f"{layer}.ffn_in", config.encoder.ffn, hidden)
        linear(f"{layer}.ffn_out", hidden, config.encoder.ffn)
        norm(f"{layer}.ffn_norm", hidden)

    for name in ("token_in", "item_in", "owner_in", "value_in"):
        linear(name, d, hidden)
    shapes["item_type.weight"] = (len(ITEM_TYPES), d)
    for index, count in enumerate(CANDIDATE_SIZES):
        shapes[f"candidate.{index}.weight"] = (count, d)
    for index in range(config.cached_layers + config.joint_layers):
        layer = f"graph.{index}"
        norm(f"{layer}.norm", d)
        linear(f"{layer}.qkv", 3 * d, d)
        shapes[f"{layer}.relation_key"] = shapes[f"{layer}.relation_value"] = (config.relations, e)
        linear(f"{layer}.out", d, d)
        norm(f"{layer}.ffn_norm", d)
        linear(f"{layer}.ffn_in", config.ffn, d)
        linear(f"{layer}.ffn_out", d, config.ffn)
    if config.graph == LGE:
        _edge_shapes(config, shapes, linear, norm)
    norm("graph_norm", d)
    norm("value_norm", d)

    shapes["decoder.production.weight"] = (config.n_productions + 2, d)
    shapes["decoder.kind.weight"] = (len(WEIGHT_NAMES) + 1, d)
    linear("decoder.row", d, d)
    shapes["decoder.symbol.weight"] = (config.n_symbols, d)
    shapes["decoder.parent.weight"] = (config.n_productions + 1, d)
    shapes["decoder.position.weight"] = (config.max_steps, d)
    for index in range(config.decoder_layers):
        layer = f"decoder.layers.{index}"
        norm(f"{layer}.self_norm", d)
        linear(f"{layer}.self_qkv", 3 * d, d)
        linear(f"{layer}.self_out", d, d)
        norm(f"{layer}.cross_norm", d)
        linear(f"{layer}.cross_query", d, d)
        linear(f"{layer}.cross_kv", 2 * d, d)
        linear(f"{layer}.cross_out", d, d)
        norm(f"{layer}.ffn_norm", d)
        linear(f"{layer}.ffn_in", config.ffn, d)
        linear(f"{layer}.ffn_out", d, config.ffn)
    norm("decoder.norm", d)
    linear("decoder.production_scores", config.n_productions, d)
    linear("decoder.pointer_query", len(POINTER_KINDS) * d, d)
    for kind in POINTER_KINDS:
        linear(f"decoder.pointer_key.{WEIGHT_NAMES[kind]}", d, d, bias=False)
    if config.turns:
        linear("turn.question", d, d)
        for name, count in (
            ("age", AGES),
            ("usable", config.callings),
            ("entry_kind", len(ENTRY_KINDS)),
            ("entry_type", len(TYPE_CLASSES)),
            ("entry_place", ENTRY_PLACES),
        ):
            shapes[f"turn.{name}.weight"] = (count, d)
        norm("turn.entry_norm", d)
        shapes["decoder.turn.kind.weight"] = (1, d)
        linear("decoder.turn.query", d, d)
        linear("decoder.turn.key", d, d, bias=False)
    return shapes


def _edge_shapes(
    config: ModelConfig,
    shapes: dict[str, Shape],
    linear: Callable[..., None],
    norm: Callable[[str, int], None],
) -> None:
    """Those of edges and of what reads them; behind the last layer nothing does."""
    d, e, width = config.d, config.d // config.heads, config.edge_d
    shapes["edge.weight"] = (config.relations, width)
    last = config.cached_layers + config.joint_layers - 1
    for index in range(last + 1):
        layer = f"graph.{index}"
        norm(f"{layer}.edge_norm", width)
        linear(f"{layer}.edge_key", e, width, bias=False)
        linear(f"{layer}.edge_value", e, width, bias=False)
        if index == last:
            continue
        edges = f"{layer}.edges"
        linear(f"{edges}.ends", 2 * width, d)
        linear(f"{edges}.query", width, width)
        linear(f"{edges}.key_value", 2 * width, width)
        linear(f"{edges}.out", width, width)
        norm(f"{edges}.ffn_norm", width)
        linear(f"{edges}.ffn_in", 4 * width, width)
        linear(f"{edges}.ffn_out", width, 4 * width)


class WeightFile:
    """An open `weights.safetensors` whose tensors are known to be those of `config`."""

    has_encoder: bool
    """Whether it has the weights of the native encoder: without them, ONNX Runtime has to read the texts."""
    quantised: set[str]
    """Names of those that are int8 in the file."""

    def __init__(self, path: Path, config: ModelConfig) -> None:
        """Compare the file's header with what the model needs; nothing else is read yet.

        Raises ModelError naming the file and the first weight that is missing, superfluous or of another form.
        """
        from safetensors import SafetensorError, safe_open

        self.path = path
        try:
            opened: Any = safe_open(path, framework="np")
        except (OSError, SafetensorError) as error:
            raise ModelError("it is damaged", where=str(path), remedy=REMEDY) from error
        self._file = opened
        self.shapes = weight_shapes(config)
        found = set(self._file.keys())
        self.has_encoder = any(map(_of_encoder, found))
        if not self.has_encoder:
            self.shapes = {name: shape for name, shape in self.shapes.items() if not _of_encoder(name)}
        self.quantised = {name for name in self.shapes if name + SCALE in found}
        wanted = set(self.shapes) | {name + SCALE for name in self.quantised}
        for name in sorted(wanted ^ found):
            raise self._error(f"weight {name!r} is {'missing' if name in wanted else 'unknown'}")
        for name, shape in self.shapes.items():
            kind = "I8" if name in self.quantised else "F32"
            self._check(name, shape, kind)
            if name in self.quantised:
                self._check(name + SCALE, shape[:1], "F32")
        if self.has_encoder and WORD not in self.quantised:
            raise self._error(f"weight {WORD!r} is not int8")

    def _check(self, name: str, shape: Shape, kind: str) -> None:
        tensor = self._file.get_slice(name)
        found = (tensor.get_dtype(), tuple(tensor.get_shape()))
        if found != (kind, shape):
            raise self._error(f"weight {name!r} is {found[0]}{list(found[1])}, not {kind}{list(shape)}")

    def _error(self, what: str) -> ModelError:
        return ModelError(what, where=str(self.path), remedy=REMEDY)

    def read(self, *, encoder: bool) -> dict[str, Array]:
        """The float32 weights; without `encoder`, only those that ONNX Runtime does not read by itself.

        The word embeddings are left out: see `words`.
        """
        return {
            name: self._float(name)
            for name in self.shapes
            if name != WORD and (encoder or not _of_encoder(name))
        }

    def stored(self, *, encoder: bool = True) -> dict[str, NDArray[Any]]:
        """Weights as the file holds them: float32, or int8 beside "<name>.scale"; all, or those of no `encoder`."""
        names = [name for name in self._file.keys() if encoder or not _of_encoder(name)]  # noqa: SIM118 - no mapping
        return {name: self._file.get_tensor(name) for name in names}

    def words(self) -> tuple[NDArray[np.int8], Array]:
        """Word embeddings int8[vocabulary, hidden] and their scales float32[vocabulary]."""
        return self._file.get_tensor(WORD), self._file.get_tensor(WORD + SCALE)

    def _float(self, name: str) -> Array:
        tensor = self._file.get_tensor(name)
        if name not in self.quantised:
            result: Array = tensor
            return result
        return dequantise(tensor, self._file.get_tensor(name + SCALE))


def _of_encoder(name: str) -> bool:
    return name.startswith("encoder.")


def quantise(weight: Array, most: int = 127) -> tuple[NDArray[np.int8], Array]:
    """Weight [out, in] to int8 [out, in] and float32 scales [out]: each row's largest entry becomes `most`."""
    largest = np.abs(weight).max(axis=1)
    scale = np.where(largest > 0, largest / most, 1).astype(np.float32)
    return np.rint(weight / scale[:, None]).astype(np.int8), scale


def dequantise(quantised: NDArray[np.int8], scale: Array) -> Array:
    """The inverse of `quantise`, up to rounding."""
    return quantised.astype(np.float32) * scale[:, None]
