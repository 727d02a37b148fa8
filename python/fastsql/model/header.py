"""What a model that is kept in one file says of itself: all that a parser needs of it at first.

The file is safetensors. One entry of its header, named after the kind of the model, has the format, the sizes, the digest of
the weights, and that of the tokenizer, which is not stored again: it is that of the parser's bundle.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fastsql.model.tokenizer import Tokenizer

LENGTH = 8
"""Bytes that say how long the header is."""
_LONGEST = 2**24
_MODELS = Path(__file__).parents[1] / "models"


def bundled_reverse() -> Path:
    """Where the reverse model lies that comes with fastsql; there is no file where it comes without one."""
    return _MODELS / "reverse-en" / "weights.safetensors"


def bundled_reranker() -> Path:
    """The same of the reranker."""
    return _MODELS / "reranker-en" / "weights.safetensors"


def reverse_digest(path: str | Path, tokenizer: Tokenizer) -> str | None:
    """SHA-256 of a reverse model's weights, as its file says; None where there is none that shares the `tokenizer`.

    Reads the header alone: whether the weights are these is for `one_file.read_model` to say.
    """
    return _told_digest(path, "reverse", tokenizer)


def reranker_digest(path: str | Path, tokenizer: Tokenizer) -> str | None:
    """The same of a reranker's."""
    return _told_digest(path, "reranker", tokenizer)


def _told_digest(path: str | Path, kind: str, tokenizer: Tokenizer) -> str | None:
    try:
        header = read_header(_described(path), kind)
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(header, dict) or header.get("tokenizer") != tokenizer_digest(tokenizer):
        return None
    digest = header.get("sha256")
    return digest if isinstance(digest, str) else None


def kind_of(path: str | Path) -> str | None:
    """What kind of model a file says that it holds; None where it cannot be read, or says none."""
    try:
        (kind,) = json.loads(_described(path))["__metadata__"]
    except (OSError, KeyError, TypeError, ValueError, RecursionError):
        return None
    return str(kind)


def _described(path: str | Path) -> bytes:
    """Safetensors' own header, which stands before the weights."""
    with Path(path).open("rb") as file:
        length = int.from_bytes(file.read(LENGTH), "little")
        return file.read(min(length, _LONGEST))


def tokenizer_digest(tokenizer: Tokenizer) -> str:
    """SHA-256 of a tokenizer's description."""
    return hashlib.sha256(tokenizer.json_text.encode()).hexdigest()


def read_header(described: bytes, kind: str) -> Any:
    """What a file says of itself, from safetensors' own header. Raises ValueError."""
    try:
        return json.loads(json.loads(described)["__metadata__"][kind])
    except (KeyError, TypeError) as error:
        raise ValueError("there is no such header") from error
