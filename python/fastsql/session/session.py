"""A conversation: it keeps the turns, and asks each question with those before it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timezone
from html import escape
from typing import TYPE_CHECKING, Any, cast

from fastsql.forking import renew_in_child
from fastsql.parser.checks import check_executor
from fastsql.session.record import read_record, write_record
from fastsql.session.turn import Turn

if TYPE_CHECKING:
    from fastsql.answer import Answer
    from fastsql.execution import Executor
    from fastsql.parser import Parser
    from fastsql.schema import Schema

HISTORIES = ("qs", "qq")
"""What later questions are given of earlier ones: questions and queries, or questions alone."""


class Session:
    """A conversation over one schema; made by `Parser.session`.

        session = parser.session("hospital.sqlite", executor=fastsql.open_executor("hospital.sqlite"))
        session.ask("Patients with pneumonia this year")
        session.ask("Only the women").rows

    It may be shared between threads: questions are answered one after the other. It keeps the latest turns, as many as a
    question can be given (`Limits.turns`), a few kilobytes each; rows and explanations only of the last.
    """

    def __init__(
        self,
        parser: Parser,
        schema: Schema,
        values: Any = None,
        executor: Executor | None = None,
        history: str = "qs",
        **options: Any,
    ) -> None:
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
            if self.executor is None:
                turn = cast("Turn", self.parser.parse(question, self.schema, **settings))
            else:
                turn = _with_rows(self.parser.ask(question, self.schema, executor=self.executor, **settings))
            if self._mode == "qq":
                turn = turn.asked_alone
            before = (*self._turns[:-1], *(last.light for last in self._turns[-1:]))
            self._turns = (*before, turn)[-self.parser.limits.turns :]
            return turn

    def refresh(self, number: int | None = None) -> Turn:
        """A turn with the rows that its SQL returns now; the last unless its `number` is given.

        What it takes from earlier turns is part of its SQL, and is read anew with it. A session keeps the rows of the
        last turn alone.

        Raises KeyError where there is no such turn, ValueError without an executor, RefusedError where it has no SQL, and
        what executors raise; the session is then as before.
        """
        with self._lock:
            if self.executor is None:
                raise ValueError("the session has no executor to run queries with")
            place = self._place(number)
            turn = _with_rows(self.parser.answer(self._turns[place], executor=self.executor))
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

    def branch(self) -> Session:
        """Another session with the same turns so far; what is asked in one is unknown to the other."""
        with self._lock:
            other = Session(
                self.parser, self.schema, self._values, self.executor, self._mode, **self._options
            )
            other._turns = self._turns
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
        where it has more turns than a session keeps, ValueError where it is no export or was damaged; the session is then as
        before.
        """
        with self._lock:
            turns, mode = read_record(text, self.parser, self.schema, self._options.get("now"))
            self._turns, self._mode = turns, mode

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
    )
