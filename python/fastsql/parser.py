"""The parser: a question's way to SQL, in the order in which data flows.

    question -> link -> encode -> decode -> render -> verify -> decide -> Result

Each stage is a function of the one before; nothing looks back. What depends on the schema alone is computed once and
kept by the schema's fingerprint. A parser may be shared between threads.
"""

from __future__ import annotations

import os
import re
import sqlite3
import stat
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from fastsql.backends import encoder_runtime, resolve_device
from fastsql.decode import Hypothesis, Search, beam_search
from fastsql.errors import (
    DialectError,
    ExecutionError,
    LimitError,
    ModelError,
    SchemaError,
    VerificationError,
)
from fastsql.execution.verify import verify
from fastsql.explain import doubt, find_links, found_values
from fastsql.explanation.retrace import retrace
from fastsql.grammar import ActionSpace, load_grammar, read_program, render
from fastsql.grammar.program import Program
from fastsql.limits import DEFAULT, Limits
from fastsql.linking.canonical import canonical_literals
from fastsql.linking.dictionary import ValueDictionary
from fastsql.linking.lexicon import Lexicon, with_database_values
from fastsql.linking.prepare import prepare
from fastsql.linking.question import clean_question, has_words, leading_blanks
from fastsql.model import Bundle, Model, SchemaState, open_bundle
from fastsql.reliability.confidence import Confidence, evidence, threshold
from fastsql.reliability.familiarity import Familiarity
from fastsql.result import Alternative, Link, Result
from fastsql.schema import Schema

T = TypeVar("T")

BUNDLED = Path(__file__).with_name("models")
DEFAULT_MODEL = "ehr-en"
DEFAULT_PENALTY = 10.0
DEFAULT_BEAM = 4
DIALECTS = ("sqlite",)
_KEPT = 8
"""Schemas and dictionaries that a parser keeps ready; the one used longest ago goes first."""
_left_behind: list[Model] = []
"""Models inherited by a forked process. They are kept, as ONNX Runtime would wait for its threads to destroy them."""
_ENCODERS = {"onnxruntime": "onnx", "numpy": "numpy"}
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d( \d\d:\d\d(:\d\d)?)?", re.ASCII)


def load(
    model: str | Path = DEFAULT_MODEL,
    *,
    device: str = "auto",
    penalty: float = DEFAULT_PENALTY,
    threads: int = 0,
    limits: Limits = DEFAULT,
) -> Parser:
    """A parser from a bundled model's name or the folder of a bundle.

    Args:
        model: "ehr-en", or a path.
        device: "auto" or "python"; see `fastsql doctor`.
        penalty: how many right answers a wrong one outweighs; the higher, the more is refused.
        threads: of ONNX Runtime; 0 leaves it the choice.
        limits: bounds of what is accepted.

    Raises ModelError: no such model or device, or the bundle is damaged or made for another grammar. LimitError: a
    query could have more decisions than the model was made for.
    """
    resolve_device(device)
    return Parser(open_bundle(_find_bundle(model)), penalty=penalty, threads=threads, limits=limits)


def _find_bundle(model: str | Path) -> Path:
    """The folder of a bundle that is named or lies at a path; absolute, as the parser may be sent to other processes."""
    path = Path(model)
    try:
        if str(model).strip() and path.exists():
            return path.absolute()
    except OSError:
        pass  # too long for a path: no name of a model either, and said so below
    if str(model) in _bundled():
        return BUNDLED / path
    raise ModelError(
        "there is no such model",
        where=f"model {str(model)[:200]!r}",
        remedy=f"Bundled: {', '.join(_bundled()) or 'none'}. Or give a folder.",
    )


def _bundled() -> list[str]:
    """Names of the models that come with this installation."""
    return sorted(path.name for path in BUNDLED.iterdir() if path.is_dir()) if BUNDLED.is_dir() else []


class Parser:
    """A loaded model with its settings; made by `load`. Thread-safe, and can be pickled.

    A forked process loads the model again when it first parses. ONNX Runtime keeps such a process from ending by `exit`
    (`os._exit`, as multiprocessing uses it, works): where a server forks its workers, fork first and load then.
    """

    def __init__(
        self, bundle: Bundle, *, penalty: float = DEFAULT_PENALTY, threads: int = 0, limits: Limits = DEFAULT
    ) -> None:
        if not 0 <= penalty < float("inf"):
            raise ValueError(f"penalty must be a number of at least 0, not {penalty!r}")
        if threads < 0:
            raise ValueError(f"threads must be a number of at least 0, not {threads!r}")
        _check_grammar(bundle)
        _check_actions(bundle, limits)
        self.bundle = bundle
        self.penalty = float(penalty)
        self.limits = limits
        self.threads = threads
        self._confidence = Confidence.from_settings(bundle.config.settings)
        self._familiarity = Familiarity.from_settings(bundle.config.settings)
        self._lexicon = Lexicon.from_settings(bundle.config.settings)
        self.model: Model = bundle.model(_ENCODERS[encoder_runtime()], threads)
        self._lock = threading.RLock()
        self._dictionaries: OrderedDict[Any, ValueDictionary] = OrderedDict()
        self._read: OrderedDict[Any, Schema] = OrderedDict()
        self._dressed: OrderedDict[Any, Schema] = OrderedDict()
        self._states: OrderedDict[str, SchemaState] = OrderedDict()
        self._process = os.getpid()

    def __repr__(self) -> str:
        return f"Parser({self.bundle.config.name!r}, penalty={self.penalty:g})"

    def __getstate__(self) -> dict[str, Any]:
        return {
            "bundle": self.bundle,
            "penalty": self.penalty,
            "threads": self.threads,
            "limits": self.limits,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(  # type: ignore[misc]
            state["bundle"], penalty=state["penalty"], threads=state["threads"], limits=state["limits"]
        )

    # ---------------------------------------------------------------- the way of a question

    def parse(
        self,
        question: str,
        schema: Any,
        *,
        values: Any = None,
        dialect: str = "sqlite",
        beam: int = DEFAULT_BEAM,
        now: str | None = None,
    ) -> Result:
        """SQL for a question, or a refusal.

        Args:
            question: in the model's language.
            schema: a `Schema`, or anything that `Schema.coerce` reads.
            values: a `ValueDictionary`, or a database (path, URL or engine) that one is read from, once.
            dialect: of the SQL.
            beam: hypotheses to keep.
            now: a literal for the present, such as "2100-12-31 23:59:00"; otherwise the time of execution.

        Raises SchemaError, LimitError, DialectError, ExecutionError (a database that cannot be read); TypeError and
        ValueError for arguments that are none. A question that cannot be answered is not an error: the result says that
        it was refused, and why.
        """
        if dialect not in DIALECTS:
            raise DialectError(
                "cannot be written",
                where=f"dialect {dialect!r}",
                remedy=f"Use one of: {', '.join(DIALECTS)}.",
            )
        _check_beam(beam, self.limits)
        _check_moment(now)
        text = clean_question(question, self.limits)
        if not has_words(text):
            return Result(
                question,
                None,
                0.0,
                abstained=True,
                reason="There is no question in this text.",
                dialect=dialect,
            )
        self._follow_fork()
        watch = _Stopwatch()
        state, dictionary = self._ready(schema, values)
        watch.lap("schema")
        prepared = prepare(text, state.links, self.model.tokenizer, dictionary=dictionary)
        watch.lap("link")
        encoded = self.model.encode_question(prepared, state)
        watch.lap("encode")
        space = ActionSpace.for_question(
            state.links.schema, prepared.text, prepared.offsets, prepared.candidates, limits=self.limits
        )
        search = beam_search(self.model, encoded, space, beam=beam)
        watch.lap("decode")
        write = partial(_write, space=space, dictionary=dictionary, dialect=dialect, now=now)
        program, sql = write(search.finished[0])
        watch.lap("render")
        fault = _fault(sql, state.links.schema, dialect, self.limits)
        watch.lap("verify")
        shift = leading_blanks(question)
        explain = partial(find_links, prepared=prepared, links=state.links, shift=shift)
        judge = partial(_judge, question, search, self._familiarity, self._confidence)
        links = explain(program)
        confidence = judge(0, links)
        reason = fault or self._doubt(confidence)
        literals = found_values(program, state.links.schema, shift)
        watch.lap("explain")
        return Result(
            question=question,
            best=None if fault else sql,
            confidence=0.0 if fault else confidence,
            abstained=bool(reason),
            reason=reason,
            links=links,
            values=literals,
            timings=watch.laps,
            dialect=dialect,
            threshold=threshold(self.penalty),
            render_alternatives=partial(_alternatives, search, write, explain, judge),
            retrace=partial(retrace, search.finished[0], program, space, prepared, state.links, shift),
        )

    def parse_batch(self, questions: Iterable[str], schema: Any, **options: Any) -> list[Result]:
        """`parse` for several questions over one schema; the results are those of one at a time."""
        if isinstance(questions, str):
            raise TypeError("questions are several texts, not one")
        ready = self._schema(schema)
        return [self.parse(question, ready, **options) for question in questions]

    def pipe(
        self, items: Iterable[tuple[str, Any]], *, batch_size: int = 32, **options: Any
    ) -> Iterator[Result]:
        """`parse` for a stream of (question, schema) pairs, in their order.

        `batch_size` is how many pairs may be taken before the first result is given. This backend takes one at a time.
        """
        if batch_size < 1:
            raise ValueError(f"batch_size must be a number of at least 1, not {batch_size!r}")
        return (self.parse(question, schema, **options) for question, schema in items)

    def _doubt(self, confidence: float) -> str:
        needed = threshold(self.penalty)
        if confidence >= needed:
            return ""
        return doubt(confidence, needed, self.penalty)

    # ---------------------------------------------------------------- what depends on the schema alone

    def _schema(self, source: Any) -> Schema:
        """The schema that a source describes. Files are read again when they have changed, DDL text only once."""
        if isinstance(source, Schema):
            return source
        if not isinstance(source, (str, Path)):
            return Schema.coerce(source, limits=self.limits)
        key = _stamp(source)
        if key is None and "://" in str(source):  # a server's schema may change behind the same URL
            return Schema.coerce(source, limits=self.limits)
        with self._lock:
            return _kept(self._read, key or source, lambda: Schema.coerce(source, limits=self.limits))

    def _ready(self, schema: Any, values: Any) -> tuple[SchemaState, ValueDictionary | None]:
        """The schema's cached state, and the dictionary of its values."""
        plain = self._schema(schema)
        _check_size(plain, self.limits)
        key = (plain.fingerprint, _origin(values))
        with self._lock:
            dressed = _kept(self._dressed, key, lambda: self._dress(plain, values))
            state = _kept(self._states, dressed.fingerprint, lambda: self.model.encode_schema(dressed))
            if isinstance(values, ValueDictionary):
                values.check(plain)
                return state, values
            if values is None:
                return state, None
            return state, _kept(self._dictionaries, key, lambda: _read_dictionary(values, dressed))

    def _dress(self, schema: Schema, values: Any) -> Schema:
        """The schema with the small domains of the database and what the model knows of its columns."""
        if isinstance(values, (str, Path)) and _stamp(values) is not None:
            try:
                most = self.limits.values_per_column
                schema = with_database_values(schema, values, max_values=most, limits=self.limits)
            except SchemaError as error:
                raise ExecutionError(error.what, where=error.where, remedy=error.remedy) from error
        return self._lexicon.apply(schema, self.limits)

    def _follow_fork(self) -> None:
        """Load anew in a forked process: ONNX Runtime's threads stayed in the other one, a lock may have been held."""
        if self._process != os.getpid():
            _left_behind.append(self.model)
            self.__setstate__(self.__getstate__())


# ---------------------------------------------------------------- what is checked before anything is done


def _check_grammar(bundle: Bundle) -> None:
    """Raise ModelError unless the model's actions are those of this version's grammar."""
    grammar = load_grammar()
    pairs = (
        ("productions", bundle.config.productions, grammar.productions),
        ("symbols", bundle.config.symbols, grammar.symbols),
    )
    for what, of_model, of_grammar in pairs:
        if tuple(of_model) != tuple(of_grammar):
            raise ModelError(
                f"its {what} are not those of this fastsql's grammar",
                where=str(bundle.path),
                remedy="Install the fastsql version that the bundle was made for, or train it anew.",
            )


def _check_actions(bundle: Bundle, limits: Limits) -> None:
    """Raise LimitError unless every query that the limit allows can be decoded, and there is one."""
    least, most = load_grammar().cost[0], bundle.config.model.max_steps
    if not least <= limits.actions <= most:
        raise LimitError(
            f"{limits.actions} actions are too {'few for a query' if limits.actions < least else 'many for the model'}",
            where="Limits.actions",
            remedy=f"Give a number from {least} to {most}.",
        )


def _check_size(schema: Schema, limits: Limits) -> None:
    """Raise LimitError for a `Schema` that was made under larger limits."""
    for limit, found, most in (
        ("tables", len(schema.tables), limits.tables),
        ("columns", len(schema.columns), limits.columns),
    ):
        if found > most:
            raise LimitError.exceeded(limit, found, most, where=f"schema {schema.name!r}")


def _check_beam(beam: int, limits: Limits) -> None:
    if isinstance(beam, bool) or not isinstance(beam, int):
        raise TypeError(f"beam is a whole number, not {type(beam).__name__}")
    if beam < 1:
        raise ValueError(f"beam must be at least 1, not {beam}")
    if beam > limits.beam:
        raise LimitError.exceeded("beam", beam, limits.beam)


def _check_moment(now: str | None) -> None:
    """`now` becomes part of the SQL, so nothing but a moment may stand there."""
    if now is None:
        return
    if not isinstance(now, str):
        raise TypeError(f"now is a text such as '2100-12-31 23:59:00', not {type(now).__name__}")
    try:
        well_formed = bool(_MOMENT.fullmatch(now)) and bool(datetime.fromisoformat(now))
    except ValueError:  # a thirteenth month
        well_formed = False
    if not well_formed:
        raise ValueError("now is no moment such as '2100-12-31 23:59:00'")


# ---------------------------------------------------------------- stages


def _write(
    hypothesis: Hypothesis,
    space: ActionSpace,
    dictionary: ValueDictionary | None,
    dialect: str,
    now: str | None,
) -> tuple[Program, str]:
    """The program of a hypothesis, and its SQL."""
    program = canonical_literals(read_program(hypothesis.actions, space), space.schema, dictionary)
    return program, render(program, space.schema, dialect=dialect, now=now)


def _fault(sql: str, schema: Schema, dialect: str, limits: Limits) -> str:
    """Why the independent verifier rejects the SQL; empty where it does not."""
    try:
        verify(sql, schema, dialect=dialect, limits=limits)
    except VerificationError as error:
        return f"The SQL that was written did not pass verification ({error.what})."
    return ""


def _judge(
    question: str,
    search: Search,
    familiarity: Familiarity,
    confidence: Confidence,
    number: int,
    links: tuple[Link, ...],
) -> float:
    """The confidence of a finished hypothesis, `links` being what it explains of the question."""
    strangeness = familiarity.strangeness(question, [link.span for link in links])
    return confidence(evidence(search, number, strangeness))


def _alternatives(
    search: Search,
    write: Callable[[Hypothesis], tuple[Program, str]],
    explain: Callable[[Program], tuple[Link, ...]],
    judge: Callable[[int, tuple[Link, ...]], float],
) -> tuple[Alternative, ...]:
    """Further hypotheses as SQL, each text once."""
    seen = {write(search.finished[0])[1]}
    found = []
    for number, hypothesis in enumerate(search.finished[1:], 1):
        program, sql = write(hypothesis)
        if sql not in seen:
            seen.add(sql)
            found.append(Alternative(sql, judge(number, explain(program))))
    return tuple(found)


# ---------------------------------------------------------------- pieces


class _Stopwatch:
    """Milliseconds a stage."""

    def __init__(self) -> None:
        self.laps: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, stage: str) -> None:
        now = time.perf_counter()
        self.laps[stage] = (now - self._last) * 1000
        self._last = now


def _origin(values: Any) -> Any:
    """A key that changes when what values are read from is another thing, or a file that was written since."""
    if values is None or isinstance(values, ValueDictionary):
        return None
    if isinstance(values, (str, Path)):
        return _stamp(values) or values
    if isinstance(values, sqlite3.Connection) or (hasattr(values, "dialect") and hasattr(values, "connect")):
        return values
    raise TypeError(
        f"values are a ValueDictionary, or a database's path, URL or engine, not {type(values).__name__}"
    )


def _stamp(path: str | Path) -> tuple[str, int, int] | None:
    """Path, time of the last change and size of a file; None if there is none."""
    try:
        found = Path(path).stat()
    except (OSError, ValueError):  # nothing there, or text that is no path at all
        return None
    return (
        (str(Path(path).resolve()), found.st_mtime_ns, found.st_size) if stat.S_ISREG(found.st_mode) else None
    )


def _read_dictionary(values: Any, schema: Schema) -> ValueDictionary:
    try:
        return ValueDictionary.from_database(values, schema)
    except OSError as error:
        raise ExecutionError(
            f"the database cannot be read ({error.strerror})",
            where="values",
            remedy="Give a path, a URL or an engine.",
        ) from error


def _kept(store: OrderedDict[Any, T], key: Any, make: Callable[[], T]) -> T:
    """The stored value, made if need be; the least recently used one makes room."""
    if key in store:
        store.move_to_end(key)
        return store[key]
    value = make()
    store[key] = value
    if len(store) > _KEPT:
        store.popitem(last=False)
    return value


__all__ = ["BUNDLED", "DEFAULT_MODEL", "DEFAULT_PENALTY", "Parser", "load"]
