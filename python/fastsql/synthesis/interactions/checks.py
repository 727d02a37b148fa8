"""What turns must pass: questions let their programs be written, their SQL runs, the last answers the single question."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from fastsql.errors import ExecutionError
from fastsql.evaluation.answers import answer_rows
from fastsql.evaluation.gold_sql import normalise_sql
from fastsql.execution.executor import Executor, check_alive
from fastsql.grammar import ActionSpace, Program, Turn, read_turn, render, sql_to_program, trace_program
from fastsql.grammar.program import Literal
from fastsql.linking import Candidate, find_candidates
from fastsql.schema import Schema

_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W_]+|[^\w\s]|_")
"""A word, a character of a script without spaces, or a mark: where a literal that a question spells out may begin."""


class TurnError(ValueError):
    """A turn that cannot be used. The message says why, without any word of it."""


class Checker:
    """Checks turns over one schema, and over its database where there is one.

    Where that went away, what runs a query raises DatabaseGoneError.
    """

    def __init__(self, schema: Schema, executor: Executor | None = None, now: str | None = None) -> None:
        """`now`: what "now" means, "YYYY-MM-DD HH:MM:SS"; None: the moment of execution."""
        self.schema = schema
        self._executor = executor
        self._now = now

    def read(self, question: str, program: Program, earlier: Sequence[Turn]) -> Turn:
        """The turn that a question and its program are to those behind it.

        Raises GroundingError where the program cannot be written for the question and the turns before it.
        """
        words = np.asarray([match.span() for match in _WORD.finditer(question)], dtype=np.int32).reshape(
            -1, 2
        )
        candidates = find_candidates(question, self.schema)
        space = ActionSpace.for_question(self.schema, question, words, candidates, turns=earlier)
        trace_program(program, space)
        return read_turn(program, space)

    def fits(self, program: Program, earlier: Sequence[Turn]) -> Turn:
        """The turn that a program is, whatever its question says of its literals.

        Raises GroundingError where it cannot be written after the turns before it.
        """
        literals = {
            (one.value, one.format): one for one in program if isinstance(one, Literal) and not one.name
        }
        space = ActionSpace.for_question(
            self.schema,
            "?",
            np.asarray([[0, 1]], dtype=np.int32),
            tuple(map(_candidate, literals.values())),
            turns=earlier,
        )
        trace_program(program, space)
        return read_turn(program, space)

    def check_runs(self, turns: Sequence[Turn]) -> None:
        """Raises TurnError, with the number of the first turn whose query fails."""
        failing = next((number for number, turn in enumerate(turns) if not self._starts(turn.program)), None)
        if failing is not None:
            raise TurnError(f"turn {failing} does not run")

    def _starts(self, program: Program) -> bool:
        """Whether a query gives a first row, or none; true without a database."""
        if self._executor is None:
            return True
        try:
            with self._executor.cursor(self._sql(program)) as cursor:
                cursor.fetchmany(1)
        except ExecutionError:
            check_alive(self._executor)
            return False
        return True

    def answers(self, program: Program, gold: str) -> bool:
        """Whether a query that refers to no turn gives the rows of a gold query; True without a database.

        Raises TurnError where the gold query fails.
        """
        if self._executor is None:
            return True
        try:
            rows = self._executor.run(self._sql(program)).rows
        except ExecutionError as error:
            check_alive(self._executor)
            raise TurnError("the last turn does not run") from error
        try:
            expected = self._executor.run(self._gold(gold, self._executor.dialect)).rows
        except ExecutionError as error:
            check_alive(self._executor)
            raise TurnError("the single question's query does not run") from error
        return answer_rows(rows) == answer_rows(expected)

    def _gold(self, sql: str, dialect: str) -> str:
        """A gold query, which is SQLite's, in the words of the database."""
        return (
            normalise_sql(sql, self._now)
            if dialect == "sqlite"
            else self._sql(sql_to_program(sql, self.schema))
        )

    def _sql(self, program: Program) -> str:
        dialect = "sqlite" if self._executor is None else self._executor.dialect
        return render(program, self.schema, dialect=dialect, now=self._now)


def _candidate(literal: Literal) -> Candidate:
    """A literal as if a question quoted it."""
    kind = "date" if literal.format else "text" if isinstance(literal.value, str) else "number"
    return Candidate(literal.value, kind, (0, 1), "quoted" if kind == "text" else kind, (), literal.format)
