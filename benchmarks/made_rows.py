"""Rows made up for a schema that comes without any, and queries whose literals occur in them."""

from __future__ import annotations

if __name__ == "__main__":
    from parts import explain

    explain(__file__)

import hashlib
import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TypeAlias

from sqlglot import exp

from fastsql.schema import Schema
from fastsql.schema.model import ForeignKey, Value
from fastsql.schema.names import quote
from fastsql.synthesis.extension.reading import read
from fastsql.verification.parse import write

ROWS = 24
"""Rows of each table, if nothing else is said."""
DATES = ("2009-03-01", "2012-07-15", "2016-11-30", "2020-02-29")
NUMBERS = (0, 1, 20, 45)
Row: TypeAlias = "dict[int, Value | None]"
"""A row by the numbers of its columns."""
_COMPARISONS = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE)


class MadeRows:
    """Rows of every table: keys hold, each row that can be referred to is, and other columns take few values."""

    def __init__(self, schema: Schema, seed: int = 1) -> None:
        self.schema = schema
        self._rng = random.Random(seed)
        self.rows: dict[int, list[Row]] = {}
        for table in self._in_order():
            self.rows[table] = [self.row(table, number) for number in range(self.number_of(table))]

    def number_of(self, table: int) -> int:
        """How many rows a table gets."""
        return ROWS

    def write(self, path: Path) -> None:
        """Make an SQLite file of them, without keys: what holds is for its reader to see."""
        with closing(sqlite3.connect(path)) as connection:
            for number, table in enumerate(self.schema.tables):
                names = ", ".join(
                    f"{quote(self.schema.columns[c].name)} {self._type(c)}" for c in table.columns
                )
                connection.execute(f"CREATE TABLE {quote(table.name)} ({names})")
                marks = ", ".join("?" * len(table.columns))
                rows = [[row.get(column) for column in table.columns] for row in self.rows[number]]
                connection.executemany(f"INSERT INTO {quote(table.name)} VALUES ({marks})", rows)
            connection.commit()

    def with_literals(self, sql: str) -> str:
        """The query with values that its columns hold, equal ones for equal literals. Raises SynthesisError."""
        query = read(sql, self.schema)
        for use in query.uses:
            for node, column in use.columns:
                self._fit(node, column)
        return write(query.tree, "sqlite")

    def _fit(self, node: exp.Column, column: int) -> None:
        parent = node.parent
        sides: list[exp.Expr] = []
        if isinstance(parent, _COMPARISONS):
            sides = [parent.this, parent.expression]
        elif isinstance(parent, exp.In) and node is parent.this:
            sides = list(parent.expressions)
        elif isinstance(parent, exp.Between):
            sides = [parent.args["low"], parent.args["high"]]
            values = sorted(self._value(column, side.name) for side in sides if isinstance(side, exp.Literal))
            for side, value in zip(sides, values, strict=False):
                side.replace(exp.convert(value))
            return
        elif isinstance(parent, exp.Like) and isinstance(parent.expression, exp.Literal):
            text = parent.expression.name
            part = str(self._value(column, text))[:3]
            ends = ("%" if text[:1] == "%" else "", "%" if text[-1:] == "%" else "")
            parent.set("expression", exp.Literal.string(f"{ends[0]}{part}{ends[1]}"))
        for side in sides:
            if isinstance(side, exp.Literal):
                side.replace(exp.convert(self._value(column, side.name)))

    def _value(self, column: int, text: str) -> Value:
        held = {row[column] for row in self.rows[self.schema.columns[column].table]} - {None}
        values = sorted((value for value in held if value is not None), key=str)
        if text in map(str, values):
            return next(value for value in values if str(value) == text)
        place = int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big")
        return values[place % len(values)] if values else text

    def _in_order(self) -> Iterator[int]:
        """The tables, those first that others refer to, as far as there are no circles."""
        left = dict.fromkeys(range(len(self.schema.tables)))
        while left:
            others = {table: left.keys() - {table} for table in left}
            free = [t for t in left if others[t].isdisjoint(map(self._parent, self._keys(t)))]
            for table in free or [next(iter(left))]:
                yield table
                del left[table]

    def row(self, table: int, number: int) -> Row:
        """A row of a table: it refers to the row of its number in each table that it refers to, beginning at another one."""
        row: Row = {c: self._cell(c) for c in self.schema.tables[table].columns}
        keys = self._keys(table)
        for place, key in enumerate(keys):
            parents = self.rows.get(self._parent(key), [])
            chosen = parents[(number + 5 * place) % len(parents)] if parents else {}
            for column, reference in zip(key.columns, key.references, strict=True):
                row[column] = chosen.get(reference)
        primary = self.schema.tables[table].primary_key
        held = {column for key in keys for column in key.columns}
        serial = [column for column in primary if column not in held][:1]
        referred = {column for key in self.schema.foreign_keys for column in key.references} - held
        for column in {*serial, *(referred & set(self.schema.tables[table].columns))}:
            row[column] = self._serial(column, number)
        return row

    def _cell(self, column: int) -> Value | None:
        one = self.schema.columns[column]
        if one.values:
            return self._rng.choice(one.values)
        if one.type == "time":
            return self._rng.choice(DATES)
        if one.type in ("number", "boolean"):
            return self._rng.choice(NUMBERS)
        return self._rng.choice([f"{letter}{one.name[:6]}" for letter in "abc"])

    def _serial(self, column: int, number: int) -> Value:
        one = self.schema.columns[column]
        return number + 1 if one.type == "number" else f"{one.name[:4]}{number + 1:03}"

    def _keys(self, table: int) -> list[ForeignKey]:
        return [key for key in self.schema.foreign_keys if self.schema.columns[key.columns[0]].table == table]

    def _parent(self, key: ForeignKey) -> int:
        return self.schema.columns[key.references[0]].table

    def _type(self, column: int) -> str:
        return {"number": "NUMERIC", "boolean": "NUMERIC"}.get(self.schema.columns[column].type, "TEXT")
