"""Profiles out of TOML files: what people write is checked strictly, and every error names its line and key."""

from __future__ import annotations

import importlib
import math
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from fastsql.errors import LimitError, SchemaError
from fastsql.limits import DEFAULT, Limits
from fastsql.profile.derive import derive
from fastsql.profile.model import KINDS, ColumnProfile, Profile, TableProfile
from fastsql.profile.toml_places import KeyPath, Place, outline
from fastsql.profile.writing import FORMAT
from fastsql.schema.mapping import read_text
from fastsql.schema.model import Structure, Value

_TOP: Final = ("format", "schema", "least", "table", "column")
_TEXT: Final = {
    "words": "label",
    "label": "label",
    "description": "description",
    "unit": "label",
    "unit_column": "identifier",
    "group": "label",
    "refers_to": "identifier",
}
"""Keys of texts, with the limit of their length."""
_TABLE_KEYS: Final = ("words", "label", "synonyms", "description", "row", "reference")
_COLUMN_KEYS: Final = (
    *(
        "words",
        "label",
        "synonyms",
        "description",
        "kind",
        "unit",
        "unit_column",
        "aggregatable",
        "group",
        "refers_to",
    ),
    "values",
)
_SHOWN = 5
"""Lines that an error about several names."""


def read_profile(path: str | Path, schema: Structure, limits: Limits = DEFAULT) -> Profile:
    """The profile of a file; what it does not say is as `derive` tells it of the schema.

    Raises:
        SchemaError: it cannot be read, is no TOML, or names what is not there or not known; `where` says line and key.
        LimitError: it is too large, or a text in it too long.
    """
    text = read_text(path, limits)
    return checked(str(path), text, schema, limits)


def checked(where: str, text: str, schema: Structure, limits: Limits = DEFAULT) -> Profile:
    """The same of a file's text."""
    data = parsed(where, text)
    reader = _Reader(where, tuple(outline(text)), schema, limits)
    reader.check_top(data)
    derived = derive(schema)
    tables, columns = list(derived.tables), list(derived.columns)
    for index, path, entry in reader.tables(data):
        tables[index] = reader.table(tables[index], index, path, entry)
    for index, path, entry in reader.columns(data):
        columns[index] = reader.column(columns[index], index, path, entry)
    return Profile(schema.name, tuple(tables), tuple(columns))


def parsed(where: str, text: str) -> dict[str, Any]:
    """A text as TOML. Raises SchemaError, with the line, where it is none."""
    tomllib = _parser()
    try:
        return dict(tomllib.loads(text))
    except (
        ValueError
    ) as error:  # a TOMLDecodeError is one; its message has line and column, and nothing of the text
        raise SchemaError(f"it is not TOML ({error})", where=where, remedy="Correct that line.") from error
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
class _Reader:
    where: str
    places: tuple[Place, ...]
    schema: Structure
    limits: Limits

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
                raise self._unknown((key,), _TOP)
        if data.get("format") != FORMAT or isinstance(data.get("format"), bool):
            raise SchemaError(
                f"its format is not {FORMAT}",
                where=self.at(("format",)),
                remedy="Make it again with this fastsql, or use the version that made it.",
            )
        for key in ("table", "column"):
            for name, entry in self._entries(data, (key,)):
                if not isinstance(entry, Mapping):
                    raise self._wrong((key, name), "a section")

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
                    raise self._wrong(path, "a section")
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
        lines = [self.at(path).removeprefix(f"{self.where}, ") for path in gone]
        more = f"; and so are {len(lines) - 1:,} more: {'; '.join(lines[1:_SHOWN])}" if len(lines) > 1 else ""
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
            raise self._wrong(path, "a section")
        return list(entries.items())

    def table(
        self, derived: TableProfile, index: int, path: KeyPath, entry: Mapping[str, Any]
    ) -> TableProfile:
        """A table's profile as its section says."""
        self._check_keys(entry, path, _TABLE_KEYS)
        changes = {key: self._text(entry[key], (*path, key), _TEXT[key]) for key in entry if key in _TEXT}
        if "reference" in entry:
            changes["reference"] = self._flag(entry["reference"], (*path, "reference"))
        if "row" in entry:
            names = self._texts(entry["row"], (*path, "row"), "identifier")
            for name in names:
                self._check_column(self.schema.table_name(index), name, (*path, "row"))
            changes["row"] = names
        # What a section leaves out is empty: whoever deletes a line means it.
        bare = TableProfile(words=derived.words, synonyms=self._synonyms(entry, path))
        return replace(bare, **changes)

    def column(
        self, derived: ColumnProfile, index: int, path: KeyPath, entry: Mapping[str, Any]
    ) -> ColumnProfile:
        """A column's profile as its section says."""
        self._check_keys(entry, path, _COLUMN_KEYS)
        changes: dict[str, Any] = {
            key: self._text(entry[key], (*path, key), _TEXT[key]) for key in entry if key in _TEXT
        }
        if "kind" in entry:
            if entry["kind"] not in KINDS:
                raise SchemaError(
                    "its kind is not known",
                    where=self.at((*path, "kind")),
                    remedy=f"Kinds are: {', '.join(KINDS)}.",
                )
            changes["kind"] = entry["kind"]
        if "aggregatable" in entry:
            changes["aggregatable"] = self._flag(entry["aggregatable"], (*path, "aggregatable"))
        table = self.schema.table_name(self.schema.columns[index].table)
        if changes.get("unit_column"):
            self._check_column(table, changes["unit_column"], (*path, "unit_column"))
        if changes.get("refers_to") and named_column(self.schema, changes["refers_to"]) is None:
            raise SchemaError(
                "there is no such column", where=self.at((*path, "refers_to")), remedy='Write "table.column".'
            )
        if "values" in entry:
            changes["values"] = self._values(entry["values"], index, (*path, "values"))
        bare = ColumnProfile(words=derived.words, kind=derived.kind, synonyms=self._synonyms(entry, path))
        return replace(bare, **changes)

    def _synonyms(self, entry: Mapping[str, Any], path: KeyPath) -> tuple[str, ...]:
        found = self._texts(entry.get("synonyms", []), (*path, "synonyms"), "label")
        if len(found) > self.limits.synonyms:
            raise LimitError.exceeded(
                "synonyms", len(found), self.limits.synonyms, where=self.at((*path, "synonyms"))
            )
        return found

    def _values(self, given: Any, index: int, path: KeyPath) -> dict[Value, tuple[str, ...]]:
        """Values with their synonyms. No error says one: they are cells."""
        if not isinstance(given, Mapping):
            raise self._wrong(path, 'a section of values, each with a list of texts: open = ["unpaid"]')
        if len(given) > self.limits.values_per_column:
            raise LimitError.exceeded(
                "values_per_column", len(given), self.limits.values_per_column, where=self.at(path)
            )
        is_number = self.schema.columns[index].type == "number"
        found: dict[Value, tuple[str, ...]] = {}
        for value, synonyms in given.items():
            if not isinstance(synonyms, list) or not all(isinstance(one, str) for one in synonyms):
                raise self._wrong_value(path, value, "a value must have a list of texts, such as []")
            number = _number(value) if is_number else value
            if number is None:
                raise self._wrong_value(path, value, "a value of a column of numbers must be a number")
            found[number] = tuple(dict.fromkeys(filter(None, (" ".join(one.split()) for one in synonyms))))
        return found

    def _wrong_value(self, path: KeyPath, value: str, what: str) -> SchemaError:
        """An error that names the line of a value and not the value."""
        lines = [place.first for place in self.places if place.path == (*path, value)]
        shown = f"{self.where}, line {lines[0]}, {'.'.join(path)}" if lines else self.at(path)
        return SchemaError(what, where=shown)

    def _check_column(self, table: str, name: str, path: KeyPath) -> None:
        if self.schema.find_column(table, name) is None:
            raise SchemaError(
                f"table {table!r} has no column {name!r}",
                where=self.at(path),
                remedy="Name columns of the same table.",
            )

    def _check_keys(self, entry: Mapping[str, Any], path: KeyPath, known: tuple[str, ...]) -> None:
        for key in entry:
            if key not in known:
                raise self._unknown((*path, key), known)

    def _text(self, value: Any, path: KeyPath, limit: str) -> Any:
        if not isinstance(value, str):
            raise self._wrong(path, "a text")
        most = getattr(self.limits, f"{limit}_characters")
        if limit == "identifier":
            most = 3 * most  # with the names of a table and a namespace before it
        if len(value) > most:
            raise LimitError.exceeded(f"{limit}_characters", len(value), most, where=self.at(path))
        return " ".join(value.split()) if limit == "label" else value.strip()

    def _texts(self, value: Any, path: KeyPath, limit: str) -> tuple[str, ...]:
        if not isinstance(value, list):
            raise self._wrong(path, "a list of texts")
        return tuple(dict.fromkeys(text for one in value if (text := self._text(one, path, limit))))

    def _flag(self, value: Any, path: KeyPath) -> Any:
        if not isinstance(value, bool):
            raise self._wrong(path, "true or false")
        return value

    def _wrong(self, path: KeyPath, wanted: str) -> SchemaError:
        return SchemaError(f"it must be {wanted}", where=self.at(path))

    def _unknown(self, path: KeyPath, known: tuple[str, ...]) -> SchemaError:
        return SchemaError(
            "there is no such key", where=self.at(path), remedy=f"Keys are: {', '.join(known)}."
        )


def unknown_sections(where: str, text: str, schema: Structure) -> list[KeyPath]:
    """Sections of a file whose tables or columns the schema does not have."""
    return _Reader(where, (), schema, DEFAULT).unknown(parsed(where, text))


def named_column(schema: Structure, name: str) -> int | None:
    """The column of a "table.column", either of which may hold dots; None where there is none, or several."""
    dots = [place for place, character in enumerate(name) if character == "."]
    found = {schema.find_column(name[:dot], name[dot + 1 :]) for dot in dots} - {None}
    return found.pop() if len(found) == 1 else None


def _number(text: str) -> Value | None:
    with suppress(ValueError):
        return int(text)
    with suppress(ValueError):
        number = float(text)
        return number if math.isfinite(number) else None
    return None
