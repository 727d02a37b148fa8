"""What a reverse model is made of: sizes, symbols, and the word pieces that it can write without copying."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from fastsql.errors import ModelError
from fastsql.reverse.source import OTHER, TABLE_MARKS, Kind

_LARGEST = 2**16
"""No size of a reverse model is larger: what a file says is checked before anything is allocated."""


@dataclass(frozen=True)
class ReverseConfig:
    """Sizes of the network. `words` is the width of the word pieces' embeddings, `pieces` the tokenizer's vocabulary.

    `symbols`: names of productions, styles and others, in the order of their embeddings. `outputs`: word pieces that can be
    written without standing in the source, `end` among them. `start` and `end` are the pieces around a question.
    """

    pieces: int
    symbols: tuple[str, ...]
    outputs: tuple[int, ...]
    start: int
    end: int
    styles: tuple[str, ...] = ()
    words: int = 192
    d: int = 256
    heads: int = 4
    ffn: int = 768
    encoder_layers: int = 3
    decoder_layers: int = 2

    def __post_init__(self) -> None:
        sizes = {
            item.name: getattr(self, item.name)
            for item in dataclasses.fields(self)
            if isinstance(item.default, int)
        }
        for name, size in {**sizes, "pieces": self.pieces}.items():
            if not isinstance(size, int) or not 0 < size <= _LARGEST:
                raise _wrong(f"{name} is not a size from 1 to {_LARGEST:,}")
        if self.d % (2 * self.heads):
            raise _wrong(f"d = {self.d} is not a multiple of twice the {self.heads} heads")
        if OTHER not in self.symbols or not set(self.styles) <= set(self.symbols):
            raise _wrong("a symbol is missing")
        known = range(self.pieces)
        if not all(piece in known for piece in (self.start, self.end, *self.outputs)):
            raise _wrong("it names word pieces that the tokenizer does not have")
        if self.end not in self.outputs or len(set(self.outputs)) < len(self.outputs):
            raise _wrong("the pieces that it writes lack the last one, or repeat one")

    @property
    def numbers(self) -> dict[str, int]:
        """The ids of the symbols, behind those of the word pieces."""
        return {name: self.pieces + number for number, name in enumerate(self.symbols)}

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shape of every weight by its name; those of linear maps are [out, in]."""
        d, ffn = self.d, self.ffn
        shapes: dict[str, tuple[int, ...]] = {
            "words.weight": (self.pieces, self.words),
            "symbols.weight": (len(self.symbols), d),
            "kinds.weight": (len(Kind), d),
            "tables.weight": (TABLE_MARKS + 1, d),
            "source_words.weight": (d, self.words),
            "target_words.weight": (d, self.words),
            "output.weight": (len(self.outputs) + 1, d),
            "output.bias": (len(self.outputs) + 1,),
            "copy.query.weight": (d, d),
            "copy.key.weight": (d, d),
            "copy.kinds": (len(Kind),),
            "copy.follows": (len(Kind),),
        }
        for side, count in (("encoder", self.encoder_layers), ("decoder", self.decoder_layers)):
            shapes |= {f"{side}.norm.{kind}": (d,) for kind in ("weight", "bias")}
            for number in range(count):
                layer = f"{side}.layers.{number}"
                maps = {"qkv": (3 * d, d), "out": (d, d), "ffn_in": (ffn, d), "ffn_out": (d, ffn)}
                norms = ["attention_norm", "ffn_norm"]
                if side == "decoder":
                    maps |= {"cross.query": (d, d), "cross.key_value": (2 * d, d), "cross.out": (d, d)}
                    norms.append("cross_norm")
                for name, shape in maps.items():
                    shapes[f"{layer}.{name}.weight"] = shape
                    shapes[f"{layer}.{name}.bias"] = shape[:1]
                shapes |= {f"{layer}.{name}.{kind}": (d,) for name in norms for kind in ("weight", "bias")}
        return shapes

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as `config.json` holds it."""
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> ReverseConfig:
        """The inverse of `to_dict`; raises ModelError for anything else."""
        known = {item.name for item in dataclasses.fields(cls)}
        if set(content) - known:
            raise _wrong(f"{min(set(content) - known)!r} is unknown")
        try:
            lists = {name: tuple(content[name]) for name in ("symbols", "outputs")}
            return cls(**{**content, **lists, "styles": tuple(content.get("styles", ()))})
        except (KeyError, TypeError) as error:
            raise _wrong("sizes are missing or of another type") from error


def _wrong(what: str) -> ModelError:
    return ModelError(f"the reverse model's sizes cannot be: {what}", remedy="Install the model again.")
