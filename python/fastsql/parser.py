"""The parser: a question's way to SQL, in the order in which data flows.

    question -> link -> encode -> decode -> render -> verify -> decide -> Result

Each stage is a function of the one before; nothing looks back. What depends on the schema alone is computed once and
kept by the schema's fingerprint. A parser may be shared between threads.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastsql.audit import Audit, AuditRecord
from fastsql.decode import Hypothesis
from fastsql.engine import Encoded, Engine, open_engine
from fastsql.explain import doubt, find_links, found_values
from fastsql.grammar import ActionSpace, read_path, render
from fastsql.grammar.program import Program
from fastsql.limits import DEFAULT, Limits
from fastsql.linking.canonical import canonical_literals
from fastsql.linking.dictionary import ValueDictionary
from fastsql.linking.lexicon import Lexicon
from fastsql.linking.question import clean_question, has_words, leading_blanks
from fastsql.model import Bundle
from fastsql.pipeline.bundles import open_model
from fastsql.pipeline.checks import (
    check_actions,
    check_beam,
    check_dialect,
    check_grammar,
    check_moment,
    check_settings,
)
from fastsql.pipeline.choice import Candidates, Choice, fault_of
from fastsql.pipeline.sources import Sources
from fastsql.pipeline.stopwatch import Stopwatch
from fastsql.reliability.assess import Asked, Reliability
from fastsql.reliability.decision import pays, threshold
from fastsql.reliability.inspection import Inspector
from fastsql.result import Result

if TYPE_CHECKING:
    from fastsql.explanation.reasons import Trail

BUNDLED = Path(__file__).with_name("models")
DEFAULT_MODEL = "ehr-en"
DEFAULT_PENALTY = 10.0
DEFAULT_BEAM = 4
_left_behind: list[Engine] = []
"""Engines inherited by a forked process. They are kept, as ONNX Runtime would wait for its threads to destroy them."""


def load(
    model: str | Path = DEFAULT_MODEL,
    *,
    device: str = "auto",
    penalty: float = DEFAULT_PENALTY,
    threads: int = 0,
    limits: Limits = DEFAULT,
    audit: Audit | Callable[[AuditRecord], object] | None = None,
) -> Parser:
    """A parser from a bundled model's name or the folder of a bundle.

    Args:
        model: "ehr-en", or a path. A name is that of a model of this version, whose files must be those that were shipped;
            a folder of the same name is "./ehr-en".
        device: "cpu" for the native core, "python" for the reference in NumPy, "auto" for the fastest that is there; see
            `fastsql doctor`.
        penalty: how many right answers a wrong one outweighs; the higher, the more is refused.
        threads: that share the work of one question; 0 leaves the choice to fastsql, or to ONNX Runtime under "python".
        limits: bounds of what is accepted.
        audit: called with a record of every parse; see `fastsql.audit`.

    Raises ModelError: no such model or device, or the bundle is damaged, exchanged or made for another grammar.
    LimitError: a query could have more decisions than the model was made for.
    """
    bundle = open_model(model, BUNDLED)
    return Parser(bundle, device=device, penalty=penalty, threads=threads, limits=limits, audit=audit)


class Parser:
    """A loaded model with its settings; made by `load`. Thread-safe, and can be pickled (with an `audit` that can).

    A forked process loads the model again when it first parses. ONNX Runtime keeps such a process from ending by `exit`
    (`os._exit`, as multiprocessing uses it, works): where a server forks its workers, fork first and load then.
    """

    def __init__(
        self,
        bundle: Bundle,
        *,
        device: str = "auto",
        penalty: float = DEFAULT_PENALTY,
        threads: int = 0,
        limits: Limits = DEFAULT,
        audit: Audit | Callable[[AuditRecord], object] | None = None,
    ) -> None:
        check_settings(penalty, threads)
        check_grammar(bundle)
        check_actions(bundle, limits)
        self.bundle = bundle
        self.penalty = float(penalty)
        self.limits = limits
        self.threads = threads
        self._audit = None if audit is None else Audit.of(audit)
        settings = bundle.config.settings
        self._reliability = Reliability.from_settings(settings, bundle.config.model.d)
        self._lexicon = Lexicon.from_settings(settings)
        self.engine = open_engine(bundle, device, threads)
        self._sources = Sources(self.engine, self._lexicon, limits)
        self._process = os.getpid()

    def __repr__(self) -> str:
        return f"Parser({self.bundle.config.name!r}, device={self.engine.device!r}, penalty={self.penalty:g})"

    def __getstate__(self) -> dict[str, Any]:
        return {
            "bundle": self.bundle,
            "device": self.engine.device,
            "penalty": self.penalty,
            "threads": self.threads,
            "limits": self.limits,
            "audit": self._audit,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]

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
        inspector: Inspector | None = None,
    ) -> Result:
        """SQL for a question, or a refusal.

        Args:
            question: in the model's language.
            schema: a `Schema`, or anything that `Schema.coerce` reads.
            values: a `ValueDictionary`, or a database (path, URL or engine) that one is read from, once.
            dialect: of the SQL: "sqlite", "postgres", "duckdb", "mysql" or "tsql".
            beam: hypotheses to keep.
            now: a literal for the present, such as "2100-12-31 23:59:00"; otherwise the time of execution.
            inspector: runs candidates, read-only, and takes their answers into account.

        Raises SchemaError, LimitError, DialectError (also for what a dialect has no words for), ExecutionError (a
        database that cannot be read); TypeError and ValueError for arguments that are none. A question that cannot be
        answered is not an error: the result says that it was refused, and why.
        """
        run = partial(self._parse, question, schema, values, dialect, beam, now, inspector)
        if self._audit is None:
            return run()
        return self._audit.record(
            run,
            question,
            model=self.bundle.config.name,
            penalty=self.penalty,
            dialect=dialect,
            inspected=inspector is not None,
        )

    def _parse(
        self,
        question: str,
        schema: Any,
        values: Any,
        dialect: str,
        beam: int,
        now: str | None,
        inspector: Inspector | None,
    ) -> Result:
        check_dialect(dialect)
        check_beam(beam, self.limits)
        check_moment(now)
        text = clean_question(question, self.limits)
        if not has_words(text):
            reason = "There is no question in this text."
            return Result(question, None, 0.0, abstained=True, reason=reason, dialect=dialect)
        self._follow_fork()
        watch = Stopwatch()
        state, dictionary = self._ready(schema, values)
        watch.lap("schema")
        prepared = self.engine.link(text, state, dictionary)
        watch.lap("link")
        space = ActionSpace.for_question(
            state.links.schema, prepared.text, prepared.offsets, prepared.candidates, limits=self.limits
        )
        decoded = self.engine.decode(prepared, state, space, beam)
        watch.add(decoded.milliseconds)
        search = decoded.search
        shift = leading_blanks(question)
        candidates = Candidates(
            search,
            Asked(question, prepared, state.links, decoded.state),
            self._reliability,
            write=partial(_write, space=space, dictionary=dictionary, dialect=dialect, now=now),
            explain=partial(find_links, prepared=prepared, links=state.links, shift=shift),
        )
        program, sql = candidates.first
        watch.lap("render")
        fault = fault_of(sql, state.links.schema, dialect, self.limits)
        watch.lap("verify")
        if inspector is None:
            links = candidates.explain(program)
            choice = Choice(0, candidates.assess(0, program, links))
        else:
            choice = candidates.inspect(inspector, state.links.schema, dialect, self.limits)
            program, sql = candidates.written(choice.number)
            # Whichever takes over has been verified; where none could be run, it is still the first.
            fault = fault if choice.number == 0 else ""
            watch.lap("inspect")
            links = candidates.explain(program)
        sure = choice.assessment
        reason = fault or choice.refusal or self._doubt(sure.confidence, sure.unanswerable)
        literals = found_values(program, state.links.schema, shift)
        watch.lap("explain")
        taken = search.finished[choice.number]
        return Result(
            question=question,
            best=None if fault else sql,
            confidence=0.0 if fault else sure.confidence,
            abstained=bool(reason),
            reason=reason,
            links=links,
            values=literals,
            timings=watch.laps,
            dialect=dialect,
            threshold=threshold(self.penalty, sure.unanswerable),
            unanswerable=sure.unanswerable,
            render_alternatives=partial(candidates.alternatives, choice.number),
            retrace=partial(_retrace, taken, program, space, prepared, state.links, shift),
        )

    def parse_batch(self, questions: Iterable[str], schema: Any, **options: Any) -> list[Result]:
        """`parse` for several questions over one schema; the results are those of one at a time."""
        if isinstance(questions, str):
            raise TypeError("questions are several texts, not one")
        ready = self._sources.schema(schema)
        return list(self.pipe(((question, ready) for question in questions), **options))

    def pipe(
        self, items: Iterable[tuple[str, Any]], *, batch_size: int = 32, **options: Any
    ) -> Iterator[Result]:
        """`parse` for a stream of (question, schema) pairs, in their order.

        `batch_size` is how many pairs may be taken before the first result is given. The native core works on as many at a
        time as it has threads, the reference on one. An error comes in its place.
        """
        if batch_size < 1:
            raise ValueError(f"batch_size must be a number of at least 1, not {batch_size!r}")
        parse = partial(self._parse_pair, options=options)
        return map(parse, items) if self.engine.threads == 1 else self._spread(parse, items, batch_size)

    def _parse_pair(self, pair: tuple[str, Any], options: dict[str, Any]) -> Result:
        return self.parse(*pair, **options)

    def _spread(
        self, parse: Callable[[tuple[str, Any]], Result], items: Iterable[tuple[str, Any]], batch_size: int
    ) -> Iterator[Result]:
        """Parses on as many threads as the engine has, `batch_size` pairs at a time."""
        left = iter(items)
        with ThreadPoolExecutor(self.engine.threads, "fastsql-parse") as pool:
            while batch := tuple(islice(left, batch_size)):
                yield from pool.map(parse, batch)

    def _doubt(self, confidence: float, unanswerable: float) -> str:
        if pays(confidence, unanswerable, self.penalty):
            return ""
        return doubt(confidence, threshold(self.penalty, unanswerable), self.penalty, unanswerable)

    def _ready(self, schema: Any, values: Any) -> tuple[Encoded, ValueDictionary | None]:
        """The schema's cached state, and the dictionary of its values."""
        return self._sources.ready(schema, values)

    def _follow_fork(self) -> None:
        """Load anew in a forked process: ONNX Runtime's threads stayed in the other one, a lock may have been held."""
        if self._process != os.getpid():
            _left_behind.append(self.engine)
            self.__setstate__(self.__getstate__())


def _write(
    hypothesis: Hypothesis,
    space: ActionSpace,
    dictionary: ValueDictionary | None,
    dialect: str,
    now: str | None,
) -> tuple[Program, str]:
    """The program of a hypothesis, and its SQL."""
    program = canonical_literals(read_path(hypothesis.path, space), space.schema, dictionary)
    return program, render(program, space.schema, dialect=dialect, now=now)


def _retrace(*parse: Any) -> Trail:
    """See `retrace`, which is imported by who wants an explanation."""
    from fastsql.explanation.retrace import retrace

    return retrace(*parse)


__all__ = ["BUNDLED", "DEFAULT_MODEL", "DEFAULT_PENALTY", "Parser", "load"]
