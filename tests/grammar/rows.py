"""Small databases with rows, the same on every run, to compare what two forms of a query answer."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterator
from datetime import datetime, timedelta

from fastsql.schema import Column, Schema

NOW = "2100-12-31 23:59:00"
TEXTS = (
    "ICU",
    "Emergency Room",
    "m",
    "f",
    "x",
    "glucose",
    "5% x_y",
    "care unit",
    "内科",
    "女",
    "血糖",
    "true",
    "C1",
)
ROWS = 24


def filled(schema: Schema, seed: int = 0) -> sqlite3.Connection:
    """A database of the schema in memory, with a few rows in each table."""
    connection = sqlite3.connect(":memory:")
    connection.executescript(schema.to_ddl())
    random_ = random.Random(seed)
    for table in schema.tables:
        columns = [schema.columns[j] for j in table.columns]
        marks = ", ".join("?" for _ in columns)
        name = table.name.replace('"', '""')
        rows = [tuple(_cell(column, random_) for column in columns) for _ in range(ROWS)]
        connection.executemany(f'INSERT OR IGNORE INTO "{name}" VALUES ({marks})', rows)
    connection.commit()
    return connection


def _cell(column: Column, random_: random.Random) -> str | int | float | None:
    if random_.random() < 0.1:
        return None
    if column.type == "number":
        whole = random_.randrange(6)
        return whole + random_.choice((0.0, 0.5)) if "REAL" in column.sql_type.upper() else whole
    if column.type == "boolean":
        return random_.randrange(2)
    if column.type == "time":
        moment = datetime.fromisoformat(NOW) - timedelta(
            days=random_.choice((0, 1, 2, 9, 33, 300, 500)), hours=random_.randrange(48)
        )
        return moment.isoformat(sep=" ")
    return random_.choice([str(value) for value in column.values] or TEXTS)


def answers(connection: sqlite3.Connection, sql: str) -> list[tuple[object, ...]]:
    """All rows of a query, in an order of their own."""

    def rounded(row: tuple[object, ...]) -> Iterator[object]:
        return (round(cell, 6) if isinstance(cell, float) else cell for cell in row)

    return sorted((tuple(rounded(row)) for row in connection.execute(sql)), key=repr)
