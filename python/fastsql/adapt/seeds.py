"""Seeds: questions with SQL that people of the place wrote, read from JSON, CSV or SQL and tried on the database.

What cannot be used is named by its place and left out; the others are used. Nothing that is said of a seed holds its words.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from fastsql.datasets import DatasetError, Example
from fastsql.datasets.dialects import as_sqlite
from fastsql.errors import FastSQLError, VerificationError
from fastsql.execution import Executor
from fastsql.execution.executor import check_alive
from fastsql.grammar import ConversionError, render, sql_to_program
from fastsql.grammar.program import Program
from fastsql.limits import Limits
from fastsql.memory.example import asked_as
from fastsql.schema import Schema
from fastsql.verification.parse import parse_query

_COMMENT = re.compile(r"\s*--\s?(.*)")
_FORMS = (
    "Give .json ([{question, sql}]), .csv (columns question and sql), or .sql (-- question, then its query)."
)


@dataclass(frozen=True)
class Written:
    """A seed as it stands in its file, at a place such as "line 7"; `sql` is None for a question that is to be refused."""

    place: str
    question: str
    sql: str | None


@dataclass(frozen=True)
class Seed:
    """A seed that can be used. `program` is None for a question that is to be refused; `place` is that in its file."""

    question: str
    sql: str | None
    program: Program | None
    place: str = ""


@dataclass(frozen=True)
class Seeds:
    """The seeds of a file that can be used, and by place why others cannot."""

    usable: tuple[Seed, ...] = ()
    left_out: Mapping[str, str] = field(default_factory=dict)

    def examples(self, db_id: str) -> tuple[Example, ...]:
        """As examples of a data set, in order."""
        return tuple(
            Example(f"seed-{number}", db_id, seed.question, seed.sql)
            for number, seed in enumerate(self.usable)
        )


def read_seeds(path: Path, schema: Schema, executor: Executor, limits: Limits | None = None) -> Seeds:
    """The seeds of a file, each converted to the grammar, written anew for SQLite and run once.

    Of equal ones the first is used; of such as give one question several answers, none is.

    Raises DatasetError where the file cannot be read as a whole, LimitError where it is too long, ExecutionError where the
    database is gone.
    """
    limits = limits or Limits()
    written = read_written(path)
    usable: dict[str, Seed] = {}
    left_out: dict[str, str] = {}
    for one in written:
        found = _tried_or_why(one, schema, executor, limits)
        if isinstance(found, Seed):
            usable[one.place] = found
        else:
            left_out[one.place] = found
    for place, why in list(_repeated(usable)):
        del usable[place]
        left_out[place] = why
    return Seeds(
        tuple(usable.values()), {one.place: left_out[one.place] for one in written if one.place in left_out}
    )


class _UnusableError(ValueError):
    """Why a seed cannot be used; without its words."""


def _tried_or_why(one: Written, schema: Schema, executor: Executor, limits: Limits) -> Seed | str:
    try:
        return _tried(one, schema, executor, limits)
    except _UnusableError as error:
        return str(error)


def _tried(one: Written, schema: Schema, executor: Executor, limits: Limits) -> Seed:
    if not one.question.strip():
        raise _UnusableError("it has no question")
    if len(one.question) > limits.question_characters:
        raise _UnusableError(f"its question is longer than {limits.question_characters:,} characters")
    if one.sql is None:
        return Seed(one.question, None, None, one.place)
    try:
        parse_query(one.sql, dialect=executor.dialect, limits=limits)  # bounded, and one SELECT
        program = sql_to_program(as_sqlite(one.sql, executor.dialect), schema)
    except ConversionError as error:
        raise _UnusableError(f"the grammar cannot say its query: {error}") from error
    except VerificationError as error:
        raise _UnusableError(f"its query {error.what}") from error
    try:
        executor.run(render(program, schema, dialect=executor.dialect))
    except FastSQLError as error:
        check_alive(executor)
        raise _UnusableError(f"its query does not run here: {type(error).__name__}") from error
    return Seed(one.question, render(program, schema), program, one.place)


def _repeated(usable: Mapping[str, Seed]) -> Iterator[tuple[str, str]]:
    """The places of seeds that say again, or otherwise, what another one says."""
    places: dict[str, list[str]] = {}
    for place, seed in usable.items():
        places.setdefault(asked_as(seed.question), []).append(place)
    for same in places.values():
        if len({usable[place].sql for place in same}) > 1:
            for place in same:
                others = " and ".join(other for other in same if other != place)
                yield place, f"the same question has another answer in {others}"
        else:
            yield from ((place, f"{same[0]} says the same") for place in same[1:])


# ---------------------------------------------------------------- files


def read_written(path: Path) -> list[Written]:
    """What stands in a file of seeds, in order, untried. Raises DatasetError where it cannot be read as a whole."""
    readers: Mapping[str, Callable[[str, Path], Iterable[Written]]] = {
        ".json": _from_json,
        ".csv": _from_csv,
        ".sql": lambda text, _: _from_sql(text),
    }
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise DatasetError(
            f"seeds are not read from {path.suffix or 'such'} files", where=str(path), remedy=_FORMS
        )
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise DatasetError(
            f"cannot be read ({error.strerror})", where=str(path), remedy="Check the path."
        ) from error
    except UnicodeDecodeError as error:
        raise DatasetError("is not UTF-8", where=str(path), remedy="Save it as UTF-8.") from error
    return list(reader(text, path))


def _from_json(text: str, path: Path) -> Iterator[Written]:
    """A list of {question, sql}; several may stand on one line."""
    decoder = json.JSONDecoder()
    number = 0
    place = _skip(text, 0, "[", path)
    while not text.startswith("]", place):
        line = text.count("\n", 0, place) + 1
        try:
            entry, place = decoder.raw_decode(text, place)
        except (ValueError, RecursionError) as error:
            raise DatasetError("is not JSON", where=f"{path}, line {line}", remedy=_FORMS) from error
        question = entry.get("question") if isinstance(entry, dict) else None
        sql = entry.get("sql") if isinstance(entry, dict) else None
        if not isinstance(question, str) or not (sql is None or isinstance(sql, str)):
            raise DatasetError("is not {question, sql}", where=f"{path}, line {line}", remedy=_FORMS)
        number += 1
        yield Written(f"entry {number} in line {line}", question, sql or None)
        place = _blanks(text, place)
        if not text.startswith("]", place):
            place = _skip(text, place, ",", path)


def _blanks(text: str, place: int) -> int:
    while place < len(text) and text[place].isspace():
        place += 1
    return place


def _skip(text: str, place: int, mark: str, path: Path) -> int:
    """Behind a mark and the blanks around it."""
    place = _blanks(text, place)
    if not text.startswith(mark, place):
        line = text.count("\n", 0, place) + 1
        raise DatasetError("is not a list of {question, sql}", where=f"{path}, line {line}", remedy=_FORMS)
    return _blanks(text, place + len(mark))


def _from_csv(text: str, path: Path) -> Iterator[Written]:
    rows = csv.reader(io.StringIO(text, newline=""))
    header = [name.strip().casefold() for name in next(rows, [])]
    if "question" not in header or "sql" not in header:
        raise DatasetError("has no columns question and sql", where=str(path), remedy=_FORMS)
    asked, answer = header.index("question"), header.index("sql")
    line = rows.line_num + 1
    try:
        for row in rows:
            if row:
                cells = row + [""] * (len(header) - len(row))
                yield Written(f"line {line}", cells[asked], cells[answer].strip() or None)
            line = rows.line_num + 1
    except csv.Error as error:
        raise DatasetError(f"is not CSV ({error})", where=f"{path}, line {line}", remedy=_FORMS) from error


def _from_sql(text: str) -> Iterator[Written]:
    """Comments are the question, what follows up to the next comment its query."""
    question: list[str] = []
    query: list[str] = []
    begun = 1
    for line, content in enumerate((*text.splitlines(), "--"), 1):
        comment = _COMMENT.fullmatch(content)
        if comment and query:
            yield Written(f"line {begun}", " ".join(question), "\n".join(query).strip().rstrip(";"))
            question, query = [], []
        if comment:
            begun = begun if question else line
            question += [comment[1].strip()] if comment[1].strip() else []
        elif content.strip():
            if not question and not query:
                begun = line
            query.append(content)
