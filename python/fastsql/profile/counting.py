"""Values of categories in a database, as far as many patients share them, so that no file tells of one.

A value is listed where `least` patients have it or more (k-anonymity: Sweeney, 2002). Patients are counted by the keys of
a row to tables that are no terminology: if a row names its patient and its admission, the fewer of either decide. A row
without such a key counts for itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastsql.errors import SchemaError
from fastsql.limits import DEFAULT, Limits, check_count
from fastsql.profile.model import LEAST_PATIENTS, Profile
from fastsql.profile.reading import named_column
from fastsql.schema.names import quote
from fastsql.schema.pace import Pace

if TYPE_CHECKING:
    import sqlite3

    from sqlalchemy.engine import Engine

    from fastsql.schema.model import Structure, Value

MOST_HOLDERS = 3
"""Keys of a row by which patients are counted."""


def with_counted_values(
    schema: Structure,
    profile: Profile,
    database: str | Path | Engine,
    *,
    least: int = LEAST_PATIENTS,
    pace: Pace | None = None,
    limits: Limits = DEFAULT,
) -> Profile:
    """The profile with the values of its categories that `least` patients or more share.

    Columns of more values than may stand with a schema have none; what takes longer than the pace allows is left out, with
    a warning. Raises SchemaError where the database cannot be read, LimitError for a count that is none.
    """
    check_count(least, "least")
    pace = pace or Pace()
    wanted = [index for index, one in enumerate(profile.columns) if one.kind == "category"]
    columns, late = list(profile.columns), []
    with _counter(database, schema, pace.seconds) as counter:
        for place in pace.each([schema.qualified_name(index) for index in wanted]):
            column = wanted[place]
            name = schema.qualified_name(column)
            with pace.column(name):
                rows = counter.rows(column, holders(schema, profile, column), limits.values_per_column + 1)
                if rows is None:
                    late.append(f"column {name}: counting its values takes longer than {pace.seconds:g} s")
                elif len(rows) <= limits.values_per_column:
                    shared = [row[0] for row in rows if min(row[1:]) >= least]
                    known = columns[column].values
                    values = {value: known.get(value, ()) for value in _listable(shared, limits)}
                    columns[column] = replace(columns[column], values=values)
    if pace.unread:
        late.append(f"values of {len(pace.unread):,} columns were not counted: the reading was ended before")
    return replace(profile, columns=tuple(columns), warnings=(*profile.warnings, *late))


def holders(schema: Structure, profile: Profile, column: int) -> tuple[int, ...]:
    """Columns of the same table that say of whom a row is: keys to tables that are no terminology."""
    table = schema.columns[column].table
    found = {
        child: schema.columns[parent].table
        for key in schema.foreign_keys
        for child, parent in zip(key.columns, key.references, strict=True)
    }
    for index in schema.tables[table].columns:
        parent = (
            named_column(schema, profile.columns[index].refers_to)
            if profile.columns[index].refers_to
            else None
        )
        if parent is not None:
            found.setdefault(index, schema.columns[parent].table)
    own = [
        child
        for child, parent in sorted(found.items())
        if schema.columns[child].table == table and parent != table and not profile.tables[parent].reference
    ]
    return tuple(own[:MOST_HOLDERS])


def _listable(values: Sequence[Any], limits: Limits) -> list[Value]:
    """Values that may stand in a file, in order: text within the limits, and numbers."""
    kept = [value for value in values if isinstance(value, (str, int, float)) and not isinstance(value, bool)]
    fitting = [
        value for value in kept if not isinstance(value, str) or 0 < len(value) <= limits.value_characters
    ]
    return sorted(fitting, key=lambda value: (isinstance(value, str), value))


@dataclass(frozen=True)
class _SQLiteCounter:
    connection: sqlite3.Connection
    schema: Structure
    seconds: float

    def rows(self, column: int, held_by: Sequence[int], most: int) -> Sequence[Sequence[Any]] | None:
        """Rows of a value, its rows, and its distinct holders; at most so many; None where the time is up."""
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
            return None
        if interrupted:
            raise KeyboardInterrupt
        raise _failed(self.schema, column)


@dataclass(frozen=True)
class _ServerCounter:
    connection: Any
    schema: Structure
    seconds: float

    def rows(self, column: int, held_by: Sequence[int], most: int) -> Sequence[Sequence[Any]] | None:
        """As :meth:`_SQLiteCounter.rows`."""
        from sqlalchemy.exc import SQLAlchemyError

        from fastsql.schema.server_values import ServerValues

        one = self.schema.columns[column]
        table = self.schema.tables[one.table]
        values = ServerValues(self.connection, self.seconds)
        names = [self.schema.columns[holder].name for holder in held_by]
        try:
            found = values.distinct(table.name, table.namespace or None, one.name, most - 1)
            if found.late:
                return None
            if not found.values:
                return []
            deadline = values.deadline(self.seconds)
            return values.shared(table.name, table.namespace or None, one.name, names, deadline)
        except (SQLAlchemyError, UnicodeError):
            raise _failed(self.schema, column) from None


def _failed(schema: Structure, column: int) -> SchemaError:
    """Of a database's own message nothing is repeated: it may quote a cell."""
    return SchemaError(
        "its values cannot be counted",
        where=f"column {schema.qualified_name(column)}",
        remedy="Check that the database is there, whole, and has the schema's tables.",
    )


def _decoded(cell: bytes) -> str | bytes:
    """Text of a cell; what is not UTF-8 stays bytes, which no list takes."""
    try:
        return cell.decode("utf-8")
    except UnicodeDecodeError:
        return cell


@contextmanager
def _counter(
    source: str | Path | Engine, schema: Structure, seconds: float
) -> Iterator[_SQLiteCounter | _ServerCounter]:
    import sqlite3

    from fastsql.schema.sqlite_file import open_read_only

    if isinstance(source, Path) or (isinstance(source, str) and "://" not in source):
        if not Path(source).is_file():
            raise SchemaError("there is no such file", where=str(source), remedy="Check the path.")
        try:
            with open_read_only(source) as connection:
                connection.text_factory = _decoded
                yield _SQLiteCounter(connection, schema, seconds)
        except sqlite3.Error as error:
            raise SchemaError(
                f"SQLite cannot read it ({type(error).__name__})", where=str(source), remedy="Check the file."
            ) from None
    else:
        from fastsql.schema.database import opened

        with opened(source) as opened_connection:
            yield _ServerCounter(opened_connection, schema, seconds)
