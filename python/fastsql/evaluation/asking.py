"""Asking a parser the questions of a data set, timed: one by one, or as turns of conversations."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from inspect import Parameter, signature
from pathlib import Path
from typing import Any, Protocol

from fastsql.datasets import Example
from fastsql.datasets.interactions import Interaction
from fastsql.errors import FastSQLError
from fastsql.evaluation.predictions import Prediction
from fastsql.result import Result
from fastsql.schema import Schema
from fastsql.session.turn import Turn


class ParserLike(Protocol):
    """What is evaluated: `fastsql.Parser`, or anything else with its `parse`."""

    def parse(
        self, question: str, schema: Schema, *, values: Path | None = None, now: str | None = None
    ) -> Result:
        """Parse one question; `values` is the database to look up values in, `now` the time that "now" means.

        To be asked conversations, it must take `history=`, too, the turns so far, and return a `Turn`.
        """


@dataclass(frozen=True)
class Parsed:
    """What came of one question: `error` is the kind of what the parser raised, `turn` what later questions are given."""

    prediction: Prediction
    latency_ms: float | None = None
    error: str = ""
    turn: Turn | None = None

    @property
    def kinds(self) -> tuple[str, ...]:
        """What the parser took a turn for; empty where there is no query."""
        return () if self.turn is None or self.turn.best is None else self.turn.kind


def warm_up(
    parser: ParserLike,
    examples: Sequence[Example],
    schemas: Mapping[str, Schema],
    settings: Mapping[str, dict[str, Any]],
) -> None:
    """Let the parser encode every schema and read every dictionary once, so that latencies are those of questions."""
    first: dict[str, Example] = {}
    for example in examples:
        first.setdefault(example.db_id, example)
    for example in first.values():
        ask(parser, example, schemas, settings)


def ask_conversations(
    parser: ParserLike,
    talks: Iterable[Interaction],
    schemas: Mapping[str, Schema],
    settings: Mapping[str, dict[str, Any]],
) -> Iterator[tuple[tuple[str, int], Parsed]]:
    """What came of each turn, with its place: conversation by conversation, each in its order.

    Raises FastSQLError for a parser that takes no history.
    """
    taken = signature(parser.parse).parameters.values()
    if not any(one.name == "history" or one.kind is Parameter.VAR_KEYWORD for one in taken):
        raise FastSQLError(
            "its `parse` takes no history, and the examples are turns of conversations",
            where=type(parser).__name__,
            remedy="Give a parser that does, or examples without `interaction`.",
        )
    for talk in talks:
        history: tuple[Turn, ...] = ()
        for example in talk.turns:
            parsed = ask(parser, example, schemas, settings, history)
            if parsed.turn is not None:
                history = (*history, parsed.turn)
            yield place_of(example), parsed


def place_of(example: Example) -> tuple[str, int]:
    """The conversation of a turn, and its number in it."""
    return str(example.extra["interaction"]), example.extra["turn"]


def _as_history(turn: Turn) -> Turn:
    """A turn as later ones are given it: usable if it has a query, whatever was decided."""
    return replace(turn.light, abstained=False) if turn.best is not None else turn.light


def ask(
    parser: ParserLike,
    example: Example,
    schemas: Mapping[str, Schema],
    settings: Mapping[str, dict[str, Any]],
    history: tuple[Turn, ...] | None = None,
) -> Parsed:
    """Parse one question and take the time; `history` is given on where it belongs to a conversation."""
    parse: Callable[..., Result] = parser.parse
    given = settings[example.db_id] if history is None else {**settings[example.db_id], "history": history}
    start = time.perf_counter()
    try:
        result = parse(example.question, schemas[example.db_id], **given)
    except FastSQLError as error:
        return Parsed(Prediction(example.id, None, 0.0, abstained=True), error=type(error).__name__)
    latency = (time.perf_counter() - start) * 1000
    abstained = result.abstained or result.best is None
    prediction = Prediction(example.id, result.best, float(result.confidence), abstained)
    turn = _as_history(result) if isinstance(result, Turn) else None
    return Parsed(prediction, latency, turn=turn)
