"""A conversation: it keeps the turns, and asks each question with those before it."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timezone
from html import escape
from typing import TYPE_CHECKING, Any, cast

from fastsql.execution.reuse import PARAMETERS, SUBQUERY, WAYS, Reusing
from fastsql.forking import renew_in_child
from fastsql.parser.checks import check_executor
from fastsql.session.kept import KeptAnswers, ReusingRun
from fastsql.session.record import read_record, write_record
from fastsql.session.turn import Turn

if TYPE_CHECKING:
    from fastsql.answer import Answer
    from fastsql.execution import Executor
    from fastsql.parser import Parser, ParserByLanguage
    from fastsql.schema import Schema

HISTORIES = ("qs", "qq")
"""What later questions are given of earlier ones: questions and queries, or questions alone."""


class Session:
    """A conversation over one schema; made by `Parser.session`.

        session = parser.session("hospital.sqlite", executor=fastsql.open_executor("hospital.sqlite"))
        session.ask("Patients with pneumonia this year")
        session.ask("Only the women").rows

    It may be shared between threads: questions are answered one after the other. It keeps the latest turns, as many as a
    question can be given (`Limits.turns`), a few kilobytes each; rows and explanations only of the last. Beside them it
    keeps the rows that later queries may use again (`reuse`), within `Limits.kept_bytes`.
    """

    def __init__(
        self,
        parser: Parser | ParserByLanguage,
        schema: Schema,
        values: Any = None,
        executor: Executor | None = None,
        history: str = "qs",
        reuse: str = PARAMETERS,
        **options: Any,
    ) -> None:
        if reuse not in WAYS:
            raise ValueError(f"reuse is one of {', '.join(map(repr, WAYS))}, not {reuse!r}")
        if history not in HISTORIES:
            raise ValueError(f"history is one of {', '.join(map(repr, HISTORIES))}, not {history!r}")
        if executor is not None:
            check_executor(executor)
        if "history" in options:
            raise TypeError("a session keeps its own history")
        self.parser = parser
        self.schema = schema
        self.executor = executor
        self._values = values
        self._mode = history
        self._options = options
        self._turns: tuple[Turn, ...] = ()
        self._kept = KeptAnswers(reuse, parser.limits.reused_values, parser.limits.kept_bytes)
        self._answered_by = executor
        self.renew_after_fork()
        renew_in_child(self)

    def renew_after_fork(self) -> None:
        """Let nobody wait for a thread of the other process."""
        self._lock = threading.RLock()

    # ---------------------------------------------------------------- questions

    def ask(self, question: str, **options: Any) -> Turn:
        """The next turn: SQL for a question that may refer to earlier ones, or a refusal.

        `options` are those of `Parser.parse`, for this question alone. A question that is refused is a turn, which nothing
        refers to. One that ends in an error, such as of a database that is gone, is none: the session is as before it.

        Raises what `Parser.parse` raises, and with an executor what `Parser.ask` does.
        """
        with self._lock:
            settings = {"values": self._values, **self._options, **options, "history": self._turns}
            if self.executor is not None:
                check_executor(self.executor)
                settings = {"dialect": self.executor.dialect, **settings}
            turn = cast("Turn", self.parser.parse(question, self.schema, **settings))
            if self.executor is not None and turn.sql is not None:
                turn = self._run(turn, self.executor, settings)
            if self._mode == "qq":
                turn = turn.asked_alone
            before = (*self._turns[:-1], *(last.light for last in self._turns[-1:]))
            self._turns = (*before, turn)[-self.parser.limits.turns :]
            self._let_go()
            return turn

    def _run(
        self, turn: Turn, executor: Executor, settings: Mapping[str, Any], *, anew: bool = False
    ) -> Turn:
        """A turn with its rows, which are kept for later turns; `anew`: nothing of earlier ones takes part in them."""
        ids = {name: settings.get(name) for name in ("request_id", "user_id")}
        if self._kept.way == SUBQUERY or not isinstance(executor, Reusing) or turn.sql is None:
            return _with_rows(self.parser.answer(turn, executor=executor, **ids))
        if executor is not self._answered_by:  # another database, perhaps
            self._kept.retain(())
            self._answered_by = executor
        numbers = frozenset() if anew else frozenset(turn.standing) - {turn.number}
        run = ReusingRun(executor, self._kept, numbers, self.schema)
        answer = self.parser.answer(turn, executor=cast("Executor", run), **ids)
        answered = replace(_with_rows(answer), reused=run.reused)
        if answered.rows is not None and run.shape is not None:
            self._kept.keep(turn.number, turn.sql, answered.rows, run.shape, answered.at)
        return answered

    def _let_go(self) -> None:
        """Keep nothing of turns that no later question can refer to."""
        self._kept.retain({turn.number for turn in self._turns if turn.usable})

    def refresh(self, number: int | None = None) -> Turn:
        """A turn with the rows that its SQL returns now; the last unless its `number` is given.

        What it takes from earlier turns is part of its SQL, and is read anew with it. Later queries that refer to the turn
        use these rows. A session shows the rows of the last turn alone.

        Raises KeyError where there is no such turn, ValueError without an executor, RefusedError where it has no SQL, and
        what executors raise; the session is then as before.
        """
        with self._lock:
            if self.executor is None:
                raise ValueError("the session has no executor to run queries with")
            place = self._place(number)
            turn = self._run(self._turns[place], self.executor, {}, anew=True)
            if place == len(self._turns) - 1:
                self._turns = (*self._turns[:-1], turn)
            return turn

    def turn(self, number: int | None = None) -> Turn:
        """A turn that is kept, by its number; the last unless it is given. Raises KeyError where there is none."""
        return self._turns[self._place(number)]

    def _place(self, number: int | None) -> int:
        numbers = [turn.number for turn in self._turns]
        if number is None and numbers:
            return len(numbers) - 1
        if number not in numbers:
            raise KeyError("there is no turn yet" if number is None else f"there is no turn {number}")
        return numbers.index(number)

    @property
    def history(self) -> tuple[Turn, ...]:
        """The turns that are kept, in order."""
        return self._turns

    def __iter__(self) -> Iterator[Turn]:
        return iter(self._turns)

    def __len__(self) -> int:
        return len(self._turns)

    def __bool__(self) -> bool:
        return True  # a conversation, even before its first question

    # ---------------------------------------------------------------- what was said

    def undo(self) -> Turn:
        """Take the last turn back, and return it. Raises IndexError where there is none."""
        with self._lock:
            if not self._turns:
                raise IndexError("there is no turn to take back")
            *kept, last = self._turns
            self._turns = tuple(kept)
            self._let_go()
            return last

    def forget(self, number: int) -> None:
        """Let no later question refer to a turn, nor to those that stand on it.

        Raises KeyError where there is no such turn.
        """
        with self._lock:
            self._place(number)
            self._turns = tuple(
                replace(turn, forgotten=True) if number in (turn.number, *turn.standing) else turn
                for turn in self._turns
            )
            self._let_go()

    def close(self) -> None:
        """Let go of all rows; later queries ask anew for what they refer to. The executor stays open."""
        with self._lock:
            self._turns = tuple(replace(turn, rows=None, at=None) for turn in self._turns)
            self._kept.retain(())

    def branch(self) -> Session:
        """Another session with the same turns so far; what is asked in one is unknown to the other."""
        with self._lock:
            other = Session(
                self.parser,
                self.schema,
                self._values,
                self.executor,
                self._mode,
                self._kept.way,
                **self._options,
            )
            other._turns, other._kept = self._turns, self._kept.copy()
            other._answered_by = self._answered_by
            return other

    def export(self) -> str:
        """The conversation as JSON, for `load`: questions, queries and probabilities, no rows.

        As confidential as the questions: literals of the queries are in it.
        """
        with self._lock:
            return write_record(self._turns, self.schema, self._mode)

    def load(self, text: str) -> None:
        """Take up an exported conversation in place of this one.

        Its queries are read as programs of the grammar, checked, and written as SQL anew.

        Raises SchemaError where it is about other tables or columns, ModelError where another model has read it, LimitError
        where it has more turns than a session keeps, ConversationError where it is no export or was damaged; the session is
        then as before.
        """
        with self._lock:
            turns, mode = read_record(text, self.parser, self.schema, self._options.get("now"))
            self._turns, self._mode = turns, mode
            self._kept.retain(())

    # ---------------------------------------------------------------- how it shows

    def __repr__(self) -> str:
        answered = sum(turn.sql is not None for turn in self._turns)
        return f"Session({self.schema.name!r}, {len(self._turns)} turns, {answered} answered)"

    def _repr_html_(self) -> str:
        """For notebooks: each question with its SQL or its reason, and the rows of the last."""
        items = []
        for turn in self._turns:
            uses = f" <small>of {', '.join(map(str, turn.uses))}</small>" if turn.uses else ""
            said = f"<code>{escape(turn.sql)}</code>" if turn.sql is not None else escape(turn.reason or "")
            shown = "" if turn.rows is None else turn.rows._repr_html_()
            items.append(f"<li value='{turn.number}'>{escape(turn.question)}{uses}<br>{said}{shown}</li>")
        return f"<ol>{''.join(items)}</ol>"


def _with_rows(answer: Answer) -> Turn:
    """A turn with what its SQL returned just now."""
    return replace(
        cast("Turn", answer.result),
        rows=answer.rows,
        milliseconds=answer.milliseconds,
        at=None if answer.rows is None else datetime.now(timezone.utc),
        reused=(),
    )
