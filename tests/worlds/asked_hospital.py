"""The demo hospital in three engines, and interactions about its patients: queries taken apart into turns.

The interactions are those of EHR-SeqSQL's construction (section 3.1), without their words: each question of a family over
the hospital's tables becomes steps, which take what earlier steps returned.
"""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from fastsql.demo import NOW
from fastsql.grammar import ConversionError, Program, load_grammar, render, sql_to_program
from fastsql.grammar.inlining import turns_of, write_out
from fastsql.grammar.program import Production, TurnRef
from fastsql.schema import Schema
from fastsql.synthesis.hospital.source import draw_question, hospital_schema
from fastsql.synthesis.hospital.ward import Ward
from fastsql.synthesis.interactions.decompose import decompose

from ..databases import PostgresServer

HOSPITAL = hospital_schema()
DIALECTS = ("sqlite", "duckdb", "postgres")
_DATABASE = "asked_hospital"
_MOST_ROWS = 50_000
"""Rows that are copied at once."""


@dataclass(frozen=True)
class Step:
    """A turn of an interaction: its query with everything written out.

    `stands_on`, `results`: by their places, the steps that it stands on, and those of them whose results it takes itself.
    """

    program: Program
    stands_on: frozenset[int]
    results: frozenset[int]

    def sql(self, dialect: str) -> str:
        """Its SQL, in the hospital's present."""
        return render(self.program, HOSPITAL, dialect=dialect, now=NOW)


def interactions(ward: Ward, count: int, seed: int = 1) -> Iterator[tuple[Step, ...]]:
    """So many interactions of two steps or more, the same for the same arguments."""
    made = number = 0
    while made < count:
        number += 1
        values = ward.values(random.Random(f"{seed}/{number}/values"))
        steps = _steps(draw_question(f"{seed}/{number}", values).sql(), clauses=number % 2 == 0)
        if len(steps) > 1:
            made += 1
            yield steps


def _steps(sql: str, *, clauses: bool) -> tuple[Step, ...]:
    grammar = load_grammar()
    try:
        program = sql_to_program(sql, HOSPITAL)
    except ConversionError:
        return ()
    steps: list[Step] = []
    for step in decompose(program, grammar, clauses=clauses):
        used = turns_of(step)
        written = write_out(step, {one: steps[one].program for one in used}, HOSPITAL, grammar)
        before = used.union(*(steps[one].stands_on for one in used))
        steps.append(Step(written, before, frozenset(_results(step))))
    return tuple(steps)


def _results(step: Program) -> Iterator[int]:
    """The turns behind a production that takes what they returned."""
    for one, turn in pairwise(step):
        if isinstance(turn, TurnRef) and one not in (Production("extend"), Production("extend_from")):
            yield turn.turn


def copied(path: Path, dialect: str, folder: Path, server: PostgresServer | None = None) -> str:
    """The target of an executor on a copy of a SQLite file of the hospital in another engine; its own in SQLite."""
    if dialect == "sqlite":
        return str(path)
    if dialect == "duckdb":
        return _in_duckdb(path, folder / "hospital.duckdb")
    assert server is not None
    return _in_postgres(path, server)


def _in_duckdb(path: Path, copy: Path) -> str:
    import duckdb

    with duckdb.connect(str(copy)) as connection:
        for statement in HOSPITAL.to_ddl("duckdb").split(";\n"):
            connection.execute(statement)
        for name, rows in _rows(path, HOSPITAL):
            columns = [list(cells) for cells in zip(*rows, strict=True)]
            items = ", ".join(f"unnest(${number})" for number in range(1, len(columns) + 1))
            connection.execute(f"INSERT INTO {name} SELECT {items}", columns)
    return str(copy)


def _in_postgres(path: Path, server: PostgresServer) -> str:
    import psycopg

    server.create_database(_DATABASE)
    with psycopg.connect(server.conninfo(_DATABASE)) as connection:
        connection.execute(HOSPITAL.to_ddl("postgres").encode())
        for name, rows in _rows(path, HOSPITAL):
            with connection.cursor() as cursor, cursor.copy(f"COPY {name} FROM STDIN".encode()) as copy:
                for row in rows:
                    copy.write_row(row)
        connection.commit()
        connection.execute("ANALYZE")
    return server.url(_DATABASE)


def _rows(path: Path, schema: Schema) -> Iterator[tuple[str, list[tuple[object, ...]]]]:
    """Rows of each table of a SQLite file, in the order of the schema's columns."""
    with closing(sqlite3.connect(path)) as connection:
        for table in schema.tables:
            columns = ", ".join(schema.columns[column].name for column in table.columns)
            cursor = connection.execute(f"SELECT {columns} FROM {table.name}")
            while rows := cursor.fetchmany(_MOST_ROWS):
                yield table.name, rows
