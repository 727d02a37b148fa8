"""An encoder of somebody's own: another graph of the interface that bundles have, with nothing of BERT in it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load_file, save_file

from fastsql.model.bundle import ENCODER, WEIGHTS, open_bundle, write_manifest


def own_graph(vocabulary: int, hidden: int, seed: int = 5, **changes: Any) -> bytes:
    """A graph with weights of its own: tanh(word[id]), and the text's mean beside it.

    `changes` break it: `ids` and `states` name element types, `free` are the axes of the input, `extra` is a second input.
    """
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    random = np.random.default_rng(seed)
    words = random.normal(size=(vocabulary, hidden)).astype(np.float32)
    kinds = {"ids": TensorProto.INT64, "states": TensorProto.FLOAT, **changes}
    nodes = [
        helper.make_node("Gather", ["words", "tokens_of_texts"], ["rows"]),
        helper.make_node("ReduceMean", ["rows", "axis"], ["mean"], keepdims=1),
        helper.make_node("Add", ["rows", "mean"], ["both"]),
        helper.make_node("Tanh", ["both"], ["real"]),
        helper.make_node("Cast", ["real"], ["made"], to=kinds["states"]),
    ]
    inputs = [helper.make_tensor_value_info("tokens_of_texts", kinds["ids"], changes.get("free", ["n", "t"]))]
    if changes.get("extra"):
        inputs.append(helper.make_tensor_value_info("attention_mask", TensorProto.INT64, ["n", "t"]))
    graph = helper.make_graph(
        nodes,
        "own",
        inputs,
        [helper.make_tensor_value_info("made", kinds["states"], ["n", "t", hidden])],
        [numpy_helper.from_array(words, "words"), numpy_helper.from_array(np.array([1]), "axis")],
    )
    content: bytes = helper.make_model(
        graph, opset_imports=[onnx.helper.make_opsetid("", 18)], ir_version=9
    ).SerializeToString()
    return content


def give_encoder(folder: Path, graph: bytes, *, keep_native: bool = False) -> Path:
    """Put a graph into a bundle, in place of the native encoder's weights or beside them."""
    (folder / ENCODER).write_bytes(graph)
    if not keep_native:
        weights = load_file(folder / WEIGHTS)
        save_file(
            {name: w for name, w in weights.items() if not name.startswith("encoder.")}, folder / WEIGHTS
        )
    write_manifest(folder)
    return folder


def give_own_encoder(folder: Path, *, keep_native: bool = False, **changes: Any) -> Path:
    """The same with `own_graph` in the bundle's sizes."""
    encoder = open_bundle(folder).config.model.encoder
    graph = own_graph(encoder.vocabulary, changes.pop("hidden", encoder.hidden), **changes)
    return give_encoder(folder, graph, keep_native=keep_native)
