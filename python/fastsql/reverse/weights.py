"""The file that a reverse model is kept in: safetensors, with sizes and the tokenizer's digest in its header.

Large matrices are int8 with a float32 scale a row, the rest is float32, as in a parser's bundle. Nothing is executed, and
nothing is allocated before sizes are checked.
"""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load, save

from fastsql.errors import ModelError
from fastsql.model.attention import Array, Part
from fastsql.model.encoder import WordTable
from fastsql.model.tokenizer import Tokenizer
from fastsql.model.weights import SCALE, dequantise, quantise
from fastsql.reverse.config import ReverseConfig
from fastsql.reverse.digest import HEADER, HEADER_LENGTH, LARGEST_FILE, read_header, tokenizer_digest
from fastsql.reverse.model import ReverseModel
from fastsql.reverse.network import ReverseNetwork
from fastsql.whole_file import write_whole

FORMAT = 1
WORDS = "words.weight"
_QUANTISED_ENTRIES = 2**14
_REMEDY = "Train it again, or install fastsql again."


@dataclass(frozen=True, eq=False)
class StoredReverse:
    """A reverse model as its file holds it.

    `arrays` are those of `ReverseConfig.shapes`, float32, or int8 [out, in] beside "<name>.scale" float32[out]. `digest` is
    their SHA-256.
    """

    config: ReverseConfig
    arrays: dict[str, NDArray[Any]]
    digest: str

    def network(self) -> ReverseNetwork:
        """The network in NumPy, whose weights are float32."""
        weights = {name: self.weights(name) for name in self.config.shapes() if name != WORDS}
        return ReverseNetwork(
            self.config, Part(weights), WordTable(self.arrays[WORDS], self.arrays[WORDS + SCALE])
        )

    def weights(self, name: str) -> Array:
        """One of the arrays, float32."""
        scale = self.arrays.get(name + SCALE)
        return self.arrays[name] if scale is None else dequantise(self.arrays[name], scale)


def load_reverse(path: str | Path, tokenizer: Tokenizer) -> ReverseModel:
    """Read a reverse model, which shares the `tokenizer` of a parser's bundle. Raises as `read_reverse` does."""
    return ReverseModel(read_reverse(path, tokenizer).network(), tokenizer)


def read_reverse(path: str | Path, tokenizer: Tokenizer) -> StoredReverse:
    """Read the file of a reverse model that shares the `tokenizer` of a parser's bundle.

    Raises ModelError where the file is missing, too large, damaged, of another format, or trained with another tokenizer.
    """
    file = Path(path)
    header, tensors = _read(file)
    if header.get("format") != FORMAT:
        raise _damaged(file, f"its format is not {FORMAT}")
    if header.get("tokenizer") != tokenizer_digest(tokenizer):
        raise ModelError(
            "it was trained with another tokenizer",
            where=str(file),
            remedy="Give the model whose tokenizer it shares, or train it again.",
        )
    content = header.get("config")
    if not isinstance(content, dict):
        raise _damaged(file, "its sizes are missing")
    config = ReverseConfig.from_dict(content)
    if config.pieces != tokenizer.vocabulary:
        raise _damaged(file, "it has another number of word pieces than its tokenizer")
    arrays: dict[str, NDArray[Any]] = {}
    for name, shape in config.shapes().items():
        arrays |= _stored(file, tensors, name, shape)
    return StoredReverse(config, arrays, str(header["sha256"]))


def count_weights(path: str | Path) -> int:
    """How many weights a reverse model has. Raises ModelError as `load_reverse` does, whatever the tokenizer."""
    content = _read(Path(path))[0].get("config")
    if not isinstance(content, dict):
        raise _damaged(Path(path), "its sizes are missing")
    return sum(math.prod(shape) for shape in ReverseConfig.from_dict(content).shapes().values())


def save_reverse(
    path: str | Path, config: ReverseConfig, weights: dict[str, Array], tokenizer: Tokenizer
) -> Path:
    """Write a reverse model. Raises ModelError where the file would be too large."""
    tensors: dict[str, NDArray[Any]] = {}
    for name, shape in config.shapes().items():
        array = np.ascontiguousarray(weights[name], dtype=np.float32)
        if array.shape != shape:
            raise ModelError(f"{name} has the shape {array.shape}, not {shape}", where=str(path))
        if name == WORDS or (array.ndim == 2 and array.size >= _QUANTISED_ENTRIES):
            tensors[name], tensors[name + SCALE] = quantise(array)
        else:
            tensors[name] = array
    header = {
        "format": FORMAT,
        "config": config.to_dict(),
        "tokenizer": tokenizer_digest(tokenizer),
        "sha256": _digest(tensors),
    }
    # One entry: of several, the order would be of chance.
    content = save(tensors, metadata={HEADER: json.dumps(header)})
    if len(content) > LARGEST_FILE:
        raise ModelError(f"{len(content):,} bytes are more than {LARGEST_FILE:,}", where=str(path))
    file = Path(path)
    write_whole(file, content)
    return file


def _read(file: Path) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The header and tensors of a file whose content is what its digest says."""
    if not file.is_file():
        raise _damaged(file, "the file is missing")
    if file.stat().st_size > LARGEST_FILE:
        raise _damaged(file, f"its {file.stat().st_size:,} bytes are more than {LARGEST_FILE:,}")
    try:
        content = file.read_bytes()
        tensors = load(content)
        length = int.from_bytes(content[:HEADER_LENGTH], "little")
        header = read_header(content[HEADER_LENGTH : HEADER_LENGTH + length])
    except (OSError, ValueError, SafetensorError) as error:
        raise _damaged(file, "it cannot be read") from error
    if not isinstance(header, dict) or header.get("sha256") != _digest(tensors):
        raise _damaged(file, "its weights are not what its header says")
    return header, tensors


def _digest(tensors: dict[str, NDArray[Any]]) -> str:
    digest = hashlib.sha256()
    for name in sorted(tensors):
        digest.update(f"{name} {tensors[name].dtype} {tensors[name].shape}".encode())
        digest.update(tensors[name].tobytes())
    return digest.hexdigest()


def _stored(
    file: Path, tensors: dict[str, NDArray[Any]], name: str, shape: tuple[int, ...]
) -> dict[str, NDArray[Any]]:
    """One weight as it was stored, with its scale where it is int8, as the embeddings of words must be."""
    found, scale = tensors.get(name), tensors.get(name + SCALE)
    if found is None or found.shape != shape or (name == WORDS and scale is None):
        raise _damaged(file, f"{name} is missing or of another shape")
    if scale is None:
        if found.dtype != np.float32:
            raise _damaged(file, f"{name} is of another type")
        return {name: found}
    if found.dtype != np.int8 or scale.dtype != np.float32 or scale.shape != shape[:1]:
        raise _damaged(file, f"{name} is of another type")
    return {name: found, name + SCALE: scale}


def _damaged(file: Path, what: str) -> ModelError:
    return ModelError(what, where=str(file), remedy=_REMEDY)
