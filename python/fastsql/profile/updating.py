"""A profile that people have edited, brought up to a schema of today: lines are added and commented out, none is changed."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fastsql.errors import FastSQLError, SchemaError
from fastsql.limits import DEFAULT, Limits
from fastsql.profile.model import Profile
from fastsql.profile.reading import checked
from fastsql.profile.sections import Sections, parsed, unknown_sections
from fastsql.profile.toml_places import KeyPath, Place, outline
from fastsql.profile.writing import column_section, section, table_sections, value_lines, write_profile
from fastsql.schema.mapping import read_text
from fastsql.schema.model import Structure, Value
from fastsql.schema.names import fold

_GONE = "# gone: "


@dataclass(frozen=True)
class Update:
    """The new text of a file, and what was added and commented out, by name."""

    text: str
    added: tuple[str, ...]
    gone: tuple[str, ...]
    values: int = 0
    """Values of categories that were added."""


def updated(
    where: str,
    text: str,
    schema: Structure,
    profile: Profile,
    least: int | None = None,
    limits: Limits = DEFAULT,
) -> Update:
    """A file's text with sections for what of `profile` it lacks; those of what is gone become comments.

    New columns stand behind the others of their table. Sections that are there stay as they are, but for new values of
    categories, which `least` patients share; None where none were counted. Raises as `read_profile` does for what is wrong
    with the file beside that.
    """
    gone, text = _without_gone(where, text, schema)
    checked(where, text, schema, limits)
    data = parsed(where, text)
    tables = {schema.table_index(name) for name in data.get("table", {})}
    columns = _columns_of(data, schema)
    ends = _Ends(where, tuple(outline(text)), schema)
    added: list[_Added] = []
    if least is not None and "least" not in data:
        added.append(_Added("least", ends.of(("format",)), f"least = {least}\n"))
    names: list[str] = []
    values = 0
    for table, one in enumerate(schema.tables):
        if table not in tables and not any(column in columns for column in one.columns):
            names.append(schema.table_name(table))
            added += [_Added(names[-1], _END, text) for text in table_sections(schema, profile, table)]
            continue
        for column in one.columns:
            name = schema.qualified_name(column)
            if column not in columns:
                names.append(name)
                section_text = column_section(schema, profile.columns[column], column)
                added.append(_Added(name, ends.of_table(table), section_text))
                continue
            entry = columns[column]
            if entry.get("kind", "category") != "category":
                continue  # somebody says that its values are not to be listed
            known = {str(value) for value in entry.get("values", {})}
            counted = profile.columns[column].values
            new = {value: said for value, said in counted.items() if str(value) not in known}
            if new:
                values += len(new)
                added.append(_with_values(schema, ends, column, new, "values" in entry))
    return Update(
        _with(where, text, added, schema, limits),
        tuple(names),
        tuple(".".join(path[1:]) for path in gone),
        values,
    )


def with_said_of(path: Path, schema: Structure, profile: Profile, limits: Limits = DEFAULT) -> Profile:
    """The profile with what a file says of kinds, keys and terminologies, by which values are counted.

    What the file has no section of stays as it is derived. Raises as `updated` does.
    """
    where = str(path)
    text = _without_gone(where, read_text(path, limits), schema)[1]
    said, data = checked(where, text, schema, limits), parsed(where, text)
    columns, tables = list(profile.columns), list(profile.tables)
    known = _columns_of(data, schema)
    for column in known:
        one = said.columns[column]
        columns[column] = replace(columns[column], kind=one.kind, refers_to=one.refers_to)
    named = {schema.table_index(name) for name in data.get("table", {})}
    for table in named | {schema.columns[column].table for column in known}:
        tables[table] = replace(tables[table], reference=said.tables[table].reference)
    return replace(profile, tables=tuple(tables), columns=tuple(columns))


def least_of(path: Path, limits: Limits = DEFAULT) -> int | None:
    """How many patients share every value of a file, as it says; None where it holds none. Raises as `update_file`."""
    least = parsed(str(path), read_text(path, limits)).get("least")
    return least if isinstance(least, int) else None


def update_file(
    path: Path, schema: Structure, profile: Profile, least: int | None = None, limits: Limits = DEFAULT
) -> Update:
    """Bring a file up to a schema as `updated` does; its ends of lines stay what they are. Raises as `updated` does."""
    text = read_text(path, limits)
    with path.open("rb") as file:
        crlf = b"\r\n" in file.read()
    change = updated(str(path), text, schema, profile, least, limits)
    write_profile(path, change.text.replace("\n", "\r\n") if crlf else change.text)
    return change


_END = 10**9
"""The line behind which sections of new tables go."""


@dataclass(frozen=True)
class _Added:
    """Text behind a line of the file, and of what it is."""

    name: str
    line: int
    text: str

    @property
    def is_section(self) -> bool:
        return self.text.lstrip().startswith("[")


class _Ends:
    """The last lines of what a file says."""

    def __init__(self, where: str, places: tuple[Place, ...], schema: Structure) -> None:
        self._sections = Sections(where, places, schema)
        self._schema = schema
        self._last: dict[KeyPath | tuple[str, int], int] = {}
        for place in places:
            self._note(place)

    def _note(self, place: Place) -> None:
        path = place.path
        self._put(path[:1], place.last)
        if len(path) < 2 or path[0] not in ("table", "column"):
            return
        self._put(("table", self._schema.table_index(path[1])), place.last)
        if path[0] == "column" and len(path) > 2:
            column = self._schema.column_index(path[1], path[2])
            self._put(("column", column), place.last)
            if path[3:4] == ("values",) and (place.is_header or len(path) > 4):
                self._put(("values", column), place.last)

    def _put(self, key: KeyPath | tuple[str, int], line: int) -> None:
        self._last[key] = max(line, self._last.get(key, 0))

    def of(self, path: KeyPath) -> int:
        """Of a key that stands above all sections."""
        return self._last[path]

    def of_table(self, table: int) -> int:
        """Of a table and its columns. Raises SchemaError where no section is of them."""
        name = self._schema.table_name(table)
        return self._line(("table", table), ("table", name), ("column", name))

    def of_column(self, column: int) -> int:
        """Of a column. Raises as `of_table`."""
        one = self._schema.columns[column]
        return self._line(("column", column), ("column", self._schema.table_name(one.table), one.name))

    def of_values(self, column: int) -> int:
        """Of the values of a column. Raises as `of_table`."""
        one = self._schema.columns[column]
        return self._line(
            ("values", column), ("column", self._schema.table_name(one.table), one.name, "values")
        )

    def _line(self, key: tuple[str, int], *paths: KeyPath) -> int:
        if key in self._last:
            return self._last[key]
        places = [self._sections.at(path) for path in paths]
        raise SchemaError(
            "it is written inline",
            where=next((place for place in places if ", line " in place), places[0]),
            remedy="Give it a section of its own.",
        )


def _columns_of(data: Mapping[str, Any], schema: Structure) -> dict[int, Mapping[str, Any]]:
    """The sections of columns in a file that is checked."""
    return {
        schema.column_index(table, name): entry
        for table, entries in data.get("column", {}).items()
        for name, entry in entries.items()
    }


def _with_values(
    schema: Structure, ends: _Ends, column: int, new: Mapping[Value, tuple[str, ...]], has_values: bool
) -> _Added:
    """Lines of values that a file lacks, or a section of them."""
    name = schema.qualified_name(column)
    if has_values:
        lines = "".join(f"{line}\n" for line in value_lines(new))
        return _Added(name, ends.of_values(column), lines)
    one = schema.columns[column]
    path = ("column", schema.table_name(one.table), one.name, "values")
    return _Added(name, ends.of_column(column), "\n" + section(path, value_lines(new)))


def _without_gone(where: str, text: str, schema: Structure) -> tuple[list[KeyPath], str]:
    """Sections of what a schema does not have, and the text with them as comments, ending with a line break."""
    text = text if text.endswith("\n") or not text else f"{text}\n"
    gone = [] if not text else unknown_sections(where, text, schema)
    return gone, _commented(text, gone)


def _commented(text: str, gone: list[KeyPath]) -> str:
    """The text with sections of what is gone as comments."""
    folded = {tuple(map(fold, path)) for path in gone}
    lines = _lines(text)
    for place in outline(text):
        path = tuple(map(fold, place.path))
        if path[:2] in folded or path[:3] in folded:
            for number in range(place.first - 1, place.last):
                lines[number] = _GONE + lines[number]
    return "".join(lines)


def _lines(text: str) -> list[str]:
    """Lines with their ends. TOML knows one, where `str.splitlines` knows ten."""
    return [f"{line}\n" for line in text.split("\n")[:-1]]


def _with(where: str, text: str, added: list[_Added], schema: Structure, limits: Limits) -> str:
    """The text with what is added. Raises SchemaError that names the first of it that does not fit, and no value."""

    def fails(count: int) -> bool:
        try:
            checked(where, _inserted(text, added[:count]), schema, limits)
        except FastSQLError:
            return True
        return False

    if added and fails(len(added)):
        first = bisect_left(range(1, len(added)), True, key=fails)
        raise SchemaError(
            "it is written in a way that cannot be added to",
            where=f"{where}, {added[first].name}",
            remedy="Give each table, each column and its values a section of its own.",
        )
    return _inserted(text, added)


def _inserted(text: str, added: Sequence[_Added]) -> str:
    """The text with what is added: behind a line first keys and values, which are of its section, and then sections."""
    behind: dict[int, list[_Added]] = defaultdict(list)
    for one in added:
        behind[one.line].append(one)
    lines = _lines(text)
    for number in sorted(behind, reverse=True):
        ordered = sorted(behind[number], key=lambda one: one.is_section)
        parts = [f"\n{one.text}" if one.text.startswith("[") else one.text for one in ordered]
        lines[min(number, len(lines)) : min(number, len(lines))] = parts
    return "".join(lines)
