"""Trimming given characters is SQLite's in what it gives, and linear in what it takes."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from fastsql.execution import ReadOnlyExecutor
from fastsql.verification.trim import define_trims

VALUES: list[Any] = [
    "", "$", "$12$", "  x ", "注射$注", None, 0, 1, -5, 1.5, 3.0, 1e20, -1e-7, 1.5e300, 0.1 + 0.2, 10**17, float("inf"),
    b"$a$", "aab", "baéa",
]  # fmt: skip


@pytest.mark.parametrize("function", ["trim", "ltrim", "rtrim"])
def test_trim_gives_what_sqlite_gives(function: str) -> None:
    with closing(sqlite3.connect(":memory:")) as theirs, closing(sqlite3.connect(":memory:")) as ours:
        define_trims(ours)
        call = f"SELECT {function}(?1, ?2), typeof({function}(?1, ?2)), {function}(?1)"
        for arguments in product(VALUES, VALUES):
            assert ours.execute(call, arguments).fetchall() == theirs.execute(call, arguments).fetchall()


def test_two_long_texts_are_no_more_than_their_length(tmp_path: Path) -> None:
    path = tmp_path / "notes.sqlite"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE notes (text TEXT, dropped TEXT)")
        connection.execute("INSERT INTO notes VALUES (?, ?)", ("b" * 900_000, "a" * 900_000 + "b"))
    with ReadOnlyExecutor(path) as executor:  # an hour, by SQLite's own
        assert executor.run("SELECT trim(text, dropped), rtrim(text, 'x') = text FROM notes").rows == (
            ("", 1),
        )
