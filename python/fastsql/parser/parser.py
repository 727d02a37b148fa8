"""The parser: a question's way to SQL, in the order in which data flows.

    question -> link -> decode -> (complete) -> (weigh) -> write -> assess -> decide -> Result

Each stage is a function of the one before, and none changes what an earlier one gave; where a later stage looks at a further
hypothesis of the beam, it has that written, too. Where the likeliest is in doubt, those that leave something out are marked
down; over schemas never seen, and in doubt, hypotheses are weighed by a second opinion. What depends on the schema alone is
computed once and kept by the schema's fingerprint. A parser may be shared between threads.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any, cast

from fastsql.engine import Decoded, Encoded, Engine, open_engine
from fastsql.engine.stopwatch import Stopwatch
from fastsql.errors import ExampleError
from fastsql.limits import DEFAULT, Limits
from fastsql.linking.lexicon import Lexicon
from fastsql.linking.question import clean_question, has_words
from fastsql.memory.memory import Memory
from fastsql.model import Bundle
from fastsql.parser.assess import Assessed, assess_consistent
from fastsql.parser.checks import (
    check_actions,
    check_dialect,
    check_executor,
    check_grammar,
    check_penalty,
    check_threads,
)
from fastsql.parser.decide import decide
from fastsql.parser.link import Linked, link, with_turns
from fastsql.parser.settings import Settings
from fastsql.parser.sources import Sources
from fastsql.parser.weigh import OUT_OF_QUESTION, SecondOpinion, second_lacking
from fastsql.parser.write import sensible_first, verified, write
from fastsql.refusal.texts import language_of, sentence
from fastsql.reliability.assess import Reliability
from fastsql.reliability.judges import Weights
from fastsql.result import Result
from fastsql.schema import names_digest

if TYPE_CHECKING:
    from fastsql.answer import Answer
    from fastsql.execution import Executor
    from fastsql.parser.audit import Audit, Hook
    from fastsql.parser.recall import Reader
    from fastsql.reliability.inspection import Inspector
    from fastsql.session.session import Session
    from fastsql.session.turn import Turn

DEFAULT_PENALTY = 10.0
DEFAULT_BEAM = 4
_left_behind: list[Engine] = []
"""Engines inherited by a forked process. They are kept, as ONNX Runtime would wait for its threads to destroy them."""


class Parser:
    """A loaded model with its settings; made by `load`. Thread-safe, and can be pickled (with an `audit` that can).

    What it remembers is that of the process: a pickle holds a copy of it, a forked process has one.

    A forked process loads the model again when it first parses. ONNX Runtime keeps such a process from ending by `exit`
    (`os._exit`, as multiprocessing uses it, works): where a server forks its workers, fork first and load then.
    """

    def __init__(
        self,
        bundle: Bundle,
        *,
        device: str = "auto",
        encoder: str = "auto",
        penalty: float = DEFAULT_PENALTY,
        threads: int = 0,
        limits: Limits = DEFAULT,
        suggest: bool = True,
        as_written: bool = False,
        audit: Audit | Hook | None = None,
        memory: Memory | None = None,
    ) -> None:
        self.penalty = check_penalty(penalty)
        check_threads(threads)
        check_grammar(bundle)
        check_actions(bundle, limits)
        self.bundle = bundle
        self.limits = limits
        self.suggest = suggest
        self.as_written = as_written
        self.threads = threads
        self._audit: Audit | None = None
        if audit is not None:
            from fastsql.parser.audit import Audit  # for those who keep records

            self._audit = Audit.of(audit)
        settings = bundle.config.settings
        self._reliability = Reliability.from_settings(settings, bundle.config.model.d)
        self._lexicon = Lexicon.from_settings(settings)
        self.engine = open_engine(bundle, device, threads, encoder)
        self._sources = Sources(self.engine, self._lexicon, limits)
        self._memory = Memory(limits.examples) if memory is None else memory
        self._reader: Reader | None = None
        elsewhere = self._reliability.elsewhere
        second = None if elsewhere is None else elsewhere.second
        self._second = None if second is None else SecondOpinion.bundled(self.engine, second.models)
        self._process = os.getpid()

    def __repr__(self) -> str:
        return f"Parser({self.bundle.config.name!r}, device={self.engine.device!r}, penalty={self.penalty:g})"

    @property
    def reliability(self) -> Reliability:
        """What the model knows about when to answer."""
        return self._reliability

    @property
    def lacking(self) -> str:
        """What its probabilities lack and what follows from that, in a sentence or two; "" where nothing is missing."""
        return self._reliability.lacking or second_lacking(self._reliability, self.engine.tokenizer)

    def __getstate__(self) -> dict[str, Any]:
        return {
            "bundle": self.bundle,
            "device": self.engine.device,
            "encoder": self.engine.encoder,
            "penalty": self.penalty,
            "threads": self.threads,
            "limits": self.limits,
            "suggest": self.suggest,
            "as_written": self.as_written,
            "audit": self._audit,
            "memory": self._memory,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]

    def for_model(self, name: object) -> Parser:
        """Itself: the parser that goes on with what a model has read, be it another model's, which is an error then."""
        del name
        return self

    # ---------------------------------------------------------------- what it remembers

    def remember(
        self, question: str, sql: str, schema: Any, *, values: Any = None, dialect: str = "sqlite"
    ) -> int:
        """Remember a question with SQL that somebody confirmed; it counts from the next question on, and trains nothing.

        A question that is the same but for literals gets this query with its own, where it is clear which these are; a query
        of this form that is found for a question like it gets more probable. The pair keeps whatever the question and the
        SQL say of patients, and so does a pickle of the parser; no result, record or error repeats it.

        Args:
            question: as it was asked.
            sql: one SELECT over the schema, as the grammar can say it; it is not run.
            schema: as in `parse`; the pair is of its tables and columns, whatever else it says.
            values: as in `parse`; with them, also literals that the question says in other words are exchanged.
            dialect: of the SQL.

        Returns the pair's number among those of the schema. The same question again takes the place of the earlier pair.

        Raises ExampleError for a pair that cannot be used, LimitError where there are too many (`Limits.examples`), and what
        `parse` raises for such a schema.
        """
        from fastsql.parser.recall import read_example  # for those who remember

        self._follow_fork()
        text = clean_question(question, self.limits)
        if not isinstance(sql, str):
            raise TypeError(f"the SQL of a pair is text, not {type(sql).__name__}")
        if not has_words(text):
            raise ExampleError("there is no question in it", where="a pair", remedy="Give the question.")
        state, dictionary = self._sources.ready(schema, values)
        linked = link(question, text, state, dictionary, self.engine, self.limits)
        example = read_example(question, sql, check_dialect(dialect), linked, self.limits, self._reads())
        return self._memory.add(names_digest(linked.space.schema), example)

    def examples(self, schema: Any) -> Mapping[int, tuple[str, str]]:
        """The remembered pairs of a schema by number: question and SQL, as they were given."""
        kept = self._memory.of(names_digest(self._sources.schema(schema)))
        return {number: (one.question, one.sql) for number, one in kept.items()}

    def forget(self, schema: Any, number: int | None = None) -> int:
        """Forget a remembered pair of a schema, or all; gives how many. Raises ExampleError where none has this number."""
        return self._memory.forget(names_digest(self._sources.schema(schema)), number)

    def _reads(self) -> Reader:
        """What reads questions as vectors; of two threads that make one at a time, either's will do."""
        reader = self._reader
        if reader is None:
            from fastsql.parser.recall import Reader  # for those who remember

            reader = self._reader = Reader(self.engine)
        return reader

    # ---------------------------------------------------------------- the way of a question

    def parse(
        self,
        question: str,
        schema: Any,
        *,
        values: Any = None,
        dialect: str = "sqlite",
        beam: int = DEFAULT_BEAM,
        penalty: float | None = None,
        now: str | None = None,
        grounded: bool = True,
        suggest: bool | None = None,
        inspector: Inspector | None = None,
        history: Sequence[Turn] | None = None,
        request_id: str | None = None,
        user_id: str | None = None,
    ) -> Result:
        """SQL for a question, or a refusal.

        Args:
            question: in the model's language.
            schema: a `Schema`, or anything that `Schema.coerce` reads.
            values: a `ValueDictionary`, or a database (path, URL or engine) that one is read from, once.
            dialect: of the SQL: "sqlite", "postgres", "duckdb", "mysql" or "tsql", or another usual name of one of these.
            beam: hypotheses to keep.
            penalty: how many right answers a wrong one outweighs here; the parser's own unless given.
            now: a literal for the present, such as "2100-12-31 23:59:00"; otherwise the time of execution.
            grounded: whether a column is compared for equality only with what it holds, where `values` has all of it; False
                where `values` are older than the database.
            suggest: whether a refusal says what is missing and what would help, in words of the question and of `values`;
                the parser's own unless given.
            inspector: runs the likeliest queries, read-only, and takes their answers into account.
            history: the turns of a conversation so far, over the same schema; then the result is a `Turn`, which may refer
                to them. `session` keeps them. Of many, the latest are taken (`Limits.turns`, `Limits.turn_entries`).
            request_id: a text for the audit's records, such as that of the request that this answers; nothing else sees it.
            user_id: the same, for who asked.

        Raises SchemaError, LimitError, DialectError (also for what a dialect has no words for), ExecutionError (a
        database that cannot be read); TypeError and ValueError for other arguments than these. A question that cannot be
        answered is not an error: the result says that it was refused, and why.
        """
        penalty = self.penalty if penalty is None else penalty
        suggest = self.suggest if suggest is None else suggest
        settings = Settings(dialect, beam, penalty, now, grounded, suggest, inspector, request_id, user_id)
        turns = None if history is None else tuple(history)
        if self._audit is None:
            return self._parse(question, schema, values, settings, turns)
        with self._audit.parse(question, self.bundle.config.name, settings) as entry:
            entry.result = self._parse(question, schema, values, settings, turns)
        return entry.result

    def _parse(
        self, question: str, schema: Any, values: Any, settings: Settings, history: tuple[Turn, ...] | None
    ) -> Result:
        meant, reading = None, ""
        if history:
            from fastsql.parser.confirm import confirmation  # for conversations
            from fastsql.parser.turns import correction

            meant = correction(question, history)
            if meant is None:
                meant, reading = confirmation(question, history)
        if meant is None:
            return self._understood(question, schema, values, settings, history)
        turn = cast("Turn", self._understood(meant, schema, values, settings, history, reading))
        return replace(turn, asked=question)

    def _understood(
        self,
        question: str,
        schema: Any,
        values: Any,
        settings: Settings,
        history: tuple[Turn, ...] | None,
        reading: str = "",
    ) -> Result:
        """`reading` is the description of the hypothesis that is given where there is one, however sure it is."""
        settings = settings.checked(self.limits)
        text = clean_question(question, self.limits)
        if not has_words(text):
            return _nothing_asked(question, settings, history)
        self._follow_fork()
        watch = Stopwatch()
        state, dictionary = self._sources.ready(schema, values)
        watch.lap("schema")
        turns, number = self._conversation(history, state)
        linked = link(
            question,
            text,
            state,
            dictionary,
            self.engine,
            self.limits,
            grounded=settings.grounded,
            as_written=self.as_written,
            turns=turns,
            number=number,
        )
        watch.lap("link")
        goes_on = bool(turns) and any(turn.usable for turn in turns or ())
        assessed = (self._turn if goes_on else self._assessed)(linked, settings, watch)
        if reading:
            from fastsql.parser.confirm import as_confirmed  # for conversations

            assessed = as_confirmed(assessed, reading, self.limits)
        result = decide(assessed, settings.penalty, watch)
        if result.abstained and settings.suggest:
            from fastsql.parser.refuse import explain_refusal  # for refusals alone

            result = explain_refusal(result, assessed, self.engine, settings.beam)
            watch.lap("suggest")
        if history is None:
            return result
        from fastsql.parser.turns import as_turn  # for conversations

        return as_turn(result, assessed, self.bundle.config.name)

    def _conversation(
        self, history: tuple[Turn, ...] | None, schema: Encoded
    ) -> tuple[tuple[Turn, ...] | None, int]:
        """The earlier turns that a question is given, and its own number among them; None and 1 outside a conversation."""
        if history is None:
            return None, 1
        from fastsql.parser.turns import known_turns, next_number  # for conversations

        return known_turns(history, schema.links.schema, self), next_number(history)

    def _turn(self, linked: Linked, settings: Settings, watch: Stopwatch) -> Assessed:
        """What is to be given of a question that has earlier turns, read by itself and with them as far as both are open."""
        from fastsql.parser.turns import likelier, may_continue, must_continue  # for conversations

        def continued() -> Assessed:
            with_them = with_turns(linked, self.engine)
            watch.lap("link")
            return self._assessed(with_them, settings, watch)

        going_on = continued() if must_continue(linked) else None
        if going_on is not None and going_on.written.uses:
            return going_on
        alone = self._assessed(linked, settings, watch)
        if not may_continue(alone):
            return alone
        return likelier(alone, continued() if going_on is None else going_on)

    def _assessed(self, linked: Linked, settings: Settings, watch: Stopwatch) -> Assessed:
        """What is to be given of a linked question, and how sure that is."""
        decoded = self.engine.decode(linked.prepared, linked.schema, linked.space, settings.beam)
        watch.add(decoded.milliseconds)
        if decoded.search.is_divided:
            from fastsql.parser.merge import merged  # for those among which some may be one

            decoded = merged(linked, decoded)
        doubted = self._reliability.doubts(decoded.search)
        weights = self._second_weights(linked, doubted=doubted)
        if doubted:
            from fastsql.parser.complete import complete  # for those in doubt

            within = 0.0 if weights is None else OUT_OF_QUESTION
            decoded = complete(linked, decoded, self.engine, settings.beam, self._reliability, within=within)
            watch.lap("complete")
        remembered = None
        kept = self._memory.of(names_digest(linked.space.schema)) if self._memory else None
        if kept and not linked.space.turns:
            from fastsql.parser.recall import recall  # for those who remember

            decoded, remembered = recall(linked, decoded, kept, self._reads())
            watch.lap("recall")
        if weights is not None:
            weighed = self._weighed(linked, decoded, weights, confirmed=remembered is not None)
            if weighed is not decoded:
                decoded = weighed
                watch.lap("weigh")
        if remembered is None:
            decoded = sensible_first(linked, decoded)
        written = write(linked, decoded, dialect=settings.dialect, now=settings.now)
        written = replace(written, remembered=remembered)
        watch.lap("render")
        written = verified(written, self.limits)
        watch.lap("verify")
        inspector = self._watched(settings)
        if inspector is None:
            assessed = assess_consistent(written, self._reliability, self.limits)
            watch.lap("assess")
        else:
            from fastsql.parser.inspect import inspect  # for those who let queries run

            assessed = inspect(written, self._reliability, inspector, self.limits)
            watch.lap("inspect")
        return assessed

    def _weighed(self, linked: Linked, decoded: Decoded, weights: Weights, *, confirmed: bool) -> Decoded:
        """The hypotheses as a second opinion leaves them; the same object where none was to be had.

        What is `confirmed` stays first. Over schemas trained on nobody is asked then: what is said would tell nothing.
        """
        if self._second is None or (confirmed and self._reliability.knows(linked.schema.links)):
            return decoded
        return self._second.weighed(linked, decoded, weights, reorder=not confirmed)

    def _second_weights(self, linked: Linked, *, doubted: bool) -> Weights | None:
        """What a second opinion weighs; None where nobody is asked: over schemas trained on, unless a single question is
        in doubt.
        """
        elsewhere = self._reliability.elsewhere
        second = None if elsewhere is None else elsewhere.second
        if second is None or self._second is None:
            return None
        if self._reliability.knows(linked.schema.links) and (linked.turns or not doubted):
            return None
        return second.weights.of_turns if linked.space.turns else second.weights

    def _watched(self, settings: Settings) -> Inspector | None:
        """The inspector, what it runs on record where there is an audit."""
        inspector = settings.inspector
        if inspector is None or self._audit is None:
            return inspector
        executor = self._audit.watch(
            cast("Executor", inspector.executor),  # of which an inspector needs no more than `run`
            dialect=settings.dialect,
            request_id=settings.request_id,
            user_id=settings.user_id,
            inspection=True,
        )
        return replace(inspector, executor=executor)

    def ask(
        self,
        question: str,
        schema: Any,
        *,
        executor: Executor,
        request_id: str | None = None,
        user_id: str | None = None,
        **options: Any,
    ) -> Answer:
        """`parse`, and the rows of the SQL where there is an answer.

        `executor` is one of `fastsql.open_executor`, on the database that the question is asked of. `options` are those of
        `parse`; `dialect` is the executor's unless given. A refusal comes back as one, without rows, and nothing is run.

        Raises what `parse` raises, and what the executor does: ExecutionError (QueryTimeoutError and ResultSizeError are
        such), VerificationError. TypeError for something that is not an executor.
        """
        from fastsql.answer import Answer  # for those who let queries run

        check_executor(executor)
        options = {"dialect": executor.dialect, "request_id": request_id, "user_id": user_id, **options}
        result = self.parse(question, schema, **options)
        if result.sql is None:
            return Answer(result)
        return self.answer(result, executor=executor, request_id=request_id, user_id=user_id)

    def answer(
        self,
        result: Result,
        *,
        executor: Executor,
        request_id: str | None = None,
        user_id: str | None = None,
    ) -> Answer:
        """The rows of a result's SQL, now; `executor`, `request_id` and `user_id` as in `ask`.

        Raises RefusedError for a refusal, and what the executor does; TypeError for something that is not an executor.
        """
        from fastsql.answer import Answer  # for those who let queries run

        check_executor(executor)
        if self._audit is not None:
            executor = self._audit.watch(executor, request_id=request_id, user_id=user_id)
        begun = time.perf_counter()
        rows = executor.run(result.sql)
        return Answer(result, rows, (time.perf_counter() - begun) * 1000)

    def session(
        self,
        schema: Any,
        values: Any = None,
        executor: Executor | None = None,
        history: str = "qs",
        reuse: str = "parameters",
        **options: Any,
    ) -> Session:
        """A conversation over a schema, whose questions may refer to earlier ones.

        Args:
            schema: as in `parse`; read once, so that all turns are about the same.
            values: as in `parse`.
            executor: one of `fastsql.open_executor`; then each turn comes with the rows of its SQL.
            history: what later questions are given of earlier ones: "qs", questions with their queries, or "qq", questions
                alone (EHR-SeqSQL, section 4.1).
            reuse: how a query takes part in which an earlier answer is: "parameters", which binds its values where they are
                few; "table", in a temporary table, where the database lets the executor make one; or "subquery", which reads
                everything anew. The first two give the answer as of the time at which the earlier one was shown; where they
                might give another, the subquery runs, and `Turn.reused` says why.
            options: of `parse`, for every question that does not say otherwise.

        Raises SchemaError, LimitError; TypeError and ValueError for other arguments than these.
        """
        from fastsql.session.session import Session  # for those who converse

        return Session(self, self._sources.schema(schema), values, executor, history, reuse, **options)

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

        def parse(pair: tuple[str, Any]) -> Result:
            return self.parse(*pair, **options)

        return map(parse, items) if self.engine.threads == 1 else self._spread(parse, items, batch_size)

    def _spread(
        self, parse: Callable[[tuple[str, Any]], Result], items: Iterable[tuple[str, Any]], batch_size: int
    ) -> Iterator[Result]:
        """Parses on as many threads as the engine has, `batch_size` pairs at a time."""
        left = iter(items)
        with ThreadPoolExecutor(self.engine.threads, "fastsql-parse") as pool:
            while batch := tuple(islice(left, batch_size)):
                yield from pool.map(parse, batch)

    def _follow_fork(self) -> None:
        """Load anew in a forked process: ONNX Runtime's threads stayed in the other one, a lock may have been held."""
        if self._process != os.getpid():
            _left_behind.append(self.engine)
            self.__setstate__(self.__getstate__())


def _nothing_asked(question: str, settings: Settings, history: tuple[Turn, ...] | None) -> Result:
    """The refusal of a question without words."""
    reason = sentence(language_of(question), "no question")
    nothing = Result(question, None, 0.0, abstained=True, reason=reason, dialect=settings.dialect)
    if history is None:
        return nothing
    from fastsql.parser.turns import next_number  # for conversations
    from fastsql.session.turn import Turn

    return Turn.of(nothing, number=next_number(history))
