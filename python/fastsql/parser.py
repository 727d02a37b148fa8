"""The parser: a question's way to SQL, in the order in which data flows.

    question -> link -> encode -> decode -> render -> verify -> decide -> Result

Each stage is a function of the one before; nothing looks back. What depends on the schema alone is computed once and
kept by the schema's fingerprint. A parser may be shared between threads.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from fastsql.backends import resolve_device
from fastsql.decode import Hypothesis, Search, beam_search
from fastsql.errors import DialectError, LimitError, ModelError, VerificationError
from fastsql.execution.verify import verify
from fastsql.explain import find_links, found_values, linked_share
from fastsql.grammar import ActionSpace, read_program, render
from fastsql.grammar.program import Program
from fastsql.limits import DEFAULT, Limits
from fastsql.linking.canonical import canonical_literals
from fastsql.linking.dictionary import ValueDictionary
from fastsql.linking.lexicon import Lexicon, with_database_values
from fastsql.linking.prepare import prepare
from fastsql.linking.question import clean_question, has_words
from fastsql.model import Bundle, Model, SchemaState, open_bundle
from fastsql.reliability.confidence import Confidence, evidence, threshold
from fastsql.result import Alternative, Result
from fastsql.schema import Schema

T = TypeVar("T")

BUNDLED = Path(__file__).with_name("models")
DEFAULT_MODEL = "ehr-en"
DEFAULT_PENALTY = 10.0
DEFAULT_BEAM = 4
DIALECTS = ("sqlite",)
_KEPT = 8
"""Schemas and dictionaries that a parser keeps ready; the one used longest ago goes first."""


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

    Raises ModelError: no such model or device, or the bundle is damaged.
    """
    resolve_device(device)
    path = Path(model)
    if not path.exists() and path.name == str(model):
        path = BUNDLED / path.name
        if not path.is_dir():
            known = ", ".join(sorted(p.name for p in BUNDLED.iterdir())) if BUNDLED.is_dir() else "none"
            raise ModelError(
                "there is no such model",
                where=f"model {str(model)!r}",
                remedy=f"Bundled: {known}. Or give a folder.",
            )
    return Parser(open_bundle(path), penalty=penalty, threads=threads, limits=limits)


class Parser:
    """A loaded model with its settings; made by `load`. Thread-safe, and can be pickled."""

    def __init__(
        self, bundle: Bundle, *, penalty: float = DEFAULT_PENALTY, threads: int = 0, limits: Limits = DEFAULT
    ) -> None:
        if not 0 <= penalty < float("inf"):
            raise ValueError(f"penalty must be a number of at least 0, not {penalty!r}")
        self.bundle = bundle
        self.penalty = float(penalty)
        self.limits = limits
        self.threads = threads
        self.model: Model = bundle.model(threads=threads)
        self._confidence = Confidence.from_settings(bundle.config.settings)
        self._lexicon = Lexicon.from_settings(bundle.config.settings)
        self._lock = threading.RLock()
        self._dictionaries: OrderedDict[Any, ValueDictionary] = OrderedDict()
        self._dressed: OrderedDict[Any, Schema] = OrderedDict()
        self._states: OrderedDict[str, SchemaState] = OrderedDict()

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

        Raises SchemaError, LimitError, DialectError, ExecutionError (a database that cannot be read). A question that
        cannot be answered is not an error: the result says that it was refused, and why.
        """
        if dialect not in DIALECTS:
            raise DialectError(
                "cannot be written",
                where=f"dialect {dialect!r}",
                remedy=f"Use one of: {', '.join(DIALECTS)}.",
            )
        if not 1 <= beam <= self.limits.beam:
            raise LimitError.exceeded("beam", beam, self.limits.beam)
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
        share = linked_share(program, text)
        confidence = self._confidence(evidence(search, 0, share))
        reason = fault or self._doubt(confidence)
        return Result(
            question=question,
            best=None if fault else sql,
            confidence=0.0 if fault else confidence,
            abstained=bool(reason),
            reason=reason,
            links=find_links(program, prepared, state.links),
            values=found_values(program, state.links.schema),
            timings=watch.laps,
            dialect=dialect,
            render_alternatives=partial(_alternatives, search, write, self._confidence, text),
        )

    def parse_batch(self, questions: Sequence[str], schema: Any, **options: Any) -> list[Result]:
        """`parse` for several questions over one schema."""
        ready = schema if isinstance(schema, Schema) else Schema.coerce(schema)
        return [self.parse(question, ready, **options) for question in questions]

    def pipe(self, items: Iterable[tuple[str, Any]], **options: Any) -> Iterator[Result]:
        """`parse` for a stream of (question, schema) pairs, one result as soon as it is ready."""
        for question, schema in items:
            yield self.parse(question, schema, **options)

    def _doubt(self, confidence: float) -> str:
        needed = threshold(self.penalty)
        if confidence >= needed:
            return ""
        return f"The confidence of {confidence:.2f} is below the {needed:.2f} that penalty {self.penalty:g} asks for."

    # ---------------------------------------------------------------- what depends on the schema alone

    def _ready(self, schema: Any, values: Any) -> tuple[SchemaState, ValueDictionary | None]:
        """The schema's cached state, and the dictionary of its values."""
        plain = schema if isinstance(schema, Schema) else Schema.coerce(schema, limits=self.limits)
        key = (plain.fingerprint, _identity(values))
        with self._lock:
            dressed = _kept(self._dressed, key, lambda: self._dress(plain, values))
            state = _kept(self._states, dressed.fingerprint, lambda: self.model.encode_schema(dressed))
            dictionary = None
            if isinstance(values, ValueDictionary):
                values.check(plain)
                dictionary = values
            elif values is not None:
                dictionary = _kept(
                    self._dictionaries, key, lambda: ValueDictionary.from_database(values, dressed)
                )
        return state, dictionary

    def _dress(self, schema: Schema, values: Any) -> Schema:
        """The schema with the small domains of the database and what the model knows of its columns."""
        if isinstance(values, (str, Path)) and Path(values).is_file():
            schema = with_database_values(schema, values, max_values=self.limits.values_per_column)
        return self._lexicon.apply(schema)


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


def _alternatives(
    search: Search,
    write: Callable[[Hypothesis], tuple[Program, str]],
    confidence: Confidence,
    text: str,
) -> tuple[Alternative, ...]:
    """Further hypotheses as SQL, each text once."""
    seen = {write(search.finished[0])[1]}
    found = []
    for number, hypothesis in enumerate(search.finished[1:], 1):
        program, sql = write(hypothesis)
        if sql not in seen:
            seen.add(sql)
            features = evidence(search, number, linked_share(program, text))
            found.append(Alternative(sql, confidence(features)))
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


def _identity(values: Any) -> Any:
    """A key that changes when what values are read from is another thing, or a file that was written since."""
    if values is None or isinstance(values, ValueDictionary):
        return None
    if isinstance(values, (str, Path)) and Path(values).is_file():
        stat = Path(values).stat()
        return str(Path(values).resolve()), stat.st_mtime_ns, stat.st_size
    return values if isinstance(values, (str, Path)) else id(values)


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
