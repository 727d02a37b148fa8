"""The sections of a profile's file: of which tables and columns they are, and where each key stands, for errors to say."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from fastsql.errors import SchemaError
from fastsql.profile.toml_places import KeyPath, Place
from fastsql.profile.writing import FORMAT
from fastsql.schema.model import Structure

_TOP: Final = ("format", "schema", "least", "table", "column")
_SHOWN = 5
"""Lines that an error about several names."""
_PLACE = re.compile(r"\((at (?:line \d+, column \d+|end of document))\)$")


def parsed(where: str, text: str) -> dict[str, Any]:
    """A text as TOML. Raises SchemaError, with the line, for what is not TOML."""
    tomllib = _parser()
    try:
        return dict(tomllib.loads(text))
    except ValueError as error:
        # The parser's message may quote a key, and keys of values are cells: only the place is kept, and not the cause.
        place = _PLACE.search(str(error))
        what = f"it is not TOML ({place[1]})" if place else "it is not TOML"
        raise SchemaError(what, where=where, remedy="Correct that line.") from None
    except RecursionError as error:
        raise SchemaError("it nests too deeply for a profile", where=where) from error


def _parser() -> Any:
    name = "tomllib" if sys.version_info >= (3, 11) else "tomli"
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise SchemaError(
            f"reading TOML needs {name}", where="profile", remedy="Run: pip install 'tomli>=2.0'"
        ) from error


@dataclass(frozen=True)
class Sections:
    """The sections of one file; `places` are those of its `outline`."""

    where: str
    places: tuple[Place, ...]
    schema: Structure

    def at(self, path: KeyPath) -> str:
        """Where a key is, as errors say it."""
        lines = [place.first for place in self.places if place.path[: len(path)] == path]
        if not lines:  # a key in an inline table
            lines = [place.first for place in self.places if path[: len(place.path)] == place.path][-1:]
        shown = ".".join(path)
        return f"{self.where}, line {lines[0]}, {shown}" if lines else f"{self.where}, {shown}"

    def check_top(self, data: Mapping[str, Any]) -> None:
        """Raise SchemaError for what no profile has, and LimitError or SchemaError for another format."""
        for key in data:
            if key not in _TOP:
                raise self.unknown_key((key,), _TOP)
        if data.get("format") != FORMAT or isinstance(data.get("format"), bool):
            raise SchemaError(
                f"its format is not {FORMAT}",
                where=self.at(("format",)),
                remedy="Make it again with this fastsql, or use the version that made it.",
            )
        least = data.get("least", 1)
        if isinstance(least, bool) or not isinstance(least, int) or least < 1:
            raise self.wrong(("least",), "a whole number of at least 1")
        for key in ("table", "column"):
            for name, entry in self._entries(data, (key,)):
                if not isinstance(entry, Mapping):
                    raise self.wrong((key, name), "a section")

    def tables(self, data: Mapping[str, Any]) -> list[tuple[int, KeyPath, Mapping[str, Any]]]:
        """Tables that have a section, which none may have twice."""
        found: dict[int, tuple[KeyPath, Mapping[str, Any]]] = {}
        self._check_known(data)
        for name, entry in self._entries(data, ("table",)):
            self._put(found, self.schema.table_index(name), ("table", name), entry)
        return [(index, *rest) for index, rest in found.items()]

    def columns(self, data: Mapping[str, Any]) -> list[tuple[int, KeyPath, Mapping[str, Any]]]:
        """The same of columns."""
        found: dict[int, tuple[KeyPath, Mapping[str, Any]]] = {}
        for table, entries in self._entries(data, ("column",)):
            for name, entry in entries.items():
                path = ("column", table, name)
                if not isinstance(entry, Mapping):
                    raise self.wrong(path, "a section")
                self._put(found, self.schema.column_index(table, name), path, entry)
        return [(index, *rest) for index, rest in found.items()]

    def unknown(self, data: Mapping[str, Any]) -> list[KeyPath]:
        """Sections of tables and columns that the schema does not have."""
        gone: list[KeyPath] = [
            ("table", name)
            for name, _ in self._entries(data, ("table",))
            if self.schema.find_table(name) is None
        ]
        for table, entries in self._entries(data, ("column",)):
            if self.schema.find_table(table) is None:
                gone.append(("column", table))
            else:
                gone += [
                    ("column", table, name)
                    for name in entries
                    if self.schema.find_column(table, name) is None
                ]
        return gone

    def _check_known(self, data: Mapping[str, Any]) -> None:
        gone = self.unknown(data)
        if not gone:
            return
        named = {*data.get("table", ()), *data.get("column", ())}
        if named and all(self.schema.find_table(name) is None for name in named):
            raise SchemaError(
                f"it is the profile of another schema: none of its {len(named):,} tables is in {self.schema.name!r}",
                where=self.where,
                remedy="Give the profile of this schema, or make one: fastsql profile.",
            )
        lines = [self.at(path).removeprefix(f"{self.where}, ") for path in gone[1:_SHOWN]]
        more = f"; and so are {len(gone) - 1:,} more: {'; '.join(lines)}" if lines else ""
        kind = "column" if len(gone[0]) > 2 else "table"
        raise SchemaError(
            f"the schema has no such {kind}{more}",
            where=self.at(gone[0]),
            remedy="Correct the name, or run fastsql profile --update, which comments out what is gone.",
        )

    def _put(
        self,
        found: dict[int, tuple[KeyPath, Mapping[str, Any]]],
        index: int,
        path: KeyPath,
        entry: Mapping[str, Any],
    ) -> None:
        if index in found:
            raise SchemaError(
                f"it has two sections, the other one {self.at(found[index][0])}", where=self.at(path)
            )
        found[index] = path, entry

    def _entries(self, data: Mapping[str, Any], path: KeyPath) -> list[tuple[str, Any]]:
        entries = data.get(path[0], {})
        if not isinstance(entries, Mapping):
            raise self.wrong(path, "a section")
        return list(entries.items())

    def wrong(self, path: KeyPath, wanted: str) -> SchemaError:
        """The error of a value of another form."""
        return SchemaError(f"it must be {wanted}", where=self.at(path))

    def unknown_key(self, path: KeyPath, known: tuple[str, ...]) -> SchemaError:
        """The error of a key that no such section has."""
        return SchemaError(
            "there is no such key", where=self.at(path), remedy=f"Keys are: {', '.join(known)}."
        )


def unknown_sections(where: str, text: str, schema: Structure) -> list[KeyPath]:
    """Sections of a file whose tables or columns the schema does not have."""
    return Sections(where, (), schema).unknown(parsed(where, text))
