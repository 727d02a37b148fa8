"""Which reverse model comes with fastsql, told from the header of its file: all that a parser needs of it at first."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fastsql.model.tokenizer import Tokenizer

LARGEST_FILE = 12 * 10**6
"""Bytes of a file: what the wheel has room for."""
HEADER = "reverse"
HEADER_LENGTH = 8
"""Bytes that say how long the header is."""


def bundled_reverse() -> Path:
    """Where the reverse model lies that comes with fastsql; there is no file where it comes without one."""
    return Path(__file__).parents[1] / "models" / "reverse-en" / "weights.safetensors"


def reverse_digest(path: str | Path, tokenizer: Tokenizer) -> str | None:
    """SHA-256 of a reverse model's weights, as its file says; None where there is none that shares the `tokenizer`.

    Reads the header alone: whether the weights are these is for `load_reverse` to say.
    """
    try:
        with Path(path).open("rb") as file:
            length = int.from_bytes(file.read(HEADER_LENGTH), "little")
            header = read_header(file.read(min(length, LARGEST_FILE)))
    except (OSError, ValueError):
        return None
    if not isinstance(header, dict) or header.get("tokenizer") != tokenizer_digest(tokenizer):
        return None
    digest = header.get("sha256")
    return digest if isinstance(digest, str) else None


def tokenizer_digest(tokenizer: Tokenizer) -> str:
    """SHA-256 of a tokenizer's description."""
    return hashlib.sha256(tokenizer.json_text.encode()).hexdigest()


def read_header(described: bytes) -> Any:
    """What a file says of itself, from safetensors' own header. Raises ValueError."""
    try:
        return json.loads(json.loads(described)["__metadata__"][HEADER])
    except (KeyError, TypeError) as error:
        raise ValueError("there is no such header") from error
