"""Judging by results where no database is published: contents made up for a gold query, in which its literals stand.

A prediction is right where it returns what gold does on each of several databases, as in a test suite (Zhong, Yu and Klein,
EMNLP 2020). Each is small, and made for one gold query: half of the rows of a table hold together what the query compares
their columns with, dates and numbers on both sides of a bound included, so that it finds some rows and passes over others.
"""

from __future__ import annotations

import random
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from datetime import date, timedelta
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from sqlglot.errors import SqlglotError

from fastsql.errors import ExecutionError, SchemaError
from fastsql.evaluation.answers import AnswerRows, answer_rows, is_void
from fastsql.evaluation.gold_sql import normalise_sql
from fastsql.execution import ReadOnlyExecutor
from fastsql.linking.gold import parse_gold, resolve_column, text_of
from fastsql.linking.numerals import plain_number
from fastsql.schema.names import fold, quote
from fastsql.synthesis.contents import make_rows, suggest
from fastsql.synthesis.contents.fillings import LAST_DAY, Cell

if TYPE_CHECKING:
    from sqlglot import exp

    from fastsql.schema import Schema, Value

Rows = list[list[Cell]]
"""Of one table; cells in the order of its columns."""

DATABASES = 2
"""How many are made, if nothing else is said."""
NOW = f"{LAST_DAY:%Y-%m-%d} 12:00:00"
"""What "now" means if nothing else is said: the last day of what is made."""
ATTEMPTS = 4
"""How often one is made until gold returns something."""
SIZE = 0.4
"""Rows, as a share of what `make_rows` makes otherwise: some twenty a table."""
TOGETHER = 0.5
"""The share of a table's rows that hold what all of their columns are compared with."""
APART = 0.5
"""The share of the other rows that hold one of these, for each column by itself."""
ALIKE = 0.6
"""The share of rows that hold all and belong to what the last of them belonged to: so not all that is counted differs."""
_YEAR, _MONTH = 4, 7
"""Characters of "2015" and of "2015-03": what is compared with a part of a date."""


def same_on_made(
    gold: str,
    predicted: str | None,
    schema: Schema,
    databases: int = DATABASES,
    *,
    now: str | None = None,
    time_limit: float = 10.0,
) -> bool | None:
    """Whether two queries return the same on all of `databases` that are made for the first. `now` is what both mean by it.

    None where nothing tells: gold cannot be read or does not run, two tables of different namespaces have one name, or both
    return nothing but NULL and 0 on all. Where they do on one, it is made anew a few times. Raises SchemaError.
    """
    gold = normalise_sql(gold, now or NOW)
    predicted = None if predicted is None else normalise_sql(predicted, now or NOW)
    if len({fold(table.name) for table in schema.tables}) < len(schema.tables):
        return None
    try:
        parse_gold(gold)
    except (SqlglotError, RecursionError):
        return None
    told = False
    for number in range(databases):
        for attempt in range(ATTEMPTS):
            with tempfile.TemporaryDirectory(prefix="fastsql-made-") as folder:
                path = Path(folder) / "made.sqlite"
                write_contents(gold, schema, f"{number}.{attempt}", path)
                with ReadOnlyExecutor(path, time_limit=time_limit) as executor:
                    wanted = _answer(executor, gold)
                    if wanted is None:
                        return None
                    if predicted is None or _answer(executor, predicted) != wanted:
                        return False
            if not is_void(wanted):
                told = True
                break
    return True if told else None


def write_contents(gold: str, schema: Schema, seed: str, path: Path) -> None:
    """Write an SQLite file of a schema, without keys, whose rows a gold query finds something in. The same each time.

    Tables of all namespaces lie in it, without these. Raises SchemaError where it cannot hold them.
    """
    rng = random.Random(f"{seed}/{gold}")
    rows = [[list(row) for row in table] for table in _plain_rows(schema, seed)]
    stand(compared(parse_gold(gold), schema), schema, rows, rng)
    write_rows(rows, schema, path)


def write_rows(rows: Sequence[Rows], schema: Schema, path: Path) -> None:
    """Write rows, by table, as an SQLite file without keys. Raises SchemaError where SQLite cannot hold the tables."""
    try:
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("BEGIN")  # all tables at once: each alone would wait for the disk
            for table, held in zip(schema.tables, rows, strict=True):
                columns = ", ".join(
                    f"{quote(schema.columns[c].name)} {_affinity(schema, c)}" for c in table.columns
                )
                connection.execute(f"CREATE TABLE {quote(table.name)} ({columns})")
                marks = ", ".join("?" * len(table.columns))
                connection.executemany(f"INSERT INTO {quote(table.name)} VALUES ({marks})", held)  # noqa: S608 - quoted
    except sqlite3.Error as error:
        raise SchemaError(
            "SQLite cannot hold contents made for it",
            where=f"schema {schema.name!r}",
            remedy=f"SQLite says: {error}.",
        ) from error


def compared(gold: exp.Expr, schema: Schema) -> dict[int, tuple[Value, ...]]:
    """By column what a query compares it with, and neighbours of bounds; a column within a function counts as itself."""
    from sqlglot import exp

    found: dict[int, dict[Value, None]] = {}
    bounds = (exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Between)
    for node in gold.find_all(exp.EQ, exp.NEQ, exp.In, exp.Like, *bounds):
        sides = [side for side in _sides(node) if side is not None]
        columns = (column for side in sides for column in side.find_all(exp.Column))
        index = next((one for column in columns if (one := resolve_column(column, schema)) is not None), None)
        if index is None:
            continue
        kind = schema.columns[index].type
        for value in (value for side in sides if (value := _literal(side, schema)) is not None):
            values = found.setdefault(index, {})
            if isinstance(node, exp.Like):
                part = str(value).strip("%")
                values |= dict.fromkeys((part, f"{part} {part}"))
            elif isinstance(node, bounds):
                values |= dict.fromkeys(_about(value, kind))
            else:
                values[_whole_date(str(value)) if kind == "time" else value] = None
    return {column: tuple(values) for column, values in found.items()}


def stand(
    literals: Mapping[int, Sequence[Value]], schema: Schema, rows: Sequence[Rows], rng: random.Random
) -> None:
    """Put literals into the columns that are compared with them, so that keys still fit."""
    by_table: dict[int, list[int]] = {}
    for column, values in sorted(literals.items()):
        table = schema.columns[column].table
        if schema.key_groups[column] >= 0 or column in schema.unique_columns:
            rename_keys(column, values, schema, rows)
        else:
            by_table.setdefault(table, []).append(column)
    for table, columns in by_table.items():
        first = schema.tables[table].columns[0]
        keys = _free_keys(schema, table)
        before: list[Cell] | None = None
        for row in rows[table]:
            together = rng.random() < TOGETHER
            for column in columns:
                if together or rng.random() < APART:
                    row[column - first] = rng.choice(literals[column])
            if together and before is not None and rng.random() < ALIKE:
                for key in keys:
                    row[key - first] = before[key - first]
            before = row if together else before


def _free_keys(schema: Schema, table: int) -> list[int]:
    """The columns of a table that refer to another and are no part of its own key, so that rows may have the same."""
    primary = set(schema.tables[table].primary_key)
    keys = (key.columns for key in schema.foreign_keys if schema.columns[key.columns[0]].table == table)
    return [column for columns in keys if primary.isdisjoint(columns) for column in columns]


def rename_keys(column: int, values: Sequence[Value], schema: Schema, rows: Sequence[Rows]) -> None:
    """Call keys otherwise, wherever they stand: those of which most rows are, so that joins find some."""
    group = schema.key_groups[column]
    places = [
        (schema.columns[other].table, other - schema.tables[schema.columns[other].table].columns[0])
        for other in range(len(schema.columns))
        if other == column or (group >= 0 and schema.key_groups[other] == group)
    ]
    counts = Counter(row[place] for table, place in places for row in rows[table] if row[place] is not None)
    table = schema.columns[column].table
    held = {row[column - schema.tables[table].columns[0]] for row in rows[table]} - {None}
    new = [value for value in values if str(value) not in set(map(str, held))]
    old = [key for key, _ in counts.most_common() if key in held and str(key) not in set(map(str, values))]
    names = dict(zip(old, new, strict=False))
    for table, place in places:
        for row in rows[table]:
            row[place] = names.get(row[place], row[place])


@lru_cache(maxsize=16)
def _plain_rows(schema: Schema, seed: str) -> list[Rows]:
    return make_rows(schema, suggest(schema, None, seed), seed, size=SIZE)


def _answer(executor: ReadOnlyExecutor, sql: str) -> AnswerRows | None:
    try:
        with executor.cursor(sql) as cursor:
            return answer_rows(cursor)
    except ExecutionError:
        return None


def _sides(node: exp.Expr) -> Iterator[exp.Expr | None]:
    yield node.this
    yield from (node.args.get(name) for name in ("expression", "low", "high"))
    yield from node.args.get("expressions") or ()


def _literal(side: exp.Expr, schema: Schema) -> Value | None:
    from sqlglot import exp

    text = text_of(side, schema)
    if text is not None:
        return text
    number = side.this if isinstance(side, exp.Neg) else side
    if not isinstance(number, exp.Literal):
        return None
    value = plain_number(number.this)
    return -value if value is not None and isinstance(side, exp.Neg) else value


def _about(value: Value, kind: str) -> tuple[Value, ...]:
    """A bound and what lies on both sides of it, in a column of a kind: "2015" is a number in one of numbers."""
    if isinstance(value, str) and kind == "number" and (number := plain_number(value)) is not None:
        value = number
    if not isinstance(value, str):
        return value - 1, value, value + 1
    whole = _whole_date(value)
    try:
        day = date.fromisoformat(whole[:10])
        return (
            (day - timedelta(days=1)).isoformat() + whole[10:],
            whole,
            (day + timedelta(days=1)).isoformat() + whole[10:],
        )
    except (ValueError, OverflowError):
        number = plain_number(value)
        return (value,) if number is None else (number - 1, number, number + 1)


def _whole_date(text: str) -> str:
    """A date within a year or a month that is given as text; any other text as it is."""
    if len(text) == _YEAR and text.isdigit():
        return f"{text}-05-17"
    if len(text) == _MONTH and text[4] == "-" and text.replace("-", "").isdigit():
        return f"{text}-17"
    return text


def _affinity(schema: Schema, column: int) -> str:
    return {"number": "NUMERIC", "boolean": "NUMERIC"}.get(schema.columns[column].type, "TEXT")
