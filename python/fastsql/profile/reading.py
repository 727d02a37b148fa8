"""Profiles out of TOML files: what people write is checked strictly, and every error names its line and key."""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

from fastsql.errors import LimitError, SchemaError
from fastsql.limits import DEFAULT, Limits
from fastsql.profile.derive import derive
from fastsql.profile.model import KINDS, ColumnProfile, Profile, TableProfile
from fastsql.profile.sections import Sections, parsed
from fastsql.profile.toml_places import KeyPath, outline
from fastsql.schema.mapping import read_text
from fastsql.schema.model import Structure, Value

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
_COLUMN_KEYS: Final = (*_TEXT, "synonyms", "kind", "aggregatable", "values")


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
    # Rows of a terminology may be kept outside the database: only a file that says so, which somebody may have read, does.
    tables, columns = [replace(table, reference=False) for table in derived.tables], list(derived.columns)
    for index, path, entry in reader.tables(data):
        tables[index] = reader.table(tables[index], index, path, entry)
    for index, path, entry in reader.columns(data):
        columns[index] = reader.column(columns[index], index, path, entry)
    return Profile(schema.name, tuple(tables), tuple(columns))


@dataclass(frozen=True)
class _Reader(Sections):
    """Sections, and what stands in them."""

    limits: Limits

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
            raise self.wrong(path, 'a section of values, each with a list of texts: open = ["unpaid"]')
        if len(given) > self.limits.values_per_column:
            raise LimitError.exceeded(
                "values_per_column", len(given), self.limits.values_per_column, where=self.at(path)
            )
        is_number = self.schema.columns[index].type == "number"
        found: dict[Value, tuple[str, ...]] = {}
        for value, synonyms in given.items():
            if not isinstance(synonyms, list) or not all(isinstance(one, str) for one in synonyms):
                raise self._wrong_value(path, value, "a value must have a list of texts, such as []")
            if len(value) > self.limits.value_characters or any(
                len(one) > self.limits.label_characters for one in synonyms
            ):
                raise self._wrong_value(path, value, "a value or a synonym is longer than limits allow")
            if len(synonyms) > self.limits.synonyms:
                raise self._wrong_value(path, value, "a value has more synonyms than limits allow")
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
                # What is near no key may be a value whose header somebody deleted, and values are cells.
                if get_close_matches(key, known):
                    raise self.unknown_key((*path, key), known)
                raise self._wrong_value(path, key, "there is a key that no such section has")

    def _text(self, value: Any, path: KeyPath, limit: str) -> Any:
        if not isinstance(value, str):
            raise self.wrong(path, "a text")
        most = getattr(self.limits, f"{limit}_characters")
        if limit == "identifier":
            most = 3 * most  # with the names of a table and a namespace before it
        if len(value) > most:
            raise LimitError.exceeded(f"{limit}_characters", len(value), most, where=self.at(path))
        return " ".join(value.split()) if limit == "label" else value.strip()

    def _texts(self, value: Any, path: KeyPath, limit: str) -> tuple[str, ...]:
        if not isinstance(value, list):
            raise self.wrong(path, "a list of texts")
        return tuple(dict.fromkeys(text for one in value if (text := self._text(one, path, limit))))

    def _flag(self, value: Any, path: KeyPath) -> Any:
        if not isinstance(value, bool):
            raise self.wrong(path, "true or false")
        return value


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
