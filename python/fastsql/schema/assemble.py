"""From a draft to a schema: names become indices, and everything odd is recorded or refused.

Lenient loading keeps what SQL can be written on and leaves out the rest, with a warning for each thing left
out or guessed. Strict loading raises on the first of them. Sizes beyond the limits raise either way: leaving
out the 513th table would answer questions about it wrongly and silently.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from fastsql.errors import LimitError, SchemaError
from fastsql.limits import DEFAULT, Limits
from fastsql.schema.choice import ALL, Choice
from fastsql.schema.findings import (
    Findings,
    is_text,
    short,
    unusable,
    usable_description,
    usable_label,
    usable_synonyms,
)
from fastsql.schema.literals import assemble_constants, assemble_values
from fastsql.schema.model import USUAL_NAMESPACES, Column, ForeignKey, Structure, Table
from fastsql.schema.names import fold, is_reserved, label_from_name
from fastsql.schema.reference import without_referring
from fastsql.schema.sqltypes import classify_type

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fastsql.schema.draft import Draft, DraftColumn, DraftKey, DraftTable


def assemble(
    draft: Draft, *, strict: bool = False, limits: Limits = DEFAULT, choice: Choice = ALL
) -> Structure:
    """The schema of a draft, of the tables chosen; ``choice`` is for readers that have not asked it themselves.

    Raises:
        SchemaError: no table with a column is left, ``strict`` and something is odd, or a table that was chosen
        is not there; ``where`` is the item. LimitError: more tables, columns, keys or constants, or longer
        names, than ``limits`` allows.
    """
    findings = Findings(strict, limits, [])
    for item, what in draft.warnings:
        findings.note(item, what)
    findings.warnings += [f"{item}: {what}" for item, what in draft.notes]
    _choose(draft, choice)
    _check_sizes(draft, limits)

    namespaces = _Namespaces(draft)
    tables: list[Table] = []
    columns: list[Column] = []
    for source in _usable_tables(draft.tables, namespaces, findings):
        kept = _usable_columns(source, findings)
        if not kept:
            findings.note(f"table {source.name!r}", "it has no columns and is left out")
            continue
        indices = range(len(columns), len(columns) + len(kept))
        key = _primary_key(source, kept, indices.start, findings)
        columns.extend(
            _column(source, column, len(tables), index in key, findings)
            for index, column in zip(indices, kept, strict=True)
        )
        tables.append(
            Table(
                name=source.name,
                label=usable_label(namespaces.label(source), source.name, f"table {source.name!r}", findings),
                columns=tuple(indices),
                primary_key=key,
                synonyms=usable_synonyms(source.synonyms, f"table {source.name!r}", findings),
                description=usable_description(source.description, f"table {source.name!r}", findings),
                namespace=source.namespace,
                reference=source.reference,
            )
        )
    if not tables:
        raise SchemaError(
            "it has no table with a column",
            where=f"schema {draft.name!r}",
            remedy="Give a schema with at least one.",
        )

    schema = Structure(
        draft.name,
        tuple(tables),
        tuple(columns),
        dialect=draft.dialect,
        default_namespace=namespaces.default_to_write,
    )
    found_keys = (_foreign_key(schema, source, findings) for source in draft.foreign_keys)
    # The order in which keys are listed means nothing and differs from source to source; the fingerprint must not.
    keys = sorted(
        {found for found in found_keys if found is not None}, key=lambda key: (key.columns, key.references)
    )
    keyed = replace(schema, foreign_keys=tuple(keys))
    return Structure(
        name=schema.name,
        tables=without_referring(keyed, findings).tables,
        columns=schema.columns,
        foreign_keys=tuple(keys),
        constants=assemble_constants(schema, draft.constants, findings),
        warnings=tuple(findings.warnings),
        dialect=schema.dialect,
        default_namespace=schema.default_namespace,
    )


def _choose(draft: Draft, choice: Choice) -> None:
    kept: list[DraftTable] = []
    for table in draft.tables:
        (kept if choice.wants(table.name, table.namespace) else draft.left_out).append(table)
    draft.tables = kept
    choice.check()
    if draft.left_out:
        gone = _written(draft.left_out) - _written(kept)
        draft.foreign_keys = [
            key for key in draft.foreign_keys if gone.isdisjoint((fold(key.table), fold(key.parent)))
        ]


def _written(tables: list[DraftTable]) -> set[str]:
    """The names by which keys may refer to tables."""
    return {fold(name) for table in tables for name in (table.name, table.full_name)}


def _check_sizes(draft: Draft, limits: Limits) -> None:
    where = f"schema {draft.name!r}"
    remedy = "Load only the tables that questions are about, or raise Limits.{}."
    sizes = {
        "tables": len(draft.tables),
        "columns": sum(len(table.columns) for table in draft.tables),
        "foreign_keys": len(draft.foreign_keys),
        "constants": len(draft.constants),
    }
    for limit, found in sizes.items():
        if found > getattr(limits, limit):
            raise LimitError.exceeded(
                limit, found, getattr(limits, limit), where=where, remedy=remedy.format(limit)
            )
    for table in draft.tables:
        if len(table.columns) > limits.columns_per_table:
            raise LimitError.exceeded(
                "columns_per_table",
                len(table.columns),
                limits.columns_per_table,
                where=f"table {short(table.name)}",
            )
        for name in (table.name, table.namespace, *(column.name for column in table.columns)):
            if len(name) > limits.identifier_characters:
                raise LimitError.exceeded(
                    "identifier_characters",
                    len(name),
                    limits.identifier_characters,
                    where=f"name {short(name)}",
                )


@dataclass
class _Namespaces:
    """What the namespaces of a draft's tables do to their names."""

    draft: Draft

    def __post_init__(self) -> None:
        default = self.draft.default_namespace
        usual = USUAL_NAMESPACES.get(self.draft.dialect, ())
        self.default_to_write = "" if (default,) == usual else default
        self._uses = Counter(fold(table.name) for table in self.draft.tables)

    def label(self, table: DraftTable) -> str:
        """A table's own label; of those that share a name, one in another namespace than the default one says which."""
        if self._uses[fold(table.name)] == 1 or self.draft.shown(table) == table.name:
            return table.label
        label = table.label or label_from_name(table.name)
        same = label == label_from_name(table.name)
        return f"{label_from_name(table.namespace)} {label}" if same else label


def _usable_tables(
    tables: list[DraftTable], namespaces: _Namespaces, findings: Findings
) -> Iterable[DraftTable]:
    seen: set[str] = set()
    for table in tables:
        shown = namespaces.draft.shown(table)
        item = f"table {shown!r}"
        if reason := unusable(table.name) or (table.namespace and unusable(table.namespace)):
            findings.note(item, f"{reason}; the table is left out")
        elif is_reserved(table.name):
            findings.note(item, "SQLite reserves names that begin with sqlite_; the table is left out")
        elif fold(shown) in seen:
            findings.note(item, "there is another table of this name; this one is left out")
        else:
            seen.add(fold(shown))
            yield table


def _usable_columns(table: DraftTable, findings: Findings) -> list[DraftColumn]:
    kept: dict[str, DraftColumn] = {}
    for column in table.columns:
        item = f"column {table.name}.{column.name!r}"
        if reason := unusable(column.name):
            findings.note(item, f"{reason}; the column is left out")
        elif fold(column.name) in kept:
            findings.note(item, "the table has another column of this name; this one is left out")
        else:
            kept[fold(column.name)] = column
    return list(kept.values())


def _primary_key(
    table: DraftTable, kept: list[DraftColumn], start: int, findings: Findings
) -> tuple[int, ...]:
    places = {fold(column.name): start + place for place, column in enumerate(kept)}
    key: dict[int, None] = {}
    for name in table.primary_key:
        if (index := places.get(fold(name))) is None:
            findings.note(
                f"primary key of table {table.name!r}",
                f"there is no column {name!r}; it is left out of the key",
            )
        else:
            key[index] = None
    for column in kept:
        if column.primary_key:
            key[places[fold(column.name)]] = None
    return tuple(key)


def _column(table: DraftTable, column: DraftColumn, number: int, is_key: bool, findings: Findings) -> Column:
    item = f"column {table.name}.{column.name}"
    cls = classify_type(column.type if column.type else column.sql_type)
    if cls is None:
        cls = "other"
        declared = column.type or column.sql_type
        what = f"the type {declared!r} is unknown" if declared.strip() else "it has no type"
        findings.note(item, f"{what}; it is taken as 'other'")
    return Column(
        name=column.name,
        label=usable_label(column.label, column.name, item, findings),
        table=number,
        type=cls,
        sql_type=_sql_type(column.sql_type, findings.limits),
        primary_key=is_key,
        synonyms=usable_synonyms(column.synonyms, item, findings),
        description=usable_description(column.description, item, findings),
        values=assemble_values(column.values, item, findings),
        value_synonyms=tuple(
            (value, usable_synonyms(synonyms, item, findings)) for value, synonyms in column.value_synonyms
        ),
    )


def _sql_type(declared: str, limits: Limits) -> str:
    """The type as declared, in one line. A long one is a list of values, which stand with the column."""
    text = " ".join(declared.split()) if is_text(declared) else ""
    return text[: limits.identifier_characters].rstrip()


def _foreign_key(schema: Structure, key: DraftKey, findings: Findings) -> ForeignKey | None:
    item = f"foreign key {key.table}({', '.join(key.columns)}) -> {key.parent}({', '.join(key.references)})"
    child, parent = schema.find_table(key.table), schema.find_table(key.parent)
    if child is None or parent is None:
        findings.note(
            item, f"there is no table {key.table if child is None else key.parent!r}; the key is left out"
        )
        return None
    columns = [schema.find_column(key.table, name) for name in key.columns]
    references: list[int | None] = [schema.find_column(key.parent, name) for name in key.references]
    if not key.references:
        references = list(schema.tables[parent].primary_key)
    for name, index in (
        *zip(key.columns, columns, strict=True),
        *zip(key.references, references, strict=False),
    ):
        if index is None:
            findings.note(item, f"there is no column {name!r}; the key is left out")
            return None
    if not columns or len(columns) != len(references):
        findings.note(item, f"{len(columns)} columns refer to {len(references)}; the key is left out")
        return None
    found = [index for index in (*columns, *references) if index is not None]
    pairs = sorted(zip(found[: len(columns)], found[len(columns) :], strict=True))
    return ForeignKey(tuple(column for column, _ in pairs), tuple(reference for _, reference in pairs))
