"""A profile as TOML: written whole, or added to a file that people have edited."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from fastsql.errors import SchemaError
from fastsql.profile.model import BY_ROWS, ColumnProfile, Profile, TableProfile
from fastsql.schema.model import Structure, Value
from fastsql.whole_file import write_whole

FORMAT = 1
"""Of the file: raised when an older fastsql would misread it."""
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_CONTROL = re.compile("[\x7f]")

HEAD = """\
# What fastsql knows of the schema {schema}.
#
# Made from names, types, keys and comments{counted}. Edit whatever is wrong or missing:
# fastsql profile --update adds what is new to the schema and leaves everything else as it stands.
#
# words        the name in words. Questions may use it; the model goes on reading the name itself.
# label        what the model reads instead of the name. Give one where the name says little.
# synonyms     what else people call it.
# kind         identifier, code, category, amount, measure, date, name, text, other
# values       of a category, each with what people call it: open = ["unpaid", "outstanding"]
#
# docs/profile.md explains every key.

format = {format}
schema = {name}
"""


def profile_text(schema: Structure, profile: Profile, least: int | None = None) -> str:
    """The whole file. `least` is how many patients share every value in it; None where no value was counted."""
    counted = (
        f", with values of categories\n# that {least} patients or more share {BY_ROWS}"
        if least is not None
        else ""
    )
    parts = [
        HEAD.format(schema=_one_line(schema.name), name=quoted(schema.name), counted=counted, format=FORMAT)
    ]
    if least is not None:
        parts[0] += f"least = {least}\n"
    for table in range(len(schema.tables)):
        parts += table_sections(schema, profile, table)
    return "\n".join(parts)


def table_sections(schema: Structure, profile: Profile, table: int) -> list[str]:
    """The sections of a table and its columns, each ending with a line break."""
    columns = schema.tables[table].columns
    return [
        section(("table", schema.table_name(table)), _table_lines(profile.tables[table])),
        *(column_section(schema, profile.columns[column], column) for column in columns),
    ]


def column_section(schema: Structure, profile: ColumnProfile, column: int) -> str:
    """The section of a column, and that of its values."""
    path = ("column", schema.table_name(schema.columns[column].table), schema.columns[column].name)
    text = section(path, _column_lines(profile))
    if profile.values:
        text += "\n" + section((*path, "values"), value_lines(profile.values))
    return text


def section(path: Sequence[str], lines: Iterable[str]) -> str:
    """A header with its lines."""
    return "".join(f"{line}\n" for line in (f"[{'.'.join(map(key_text, path))}]", *lines))


def _table_lines(one: TableProfile) -> list[str]:
    return [
        *_named(one),
        *_given("row", one.row),
        *(["reference = true"] if one.reference else []),
    ]


def _column_lines(one: ColumnProfile) -> list[str]:
    return [
        *_named(one),
        f"kind = {quoted(one.kind)}",
        *_given("unit", one.unit),
        *_given("unit_column", one.unit_column),
        *(["aggregatable = true"] if one.aggregatable else []),
        *_given("group", one.group),
        *_given("refers_to", one.refers_to),
    ]


def _named(one: TableProfile | ColumnProfile) -> list[str]:
    return [
        f"words = {quoted(one.words)}",
        *_given("label", one.label),
        *_given("synonyms", one.synonyms),
        *_given("description", one.description),
    ]


def _given(key: str, value: str | Sequence[str]) -> list[str]:
    """A line of a key that is not empty."""
    if not value:
        return []
    return [f"{key} = {quoted(value) if isinstance(value, str) else listed(value)}"]


def value_lines(values: Mapping[Value, Sequence[str]]) -> list[str]:
    """A line a value, with its synonyms."""
    return [f"{key_text(str(value))} = {listed(synonyms)}" for value, synonyms in values.items()]


def listed(texts: Iterable[str]) -> str:
    """A TOML array of texts."""
    return f"[{', '.join(map(quoted, texts))}]"


def quoted(text: str) -> str:
    """A TOML string: JSON's escapes are TOML's, but for DEL."""
    return _CONTROL.sub(r"\\u007f", json.dumps(text, ensure_ascii=False))


def key_text(part: str) -> str:
    """A part of a TOML key, quoted where it must be."""
    return part if _BARE.fullmatch(part) else quoted(part)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def write_profile(path: Path, text: str) -> None:
    """Write a file that is there whole or as it was. Raises SchemaError naming the path."""
    try:
        write_whole(path, text.encode())
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise SchemaError(
            f"it cannot be written: {reason}", where=str(path), remedy="Check the folder."
        ) from error
    except UnicodeError:
        raise SchemaError(
            "it cannot be written: a name or a comment of the schema is not Unicode text",
            where=str(path),
            remedy="Correct it in the database.",
        ) from None
