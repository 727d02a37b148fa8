"""A model that is kept in one file: safetensors, with sizes and the tokenizer's digest in its header.

Large matrices are int8 with a float32 scale a row, the rest is float32, as in a parser's bundle. Nothing is executed, and
nothing is allocated before sizes are checked. The file's digest proves that it is whole, not where it comes from.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load, save

from fastsql.errors import ModelError
from fastsql.model.attention import Array
from fastsql.model.header import LENGTH, read_header, tokenizer_digest
from fastsql.model.tokenizer import Tokenizer
from fastsql.model.weights import SCALE, dequantise, quantise
from fastsql.whole_file import write_whole

_QUANTISED_ENTRIES = 2**14

Arrays = dict[str, NDArray[Any]]
Shapes = Mapping[str, tuple[int, ...]]


@dataclass(frozen=True)
class FileKind:
    """A kind of model: the name of its header's entry, its format, what mends a file, and the largest one in bytes:
    what the wheel has room for.
    """

    name: str
    format: int
    largest: int
    remedy: str

    def damaged(self, file: Path, what: str) -> ModelError:
        """The error of a file of this kind."""
        return ModelError(what, where=str(file), remedy=self.remedy)


@dataclass(frozen=True, eq=False)
class Content:
    """What a file holds: the sizes as they were written, the tensors, and the SHA-256 of these."""

    file: Path
    sizes: dict[str, Any]
    tensors: Arrays
    digest: str


def read_model(path: str | Path, kind: FileKind, tokenizer: Tokenizer | None) -> Content:
    """Read a file, which shares the `tokenizer` of a parser's bundle; None takes any.

    Raises ModelError where it is missing, too large, damaged, of another format, or trained with another tokenizer.
    """
    file = Path(path)
    header, tensors = _read(file, kind)
    if header.get("format") != kind.format:
        raise kind.damaged(file, f"its format is not {kind.format}")
    if tokenizer is not None and header.get("tokenizer") != tokenizer_digest(tokenizer):
        raise ModelError(
            "it was trained with another tokenizer",
            where=str(file),
            remedy="Give the model whose tokenizer it shares, or train it again.",
        )
    sizes = header.get("config")
    if not isinstance(sizes, dict):
        raise kind.damaged(file, "its sizes are missing")
    return Content(file, sizes, tensors, str(header["sha256"]))


def stored_arrays(content: Content, kind: FileKind, shapes: Shapes, int8: Collection[str]) -> Arrays:
    """The weights of these shapes as they are stored, int8 ones beside "<name>.scale"; those of `int8` must be such.

    Raises ModelError where one is missing, of another shape or type, or not finite.
    """
    arrays: Arrays = {}
    for name, shape in shapes.items():
        found, scale = content.tensors.get(name), content.tensors.get(name + SCALE)
        if found is None or found.shape != shape or (name in int8 and scale is None):
            raise kind.damaged(content.file, f"{name} is missing or of another shape")
        told = found if scale is None else scale
        if told.dtype != np.float32 or not np.isfinite(told).all():
            raise kind.damaged(content.file, f"{name} is of another type, or is no number")
        arrays[name] = found
        if scale is not None:
            if found.dtype != np.int8 or len(shape) != 2 or scale.shape != shape[:1]:
                raise kind.damaged(content.file, f"{name} is of another type")
            arrays[name + SCALE] = scale
    return arrays


def as_float32(arrays: Arrays, name: str) -> Array:
    """One of the arrays that `stored_arrays` gives, float32."""
    scale = arrays.get(name + SCALE)
    return arrays[name] if scale is None else dequantise(arrays[name], scale)


def write_model(
    path: str | Path,
    kind: FileKind,
    sizes: dict[str, Any],
    shapes: Shapes,
    weights: Mapping[str, Array],
    tokenizer: Tokenizer,
    int8: Collection[str],
) -> Path:
    """Write a model; large matrices, and those of `int8`, as int8. Raises ModelError where it would be too large."""
    tensors: Arrays = {}
    for name, shape in shapes.items():
        array = np.ascontiguousarray(weights[name], dtype=np.float32)
        if array.shape != shape:
            raise ModelError(f"{name} has the shape {array.shape}, not {shape}", where=str(path))
        if name in int8 or (array.ndim == 2 and array.size >= _QUANTISED_ENTRIES):
            tensors[name], tensors[name + SCALE] = quantise(array)
        else:
            tensors[name] = array
    header = {
        "format": kind.format,
        "config": sizes,
        "tokenizer": tokenizer_digest(tokenizer),
        "sha256": _digest(tensors),
    }
    # One entry: of several, the order would be of chance.
    content = save(tensors, metadata={kind.name: json.dumps(header)})
    if len(content) > kind.largest:
        raise ModelError(f"{len(content):,} bytes are more than {kind.largest:,}", where=str(path))
    file = Path(path)
    write_whole(file, content)
    return file


def _read(file: Path, kind: FileKind) -> tuple[dict[str, Any], Arrays]:
    """The header and tensors of a file whose content is what its digest says."""
    if not file.is_file():
        raise kind.damaged(file, "the file is missing")
    if file.stat().st_size > kind.largest:
        raise kind.damaged(file, f"its {file.stat().st_size:,} bytes are more than {kind.largest:,}")
    try:
        content = file.read_bytes()
        tensors = load(content)
        length = int.from_bytes(content[:LENGTH], "little")
        header = read_header(content[LENGTH : LENGTH + length], kind.name)
    except (OSError, ValueError, RecursionError, SafetensorError) as error:
        raise kind.damaged(file, "it cannot be read") from error
    if not isinstance(header, dict) or header.get("sha256") != _digest(tensors):
        raise kind.damaged(file, "its weights are not what its header says")
    return header, tensors


def _digest(tensors: Arrays) -> str:
    digest = hashlib.sha256()
    for name in sorted(tensors):
        digest.update(f"{name} {tensors[name].dtype} {tensors[name].shape}".encode())
        digest.update(tensors[name].tobytes())
    return digest.hexdigest()
