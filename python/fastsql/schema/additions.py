"""Copies of a schema with more knowledge in it: constants, small-domain values, labels, synonyms and reference tables.

What is added here is written by a person for this schema, so a mistake in it is an error and not a warning.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from fastsql.errors import LimitError, SchemaError
from fastsql.limits import DEFAULT, check_seconds
from fastsql.schema.draft import DraftConstant
from fastsql.schema.findings import Findings
from fastsql.schema.literals import assemble_constants, assemble_values
from fastsql.schema.model import Column, Constant, Structure, Table, Value
from fastsql.schema.names import fold
from fastsql.schema.reference import without_referring

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path

    from sqlalchemy.engine import Engine

    from fastsql.limits import Limits

AnySchema = TypeVar("AnySchema", bound=Structure)
ColumnValues: TypeAlias = "Mapping[str, Iterable[Value]] | Mapping[tuple[str, str], Iterable[Value]]"
"""Values by "table.column", or by (table, column)."""
_NOTES = ("label", "synonyms", "description", "values", "reference")


def with_constants(
    schema: AnySchema, constants: Mapping[str, Value] | Iterable[Constant], limits: Limits
) -> AnySchema:
    """See :meth:`Schema.with_constants`."""
    if isinstance(constants, Mapping):
        constants = [Constant(name, value) for name, value in constants.items()]
    merged = {constant.name: constant for constant in (*schema.constants, *constants)}
    if len(merged) > limits.constants:
        raise LimitError.exceeded("constants", len(merged), limits.constants, where=f"schema {schema.name!r}")
    for constant in merged.values():
        if constant.column is not None and not 0 <= constant.column < len(schema.columns):
            raise SchemaError("its column index is out of range", where=f"constant {constant.name!r}")
    drafts = [DraftConstant(constant.name, constant.value, constant.label) for constant in merged.values()]
    checked = assemble_constants(schema, drafts, Findings(True, limits, []))
    bound = tuple(replace(constant, column=merged[constant.name].column) for constant in checked)
    return replace(schema, constants=bound)


def with_values(schema: AnySchema, values: ColumnValues, limits: Limits) -> AnySchema:
    """See :meth:`Schema.with_values`."""
    columns = list(schema.columns)
    for name, domain in values.items():
        index = _named_column(schema, name) if isinstance(name, str) else schema.column_index(*name)
        if index is None:
            raise SchemaError("there is no such column", where=repr(name), remedy='Write "table.column".')
        item = f"column {schema.qualified_name(index)}"
        columns[index] = replace(columns[index], values=_values(domain, item, limits))
    return replace(schema, columns=tuple(columns))


def _values(domain: Iterable[Value], item: str, limits: Limits) -> tuple[Value, ...]:
    given = list(dict.fromkeys(domain))
    if len(given) > limits.values_per_column:
        raise LimitError.exceeded(
            "values_per_column",
            len(given),
            limits.values_per_column,
            where=item,
            remedy="Give larger domains as a value dictionary.",
        )
    return assemble_values(given, item, Findings(True, limits, []))


def annotated(schema: AnySchema, notes: Mapping[str, Mapping[str, Any]], limits: Limits) -> AnySchema:
    """See :meth:`Schema.annotated`."""
    tables = list(schema.tables)
    columns = list(schema.columns)
    for name, note in notes.items():
        if unknown := sorted(set(note) - set(_NOTES)):
            raise SchemaError(
                f"{unknown[0]!r} is not a known note", where=name, remedy=f"Known are: {', '.join(_NOTES)}."
            )
        if (column := _named_column(schema, name)) is not None:
            columns[column] = _noted_column(columns[column], note, name, limits)
        elif (table := schema.find_table(name)) is not None:
            tables[table] = _noted_table(tables[table], note, name, limits)
        else:
            raise SchemaError(
                "there is no such table or column",
                where=repr(name),
                remedy='Write "table" or "table.column".',
            )
    return without_referring(
        replace(schema, tables=tuple(tables), columns=tuple(columns)), Findings(True, limits, [])
    )


def with_reference_tables(schema: AnySchema, tables: Iterable[str], limits: Limits) -> AnySchema:
    """See :meth:`Schema.with_reference_tables`."""
    marked = {schema.table_index(name) for name in tables}
    noted = (
        replace(table, reference=True) if index in marked else table
        for index, table in enumerate(schema.tables)
    )
    return without_referring(replace(schema, tables=tuple(noted)), Findings(True, limits, []))


def with_keys_from(
    schema: AnySchema, source: str | Path | sqlite3.Connection | Engine, seconds: float
) -> AnySchema:
    """See :meth:`Schema.with_keys_from`."""
    from fastsql.schema.contained import contained_keys
    from fastsql.schema.key_cells import open_cells

    check_seconds(seconds, "seconds")
    with open_cells(source, schema, seconds) as cells:
        keys = contained_keys(schema, cells)
        late = cells.late
    warnings = list(schema.warnings)
    if late:
        warnings.append(f"keys: looking for them took longer than {seconds:g} s")
    keyed = replace(schema, foreign_keys=(*schema.foreign_keys, *keys))
    found = without_referring(keyed, Findings(False, DEFAULT, warnings))
    return replace(found, warnings=tuple(warnings))


def with_default_namespace(schema: AnySchema, namespace: str) -> AnySchema:
    """See :meth:`Schema.with_default_namespace`."""
    if not any(table.namespace == namespace for table in schema.tables):
        raise SchemaError("there is no table of this namespace", where=f"namespace {namespace!r}")
    moved = replace(schema, default_namespace=namespace)
    names = [fold(moved.table_name(index)) for index in range(len(moved.tables))]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise SchemaError("two tables would have this name", where=f"table {twice!r}")
    return moved


def _named_column(schema: Structure, name: str) -> int | None:
    """The column of a "table.column", the table with its namespace or without; names may hold dots themselves."""
    places = [place for place, character in enumerate(name) if character == "."]
    found = {schema.find_column(name[:place], name[place + 1 :]) for place in places} - {None}
    if len(found) > 1:
        raise SchemaError("it could be the name of several columns", where=repr(name))
    return found.pop() if found else None


def _noted_column(column: Column, note: Mapping[str, Any], item: str, limits: Limits) -> Column:
    if "reference" in note:
        raise SchemaError("a column is no reference table", where=f"column {item}", remedy="Mark its table.")
    return replace(
        column,
        label=_note_text(note, "label", column.label, item, limits.label_characters) or column.label,
        synonyms=_note_synonyms(note, column.synonyms, item, limits),
        description=_note_text(note, "description", column.description, item, limits.description_characters),
        values=_values(note["values"], f"column {item}", limits) if "values" in note else column.values,
    )


def _noted_table(table: Table, note: Mapping[str, Any], item: str, limits: Limits) -> Table:
    if "values" in note:
        raise SchemaError("a table has no values", where=f"table {item!r}", remedy="Give them to a column.")
    reference = note.get("reference", table.reference)
    if not isinstance(reference, bool):
        raise SchemaError(
            f"its reference must be true or false, not {type(reference).__name__}", where=f"table {item!r}"
        )
    return replace(
        table,
        label=_note_text(note, "label", table.label, item, limits.label_characters) or table.label,
        synonyms=_note_synonyms(note, table.synonyms, item, limits),
        description=_note_text(note, "description", table.description, item, limits.description_characters),
        reference=reference,
    )


def _note_text(note: Mapping[str, Any], key: str, default: str, item: str, limit: int) -> str:
    text = note.get(key, default)
    if not isinstance(text, str):
        raise SchemaError(f"its {key} must be text, not {type(text).__name__}", where=item)
    if len(text) > limit:
        raise LimitError.exceeded(f"{key}_characters", len(text), limit, where=item)
    _require_unicode(text, key, item)
    return " ".join(text.split()) if key == "label" else text.strip()


def _note_synonyms(
    note: Mapping[str, Any], default: tuple[str, ...], item: str, limits: Limits
) -> tuple[str, ...]:
    words = note.get("synonyms", default)
    if isinstance(words, str) or not isinstance(words, Iterable):
        raise SchemaError("its synonyms must be a list of texts", where=item)
    kept = {_note_text({"label": word}, "label", "", item, limits.label_characters): None for word in words}
    kept.pop("", None)
    if len(kept) > limits.synonyms:
        raise LimitError.exceeded("synonyms", len(kept), limits.synonyms, where=item)
    return tuple(kept)


def _require_unicode(text: str, key: str, item: str) -> None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise SchemaError(f"its {key} is not valid Unicode", where=item) from error
