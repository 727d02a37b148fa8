"""A profile that people have edited, brought up to a schema of today: lines are added and commented out, none is changed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from fastsql.limits import DEFAULT, Limits
from fastsql.profile.model import KINDS, Profile
from fastsql.profile.reading import checked
from fastsql.profile.sections import parsed, unknown_sections
from fastsql.profile.toml_places import KeyPath, Place, outline
from fastsql.profile.writing import column_section, section, table_sections, value_lines, write_whole
from fastsql.schema.mapping import read_text
from fastsql.schema.model import Structure
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
    text = text if text.endswith("\n") or not text else f"{text}\n"
    gone = [] if not text else unknown_sections(where, text, schema)
    text = _commented(text, gone)
    checked(where, text, schema, limits)
    data = parsed(where, text)
    tables = {schema.table_index(name) for name in data.get("table", {})}
    columns = {
        schema.column_index(table, name): entry
        for table, entries in data.get("column", {}).items()
        for name, entry in entries.items()
    }
    ends = _last_lines(schema, tuple(outline(text)))
    inserted: dict[int, list[str]] = defaultdict(list)
    if least is not None and "least" not in data:
        inserted[max(place.last for place in outline(text) if place.path == ("format",))].append(
            f"least = {least}\n"
        )
    added: list[str] = []
    values = 0
    for table, one in enumerate(schema.tables):
        if table not in tables and not any(column in columns for column in one.columns):
            inserted[_END] += table_sections(schema, profile, table)
            added.append(schema.table_name(table))
            continue
        for column in one.columns:
            if column not in columns:
                inserted[ends[("table", table)]].append(
                    column_section(schema, profile.columns[column], column)
                )
                added.append(schema.qualified_name(column))
                continue
            if columns[column].get("kind", "category") != "category":
                continue  # somebody says that its values are not to be listed
            known = {str(value) for value in columns[column].get("values", {})}
            new = {
                value: said
                for value, said in profile.columns[column].values.items()
                if str(value) not in known
            }
            if new and (place := ends.get(("values", column))) is not None:
                inserted[place].append("".join(f"{line}\n" for line in value_lines(new)))
                values += len(new)
            elif new and "values" not in columns[column]:
                values += len(new)
                path = ("column", schema.table_name(table), schema.columns[column].name, "values")
                inserted[ends[("column", column)]].append("\n" + section(path, value_lines(new)))
    text = _with(text, inserted)
    checked(where, text, schema, limits)  # lines may not fit behind others, as where keys are dotted
    return Update(text, tuple(added), tuple(".".join(path[1:]) for path in gone), values)


def with_kinds_of(path: Path, schema: Structure, profile: Profile, limits: Limits = DEFAULT) -> Profile:
    """The profile with the kinds that a file says, so that values are counted of what people call a category."""
    columns = list(profile.columns)
    entries = parsed(str(path), read_text(path, limits)).get("column", {})
    for table, named in entries.items() if isinstance(entries, dict) else ():
        for name, entry in named.items() if isinstance(named, dict) else ():
            column = schema.find_column(table, name)
            if column is not None and isinstance(entry, dict) and entry.get("kind") in KINDS:
                columns[column] = replace(columns[column], kind=entry["kind"])
    return replace(profile, columns=tuple(columns))


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
    write_whole(path, change.text.replace("\n", "\r\n") if crlf else change.text)
    return change


_END = 10**9
"""The line behind which sections of new tables go."""


def _last_lines(schema: Structure, places: Iterable[Place]) -> dict[tuple[str, int], int]:
    """The last line of what is said of each table, of each column, and of the section of its values."""
    ends: dict[tuple[str, int], int] = {}
    for place in places:
        if len(place.path) < 2 or place.path[0] not in ("table", "column"):
            continue
        table = schema.table_index(place.path[1])
        ends["table", table] = max(place.last, ends.get(("table", table), 0))
        if place.path[0] == "column" and len(place.path) > 2:
            column = schema.column_index(place.path[1], place.path[2])
            ends["column", column] = max(place.last, ends.get(("column", column), 0))
            if place.path[3:4] == ("values",) and (place.is_header or len(place.path) > 4):
                ends["values", column] = place.last
    return ends


def _commented(text: str, gone: list[KeyPath]) -> str:
    """The text with sections of what is gone as comments."""
    folded = {tuple(map(fold, path)) for path in gone}
    lines = _lines(text)
    for place in outline(text):
        path = tuple(map(fold, place.path))
        if any(path[: len(one)] == one for one in folded):
            for number in range(place.first - 1, place.last):
                lines[number] = _GONE + lines[number]
    return "".join(lines)


def _lines(text: str) -> list[str]:
    """Lines with their ends. TOML knows one, where `str.splitlines` knows ten."""
    return [f"{line}\n" for line in text.split("\n")[:-1]]


def _with(text: str, inserted: dict[int, list[str]]) -> str:
    """The text with sections after lines. Lines of values follow at once, sections after an empty line."""
    lines = _lines(text)
    for number in sorted(inserted, reverse=True):
        parts = inserted[number]
        spaced = [part if not part.startswith("[") else f"\n{part}" for part in parts]
        lines[min(number, len(lines)) : min(number, len(lines))] = spaced
    return "".join(lines)
