"""``fastsql demo``: questions to a synthetic hospital, answered before your eyes."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

from fastsql.cli.console import Console
from fastsql.cli.options import BY_LANGUAGE, add_model_options, load_parser
from fastsql.errors import ExecutionError, FastSQLError
from fastsql.refusal.texts import CHINESE, ENGLISH
from fastsql.view.cells import cells, clean, pad
from fastsql.view.text import guess_lines, suggestion_lines

if TYPE_CHECKING:
    from fastsql.execution import ReadOnlyExecutor
    from fastsql.linking.dictionary import ValueDictionary
    from fastsql.parser import Parser, ParserByLanguage
    from fastsql.result import Result
    from fastsql.schema import Schema
    from fastsql.session.turn import Turn

_ROWS_SHOWN = 5
_SMALL_DOMAIN = 12
"""Distinct values up to which a column counts as a small domain here: the hospital is smaller than real ones."""

_TEXTS: dict[str, dict[str, str]] = {
    ENGLISH: {
        "made up": "A synthetic hospital: every patient, drug and reading is made up.",
        "size": "{size}; the time there is {now}.",
        "of a table": "{count} {table}",
        "penalty": "A wrong answer outweighs {penalty:g} right ones here (--penalty; the default {usual:g} refuses more).",
        "between": ", ",
        "conversation": "A conversation: questions that go on from those before.",
        "refused": "refused: {reason}",
        "confidence": "confidence {confidence:.2f}",
        "stages": "; ms: {stages}",
        "yours": "Your turn: ask about the hospital. An empty line ends.",
        "row": "{count} row in {elapsed:.1f} ms",
        "rows": "{count} rows in {elapsed:.1f} ms",
        "more": ", {more} more not shown",
    },
    CHINESE: {
        "made up": "这是一家虚构的医院：所有病人、用药和检验结果都是编造的。",
        "size": "{size}；那里现在是 {now}。",
        "of a table": "{count} 条{table}",
        "penalty": "这里一个错误答案抵 {penalty:g} 个正确答案（--penalty；默认的 {usual:g} 会拒绝更多问题）。",
        "between": "，",
        "conversation": "一段对话：后面的问题接着前面的问。",
        "refused": "拒绝回答：{reason}",
        "confidence": "置信度 {confidence:.2f}",
        "stages": "；毫秒：{stages}",
        "yours": "轮到您了：请就这家医院提问，输入空行结束。",
        "row": "{count} 行，用时 {elapsed:.1f} 毫秒",
        "rows": "{count} 行，用时 {elapsed:.1f} 毫秒",
        "more": "，另有 {more} 行未显示",
    },
}

_EPILOG = """\
examples:
  fastsql demo
  fastsql demo --language zh               a Chinese hospital, asked in Chinese
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
        "--language",
        choices=tuple(_TEXTS),
        default=ENGLISH,
        help="of the hospital, its questions and what is said of them (default: %(default)s)",
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
    add_model_options(parser, BY_LANGUAGE)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Make the hospital, ask the questions, then those that are typed."""
    from fastsql.demo import hospital_of
    from fastsql.execution import ReadOnlyExecutor
    from fastsql.linking.dictionary import ValueDictionary
    from fastsql.parser import DEFAULT_PENALTY
    from fastsql.schema import Schema

    console, hospital, texts = Console(), hospital_of(options.language), _TEXTS[options.language]
    with tempfile.TemporaryDirectory(prefix="fastsql-") as folder:
        database = options.keep or Path(folder) / "hospital.sqlite"
        if not database.exists():
            hospital.create(database)
        schema = Schema.from_sqlite(database, max_values=_SMALL_DOMAIN).with_reference_tables(
            *hospital.reference
        )
        values = ValueDictionary.from_database(database, schema)
        with ReadOnlyExecutor(database) as executor:
            console.line(texts["made up"], "bold")
            console.line(
                texts["size"].format(size=_size(executor, hospital.counted, texts), now=hospital.now)
            )
            if options.penalty is None and hospital.penalty is not None:
                options.penalty = hospital.penalty
                console.line(texts["penalty"].format(penalty=hospital.penalty, usual=DEFAULT_PENALTY))
            parser = load_parser(options)
            visit = _Visit(
                parser, schema, values, executor, console, hospital.now, texts, explain=options.explain
            )
            visit.ask_all(options.ask or hospital.questions)
            if options.ask is None:
                console.line()
                console.line(texts["conversation"], "bold")
                visit.keep_turns()
                visit.ask_all(hospital.conversation)
            if options.ask is None and sys.stdin.isatty():
                visit.converse()
    return 0


class _Visit:
    """A parser at the hospital: asks, runs, shows."""

    def __init__(
        self,
        parser: Parser | ParserByLanguage,
        schema: Schema,
        values: ValueDictionary,
        executor: ReadOnlyExecutor,
        console: Console,
        now: str,
        texts: Mapping[str, str],
        *,
        explain: bool,
    ) -> None:
        self._parser = parser
        self._schema = schema
        self._values = values
        self._executor = executor
        self._console = console
        self._now = now
        self._texts = texts
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
            refused = self._texts["refused"].format(reason=clean(result.reason or ""))
            self._console.line(f"   {refused}", "yellow")
            self._console.lines(suggestion_lines(result, self._console.width - 3), indent="   ")
            if result.best:
                self._console.lines(guess_lines(result.best, self._console.width - 3), indent="   ")
        else:
            self._console.sql(result.sql, indent="   ")
            self._show_rows(result.sql)
        stages = ", ".join(f"{stage} {value:.1f}" for stage, value in result.timings.items())
        confidence = self._texts["confidence"].format(confidence=result.confidence)
        times = self._texts["stages"].format(stages=stages) if stages else ""
        self._console.line(f"   {confidence}{times}", "dim")

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
        self._console.line(self._texts["yours"], "bold")
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
        note = self._texts["more"].format(more=more) if more > 0 else ""
        rows = self._texts["row" if len(found.rows) == 1 else "rows"]
        self._console.line(f"   {rows.format(count=len(found.rows), elapsed=elapsed)}{note}", "dim")


def _size(executor: ReadOnlyExecutor, tables: Sequence[str], texts: Mapping[str, str]) -> str:
    counts = (executor.run(f"SELECT COUNT(*) FROM {table}").rows[0][0] for table in tables)  # noqa: S608 - names of our own
    return texts["between"].join(
        texts["of a table"].format(count=count, table=table)
        for table, count in zip(tables, counts, strict=True)
    )
