"""Sizes of the model, and the small vocabularies that its embeddings are indexed by."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastsql.errors import ModelError
from fastsql.linking.candidate import FORMATS, KINDS, SOURCES, Candidate
from fastsql.linking.relations import PLAIN_RELATIONS, RELATIONS
from fastsql.schema import Column, Schema

CANDIDATE_KINDS = ("other", *KINDS)
CANDIDATE_SOURCES = ("other", *SOURCES)
CANDIDATE_FORMATS = ("", *FORMATS)
CANDIDATE_RANKS = 4
"""Candidates of one span ("50s" gives 50 and 59) are told apart by their rank, the last rank being shared."""
CANDIDATE_SIZES = (len(CANDIDATE_KINDS), len(CANDIDATE_SOURCES), len(CANDIDATE_FORMATS), CANDIDATE_RANKS)
"""How many values each feature of a candidate has, in the order of `features_of`; weights are numbered by these features."""

AGES = 8
"""Earlier turns are told apart by how long ago they were, the last age being shared."""
ENTRY_KINDS = ("item", "source", "column")
"""What an earlier turn offers: select items, sources of its FROM, columns of those that are derived tables."""
ENTRY_PLACES = 16
"""Those of one list are told apart by their place in it, the last place being shared."""

_LARGEST_SIZE, _MOST_LAYERS = 1_000_000, 256
"""What a configuration may say. A matrix must be in the file to be allocated; names of a layer's weights need not."""

RAT, LGE = "rat", "lge"
GRAPHS = (RAT, LGE)
"""Encoders of the graph: relation-aware attention (RAT-SQL), and that with a line graph (LGESQL)."""
EDGE_HEADS = 4
"""In so many heads an edge of the line graph reads others."""

ITEM_TYPES = (
    "table",
    *(f"{kind}{key}" for key in ("", " key") for kind in ("number", "text", "time", "boolean", "other")),
)
"""Schema items get an embedding of what they are: a table, or a column of some type, primary key or not."""


def features_of(candidates: Sequence[Candidate]) -> NDArray[np.int64]:
    """int64[V, 4]: indices of kind, source, date format, and of the rank among candidates of the same span."""
    seen: dict[tuple[int, int], int] = {}
    rows = []
    for candidate in candidates:
        rank = seen.get(candidate.span, 0)
        seen[candidate.span] = rank + 1
        rows.append(
            (
                _index(CANDIDATE_KINDS, candidate.kind),
                _index(CANDIDATE_SOURCES, candidate.source),
                _index(CANDIDATE_FORMATS, candidate.format),
                min(rank, CANDIDATE_RANKS - 1),
            )
        )
    return np.array(rows, dtype=np.int64).reshape(-1, len(CANDIDATE_SIZES))


def _index(names: tuple[str, ...], name: str) -> int:
    return names.index(name) if name in names else 0


def column_type_index(column: Column) -> int:
    """Index into `ITEM_TYPES` of a column."""
    kind = column.type if column.type in ITEM_TYPES else "other"
    return ITEM_TYPES.index(f"{kind} key" if column.primary_key else kind)


@dataclass(frozen=True)
class EncoderConfig:
    """Sizes of the BERT encoder; the defaults are MiniLM-L6."""

    hidden: int = 384
    layers: int = 6
    heads: int = 12
    ffn: int = 1536
    vocabulary: int = 30522
    positions: int = 512


_FLAGS = ("turns", "named_turns", "turn_values", "spelled_names", "whole_keys")


@dataclass(frozen=True)
class ModelConfig:
    """Sizes of the whole model; `n_productions` and `n_symbols` come from the grammar.

    `cached_layers` graph layers compute schema rows without the question (so they are cached), `joint_layers`
    layers let schema rows see the question. `turns`: whether it reads earlier turns of a conversation, `named_turns` whether
    it knows which of them a question calls by their numbers, `turn_values` whether it reads values of their queries behind a
    question (`linking.turns.with_values`). `spelled_names`: whether it reads a schema under the words of
    its names (`Schema.spelled`), `whole_keys` whether its joins name a foreign key of several columns by one of
    them. `graph` is one of `GRAPHS`; where its edges have states, these are of `edge_d` numbers. Dropout rates matter in
    training only.
    """

    n_productions: int
    n_symbols: int
    d: int = 256
    heads: int = 8
    ffn: int = 1024
    cached_layers: int = 2
    joint_layers: int = 1
    decoder_layers: int = 2
    relations: int = len(PLAIN_RELATIONS)
    max_steps: int = 256
    dropout: float = 0.1
    encoder_dropout: float = 0.1
    turns: bool = False
    named_turns: bool = False
    turn_values: bool = False
    spelled_names: bool = False
    whole_keys: bool = False
    graph: str = RAT
    edge_d: int = 64
    encoder: EncoderConfig = field(default_factory=EncoderConfig)

    def __post_init__(self) -> None:
        for name, value in (*_sizes(self), *_sizes(self.encoder)):
            least = 0 if name in ("cached_layers", "joint_layers") else 1
            most = _MOST_LAYERS if name.endswith("layers") else _LARGEST_SIZE
            if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
                raise ModelError(
                    f"{name} is not a whole number from {least} to {most:,}", where="model config"
                )
        for part, width, heads in (
            ("d", self.d, self.heads),
            ("encoder.hidden", self.encoder.hidden, self.encoder.heads),
        ):
            if width % heads:
                raise ModelError(
                    f"{part} = {width} is not a multiple of its {heads} heads", where="model config"
                )
        if self.graph not in GRAPHS:
            raise ModelError(f"graph is none of {', '.join(GRAPHS)}", where="model config")
        if self.graph == LGE and (self.heads % 2 or self.edge_d % EDGE_HEADS):
            raise ModelError(
                f"graph {LGE!r} needs an even number of heads, and edge_d a multiple of {EDGE_HEADS}",
                where="model config",
            )
        if self.relations > 256:
            raise ModelError(f"{self.relations} relations do not fit a byte", where="model config")
        for name in _FLAGS:
            if not isinstance(getattr(self, name), bool):
                raise ModelError(f"{name} is neither true nor false", where="model config")

    def grows_to(self, d: int, heads: int, ffn: int) -> bool:
        """Whether a model of these sizes can begin as this one: with as many heads of the same size, or more."""
        return d * self.heads == heads * self.d and d >= self.d and ffn >= self.ffn

    def with_turns(self) -> ModelConfig:
        """The same sizes for a model that reads earlier turns of a conversation."""
        return dataclasses.replace(self, turns=True, named_turns=True, relations=len(RELATIONS))

    def as_read(self, schema: Schema) -> Schema:
        """The schema under the labels that the model reads, with keys as its joins name them."""
        called = schema.spelled if self.spelled_names else schema
        return called if self.whole_keys else called.in_parts

    @property
    def callings(self) -> int:
        """In how many ways an earlier turn may stand to a question: not to be pointed at, to be, called by its number."""
        return 3 if self.named_turns else 2

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, for JSON."""
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> ModelConfig:
        """The inverse of `to_dict`; a missing, unknown or impossible entry is a `ModelError`."""
        try:
            return cls(**{**data, "encoder": EncoderConfig(**data["encoder"])})
        except (TypeError, KeyError) as error:
            raise ModelError(
                "entries are missing, unknown or of a wrong type", where="model config"
            ) from error


def _sizes(config: ModelConfig | EncoderConfig) -> list[tuple[str, Any]]:
    return [
        (entry.name, getattr(config, entry.name))
        for entry in dataclasses.fields(config)
        if entry.name not in ("dropout", "encoder_dropout", "graph", *_FLAGS, "encoder")
    ]
