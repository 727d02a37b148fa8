"""One case of the fuzz: a question over a schema, and what must hold of whatever comes of it."""

from __future__ import annotations

import itertools
import random
import sqlite3
import time
import traceback
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

from fastsql import Parser, Schema, ValueDictionary
from fastsql.errors import FastSQLError
from fastsql.execution import verify
from fastsql.result import Result

from .questions import MARKER, draw_question
from .schemas import draw_schema

DIALECTS = ("sqlite", "sqlite", "sqlite", "sqlite", "postgres", "duckdb", "mysql", "tsql")
_WALLS = ("reads a table that may be a file", "reads a system table", "uses 'temporary' of Identifier")
"""The only reasons to reject what fastsql itself wrote: a schema may call a table as DuckDB calls a file, or SQL Server a
temporary table, and neither may be read.
"""
PER_SCHEMA = 8
"""Questions asked of one schema, so that what is kept of it is met, too."""


@dataclass(frozen=True)
class Case:
    """What a parse is given. The same seed and number give the same case, for ever."""

    seed: int
    number: int
    question: str
    source: dict[str, Any]
    options: dict[str, Any]
    values: dict[int, list[str]] = field(default_factory=dict)

    @classmethod
    def draw(cls, seed: int, number: int) -> Case:
        """Case `number` of a seed."""
        source = draw_schema(random.Random(f"{seed} schema {number // PER_SCHEMA}"))
        rng = random.Random(f"{seed} question {number}")
        names = [
            name
            for table in source["tables"]
            for name in (table["name"], *(c["name"] for c in table["columns"]))
        ]
        question = draw_question(rng, names)
        options = {"dialect": rng.choice(DIALECTS), "beam": rng.choice((1, 2, 3)), "suggest": number % 2 == 0}
        if rng.random() < 0.2:
            options["now"] = rng.choice(("2100-12-31", "2100-12-31 23:59:00"))
        known = [MARKER, "icu ward", "it's", "内科", "\ud800", "a\0b", *question.split()[:3]]
        values = {rng.randrange(99): rng.sample(known, 3) for _ in range(rng.choice((0, 0, 1, 2)))}
        return cls(seed, number, question, source, options, values)


class BrokenPromiseError(AssertionError):
    """A case in which fastsql did not keep what it promises; the message names the case and repeats none of its text."""


def check(parser: Parser, case: Case) -> str:
    """Parse a case, and see that every promise is kept; returns how it ended.

    Raises:
        BrokenPromiseError: one was not. The cause is the exception that should not have come, if there is one.
    """
    try:
        return _outcome(parser, case)
    except Exception as error:
        what = f"{type(error).__name__} in case {case.number} of seed {case.seed}"
        raise BrokenPromiseError(f"{what}: replay it with --seed {case.seed} --case {case.number}") from error


def _outcome(parser: Parser, case: Case) -> str:
    schema: Schema | None = None
    try:
        schema = Schema.from_dict(case.source)
        places = [(schema.tables[c.table].name, c.name) for c in schema.columns]
        given = {places[i % len(places)]: values for i, values in case.values.items()}
        dictionary = ValueDictionary.from_mapping(given, schema) if given else None
        result = parser.parse(case.question, case.source, values=dictionary, **case.options)
    except FastSQLError as error:
        _check_error(error)
        return type(error).__name__
    _check_result(result, case)
    if result.best is None:
        if any(said in (result.reason or "") for said in ("verification", "验证")):
            assert case.options["dialect"] != "sqlite", result.reason
            assert any(wall in (result.reason or "") for wall in _WALLS), result.reason
            return "refused for a table's name"
        return "refused"
    verify(result.best, schema, dialect=result.dialect)
    for sql in (result.best, *(alternative.sql for alternative in result.alternatives)):
        if result.dialect == "sqlite":
            verify(sql, schema)
            _prepare(sql, schema)
    return "answered"


def _check_error(error: FastSQLError) -> None:
    """An error is short and, causes included, holds nothing of the question or of a value."""
    shown = "".join(traceback.format_exception(error))
    assert MARKER not in shown.casefold(), "an error repeats the question"
    assert len(str(error)) < 1_000


def _check_result(result: Result, case: Case) -> None:
    """What a result says of itself is sound, and can be shown."""
    assert result.question == case.question
    assert result.abstained == (result.sql is None) == bool(result.reason)
    if not case.options.get("suggest", True):
        assert MARKER not in (result.reason or "").casefold(), "a refusal repeats the question"
        assert not result.suggestions
    assert 0 <= result.confidence <= 1
    assert 0 <= result.unanswerable <= 1
    for link in result.links:
        start, end = link.span
        assert 0 <= start < end <= len(case.question)
    for literal in result.values:
        assert literal.span is None or 0 <= literal.span[0] < literal.span[1] <= len(case.question)
    assert repr(result)
    assert str(result.explain())
    assert result._repr_html_().encode("utf-8")


def _prepare(sql: str, schema: Schema) -> None:
    """Compile the SQL on a database made for it alone; raises sqlite3.Error if that fails."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(schema.to_ddl())
        connection.execute(f"EXPLAIN {sql}").fetchall()


def fuzz(parser: Parser, seed: int, seconds: float) -> Counter[str]:
    """Check case after case of a seed until time is up; returns how many ended how.

    Raises:
        BrokenPromiseError: at the first case in which a promise is broken.
    """
    ended: Counter[str] = Counter()
    end = time.monotonic() + seconds
    for number in itertools.count():
        if time.monotonic() >= end:
            break
        ended[check(parser, Case.draw(seed, number))] += 1
    return ended
