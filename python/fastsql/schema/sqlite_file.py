"""An SQLite file between queries: whether it is still the one that was opened, and how to open it so that nothing is left.

A database in WAL mode gets files beside it when it is opened, even read-only, and they stay. Where no other process has
written to its log it is therefore opened as immutable, which locks and creates nothing; then it is for the reader to see
that nobody wrote meanwhile.
"""

from __future__ import annotations

import os
import sqlite3
import stat
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

from fastsql.forking import inside_sqlite, let_forks_pass
from fastsql.schema.names import quote

_INSTRUCTIONS = 10_000
"""Virtual machine instructions between two chances for the process to fork."""
_VERSIONS = slice(18, 20)
"""Where the header says how the file is written and read: 1 with a rollback journal, 2 with a WAL."""
_TICK = 50_000_000
"""Nanoseconds within which two writes may bear the same time."""


class FileState(NamedTuple):
    """What tells whether a file is another one, or was written: compared, never interpreted."""

    device: int
    inode: int
    size: int
    modified: int
    changed: int
    log: tuple[int, int] | None
    """Size and time of the write-ahead log; None where there is none, or an empty one."""
    attached: tuple[FileState, ...] = ()
    """The same of files that are attached."""

    def same_file(self, other: FileState) -> bool:
        """Whether it is still the same file, written or not, and so are those attached."""
        here, there = (self, *self.attached), (other, *other.attached)
        return [(one.device, one.inode) for one in here] == [(one.device, one.inode) for one in there]

    def is_settled(self) -> bool:
        """Whether a write from now on would show in the times."""
        latest = max(max(one.modified, one.changed) for one in (self, *self.attached))
        return time.time_ns() - latest > _TICK


class SQLiteFile:
    """A database by its path, with those that are attached to it; the files behind them may change."""

    def __init__(self, path: str | Path, attached: Mapping[str, str | Path] | None = None) -> None:
        self.path = Path(path).absolute()
        self.attached = {name: SQLiteFile(other) for name, other in (attached or {}).items()}
        self._name = str(self.path)
        self._log = self._log_path()

    def look(self) -> FileState | None:
        """Its present state; None where there is no such file, or none that is attached."""
        try:
            found = os.stat(self._name)  # noqa: PTH116 - at every query: `Path.stat` takes twice as long
        except (OSError, ValueError):
            return None
        if not stat.S_ISREG(found.st_mode):
            return None
        attached = tuple(state for file in self.attached.values() if (state := file.look()) is not None)
        if len(attached) < len(self.attached):
            return None
        return FileState(
            found.st_dev,
            found.st_ino,
            found.st_size,
            found.st_mtime_ns,
            found.st_ctime_ns,
            self._log_state(),
            attached,
        )

    def address(self) -> tuple[str, bool]:
        """The URI by which to open it read-only, and whether that, or what is attached, is as immutable."""
        self._log = self._log_path()
        immutable = self._has_log_mode() and self._log_state() is None
        address = f"{self.path.as_uri()}?mode=ro{'&immutable=1' if immutable else ''}"
        others = [file.address()[1] for file in self.attached.values()]
        return address, immutable or any(others)

    def attach(self, connection: sqlite3.Connection) -> None:
        """Attach to a connection to this file, read-only, what belongs to it. Raises sqlite3.Error."""
        for name, file in self.attached.items():
            connection.execute(f"ATTACH ? AS {quote(name)}", [file.address()[0]])

    def _log_path(self) -> str:
        try:
            real = self.path.resolve()  # the log is beside the file that a link leads to
        except (OSError, RuntimeError, ValueError):  # no path at all, which looking at it will tell
            real = self.path
        return str(real.with_name(f"{real.name}-wal"))

    def _log_state(self) -> tuple[int, int] | None:
        try:
            found = os.stat(self._log)  # noqa: PTH116
        except (OSError, ValueError):
            return None
        return (found.st_size, found.st_mtime_ns) if found.st_size else None

    def _has_log_mode(self) -> bool:
        try:
            with self.path.open("rb") as file:
                return b"\x02" in file.read(_VERSIONS.stop)[_VERSIONS]
        except OSError:
            return False  # opening it will say why


class OvertakenError(sqlite3.OperationalError):
    """A database was written while it was read without a lock."""

    def __init__(self) -> None:
        super().__init__("the database was written while it was read")


@contextmanager
def open_read_only(
    path: str | Path, attached: Mapping[str, str | Path] | None = None
) -> Iterator[sqlite3.Connection]:
    """A connection to a file that is there, with others attached, for reading it once.

    Raises:
        sqlite3.Error: it is no database, damaged, or was written meanwhile; as the connection itself does.
    """
    file = SQLiteFile(path, attached)
    address, immutable = file.address()
    state = file.look()
    with inside_sqlite(), closing(sqlite3.connect(address, uri=True)) as connection:
        file.attach(connection)
        connection.set_progress_handler(let_forks_pass, _INSTRUCTIONS)
        yield connection
    if immutable and file.look() != state:
        raise OvertakenError


def text_of(cell: bytes) -> str | bytes:
    """Text of a cell, for `text_factory`; what is not UTF-8 stays bytes, and is then no value that could stand in SQL."""
    try:
        return cell.decode("utf-8")
    except UnicodeDecodeError:
        return cell
