"""Schemas as plain JSON data.

The uniform ``schemas.json``, our own ``to_dict`` form, and a short form to write by hand.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastsql.errors import LimitError, SchemaError
from fastsql.limits import DEFAULT, Limits
from fastsql.schema.assemble import assemble
from fastsql.schema.choice import ALL, Choice
from fastsql.schema.dialects import plain_dialect
from fastsql.schema.draft import Draft, DraftColumn, DraftConstant, DraftKey, DraftTable
from fastsql.schema.names import fold

if TYPE_CHECKING:
    from fastsql.schema.model import Column, Constant, ForeignKey, Structure, Table

FINGERPRINT_VERSION = 1
"""Part of every fingerprint: raised when the hashed form changes, so that caches of an older version miss."""


def read_text(path: str | Path, limits: Limits = DEFAULT) -> str:
    """The text of a schema file; SchemaError or LimitError names the path."""
    try:
        size = Path(path).stat().st_size
        if size > limits.schema_file_bytes:
            raise LimitError.exceeded("schema_file_bytes", size, limits.schema_file_bytes, where=str(path))
        return Path(path).read_text(encoding="utf-8-sig")
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise SchemaError(f"cannot be read: {reason}", where=str(path), remedy="Check the path.") from error
    except UnicodeDecodeError as error:
        raise SchemaError("is not UTF-8 text", where=str(path), remedy="Convert it to UTF-8.") from error


def read_json(path: str | Path, limits: Limits = DEFAULT) -> Any:
    """The data of a JSON schema file; SchemaError or LimitError names the path."""
    text = read_text(path, limits)
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise SchemaError(f"is not JSON (line {error.lineno}: {error.msg})", where=str(path)) from error
    except ValueError as error:
        raise SchemaError("holds a number with too many digits", where=str(path)) from error
    except RecursionError as error:
        raise SchemaError("nests too deeply for a schema", where=str(path)) from error


def schema_from_dict(
    data: Any, *, strict: bool = False, limits: Limits = DEFAULT, choice: Choice = ALL
) -> Structure:
    """See :meth:`Schema.from_dict`."""
    if not isinstance(data, Mapping):
        raise SchemaError(f"a schema is a mapping, not {type(data).__name__}", where="schema", remedy=_FORM)
    tables = data.get("tables", data if "columns" not in data else None)
    name = _text(
        data.get("db_id", data.get("name", "schema")) if "tables" in data else "schema", "schema", "name"
    )
    if not isinstance(tables, (Mapping, list, tuple)):
        raise SchemaError("'tables' is neither a list nor a mapping", where=f"schema {name!r}", remedy=_FORM)
    draft = Draft(name)
    if "tables" in data:
        draft.dialect = plain_dialect(_text(data.get("dialect", "sqlite"), f"schema {name!r}", "dialect"))
        draft.default_namespace = _text(
            data.get("default_namespace") or "", f"schema {name!r}", "default_namespace"
        )
    if isinstance(tables, Mapping):
        draft.tables = [
            _short_table(_text(key, "schema", "table name"), value) for key, value in tables.items()
        ]
    else:
        draft.tables = [_table(table) for table in tables]
    if "tables" in data:
        listed = _items(data, "foreign_keys", f"schema {name!r}")
        pairs = [_foreign_key(key, draft.tables) for key in listed if not isinstance(key, Mapping)]
        # A key written with its columns says itself whether it is composite.
        whole = [_foreign_key(key, draft.tables) for key in listed if isinstance(key, Mapping)]
        draft.foreign_keys = group_keys(pairs, draft.tables) + whole
        draft.constants = [
            _constant(item, draft.tables) for item in _items(data, "constants", f"schema {name!r}")
        ]
    return assemble(draft, strict=strict, limits=limits, choice=choice)


_FORM = (
    'The form is {"tables": [{"name": ..., "columns": [{"name": ..., "type": ...}]}], "foreign_keys": []}.'
)


def _text(value: Any, item: str, what: str) -> str:
    if not isinstance(value, str):
        raise SchemaError(f"its {what} must be text, not {type(value).__name__}", where=item, remedy=_FORM)
    return value


def _flag(data: Mapping[str, Any], key: str, item: str) -> bool:
    value = data.get(key, False)
    if not isinstance(value, bool):
        raise SchemaError(
            f"its {key} must be true or false, not {type(value).__name__}", where=item, remedy=_FORM
        )
    return value


def _items(data: Mapping[str, Any], key: str, item: str) -> list[Any]:
    value = data.get(key) or []
    if not isinstance(value, (list, tuple)):
        raise SchemaError(f"'{key}' is not a list", where=item, remedy=_FORM)
    return list(value)


def _texts(data: Mapping[str, Any], key: str, item: str) -> list[str]:
    return [_text(value, item, key) for value in _items(data, key, item)]


def _table(data: Any) -> DraftTable:
    if not isinstance(data, Mapping) or "name" not in data:
        raise SchemaError("an entry of 'tables' has no name", where="schema", remedy=_FORM)
    name = _text(data["name"], "table", "name")
    item = f"table {name!r}"
    return DraftTable(
        name=name,
        columns=[_column(column, name) for column in _column_entries(data.get("columns", []), item)],
        primary_key=_texts(data, "primary_key", item),
        label=_text(data.get("label") or "", item, "label"),
        synonyms=_texts(data, "synonyms", item),
        description=_text(data.get("description") or "", item, "description"),
        namespace=_text(data.get("namespace") or "", item, "namespace"),
        reference=_flag(data, "reference", item),
    )


def _short_table(name: str, data: Any) -> DraftTable:
    """The value of a table's name: ``{"gender": "TEXT"}``, a list of columns, or a whole entry without its name."""
    if isinstance(data, Mapping) and isinstance(data.get("columns"), (list, tuple, Mapping)):
        return _table({**data, "name": name})
    return DraftTable(name, [_column(column, name) for column in _column_entries(data, f"table {name!r}")])


def _column_entries(columns: Any, item: str) -> list[Any]:
    if isinstance(columns, (list, tuple)):
        return list(columns)
    if not isinstance(columns, Mapping):
        raise SchemaError(
            f"its columns must be a list or a mapping, not {type(columns).__name__}", where=item, remedy=_FORM
        )
    entries = []
    for name, value in columns.items():
        if not isinstance(value, (str, Mapping)):
            raise SchemaError(f"column {name!r} has no type", where=item, remedy=_FORM)
        entries.append({"name": name, **({"type": value} if isinstance(value, str) else value)})
    return entries


def _column(data: Any, table: str) -> DraftColumn:
    if isinstance(data, str):
        data = {"name": data}
    if not isinstance(data, Mapping) or "name" not in data:
        raise SchemaError("a column has no name", where=f"table {table!r}", remedy=_FORM)
    name = _text(data["name"], f"a column of table {table!r}", "name")
    item = f"column {table}.{name}"
    type_name = _text(data.get("type") or "", item, "type")
    sql_type = _text(data.get("sql_type") or "", item, "sql_type")
    return DraftColumn(
        name=name,
        # A type that is no class of ours ("integer", "character") is one of SQL, and kept as such.
        sql_type=sql_type or ("" if type_name in _CLASS_WORDS else type_name),
        type=type_name or None,
        label=_text(data.get("label") or "", item, "label"),
        primary_key=bool(data.get("primary_key")),
        synonyms=_texts(data, "synonyms", item),
        description=_text(data.get("description") or "", item, "description"),
        values=_items(data, "values", item),
        value_synonyms=_value_synonyms(data, item),
    )


def _value_synonyms(data: Mapping[str, Any], item: str) -> list[tuple[Any, list[str]]]:
    """``[["open", ["unpaid"]]]``: pairs, as a value may be a number and keys of JSON are texts."""
    pairs = _items(data, "value_synonyms", item)
    if not all(isinstance(pair, (list, tuple)) and len(pair) == 2 for pair in pairs):
        raise SchemaError("its value_synonyms are not pairs of a value and a list", where=item, remedy=_FORM)
    return [(value, _texts({"value_synonyms": texts}, "value_synonyms", item)) for value, texts in pairs]


_CLASS_WORDS = frozenset({"number", "text", "time", "boolean", "other", "others"})


def _foreign_key(data: Any, tables: list[DraftTable]) -> DraftKey:
    """``["t.c", "u.d"]``, or ``{"table", "columns", "parent", "references"}`` for a composite key."""
    item = "a foreign key"
    if isinstance(data, Mapping):
        return DraftKey(
            _text(data.get("table"), item, "table"),
            _texts(data, "columns", item),
            _text(data.get("parent"), item, "parent"),
            _texts(data, "references", item),
        )
    if not isinstance(data, (list, tuple)) or len(data) != 2:
        raise SchemaError('it is not a pair ["table.column", "table.column"]', where=item, remedy=_FORM)
    (table, column), (parent, reference) = (split_name(_text(end, item, "end"), tables) for end in data)
    return DraftKey(table, [column], parent, [reference])


def split_name(name: str, tables: list[DraftTable]) -> tuple[str, str]:
    """Table and column of "table.column", the table with its namespace or without.

    Each may hold a dot itself, so the known names decide; else the first dot does.
    """
    places = [place for place, character in enumerate(name) if character == "."]
    splits = [(name[:place], name[place + 1 :]) for place in places]
    columns_of = {
        fold(written): {fold(column.name) for column in table.columns}
        for table in reversed(tables)
        for written in (table.name, table.full_name)
    }
    for table, column in splits:
        if fold(column) in columns_of.get(fold(table), ()):
            return table, column
    # Nothing fits wholly: the split to complain about is one whose table is known.
    for table, column in splits:
        if fold(table) in columns_of:
            return table, column
    return splits[0] if splits else (name, "")


def group_keys(pairs: list[DraftKey], tables: list[DraftTable]) -> list[DraftKey]:
    """Join pairs of columns into composite keys.

    Spider's form and the uniform one write a composite key as several pairs of the same two tables. Several single keys
    between the same tables look alike (a flight's origin and destination), but refer to one column. So pairs are one key
    where they refer to all columns of a composite primary key, each once.
    """
    between: dict[tuple[str, str], list[DraftKey]] = {}
    for pair in pairs:
        between.setdefault((fold(pair.table), fold(pair.parent)), []).append(pair)
    primary = {
        fold(written): {fold(name) for name in table.primary_key}
        | {fold(column.name) for column in table.columns if column.primary_key}
        for table in reversed(tables)
        for written in (table.name, table.full_name)
    }
    grouped: list[DraftKey] = []
    for (_, parent), same in between.items():
        grouped.extend(_composite_keys(same, primary.get(parent, set())) or same)
    return grouped


def _composite_keys(pairs: list[DraftKey], primary: set[str]) -> list[DraftKey]:
    """The keys that the pairs of two tables make up: the n-th pair to each key column is of the n-th key. Else none."""
    by_reference: dict[str, list[DraftKey]] = {}
    for pair in pairs:
        by_reference.setdefault(fold(pair.references[0]), []).append(pair)
    if len(primary) < 2 or set(by_reference) != primary or len({len(v) for v in by_reference.values()}) != 1:
        return []
    keys = []
    for parts in zip(*by_reference.values(), strict=True):
        columns = [part.columns[0] for part in parts]
        if len({fold(column) for column in columns}) < len(columns):
            return []
        keys.append(
            DraftKey(parts[0].table, columns, parts[0].parent, [part.references[0] for part in parts])
        )
    return keys


def _constant(data: Any, tables: list[DraftTable]) -> DraftConstant:
    if not isinstance(data, Mapping) or "value" not in data:
        raise SchemaError(
            'it has no "value"', where="a constant", remedy='The form is {"name": ..., "value": ...}.'
        )
    name = _text(data.get("name"), "a constant", "name")
    item = f"constant {name!r}"
    column = data.get("column")
    return DraftConstant(
        name=name,
        value=data["value"],
        label=_text(data.get("label") or "", item, "label"),
        column=None if column is None else split_name(_text(column, item, "column"), tables),
    )


def schema_to_dict(schema: Structure) -> dict[str, Any]:
    """See :meth:`Schema.to_dict`. Empty fields are left out, so an entry stays readable."""
    data: dict[str, Any] = {
        "db_id": schema.name,
        "dialect": schema.dialect,
        **({"default_namespace": schema.default_namespace} if schema.default_namespace else {}),
        "tables": [_table_to_dict(schema, table) for table in schema.tables],
        "foreign_keys": [_key_to_dict(schema, key) for key in schema.foreign_keys],
    }
    if schema.constants:
        data["constants"] = [_constant_to_dict(schema, constant) for constant in schema.constants]
    return data


def _table_to_dict(schema: Structure, table: Table) -> dict[str, Any]:
    data: dict[str, Any] = {"name": table.name, "label": table.label}
    if len(table.primary_key) > 1:
        data["primary_key"] = [schema.columns[index].name for index in table.primary_key]
    if table.namespace:
        data["namespace"] = table.namespace
    if table.reference:
        data["reference"] = True
    return {
        **data,
        **_notes(table),
        "columns": [_column_to_dict(schema.columns[index]) for index in table.columns],
    }


def _column_to_dict(column: Column) -> dict[str, Any]:
    data: dict[str, Any] = {"name": column.name, "label": column.label, "type": column.type}
    if column.sql_type:
        data["sql_type"] = column.sql_type
    data["primary_key"] = column.primary_key
    data.update(_notes(column))
    if column.values:
        data["values"] = list(column.values)
    if column.value_synonyms:
        data["value_synonyms"] = [[value, list(synonyms)] for value, synonyms in column.value_synonyms]
    return data


def _notes(item: Table | Column) -> dict[str, Any]:
    notes: dict[str, Any] = {}
    if item.synonyms:
        notes["synonyms"] = list(item.synonyms)
    if item.description:
        notes["description"] = item.description
    return notes


def _key_to_dict(schema: Structure, key: ForeignKey) -> dict[str, Any]:
    return {
        "table": schema.table_name(schema.columns[key.columns[0]].table),
        "columns": [schema.columns[index].name for index in key.columns],
        "parent": schema.table_name(schema.columns[key.references[0]].table),
        "references": [schema.columns[index].name for index in key.references],
    }


def _constant_to_dict(schema: Structure, constant: Constant) -> dict[str, Any]:
    data: dict[str, Any] = {"name": constant.name, "value": constant.value, "label": constant.label}
    if constant.column is not None:
        data["column"] = schema.qualified_name(constant.column)
    return data


def fingerprint(schema: Structure) -> str:
    """SHA-256 over the canonical JSON of :func:`schema_to_dict` without the schema's name."""
    data = schema_to_dict(schema)
    del data["db_id"]
    text = json.dumps(
        [FINGERPRINT_VERSION, data], sort_keys=True, ensure_ascii=True, separators=(",", ":"), allow_nan=False
    )
    return hashlib.sha256(text.encode("ascii")).hexdigest()
