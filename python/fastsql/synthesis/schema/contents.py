"""What the columns of a database hold, as far as conditions are drawn from it."""

from __future__ import annotations

import random
import re
from collections.abc import Collection
from datetime import date, datetime, timezone
from decimal import Decimal

from sqlglot import exp

from fastsql.errors import ExecutionError
from fastsql.execution.executor import Executor, check_alive
from fastsql.schema import Schema
from fastsql.schema.model import Value

SAMPLE = 300
"""Distinct values that are read of a column."""
LONGEST = 60
"""Characters of a text that questions quote."""
_MOMENT = re.compile(r"(\d{4})(?:-(\d\d))?(?:-(\d\d))?(?:[ T](\d\d):(\d\d)(?::(\d\d))?)?")


class Contents:
    """Values to compare columns with. Each column is read once, when it is first asked for.

    Where a column cannot be read because the database went away, methods raise DatabaseGoneError.
    """

    def __init__(self, schema: Schema, executor: Executor, *, unknown: Collection[int] = ()) -> None:
        """`unknown`: columns whose cells are made up without a word of what they hold, so that none is to be named."""
        self.schema = schema
        self._executor = executor
        self._values: dict[int, tuple[Value, ...]] = dict.fromkeys(unknown, ())
        self._lacking: dict[int, bool] = {}
        self._repeating: dict[tuple[int, ...], bool] = {}
        self._answered = "SELECT 1"
        self.unread: list[str] = []
        """Columns that could not be read."""

    def values(self, column: int) -> tuple[Value, ...]:
        """Distinct values of a column, at most SAMPLE; none of one that cannot be read (`unread`)."""
        if column not in self._values:
            try:
                rows = self._executor.run(self._query(column)).rows
            except ExecutionError:  # too slow, or not for this role: it is asked nothing about
                self.check_alive()
                rows = ()
                self.unread.append(self.schema.qualified_name(column))
            else:
                self._answered = (
                    exp.select("1").from_(self._table(column)).limit(1).sql(self._executor.dialect)
                )
            found = (_value(cell) for (cell,) in rows)
            self._values[column] = tuple(value for value in found if value is not None)
        return self._values[column]

    def value(self, column: int, rng: random.Random) -> Value | None:
        """One of them; None where there is none."""
        values = self.values(column)
        return rng.choice(values) if values else None

    def check_alive(self) -> None:
        """Raises DatabaseGoneError where the database is gone, or a table of which a column was read."""
        check_alive(self._executor, self._answered)

    def holds(self, column: int, value: str) -> bool:
        """Whether a column holds a text. A column that cannot be read may hold it."""
        return value in self.values(column) or self._finds(column, value)

    def repeats(self, columns: tuple[int, ...]) -> bool:
        """Whether two rows of a table have the same in some columns. Those that cannot be read may."""
        if columns not in self._repeating:
            names = [self._name(column) for column in columns]
            rows = exp.select("1").from_(self._table(columns[0])).group_by(*names).having("COUNT(*) > 1")
            self._repeating[columns] = self._is_there(rows)
        return self._repeating[columns]

    def lacks(self, column: int) -> bool:
        """Whether a column is empty in some row. One that cannot be read may be."""
        if column not in self._lacking:
            rows = exp.select("1").from_(self._table(column)).where(self._name(column).is_(exp.null()))
            self._lacking[column] = self._is_there(rows)
        return self._lacking[column]

    def date(self, column: int, form: str, rng: random.Random) -> str | None:
        """A time that a column holds, in a form of `strftime`; None where it holds none."""
        value = self.value(column, rng)
        moment = None if value is None else _moment(str(value))
        return None if moment is None else moment.strftime(form)

    def _finds(self, column: int, value: str) -> bool:
        return self._is_there(self._select(column).where(self._name(column).eq(exp.Literal.string(value))))

    def _is_there(self, rows: exp.Select) -> bool:
        """Whether a query returns a row. One that fails may."""
        try:
            return bool(self._executor.run(rows.limit(1).sql(self._executor.dialect)).rows)
        except ExecutionError:
            self.check_alive()
            return True

    def _query(self, column: int) -> str:
        held = self._select(column).where(self._name(column).is_(exp.null()).not_())
        return held.distinct().order_by("1").limit(SAMPLE).sql(self._executor.dialect)

    def _name(self, column: int) -> exp.Column:
        one = self.schema.columns[column]
        return exp.column(one.name, table=self.schema.tables[one.table].name, quoted=True)

    def _select(self, column: int) -> exp.Select:
        return exp.select(self._name(column).as_("value", quoted=True)).from_(self._table(column))

    def _table(self, column: int) -> exp.Table:
        table = self.schema.tables[self.schema.columns[column].table]
        return exp.table_(table.name, db=table.namespace or None, quoted=True)


def _value(cell: object) -> Value | None:
    """A cell as a literal; None for what no condition is written with."""
    match cell:
        case bool() | None:
            return None
        case int() | float():
            return cell
        case Decimal():
            return int(cell) if cell == cell.to_integral_value() else float(cell)
        case datetime():
            return cell.isoformat(sep=" ")
        case date():
            return cell.isoformat()
        case str() if 0 < len(cell.strip()) == len(cell) <= LONGEST:
            return cell
    return None


def _moment(text: str) -> datetime | None:
    found = _MOMENT.match(text)
    if found is None:
        return None
    year, month, day, hour, minute, second = (int(part or 0) for part in found.groups())
    try:
        return datetime(year, max(month, 1), max(day, 1), hour, minute, second, tzinfo=timezone.utc)
    except ValueError:  # a code that looks like a date
        return None
