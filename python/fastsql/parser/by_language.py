"""A parser for each language, chosen by the script of the question."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from fastsql.forking import renew_in_child
from fastsql.limits import Limits
from fastsql.parser.parser import Parser
from fastsql.refusal.texts import CHINESE, ENGLISH, language_of
from fastsql.schema import Schema
from fastsql.session.turn import Turn

if TYPE_CHECKING:
    from fastsql.answer import Answer
    from fastsql.execution import Executor
    from fastsql.result import Result
    from fastsql.session.session import Session

MODELS: Mapping[str, str] = MappingProxyType({ENGLISH: "ehr-en", CHINESE: "css-zh"})
"""The bundled model of each language."""


class ParserByLanguage:
    """The bundled models together; made by `load("auto")`. Each is opened when it is first needed.

    The question decides, not the schema: Chinese questions are asked of tables with English names, too. What a method does
    is what `Parser` says of it; what belongs to one model, as what it remembers does, is had from the parser `of` it.
    Thread-safe, and can be pickled as a `Parser` can.
    """

    def __init__(self, opened: Callable[[str], Parser], limits: Limits) -> None:
        self.limits = limits
        self._opened = opened
        self._parsers: dict[str, Parser] = {}
        self.renew_after_fork()
        renew_in_child(self)

    def renew_after_fork(self) -> None:
        """Wait for no thread that was opening a model in the other process."""
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"ParserByLanguage({', '.join(f'{language}={name!r}' for language, name in MODELS.items())})"

    def __getstate__(self) -> dict[str, Any]:
        return {"opened": self._opened, "limits": self.limits, "parsers": dict(self._parsers)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["opened"], state["limits"])  # type: ignore[misc]
        self._parsers.update(state["parsers"])

    def of(self, language: str) -> Parser:
        """The parser of "en" or "zh". Raises ValueError for another language, ModelError where there is no model of it."""
        if language not in MODELS:
            raise ValueError(f"language is one of {', '.join(map(repr, MODELS))}, not {language!r}")
        with self._lock:
            if language not in self._parsers:
                self._parsers[language] = self._opened(MODELS[language])
            return self._parsers[language]

    def for_model(self, name: object) -> Parser:
        """The parser that goes on with what a model of this name has read; the English one where no model has."""
        return self.of(next((language for language, model in MODELS.items() if model == name), ENGLISH))

    def parse(
        self, question: str, schema: Any, *, history: Sequence[Turn] | None = None, **options: Any
    ) -> Result:
        """As `Parser.parse`. Turns that the other model has read are none that a question can refer to."""
        parser = self._reader(question)
        return parser.parse(question, schema, history=_read_by(parser, history), **options)

    def ask(self, question: str, schema: Any, *, executor: Executor, **options: Any) -> Answer:
        """As `Parser.ask`."""
        parser = self._reader(question)
        if "history" in options:
            options = {**options, "history": _read_by(parser, options["history"])}
        return parser.ask(question, schema, executor=executor, **options)

    def answer(self, result: Result, *, executor: Executor, **ids: Any) -> Answer:
        """As `Parser.answer`."""
        return self._reader(result.question).answer(result, executor=executor, **ids)

    def remember(self, question: str, sql: str, schema: Any, **options: Any) -> int:
        """As `Parser.remember`, of the parser that reads such a question."""
        return self._reader(question).remember(question, sql, schema, **options)

    def session(
        self,
        schema: Any,
        values: Any = None,
        executor: Executor | None = None,
        history: str = "qs",
        reuse: str = "parameters",
        **options: Any,
    ) -> Session:
        """As `Parser.session`. A question in the other language begins anew: it refers to turns in its own alone."""
        from fastsql.session.session import Session  # for those who converse

        schema = Schema.coerce(schema, limits=self.limits)
        return Session(self, schema, values, executor, history, reuse, **options)

    def parse_batch(self, questions: Iterable[str], schema: Any, **options: Any) -> list[Result]:
        """`parse` for several questions over one schema, in their order; those of one language are parsed together."""
        if isinstance(questions, str):
            raise TypeError("questions are several texts, not one")
        asked = list(questions)
        found: dict[int, Result] = {}
        for language in sorted({language_of(question) for question in asked}):
            places = [place for place, question in enumerate(asked) if language_of(question) == language]
            results = self.of(language).parse_batch([asked[place] for place in places], schema, **options)
            found.update(zip(places, results, strict=True))
        return [found[place] for place in range(len(asked))]

    def pipe(self, items: Iterable[tuple[str, Any]], **options: Any) -> Iterator[Result]:
        """`parse` for a stream of (question, schema) pairs, in their order, one at a time."""
        return (self.parse(question, schema, **options) for question, schema in items)

    def _reader(self, question: object) -> Parser:
        return self.of(language_of(question) if isinstance(question, str) else ENGLISH)


def _read_by(parser: Parser, history: Sequence[Any] | None) -> tuple[Any, ...] | None:
    """The turns with what the parser's model has read of them; those of another model stay as their numbers."""
    if history is None:
        return None
    name = parser.bundle.config.name
    return tuple(
        replace(turn, state=None)
        if isinstance(turn, Turn) and turn.state is not None and turn.state.model != name
        else turn
        for turn in history
    )
