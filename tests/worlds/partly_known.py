"""Databases of which a schema knows a part: odd names, hidden tables and columns, secrets in every hidden cell.

Of each world there are three databases: A and B, which differ in the hidden cells and in the rows of hidden tables and in
nothing else, and PLAIN, which holds no more than the schema.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fastsql.schema import Schema
from fastsql.schema.names import fold, quote

from ..databases import PostgresServer
from .database import literal, write_database

A, B, PLAIN = "a", "b", "plain"
SECRET = "Sesame"
"""What every hidden text holds, in its names or values."""
SECRET_NUMBER = 777_000_000
"""What hidden numbers begin with."""
TEXT, NUMBER, STRUCT = "TEXT", "INTEGER", "STRUCT"
ROWS = 6

TABLE_NAMES = (
    "patients|staff|PATIENTS|Staff|admissions|病人|w1|w2|t1|t2|user|order|a b|it's|q\"q|date|lower|count|Ward|ward"
    "|straße"
)
COLUMN_NAMES = (
    "gender|GENDER|Gender|ssn|SSN|name|Name|subject_id|id|age|t1|t2|t3|c1|c2|w1|user|rowid|oid|_rowid_|select|order|count"
    "|lower|text|date|length|max|current_date|病人|姓名|it's|q\"q|a b|a.b|É|é|İd|x|all|value|staff|patients|name_2"
)
SYSTEM_NAMES = "ctid|xmin|tableoid|rowid|_rowid_|oid|user|current_user|session_user|current_date|default"
_RESERVED = {"postgres": frozenset(("ctid", "xmin", "tableoid"))}
_VALUES: dict[str, tuple[Any, ...]] = {
    TEXT: ("F", "M", "Ada", "Ben", "a b", "", "it's", "100%", None),
    NUMBER: (0, 1, 2, 3, 5, 7, -1, None),
}


@dataclass(frozen=True)
class WorldColumn:
    """A column; a hidden one is in the database and not in the schema."""

    name: str
    kind: str
    hidden: bool = False
    fields: tuple[str, ...] = ()
    """Fields of a STRUCT, all texts."""


@dataclass(frozen=True)
class WorldTable:
    """A table; all columns of a hidden one are hidden."""

    name: str
    columns: tuple[WorldColumn, ...]
    hidden: bool = False

    @property
    def visible(self) -> tuple[WorldColumn, ...]:
        """The columns that the schema knows."""
        return tuple(column for column in self.columns if not column.hidden)


@dataclass(frozen=True)
class World:
    """Tables of one database in one dialect."""

    dialect: str
    seed: int
    tables: tuple[WorldTable, ...]

    @property
    def visible(self) -> tuple[WorldTable, ...]:
        """The tables that the schema knows."""
        return tuple(table for table in self.tables if not table.hidden)

    def hidden_names(self) -> list[str]:
        """Names of hidden tables and columns."""
        tables = [table.name for table in self.tables if table.hidden]
        return sorted({*tables, *(c.name for table in self.tables for c in table.columns if c.hidden)})

    def schema(self) -> Schema:
        """What an executor is told. Of every second world it says the namespace, too."""
        known = {table.name: {c.name: c.kind for c in table.visible} for table in self.visible}
        schema = Schema.from_dict(known)
        if self.dialect != "postgres" or self.seed % 2:
            return schema
        return replace(schema, tables=tuple(replace(table, namespace="public") for table in schema.tables))

    def script(self, variant: str) -> list[str]:
        """The statements that make the database."""
        rng = random.Random(self.seed)  # the visible cells are those of every variant
        secrets = random.Random(f"{self.seed} {variant}")
        statements = []
        for table in self.visible if variant == PLAIN else self.tables:
            columns = table.visible if variant == PLAIN else table.columns
            statements.append(f"CREATE TABLE {quote(table.name)} ({', '.join(map(_definition, columns))})")
            for _ in range(secrets.randint(1, ROWS) if table.hidden else ROWS):
                cells = {c.name: literal(rng.choice(_VALUES[c.kind])) for c in table.visible}
                written = (cells[c.name] if not c.hidden else _secret(c, secrets) for c in columns)
                statements.append(f"INSERT INTO {quote(table.name)} VALUES ({', '.join(written)})")
        return statements


def draw_world(dialect: str, seed: int) -> World:
    """The world of a seed."""
    rng = random.Random(f"{dialect} {seed}")
    names = _distinct(TABLE_NAMES.split("|"), dialect, rng)
    shown: set[str] = set()
    tables = []
    for number, name in enumerate(names[:6]):
        hidden = number >= 3 or fold(name) in shown
        if not hidden:
            shown.add(fold(name))
        tables.append(_draw_table(name, hidden, dialect, rng))
    if dialect == "duckdb":
        tables = _with_structures(tables, rng)
    return World(dialect, seed, tuple(tables))


def _draw_table(name: str, hidden: bool, dialect: str, rng: random.Random) -> WorldTable:
    names = _distinct(COLUMN_NAMES.split("|"), dialect, rng)[: rng.randint(4, 8)]
    shown: set[str] = set()
    columns = []
    for number, column in enumerate(names):
        secret = hidden or number >= 5 or (number > 1 and rng.random() < 0.4) or fold(column) in shown
        if not secret:
            shown.add(fold(column))
        kind = (TEXT, NUMBER)[number] if number < 2 else rng.choice((TEXT, TEXT, NUMBER))
        columns.append(WorldColumn(column, kind, secret))
    rng.shuffle(columns)
    return WorldTable(name, tuple(columns), hidden)


def _with_structures(tables: list[WorldTable], rng: random.Random) -> list[WorldTable]:
    """The same with hidden structures, whose fields look like columns of any source: DuckDB reads ``t1.name`` so."""
    texts = [column.name for table in tables for column in table.visible if column.kind == TEXT]
    fields = tuple({fold(name): name for name in texts}.values())
    found = []
    for table in tables:
        taken = {column.name.lower() for column in table.columns}
        names = [f"t{number}" for number in range(1, 7) if rng.random() < 0.7]
        extra = [WorldColumn(name, STRUCT, True, fields) for name in names if name not in taken]
        found.append(replace(table, columns=(*table.columns, *extra)))
    return found


def _distinct(names: Sequence[str], dialect: str, rng: random.Random) -> list[str]:
    """Names in random order, of which the database tells each from all others."""
    exact = dialect == "postgres"
    shuffled = rng.sample(list(names), len(names))
    kept = {name if exact else name.lower(): name for name in shuffled}
    return [name for name in kept.values() if name not in _RESERVED.get(dialect, ())]


def _definition(column: WorldColumn) -> str:
    kind = column.kind
    if kind == STRUCT:
        kind = f"STRUCT({', '.join(f'{quote(field)} TEXT' for field in column.fields)})"
    return f"{quote(column.name)} {kind}"


def _secret(column: WorldColumn, rng: random.Random) -> str:
    if column.kind == STRUCT:
        cells = (f"{literal(field)}: {_text(rng)}" for field in column.fields)
        return f"{{{', '.join(cells)}}}"
    if column.kind == TEXT:
        return _text(rng)
    return str(SECRET_NUMBER + rng.randrange(900_000))


def _text(rng: random.Random) -> str:
    # The letter before decides where it sorts: another in the other variant.
    return f"'{rng.choice('AFMahz')}{SECRET}{rng.randrange(1_000):03}'"


def make_database(world: World, variant: str, folder: Path, server: PostgresServer | None) -> str:
    """A database, as a path or a URL for `open_executor`."""
    name = f"world_{world.dialect}_{world.seed}_{variant}"
    statements = world.script(variant)
    if world.dialect == "postgres":
        assert server is not None
        import psycopg

        server.create_database(name)
        with psycopg.connect(server.conninfo(name)) as connection:
            for statement in statements:
                connection.execute(statement.encode())
            # Without statistics the server would compile what it could have run a hundred times.
            connection.execute(f"ALTER DATABASE {quote(name)} SET jit = off".encode())
        return server.url(name)
    return str(write_database(folder / f"{name}.{world.dialect}", ";".join(statements)))
