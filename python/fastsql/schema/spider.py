"""Spider's ``tables.json`` (Yu et al., EMNLP 2018), also used by BIRD and many others.

Its form is parallel lists joined by position.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastsql.errors import SchemaError
from fastsql.limits import DEFAULT, Limits
from fastsql.schema.assemble import assemble
from fastsql.schema.choice import ALL, Choice
from fastsql.schema.draft import Draft, DraftColumn, DraftKey, DraftTable
from fastsql.schema.mapping import group_keys, read_json

if TYPE_CHECKING:
    from fastsql.schema.model import Structure

_REMEDY = "Compare it with an entry of Spider's tables.json."


def is_spider(data: object) -> bool:
    """Whether a mapping is an entry of a Spider ``tables.json``."""
    return isinstance(data, Mapping) and "table_names_original" in data


def schema_from_spider(
    source: str | Path | Mapping[str, Any] | Sequence[Any],
    db_id: str | None = None,
    *,
    strict: bool = False,
    limits: Limits = DEFAULT,
) -> Structure:
    """See :meth:`Schema.from_spider`."""
    data = read_json(source, limits) if isinstance(source, (str, Path)) else source
    return schema_from_entry(_pick(data, db_id), strict=strict, limits=limits)


def _pick(data: Any, db_id: str | None) -> Any:
    entries = [data] if isinstance(data, Mapping) else data
    if not isinstance(entries, Sequence) or isinstance(entries, (str, bytes)):
        raise SchemaError(
            f"it must be a list of databases, not {type(data).__name__}", where="tables.json", remedy=_REMEDY
        )
    if db_id is not None:
        entries = [entry for entry in entries if isinstance(entry, Mapping) and entry.get("db_id") == db_id]
    if len(entries) == 1:
        return entries[0]
    if db_id is not None:
        raise SchemaError(f"there are {len(entries)} databases of this name", where=f"db_id {db_id!r}")
    raise SchemaError(
        f"it holds {len(entries)} databases", where="tables.json", remedy="Say which: give db_id."
    )


def schema_from_entry(
    entry: Any, *, strict: bool = False, limits: Limits = DEFAULT, choice: Choice = ALL
) -> Structure:
    """The schema of one entry; SchemaError names the list that does not fit."""
    if not isinstance(entry, Mapping):
        raise SchemaError("a database is not a mapping", where="tables.json", remedy=_REMEDY)
    name = str(entry.get("db_id", "schema"))
    names = _list(entry, "table_names_original", name)
    labels = _list(entry, "table_names", name, names)
    columns = _list(entry, "column_names_original", name)
    column_labels = _list(entry, "column_names", name, columns)
    types = _list(entry, "column_types", name, columns)
    if not len(columns) == len(column_labels) == len(types) or len(names) != len(labels):
        raise SchemaError(
            "the lists of names, labels and types differ in length", where=f"db_id {name!r}", remedy=_REMEDY
        )

    draft = Draft(name)
    draft.tables = [
        DraftTable(_text(table, "table_names_original", name), label=_text(label, "table_names", name))
        for table, label in zip(names, labels, strict=True)
    ]
    places: dict[int, tuple[DraftTable, DraftColumn]] = {}
    for number, (column, label, kind) in enumerate(zip(columns, column_labels, types, strict=True)):
        owner, column_name = _column_name(column, "column_names_original", name)
        if owner == -1:
            continue  # the first column is "*" and belongs to no table
        if not 0 <= owner < len(draft.tables):
            raise SchemaError(
                f"there is no table {owner}",
                where=f"column {column_name!r} of db_id {name!r}",
                remedy=_REMEDY,
            )
        kind = _text(kind, "column_types", name)
        # Spider's types are classes; BIRD's are SQL types.
        sql_type = "" if kind in ("number", "text", "time", "boolean", "others") else kind
        table = draft.tables[owner]
        words = _column_name(label, "column_names", name)[1]
        draft_column = DraftColumn(column_name, sql_type=sql_type, type=kind or None, label=words)
        table.columns.append(draft_column)
        places[number] = (table, draft_column)

    for key in _list(entry, "primary_keys", name, []):
        for number in key if isinstance(key, (list, tuple)) else [key]:
            table, column = _place(number, places, f"primary_keys of db_id {name!r}")
            column.primary_key = True
            table.primary_key.append(column.name)
    keys = []
    for pair in _list(entry, "foreign_keys", name, []):
        where = f"foreign_keys of db_id {name!r}"
        if not isinstance(pair, (list, tuple)) or len(pair) != 2:
            raise SchemaError("an entry is not a pair of column numbers", where=where, remedy=_REMEDY)
        (table, column), (parent, reference) = (_place(number, places, where) for number in pair)
        keys.append(DraftKey(table.name, [column.name], parent.name, [reference.name]))
    draft.foreign_keys = group_keys(keys, draft.tables)
    return assemble(draft, strict=strict, limits=limits, choice=choice)


def _list(entry: Mapping[str, Any], key: str, name: str, default: list[Any] | None = None) -> list[Any]:
    value = entry.get(key, default)
    if not isinstance(value, (list, tuple)):
        raise SchemaError(f"'{key}' is missing or not a list", where=f"db_id {name!r}", remedy=_REMEDY)
    return list(value)


def _text(value: Any, key: str, name: str) -> str:
    if not isinstance(value, str):
        raise SchemaError(
            f"'{key}' holds something that is not text", where=f"db_id {name!r}", remedy=_REMEDY
        )
    return value


def _column_name(value: Any, key: str, name: str) -> tuple[int, str]:
    if isinstance(value, (list, tuple)) and len(value) == 2:
        table, text = value
        if isinstance(table, int) and isinstance(text, str):
            return table, text
    raise SchemaError(
        f"'{key}' holds something that is not [table, name]", where=f"db_id {name!r}", remedy=_REMEDY
    )


def _place(
    number: Any, places: Mapping[int, tuple[DraftTable, DraftColumn]], where: str
) -> tuple[DraftTable, DraftColumn]:
    if not isinstance(number, int) or number not in places:
        raise SchemaError(f"there is no column number {number!r}", where=where, remedy=_REMEDY)
    return places[number]
