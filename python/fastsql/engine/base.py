"""What every engine is to a parser, and what it gives.

An engine is the model's part of a parse. It reads a schema once, and takes a linked question to finished hypotheses:

    Prepared --encoder, graph, beam search--> Decoded

All engines give the same hypotheses; scores differ by rounding.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from fastsql.decode import Search
from fastsql.errors import ModelError
from fastsql.linking.prepare import Prepared, prepare
from fastsql.linking.relations import SchemaLinks

if TYPE_CHECKING:
    from fastsql.grammar import ActionSpace, Turn
    from fastsql.linking.dictionary import ValueDictionary
    from fastsql.linking.turns import EarlierTurn
    from fastsql.model.config import ModelConfig
    from fastsql.model.tokenizer import Tokenizer
    from fastsql.schema import Schema


T = TypeVar("T")

MOST_THREADS = 4
"""Threads of the native core where none are asked for: a question is too small for more."""


class Encoded(Protocol):
    """A schema as an engine keeps it."""

    @property
    def links(self) -> SchemaLinks:
        """The schema's part of linking."""
        ...


def check_turns(turns: Sequence[EarlierTurn | Turn], config: ModelConfig) -> None:
    """Raises ModelError where there are earlier turns, but the model has no weights for them."""
    if turns and not config.turns:
        raise ModelError(
            "has no weights for earlier turns of a conversation",
            where="the model",
            remedy="Ask a question that stands by itself.",
        )


def link_question(
    text: str,
    links: SchemaLinks,
    tokenizer: Tokenizer,
    config: ModelConfig,
    dictionary: ValueDictionary | None,
    turns: Sequence[EarlierTurn],
) -> Prepared:
    """What every engine's `link` does, for a model of these sizes: see `Engine.link`."""
    check_turns(turns, config)
    return prepare(text, links, tokenizer, dictionary=dictionary, turns=turns, turn_values=config.turn_values)


def check_space(prepared: Prepared, space: ActionSpace, config: ModelConfig) -> None:
    """Raises ModelError where the model has no weights for the earlier turns of an action space, or the question was linked
    to others.
    """
    check_turns(space.turns, config)
    if tuple(turn.turn for turn in prepared.turns) != space.turns:
        raise ModelError(
            f"it has {len(space.turns)} earlier turns, the linked question {len(prepared.turns)}, or others",
            where="the action space",
            remedy="Give both the same turns.",
        )


class LastReading(Generic[T]):
    """What each thread read last, so that a question which is searched for again is not read again. Thread-safe.

    It is told by the linked question and the schema, the very objects, and keeps neither alive.
    """

    def __init__(self) -> None:
        self._of_thread = threading.local()

    def take(self, prepared: Prepared, schema: object) -> T | None:
        """The reading, if this thread's last was of these; otherwise None, and that one is let go."""
        of, over, reading = getattr(self._of_thread, "told", (_nothing, _nothing, None))
        if of() is prepared and over() is schema:
            return cast("T", reading)
        self._of_thread.told = _nothing, _nothing, None
        return None

    def keep(self, prepared: Prepared, schema: object, reading: T) -> None:
        """Until this thread reads another question."""
        self._of_thread.told = (weakref.ref(prepared), weakref.ref(schema), reading)


def _nothing() -> None:
    """A reference to nothing."""


@dataclass(frozen=True, eq=False)
class Decoded:
    """What an engine makes of a question."""

    search: Search
    state: NDArray[np.float32]
    """The mean of the question's rows in the graph, float32[d]; zeros where it has no token."""
    pooled: NDArray[np.float32]
    """The mean of its tokens before the graph, float32[d]: what an `EarlierTurn` of later questions needs of it."""
    milliseconds: Mapping[str, float]
    """Of each stage; 0 for what had been done before."""


class Engine(Protocol):
    """What a parser asks of the model. Thread-safe. The schemas that it is given are those that it has encoded."""

    device: str
    encoder: str
    """What reads the texts: "native", "numpy" or "onnxruntime"."""
    threads: int
    """Questions that are worth giving it at a time."""
    tokenizer: Tokenizer

    def encode_schema(self, schema: Schema) -> Encoded:
        """Everything about a schema that does not depend on a question. Raises ModelError for one without tables."""
        ...

    def link(
        self,
        text: str,
        schema: Any,
        dictionary: ValueDictionary | None,
        turns: Sequence[EarlierTurn] = (),
    ) -> Prepared:
        """A question linked to a schema and to the earlier turns of its conversation.

        Raises LimitError where it has more tokens than the encoder has positions, ModelError where the model has no weights
        for turns.
        """
        ...

    def decode(
        self, prepared: Prepared, schema: Any, space: ActionSpace, beam: int, patience: float = 0.0
    ) -> Decoded:
        """The likeliest queries for a linked question; `space` has the turns that it was linked to.

        With `patience`, those also that are so many nats less likely than the best: see `beam_search`. Where a thread asks
        for the same question again, with another space, width or patience, it need not be read again.

        Raises ModelError for other turns, and for turns that a model of another width has read.
        """
        ...
