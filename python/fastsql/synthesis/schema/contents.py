"""What the columns of a database hold, as far as conditions are drawn from it."""

from __future__ import annotations

import random
import re
from datetime import datetime, timezone
from typing import TypeGuard

from sqlglot import exp

from fastsql.execution.executor import Executor
from fastsql.schema import Schema
from fastsql.schema.model import Value

SAMPLE = 300
"""Distinct values that are read of a column."""
_MOMENT = re.compile(r"(\d{4})(?:-(\d\d))?(?:-(\d\d))?(?:[ T](\d\d):(\d\d)(?::(\d\d))?)?")


class Contents:
    """Values to compare columns with. Each column is read once, when it is first asked for."""

    def __init__(self, schema: Schema, executor: Executor) -> None:
        self.schema = schema
        self._executor = executor
        self._values: dict[int, tuple[Value, ...]] = {}

    def values(self, column: int) -> tuple[Value, ...]:
        """Distinct texts and numbers of a column, at most SAMPLE. Raises ExecutionError where it cannot be read."""
        if column not in self._values:
            rows = self._executor.run(self._query(column)).rows
            self._values[column] = tuple(cell for (cell,) in rows if _is_said(cell))
        return self._values[column]

    def value(self, column: int, rng: random.Random) -> Value | None:
        """One of them; None where there is none."""
        values = self.values(column)
        return rng.choice(values) if values else None

    def date(self, column: int, form: str, rng: random.Random) -> str | None:
        """A time that a column holds, in a form of `strftime`; None where it holds none."""
        value = self.value(column, rng)
        moment = None if value is None else _moment(str(value))
        return None if moment is None else moment.strftime(form)

    def _query(self, column: int) -> str:
        one = self.schema.columns[column]
        table = self.schema.tables[one.table]
        name = exp.column(one.name, table=table.name, quoted=True)
        source = exp.table_(table.name, db=table.namespace or None, quoted=True)
        query = (
            exp.select(name.as_("value", quoted=True))
            .distinct()
            .from_(source)
            .where(name.copy().is_(exp.null()).not_())
        )
        return query.limit(SAMPLE).sql(self._executor.dialect)


def _is_said(cell: object) -> TypeGuard[Value]:
    return isinstance(cell, (int, float)) or (
        isinstance(cell, str) and 0 < len(cell.strip()) == len(cell) <= 60
    )


def _moment(text: str) -> datetime | None:
    found = _MOMENT.match(text)
    if found is None:
        return None
    year, month, day, hour, minute, second = (int(part or 0) for part in found.groups())
    try:
        return datetime(year, max(month, 1), max(day, 1), hour, minute, second, tzinfo=timezone.utc)
    except ValueError:  # a code that looks like a date
        return None
