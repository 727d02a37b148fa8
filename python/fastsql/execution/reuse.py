"""Running a query with what an earlier one returned in place of that query: as bound parameters, or as a temporary table.

The whole query is verified as it stands. Then the earlier query, which is found in its tree word for word, is replaced there
by parameters or by a table that holds the rows: no cell is ever part of a text. The table is the executor's, made on its own
connection before the query and gone after it; what is verified has no DDL.

Where parameters might not compare as the subquery does, the subquery stays, and the outcome says why. Comparing is what may
differ: a column converts what it is compared with (SQLite's affinity, the types of the others), and so does a column of
the subquery, while a parameter does not.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import Decimal
from itertools import chain
from typing import TYPE_CHECKING, Any
from uuid import UUID

from fastsql.errors import ExecutionError
from fastsql.execution.connections import ConnectionsBusyError
from fastsql.execution.executor import QueryTimeoutError, ResultSizeError
from fastsql.execution.rows import Rows

if TYPE_CHECKING:
    from sqlglot import exp

    from fastsql.schema import Schema
    from fastsql.verification.earlier import Place
    from fastsql.verification.verify import Opened

PARAMETERS, TABLE, SUBQUERY = WAYS = ("parameters", "table", "subquery")
"""How an earlier answer takes part in a query."""
TABLE_NAME = "fastsql_earlier_"
"""Of temporary tables, before a number."""
_EXACT = frozenset({type(None), bool, int, float, str, bytes, Decimal, date, datetime, UUID})
"""Types of cells that a driver binds as it read them. Intervals lose their months, JSON its text."""
_ROUNDED = ("REAL", "FLOAT4", "FLOAT(", "?")
"""How declared types of PostgreSQL begin whose values come back with other digits than a double has; "?" is not known."""
_INEXACT = "it has values that cannot be given back as they were read"
_NAMESPACES = {"sqlite": ("temp", None), "duckdb": ("main", "temp"), "postgres": ("pg_temp", None)}
"""What namespace temporary tables are in, and what catalog."""


@dataclass(frozen=True, repr=False)
class Earlier:
    """An earlier query with the rows that it returned.

    Attributes:
        number: of its turn.
        sql: the query.
        rows: what it returned; None where that is not kept.
        unusable: why it has to be asked again; empty where the rows may be used.
    """

    number: int
    sql: str
    rows: Rows | None = None
    unusable: str = ""


@dataclass(frozen=True)
class Reuse:
    """How an earlier answer took part in a query.

    Attributes:
        turn: the number of the turn that gave it.
        way: "parameters", "table" or "subquery".
        reason: why it is a subquery; empty otherwise.
        at: when the rows were read that were used; None for a subquery, which reads anew.
    """

    turn: int
    way: str
    reason: str = ""
    at: datetime | None = None


@dataclass(frozen=True, repr=False)
class TemporaryTable:
    """A table that an executor makes for one query.

    Attributes:
        name: without its namespace.
        like: a verified query whose result has the types of the columns, and no rows.
        rows: what the table holds.
    """

    name: str
    like: str
    rows: tuple[tuple[Any, ...], ...]


@dataclass(frozen=True, repr=False)
class Statement:
    """A verified query with parameters and temporary tables.

    `text` names the parameters by their numbers from 1.
    """

    text: str
    values: tuple[Any, ...] = ()
    tables: tuple[TemporaryTable, ...] = ()


@dataclass(frozen=True, repr=False)
class Plan:
    """What came of looking for earlier queries: a statement, or None where nothing is to be replaced."""

    statement: Statement | None
    reuses: tuple[Reuse, ...] = ()


def collated() -> ExecutionError:
    """The error for a statement where columns compare by collations, which a parameter or another table would not know."""
    return ExecutionError(
        "columns have collations of their own", where="query", remedy="Run the query as it stands."
    )


class Reusing(ABC):
    """An executor that can run a query with earlier answers in it."""

    dialect: str
    _schema: Schema | None

    @abstractmethod
    def run(self, sql: str | None) -> Rows:
        """The rows of a query, as :class:`fastsql.execution.Executor` says."""

    @abstractmethod
    def run_statement(self, statement: Statement) -> Rows:
        """The rows of a statement that was verified. Raises ExecutionError as :meth:`run`."""

    @abstractmethod
    def shape(self, schema: Schema) -> str:
        """A digest of the tables, views and columns that the database has now: of `schema`'s tables, or of all.

        Raises ExecutionError where the database cannot be read.
        """

    def run_reusing(
        self, sql: str, earlier: Sequence[Earlier], schema: Schema, *, way: str
    ) -> tuple[Rows, tuple[Reuse, ...]]:
        """The rows of a query, and how each earlier answer that it takes something from took part in it.

        Args:
            sql: the query, which stands alone.
            earlier: what may be found in it.
            schema: that of the queries, where the executor has none of its own.
            way: "parameters" or "table".

        Raises:
            ExecutionError, VerificationError: as :meth:`run`.
        """
        planned = plan(sql, earlier, self._schema or schema, self.dialect, way=way)
        reuses = planned.reuses
        if planned.statement is not None:
            try:
                return self.run_statement(planned.statement), reuses
            except (QueryTimeoutError, ResultSizeError, ConnectionsBusyError):
                raise  # the subquery would fare no better
            except ExecutionError as error:  # such as of a role that may make no temporary tables
                reason = f"the database does not take them: {error.what}"
            reuses = tuple(Reuse(one.turn, SUBQUERY, one.reason or reason) for one in reuses)
        return self.run(sql), reuses


def unusable(rows: Rows, way: str, most: int) -> str:
    """Why an answer can take part in no query that way; empty where it may. `most`: different values that are bound."""
    if rows.truncated or rows.cut:
        return "it was cut at a limit"
    if rows.repaired:
        return "it has text that is not UTF-8"
    cells = list(chain.from_iterable(rows))
    if not all(type(cell) in _EXACT for cell in cells) or not all(
        math.isfinite(cell) for cell in cells if isinstance(cell, float | Decimal)
    ):
        return _INEXACT
    if way == TABLE:
        return ""
    if len(rows.columns) > 1:
        return "it has several columns"
    return f"it has more than {most} different values" if len(_different(rows)) > most else ""


def plan(sql: str, earlier: Sequence[Earlier], schema: Schema, dialect: str, *, way: str) -> Plan:
    """A query with earlier answers in place of the queries that gave them, where that gives the same rows.

    An answer takes part in one way wherever a query uses it, lest it be of two moments. Raises as `verify` does.
    """
    from fastsql.verification.verify import open_query

    opened = open_query(sql, schema, [one.sql for one in earlier], dialect=dialect)
    if not opened.places:
        return Plan(None)
    reasons: dict[int, str] = {}
    for place in opened.places:
        if not reasons.get(place.number):
            reasons[place.number] = _reason(place, earlier[place.number], schema, dialect, way)
    reuses = tuple(
        Reuse(earlier[number].number, SUBQUERY if reason else way, reason)
        for number, reason in sorted(reasons.items())
    )
    usable = [place for place in opened.places if not reasons[place.number]]
    if not usable:
        return Plan(None, reuses)
    if way == TABLE:
        return Plan(_tabled(opened, usable, earlier, schema), reuses)
    return Plan(_bound(opened, usable, earlier), reuses)


# ---------------------------------------------------------------- where it gives the same rows


def _reason(place: Place, earlier: Earlier, schema: Schema, dialect: str, way: str) -> str:
    """Why an earlier answer cannot be used in a place; empty where it can."""
    if earlier.rows is None or earlier.unusable:
        return earlier.unusable
    if place.form == "value" and len(earlier.rows) > 1:
        return "it has several rows where one value is needed"
    if dialect == "duckdb" and _has_nanoseconds(earlier.rows, schema):
        return _INEXACT
    return _no_parameters(place, earlier.rows, dialect) if way == PARAMETERS else ""


def _no_parameters(place: Place, rows: Rows, dialect: str) -> str:
    """Why the rows cannot be bound where they could be a table, which has the types of the query."""
    if place.form == "rows":
        return "its rows stand in FROM, where parameters have no types"
    if dialect == "sqlite":
        alike = _has_affinity_of_parameters(place)
    else:
        alike = place.compared and not (
            dialect == "postgres" and any(_reads_else(row[0], place) for row in rows)
        )
    return "" if alike else "its values might compare otherwise than its column does"


def _has_nanoseconds(rows: Rows, schema: Schema) -> bool:
    """Whether times may have lost digits: DuckDB gives nanoseconds as microseconds."""
    return any("_NS" in column.sql_type.upper() for column in schema.columns) and any(
        isinstance(cell, datetime) for cell in chain.from_iterable(rows)
    )


def _has_affinity_of_parameters(place: Place) -> bool:
    """Whether SQLite compares the same where the subquery's column, and with it its affinity, is not there.

    That column matters where it has the other side converted, or saves its own values from being converted. A comparison of
    two columns converts to numbers if one of them is declared so, and nothing otherwise; one with a parameter converts the
    parameter to what the column is declared (datatype3.html, 4.2).
    """
    if place.own is None or place.own == "" or place.computed:
        return place.own is not None
    if not place.compared or place.other is None:
        return False
    own, other = _affinity(place.own), _affinity(place.other)
    return other == "number" or (own == other == "text") or (own == other == "blob")


def _affinity(declared: str) -> str:
    """What SQLite makes of a declared type (datatype3.html, 3.1), integers, reals and numbers being one."""
    name = declared.upper()
    if "INT" in name:
        return "number"
    if any(part in name for part in ("CHAR", "CLOB", "TEXT")):
        return "text"
    return "blob" if not name or "BLOB" in name else "number"


def _reads_else(cell: Any, place: Place) -> bool:
    """Whether PostgreSQL may compare a parameter otherwise: `real` comes back as a double, `char(n)` with its blanks."""
    if isinstance(cell, float):
        return any(one.upper().startswith(_ROUNDED) for one in place.columns)
    return isinstance(cell, str) and cell.endswith(" ")


# ---------------------------------------------------------------- writing it


def _different(rows: Rows) -> list[Any]:
    """The cells of a column, each once: 1 and 1.0 are two."""
    return list({(type(row[0]), row[0]): row[0] for row in rows}.values())


def _bound(opened: Opened, places: Sequence[Place], earlier: Sequence[Earlier]) -> Statement:
    """The query with parameters in these places."""
    from sqlglot import exp

    values: list[Any] = []
    numbers: dict[int, list[exp.Expr]] = {}
    for place in places:
        if place.number not in numbers:
            cells = _different(_rows(earlier[place.number]))
            first = len(values) + 1
            values += cells
            numbers[place.number] = [
                exp.Parameter(this=exp.Literal.number(first + n)) for n in range(len(cells))
            ]
        parameters = [one.copy() for one in numbers[place.number]]
        subquery = place.query.parent
        assert subquery is not None
        if place.form == "value":
            subquery.replace(parameters[0] if parameters else exp.null())
            continue
        test = subquery.parent
        assert test is not None
        if parameters:
            test.set("query", None)
            test.set("expressions", parameters)
        else:
            test.replace(exp.false())  # nothing is in nothing, not even NULL
    return Statement(opened.text(), tuple(values))


def _tabled(opened: Opened, places: Sequence[Place], earlier: Sequence[Earlier], schema: Schema) -> Statement:
    """The query with temporary tables in these places."""
    from sqlglot import exp

    namespace, catalog = _NAMESPACES[opened.dialect]
    tables: dict[int, TemporaryTable] = {}
    for place in places:
        one = earlier[place.number]
        rows = _rows(one)
        columns = [exp.to_identifier(f"c{n + 1}", quoted=True) for n in range(len(rows.columns))]
        if place.number not in tables:
            name = f"{TABLE_NAME}{len(tables) + 1}"
            tables[place.number] = TemporaryTable(
                name, _like(one.sql, columns, schema, opened.dialect), rows.rows
            )
        source = exp.Table(
            this=exp.to_identifier(tables[place.number].name, quoted=True),
            db=exp.to_identifier(namespace, quoted=True),
            catalog=exp.to_identifier(catalog, quoted=True) if catalog else None,
        )
        items: list[exp.Expr] = [exp.Column(this=column.copy()) for column in columns]
        place.query.replace(exp.Select(expressions=items, from_=exp.From(this=source)))
    return Statement(opened.text(), tables=tuple(tables.values()))


def _like(sql: str, columns: Sequence[exp.Identifier], schema: Schema, dialect: str) -> str:
    """A query for no rows of a query's types."""
    from sqlglot import exp

    from fastsql.verification.verify import open_query

    opened = open_query(sql, schema, dialect=dialect)
    name = exp.to_identifier("earlier", quoted=True)
    alias = exp.TableAlias(this=name, columns=[column.copy() for column in columns])
    select = exp.Select(expressions=[exp.Star()], from_=exp.From(this=exp.Table(this=name.copy()))).limit(0)
    select.set("with_", exp.With(expressions=[exp.CTE(this=opened.query, alias=alias)]))
    return replace(opened, query=select).text()


def _rows(earlier: Earlier) -> Rows:
    assert earlier.rows is not None  # what has none says why it is unusable
    return earlier.rows
