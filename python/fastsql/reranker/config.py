"""What a reranker is made of: sizes and symbols."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from fastsql.errors import ModelError
from fastsql.reranker.reading import KINDS, MAX_TOKENS
from fastsql.reverse.source import OTHER, TABLE_MARKS

_LARGEST = 2**16
"""No size of a reranker is larger: what a file says is checked before anything is allocated."""


@dataclass(frozen=True)
class RerankerConfig:
    """Sizes of the network. `pieces` is the tokenizer's vocabulary, `symbols` are names of productions and others, in the
    order of their embeddings.
    """

    pieces: int
    symbols: tuple[str, ...]
    hidden: int = 384
    heads: int = 12
    ffn: int = 1536
    layers: int = 4

    def __post_init__(self) -> None:
        for item in dataclasses.fields(self):
            size = getattr(self, item.name)
            if item.name != "symbols" and (type(size) is not int or not 0 < size <= _LARGEST):
                raise _wrong(f"{item.name} is not a size from 1 to {_LARGEST:,}")
        if self.hidden % self.heads:
            raise _wrong(f"hidden = {self.hidden} is not a multiple of the {self.heads} heads")
        if not all(isinstance(name, str) for name in self.symbols) or OTHER not in self.symbols:
            raise _wrong("a symbol is missing, or is no name")
        if not len(set(self.symbols)) == len(self.symbols) <= _LARGEST:
            raise _wrong("a symbol is there twice, or there are too many")

    @property
    def numbers(self) -> dict[str, int]:
        """The ids of the symbols, behind those of the word pieces."""
        return {name: self.pieces + number for number, name in enumerate(self.symbols)}

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shape of every weight by its name; those of linear maps are [out, in]."""
        hidden, ffn = self.hidden, self.ffn
        shapes: dict[str, tuple[int, ...]] = {
            "words.weight": (self.pieces, hidden),
            "symbols.weight": (len(self.symbols), hidden),
            "positions.weight": (MAX_TOKENS, hidden),
            "kinds.weight": (KINDS, hidden),
            "tables.weight": (TABLE_MARKS + 1, hidden),
            "shared.weight": (2, hidden),
        }
        maps = {"output.hidden": (hidden, hidden), "output.log_odds": (1, hidden)}
        norms = ["norm"]
        for number in range(self.layers):
            layer = f"layers.{number}"
            maps |= {
                f"{layer}.qkv": (3 * hidden, hidden),
                f"{layer}.out": (hidden, hidden),
                f"{layer}.ffn_in": (ffn, hidden),
                f"{layer}.ffn_out": (hidden, ffn),
            }
            norms += [f"{layer}.attention_norm", f"{layer}.ffn_norm"]
        for name, shape in maps.items():
            shapes[f"{name}.weight"] = shape
            shapes[f"{name}.bias"] = shape[:1]
        return shapes | {f"{name}.{kind}": (hidden,) for name in norms for kind in ("weight", "bias")}

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as the file holds it."""
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> RerankerConfig:
        """The inverse of `to_dict`; raises ModelError for anything else."""
        known = {item.name for item in dataclasses.fields(cls)}
        if set(content) - known:
            raise _wrong(f"{min(set(content) - known)!r} is unknown")
        try:
            return cls(**{**content, "symbols": tuple(content["symbols"])})
        except (KeyError, TypeError) as error:
            raise _wrong("sizes are missing or of another type") from error


def _wrong(what: str) -> ModelError:
    return ModelError(f"the reranker's sizes cannot be: {what}", remedy="Install the model again.")
