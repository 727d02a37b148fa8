"""The encoder as an ONNX graph whose weights are byte ranges of `weights.safetensors`."""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import onnx
from onnx import TensorProto, helper

from fastsql.model.config import EncoderConfig
from fastsql.model.weights import SCALE, WORD

OPSET = 20
_TYPES = {"I8": TensorProto.INT8, "F32": TensorProto.FLOAT}


@dataclass(frozen=True)
class _Stored:
    kind: str
    shape: tuple[int, ...]
    start: int
    length: int


def encoder_graph(weights: Path, config: EncoderConfig) -> bytes:
    """The serialised model: ids int64[texts, tokens] to states float32[texts, tokens, hidden], nothing padded.

    It must lie beside the file `weights`. Matrices stored as int8 are multiplied by their scales; ONNX Runtime does so
    once, when it loads the graph.
    """
    return _Graph(weights, config).build()


def _stored(path: Path) -> dict[str, _Stored]:
    """Where each tensor of a safetensors file lies: a length, a JSON header, then the data."""
    with path.open("rb") as file:
        (size,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(size))
    return {
        name: _Stored(
            entry["dtype"], tuple(entry["shape"]), 8 + size + entry["data_offsets"][0], _length(entry)
        )
        for name, entry in header.items()
        if name != "__metadata__"
    }


def _length(entry: dict[str, Any]) -> int:
    start, end = entry["data_offsets"]
    return int(end - start)


class _Graph:
    """Collects nodes and initializers; each method adds one operation and returns its output's name."""

    def __init__(self, weights: Path, config: EncoderConfig) -> None:
        self.config = config
        self.location = weights.name
        self.stored = _stored(weights)
        self.nodes: list[Any] = []
        self.initializers: list[Any] = []
        self._constants: dict[str, str] = {}

    def build(self) -> bytes:
        x = self._norm("encoder.norm", self._embeddings())
        for index in range(self.config.layers):
            x = self._layer(f"encoder.layers.{index}", x)
        self._node("Identity", [x], output="states")
        graph = helper.make_graph(
            self.nodes,
            "encoder",
            [helper.make_tensor_value_info("ids", TensorProto.INT64, ["texts", "tokens"])],
            [
                helper.make_tensor_value_info(
                    "states", TensorProto.FLOAT, ["texts", "tokens", self.config.hidden]
                )
            ],
            self.initializers,
        )
        model = helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=9, producer_name="fastsql"
        )
        data: bytes = model.SerializeToString(deterministic=True)
        return data

    def _embeddings(self) -> str:
        words = self._node(
            "Cast", [self._node("Gather", [self._external(WORD), "ids"])], to=TensorProto.FLOAT
        )
        scales = self._node("Gather", [self._external(WORD + SCALE), "ids"])
        words = self._node("Mul", [words, self._node("Unsqueeze", [scales, self._integers("last", [-1])])])
        tokens = self._node("Shape", ["ids"], start=1, end=2)
        zero, one = self._integer("zero", 0), self._integer("one", 1)
        count = self._node("Squeeze", [tokens])
        places = self._node("Range", [zero, count, one])
        return self._node(
            "Add", [words, self._node("Gather", [self._matrix("encoder.position.weight"), places])]
        )

    def _layer(self, name: str, x: str) -> str:
        heads, hidden = self.config.heads, self.config.hidden
        apart = self._integers("apart", [0, 0, 3 * heads, hidden // heads])
        qkv = self._node("Reshape", [self._linear(f"{name}.qkv", x), apart])
        qkv = self._node("Transpose", [qkv], perm=[0, 2, 1, 3])  # [texts, 3 * heads, tokens, e]
        thirds = self._integers("thirds", [heads, heads, heads])
        query, key, value = (f"{name}.{part}" for part in ("query", "key", "value"))
        self.nodes.append(helper.make_node("Split", [qkv, thirds], [query, key, value], axis=1))
        scaled = self._node("Mul", [query, self._number("scale", (hidden // heads) ** -0.5)])
        scores = self._node("MatMul", [scaled, self._node("Transpose", [key], perm=[0, 1, 3, 2])])
        mixed = self._node("MatMul", [self._node("Softmax", [scores], axis=-1), value])
        mixed = self._node("Transpose", [mixed], perm=[0, 2, 1, 3])
        mixed = self._node("Reshape", [mixed, self._integers("together", [0, 0, hidden])])
        x = self._norm(f"{name}.attention_norm", self._node("Add", [x, self._linear(f"{name}.out", mixed)]))
        inner = self._node("Gelu", [self._linear(f"{name}.ffn_in", x)], approximate="tanh")
        return self._norm(f"{name}.ffn_norm", self._node("Add", [x, self._linear(f"{name}.ffn_out", inner)]))

    def _linear(self, name: str, x: str) -> str:
        matrix = self._node("Transpose", [self._matrix(f"{name}.weight")], perm=[1, 0])
        return self._node("Add", [self._node("MatMul", [x, matrix]), self._external(f"{name}.bias")])

    def _norm(self, name: str, x: str) -> str:
        inputs = [x, self._external(f"{name}.weight"), self._external(f"{name}.bias")]
        return self._node("LayerNormalization", inputs, axis=-1, epsilon=1e-12)

    def _matrix(self, name: str) -> str:
        """A weight as float32, whatever it is stored as."""
        if self.stored[name].kind == "F32":
            return self._external(name)
        values = self._node("Cast", [self._external(name)], to=TensorProto.FLOAT)
        scale = self._node("Unsqueeze", [self._external(name + SCALE), self._integers("last", [-1])])
        return self._node("Mul", [values, scale])

    def _external(self, name: str) -> str:
        stored = self.stored[name]
        tensor = onnx.TensorProto(
            name=name, data_type=_TYPES[stored.kind], dims=stored.shape, data_location=TensorProto.EXTERNAL
        )
        for key, value in (("location", self.location), ("offset", stored.start), ("length", stored.length)):
            tensor.external_data.add(key=key, value=str(value))
        self.initializers.append(tensor)
        return name

    def _integers(self, name: str, values: list[int]) -> str:
        return self._constant(name, helper.make_tensor(name, TensorProto.INT64, [len(values)], values))

    def _integer(self, name: str, value: int) -> str:
        return self._constant(name, helper.make_tensor(name, TensorProto.INT64, [], [value]))

    def _number(self, name: str, value: float) -> str:
        return self._constant(name, helper.make_tensor(name, TensorProto.FLOAT, [], [value]))

    def _constant(self, name: str, tensor: Any) -> str:
        if name not in self._constants:
            self._constants[name] = name
            self.initializers.append(tensor)
        return name

    def _node(self, operation: str, inputs: list[str], output: str = "", **attributes: Any) -> str:
        output = output or f"{operation.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operation, inputs, [output], **attributes))
        return output
