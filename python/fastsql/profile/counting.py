"""Values of categories in a database, as far as many patients share them, so that no file tells of one.

A value is listed where `least` patients have it or more (k-anonymity: Sweeney, 2002). Patients are counted by every key
and every identifier of a row (`holders`): if a row names its patient and its admission, the fewer of either decide. Rows
count for themselves in tables of persons and in terminologies alone; other tables without a holder list nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastsql.errors import SchemaError
from fastsql.limits import DEFAULT, Limits, check_count
from fastsql.profile.holders import Holders
from fastsql.profile.model import LEAST_PATIENTS, Profile
from fastsql.schema.names import quote
from fastsql.schema.pace import Pace

if TYPE_CHECKING:
    import sqlite3

    from sqlalchemy.engine import Engine

    from fastsql.schema.model import Structure, Value
    from fastsql.schema.server_values import ServerValues

_SHOWN = 5
"""Tables that a warning names."""


def with_counted_values(
    schema: Structure,
    profile: Profile,
    database: str | Path | Engine,
    *,
    least: int = LEAST_PATIENTS,
    all_keys: bool = True,
    pace: Pace | None = None,
    limits: Limits = DEFAULT,
) -> Profile:
    """The profile with the values of its categories that `least` patients or more share.

    Columns of more values than may stand with a schema have none; what takes longer than the pace allows is left out, with
    a warning, as are tables of which nobody knows whose their rows are. `all_keys`: whether keys were looked for to the
    end; if not, only declared ones tell that. Raises SchemaError where the database cannot be read, LimitError for a
    count that is none.
    """
    check_count(least, "least")
    pace = pace or Pace()
    holders = Holders(schema, profile, all_keys)
    categories = [index for index, one in enumerate(profile.columns) if one.kind == "category"]
    tables = dict.fromkeys(schema.columns[index].table for index in categories)
    held = {table: holders.of(table) for table in tables if holders.are_known(table)}
    wanted = [index for index in categories if schema.columns[index].table in held]
    columns = list(profile.columns)
    missed = _unheld([schema.table_name(table) for table in tables if table not in held])
    with _counter(database, schema, pace.seconds) as counter:
        for place in pace.each([schema.qualified_name(index) for index in wanted]):
            column = wanted[place]
            name = schema.qualified_name(column)
            with pace.column(name):
                held_by = held[schema.columns[column].table]
                rows = counter.rows(column, held_by, limits.values_per_column + 1)
                if isinstance(rows, str):
                    missed.append(f"column {name}: {rows}")
                elif len(rows) <= limits.values_per_column:
                    shared = [row[0] for row in rows if min(row[1:]) >= least]
                    is_number = schema.columns[column].type == "number"
                    known = columns[column].values
                    values = {value: known.get(value, ()) for value in _listable(shared, is_number, limits)}
                    columns[column] = replace(columns[column], values=values)
    if pace.unread:
        missed.append(
            f"values of {len(pace.unread):,} columns were not counted: the reading was ended before"
        )
    return replace(profile, columns=tuple(columns), warnings=(*profile.warnings, *missed))


def _unheld(tables: Sequence[str]) -> list[str]:
    """A warning of tables without a holder, where there are any."""
    if not tables:
        return []
    more = f" and {len(tables) - _SHOWN:,} more" if len(tables) > _SHOWN else ""
    return [
        f"no values are listed of {', '.join(tables[:_SHOWN])}{more}: no column tells of whom their rows are"
    ]


def _listable(values: Sequence[Any], is_number: bool, limits: Limits) -> list[Value]:
    """Values that may stand in a file, in order and once each: finite numbers, and short text unless `is_number`."""
    kept: dict[str, Value] = {}
    for value in values:
        if isinstance(value, str):
            fits = not is_number and 0 < len(value) <= limits.value_characters
        else:
            is_finite = isinstance(value, (int, float)) and math.isfinite(value)
            fits = is_finite and not isinstance(value, bool)
        if fits:
            kept.setdefault(str(value), value)
    return sorted(kept.values(), key=lambda value: (isinstance(value, str), value))


@dataclass(frozen=True)
class _SQLiteCounter:
    connection: sqlite3.Connection
    schema: Structure
    seconds: float

    def rows(self, column: int, held_by: Sequence[int], most: int) -> list[Sequence[Any]] | str:
        """Rows of a value, its rows, and its distinct holders; at most so many; a text where they cannot be had."""
        import sqlite3

        from fastsql.schema.pace import Deadline

        one = self.schema.columns[column]
        table = self.schema.tables[one.table]
        name = f"{quote(table.name)}.{quote(one.name)}"
        counted = "".join(
            f", COUNT(DISTINCT {quote(table.name)}.{quote(self.schema.columns[holder].name)})"
            for holder in held_by
        )
        namespace = self.schema.namespace_in_sql(one.table)
        origin = f"{quote(namespace)}.{quote(table.name)}" if namespace else quote(table.name)
        few = f"SELECT DISTINCT {name} FROM {origin} WHERE {name} IS NOT NULL LIMIT {most}"  # noqa: S608 -- names are quoted
        sql = f"SELECT {name}, COUNT(*){counted} FROM {origin} WHERE {name} IS NOT NULL GROUP BY 1"  # noqa: S608
        deadline = Deadline(self.seconds, self.connection.interrupt)
        try:
            with deadline.running():
                if len(self.connection.execute(few).fetchall()) >= most:
                    return [(None, 0)] * most
                return self.connection.execute(sql).fetchall()
        except (sqlite3.Error, UnicodeError) as error:
            interrupted = str(error) == "interrupted"
        if interrupted and deadline.passed:
            return _late(self.seconds)
        if interrupted:
            raise KeyboardInterrupt
        raise _failed(self.schema, column)


@dataclass(frozen=True)
class _ServerCounter:
    values: ServerValues
    schema: Structure

    def rows(self, column: int, held_by: Sequence[int], most: int) -> list[Sequence[Any]] | str:
        """As :meth:`_SQLiteCounter.rows`."""
        from sqlalchemy.exc import SQLAlchemyError

        from fastsql.schema.server_values import is_forbidden, is_incomparable

        one = self.schema.columns[column]
        table = self.schema.tables[one.table]
        place = (table.name, table.namespace or None, one.name)
        names = [self.schema.columns[holder].name for holder in held_by]
        deadline = self.values.deadline(self.values.seconds)
        try:
            found = self.values.distinct(*place, most - 1, deadline)
            if found.late:
                return _late(self.values.seconds)
            if not found.values:
                return []
            rows = self.values.shared(*place, names, deadline)
            return _late(self.values.seconds) if rows is None else list(rows)
        except (SQLAlchemyError, UnicodeError) as error:
            if is_forbidden(error):
                return "its values are not listed: the role may not read it, or a column that tells of whom its rows are"
            if is_incomparable(error):
                return (
                    "its values are not listed: values of its type, or of a key beside it, cannot be compared"
                )
        raise _failed(self.schema, column)


def _late(seconds: float) -> str:
    return f"counting its values takes longer than {seconds:g} s"


def _failed(schema: Structure, column: int) -> SchemaError:
    """Of a database's own message nothing is repeated: it may quote a cell."""
    return SchemaError(
        "its values cannot be counted",
        where=f"column {schema.qualified_name(column)}",
        remedy="Check that the database is there, whole, and has the schema's tables.",
    )


@contextmanager
def _counter(
    source: str | Path | Engine, schema: Structure, seconds: float
) -> Iterator[_SQLiteCounter | _ServerCounter]:
    import sqlite3

    from fastsql.schema.sqlite_file import open_read_only, text_of

    if isinstance(source, Path) or (isinstance(source, str) and "://" not in source):
        if not Path(source).is_file():
            raise SchemaError("there is no such file", where=str(source), remedy="Check the path.")
        try:
            with open_read_only(source) as connection:
                connection.text_factory = text_of
                yield _SQLiteCounter(connection, schema, seconds)
        except sqlite3.Error as error:
            raise SchemaError(
                f"SQLite cannot read it ({type(error).__name__})", where=str(source), remedy="Check the file."
            ) from None
    else:
        from fastsql.schema.database import opened
        from fastsql.schema.server_values import ServerValues

        with opened(source) as opened_connection:
            yield _ServerCounter(ServerValues(opened_connection, seconds), schema)
