"""Made-up rows as an SQLite database that lives as long as it is used."""

from __future__ import annotations

import contextlib
import sqlite3
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

from fastsql.errors import SchemaError
from fastsql.execution import Executor, open_executor
from fastsql.profile.model import Profile
from fastsql.schema import Schema
from fastsql.schema.names import quote
from fastsql.synthesis.contents.fillings import Constraints, Filling
from fastsql.synthesis.contents.rows import Table, make_rows
from fastsql.synthesis.contents.suggest import suggest


class MadeDatabase:
    """A temporary SQLite database of a schema, with rows made up for it."""

    def __init__(
        self,
        schema: Schema,
        seed: str = "1",
        *,
        fillings: Sequence[Filling] | None = None,
        profile: Profile | None = None,
        constraints: Constraints | None = None,
        size: float = 1.0,
    ) -> None:
        """The same arguments make the same rows. `fillings`: by column, where more is known than `suggest` tells.

        Raises SchemaError where SQLite cannot hold the tables.
        """
        fillings = fillings or suggest(schema, profile, seed)
        self.rows = make_rows(schema, fillings, seed, profile=profile, constraints=constraints, size=size)
        self._open = contextlib.ExitStack()
        folder = Path(self._open.enter_context(tempfile.TemporaryDirectory(prefix="fastsql-made-")))
        try:
            self.path, attached = _write(schema, self.rows, folder)
            self.executor: Executor = self._open.enter_context(open_executor(self.path, attached=attached))
        except sqlite3.Error as error:
            self.close()
            raise SchemaError(
                "SQLite cannot hold its tables",
                where=f"schema {schema.name!r}",
                remedy=f"SQLite says: {error}.",
            ) from error
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Closes and deletes it."""
        self._open.close()

    def __enter__(self) -> MadeDatabase:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _write(schema: Schema, rows: Sequence[Table], folder: Path) -> tuple[Path, dict[str, Path]]:
    """The main file, and one for each further namespace."""
    path = folder / "made.sqlite"
    named = dict.fromkeys(schema.namespace_in_sql(table) for table in range(len(schema.tables)))
    attached = {name: folder / f"namespace_{number}.sqlite" for number, name in enumerate(named) if name}
    connection = sqlite3.connect(path)
    try:
        connection.execute("PRAGMA synchronous = OFF")  # the files need not outlive the machine
        for name, file in attached.items():
            connection.execute(f"ATTACH ? AS {quote(name)}", (str(file),))
            connection.execute(f"PRAGMA {quote(name)}.synchronous = OFF")
        with connection:
            for statement in schema.to_ddl().split("\n\n"):
                if not statement.startswith("ATTACH"):
                    connection.execute(statement)
            for number, table in enumerate(schema.tables):
                namespace = schema.namespace_in_sql(number)
                name = f"{quote(namespace)}.{quote(table.name)}" if namespace else quote(table.name)
                marks = ", ".join("?" * len(table.columns))
                connection.executemany(f"INSERT INTO {name} VALUES ({marks})", rows[number])  # noqa: S608 - quoted
    finally:
        connection.close()
    return path, attached
