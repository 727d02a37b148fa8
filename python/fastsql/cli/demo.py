"""``fastsql demo``: questions to a synthetic hospital, answered before your eyes."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

from fastsql.cli.console import Console
from fastsql.cli.options import add_model_options, load_parser
from fastsql.errors import ExecutionError, FastSQLError
from fastsql.view.cells import cells, clean, pad
from fastsql.view.text import guess_lines, suggestion_lines

if TYPE_CHECKING:
    from fastsql import Parser
    from fastsql.execution import ReadOnlyExecutor
    from fastsql.linking.dictionary import ValueDictionary
    from fastsql.result import Result
    from fastsql.schema import Schema
    from fastsql.session.turn import Turn

_ROWS_SHOWN = 5
_SMALL_DOMAIN = 12
"""Distinct values up to which a column counts as a small domain here: the hospital is smaller than real ones."""

_EPILOG = """\
examples:
  fastsql demo
  fastsql demo --ask "What are the five most common diagnoses?"
  fastsql demo --keep hospital.sqlite      keeps the hospital, for fastsql parse or a database browser
"""


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the command."""
    parser = commands.add_parser(
        "demo",
        help="watch questions to a synthetic hospital being answered",
        description="Make up a hospital, ask it questions, show what was understood, the SQL and the rows; then take yours.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--ask", metavar="Q", action="append", help="ask this instead; may be given several times"
    )
    parser.add_argument(
        "--explain",
        action="store_true",
        help="show the whole explanation of each answer, as fastsql parse does",
    )
    parser.add_argument(
        "--keep", metavar="FILE", type=Path, help="keep the hospital's SQLite file, or use it if it exists"
    )
    add_model_options(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Make the hospital, ask the questions, then those that are typed."""
    from fastsql.demo import CONVERSATION, NOW, QUESTIONS, REFERENCE, create_hospital
    from fastsql.execution import ReadOnlyExecutor
    from fastsql.linking.dictionary import ValueDictionary
    from fastsql.schema import Schema

    console = Console()
    with tempfile.TemporaryDirectory(prefix="fastsql-") as folder:
        database = options.keep or Path(folder) / "hospital.sqlite"
        if not database.exists():
            create_hospital(database)
        schema = Schema.from_sqlite(database, max_values=_SMALL_DOMAIN).with_reference_tables(*REFERENCE)
        values = ValueDictionary.from_database(database, schema)
        with ReadOnlyExecutor(database) as executor:
            console.line("A synthetic hospital: every patient, drug and reading is made up.", "bold")
            console.line(f"{_size(executor)}; the time there is {NOW}.")
            parser = load_parser(options)
            visit = _Visit(parser, schema, values, executor, console, NOW, explain=options.explain)
            visit.ask_all(options.ask or QUESTIONS)
            if options.ask is None:
                console.line()
                console.line("A conversation: questions that go on from those before.", "bold")
                visit.keep_turns()
                visit.ask_all(CONVERSATION)
            if options.ask is None and sys.stdin.isatty():
                visit.converse()
    return 0


class _Visit:
    """A parser at the hospital: asks, runs, shows."""

    def __init__(
        self,
        parser: Parser,
        schema: Schema,
        values: ValueDictionary,
        executor: ReadOnlyExecutor,
        console: Console,
        now: str,
        *,
        explain: bool,
    ) -> None:
        self._parser = parser
        self._schema = schema
        self._values = values
        self._executor = executor
        self._console = console
        self._now = now
        self._explain = explain
        self._asked = 0
        self._turns: list[Turn] | None = None

    def keep_turns(self) -> None:
        """From here on, a question may refer to those before it."""
        self._turns = []

    def ask_all(self, questions: Sequence[str]) -> None:
        """Answer questions one after the other, numbered."""
        for question in questions:
            self._asked += 1
            self._console.line()
            self._console.line(f"{self._asked}. {question}", "bold cyan")
            self.ask(question)

    def ask(self, question: str) -> None:
        """Answer one question, and show how."""
        try:
            result = self._parse(question)
        except FastSQLError as error:
            self._console.line(f"   {error}", "red")
            return
        if self._explain:
            self._console.lines(result.explain().lines(self._console.width - 3), indent="   ")
            if result.sql is not None:
                self._show_rows(result.sql)
            return
        self._show_words(result)
        if result.sql is None:
            self._console.line(f"   refused: {clean(result.reason or '')}", "yellow")
            self._console.lines(suggestion_lines(result, self._console.width - 3), indent="   ")
            if result.best:
                self._console.lines(guess_lines(result.best, self._console.width - 3), indent="   ")
        else:
            self._console.sql(result.sql, indent="   ")
            self._show_rows(result.sql)
        stages = ", ".join(f"{stage} {value:.1f}" for stage, value in result.timings.items())
        self._console.line(
            f"   confidence {result.confidence:.2f}" + (f"; ms: {stages}" if stages else ""), "dim"
        )

    def _parse(self, question: str) -> Result:
        if self._turns is None:
            return self._parser.parse(question, self._schema, values=self._values, now=self._now)
        turn = self._parser.parse(
            question, self._schema, values=self._values, now=self._now, history=tuple(self._turns)
        )
        self._turns.append(cast("Turn", turn))
        return turn

    def converse(self) -> None:
        """Answer what is typed, until an empty line or the end of input."""
        self._console.line()
        self._console.line("Your turn: ask about the hospital. An empty line ends.", "bold")
        while True:
            try:
                question = input("? ").strip()
            except EOFError:
                self._console.line()
                return
            if not question:
                return
            self.ask(question)

    def _show_words(self, result: Result) -> None:
        """What words of the question stand for."""
        found = result.explain().in_question
        width = max((cells(reason.text) for reason in found), default=0)
        for reason in found:
            words = pad(clean(reason.text), width)
            self._console.line(f"   {words}  ->  {reason.kind} {clean(reason.target)}", "dim")

    def _show_rows(self, sql: str) -> None:
        start = time.perf_counter()
        try:
            found = self._executor.run(sql)
        except ExecutionError as error:
            self._console.line(f"   {error}", "red")
            return
        elapsed = (time.perf_counter() - start) * 1000
        self._console.table(found.columns, found.rows[:_ROWS_SHOWN], indent="   ")
        more = len(found.rows) - _ROWS_SHOWN
        note = f", {more} more not shown" if more > 0 else ""
        self._console.line(
            f"   {len(found.rows)} row{'s' if len(found.rows) != 1 else ''} in {elapsed:.1f} ms{note}", "dim"
        )


def _size(executor: ReadOnlyExecutor) -> str:
    tables = ("patients", "admissions", "labevents", "prescriptions")
    counts = (executor.run(f"SELECT COUNT(*) FROM {table}").rows[0][0] for table in tables)  # noqa: S608 - names of our own
    return ", ".join(f"{count!s} {table}" for table, count in zip(tables, counts, strict=True))
