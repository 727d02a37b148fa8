"""A schema as HTML for notebooks: its tables, folded where there are many, with keys, labels and small domains."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from fastsql.view.cells import cut
from fastsql.view.markup import escaped, isolated, section, table

if TYPE_CHECKING:
    from fastsql.schema.model import Column, Structure, Table

_OPEN = 3
"""Tables up to which each is shown unfolded."""
_MOST_TABLES, _MOST_COLUMNS, _MOST_VALUES, _MOST_WARNINGS = 100, 100, 6, 20
"""How many are shown of each: a notebook must stay light whatever the schema."""
_LONGEST = 160
"""Cells that a description or a value takes."""


def as_html(schema: Structure) -> str:
    """The schema as one `section` element."""
    head = f"{_count(schema.tables, 'table')}, {_count(schema.columns, 'column')}, {escaped(schema.dialect)}"
    shown = enumerate(schema.tables[:_MOST_TABLES])
    parts = [
        f"<p><strong>{isolated(schema.name)}</strong>: {head}</p>",
        _warnings(schema.warnings),
        *(_table(schema, number, one) for number, one in shown),
        _more(len(schema.tables) - _MOST_TABLES, "table"),
    ]
    return section("schema", parts)


def _warnings(warnings: Sequence[str]) -> str:
    if not warnings:
        return ""
    told = "".join(f"<p>{escaped(warning)}</p>" for warning in warnings[:_MOST_WARNINGS])
    more = _more(len(warnings) - _MOST_WARNINGS, "warning")
    return f'<details><summary class="bad">{_count(warnings, "warning")}</summary>{told}{more}</details>'


def _table(schema: Structure, number: int, one: Table) -> str:
    targets = _targets(schema, one)
    rows = [
        _column(schema.columns[index], index in one.primary_key, targets.get(index, ()))
        for index in one.columns[:_MOST_COLUMNS]
    ]
    told = ", ".join(filter(None, (_called(one.name, one.label, one.synonyms), _short(one.description))))
    listed = table(("column", "type", "key", "also called", "values", "description"), rows)
    opened = " open" if len(schema.tables) <= _OPEN else ""
    return (
        f"<details{opened}><summary><code>{isolated(schema.table_name(number))}</code> "
        f"{_count(one.columns, 'column')}{f': {told}' if told else ''}</summary>"
        f"{listed}{_more(len(one.columns) - _MOST_COLUMNS, 'column')}</details>"
    )


def _column(column: Column, is_key: bool, targets: Sequence[str]) -> tuple[str, ...]:
    """A row of HTML."""
    keys = [*(["primary key"] if is_key else []), *(f"→ {isolated(target)}" for target in targets)]
    return (
        f"<code>{isolated(column.name)}</code>",
        escaped(column.sql_type or column.type),
        ", ".join(keys),
        _called(column.name, column.label, column.synonyms),
        _values(column),
        _short(column.description),
    )


def _targets(schema: Structure, one: Table) -> dict[int, list[str]]:
    """What columns of a table refer to."""
    found: dict[int, list[str]] = {}
    for key in schema.foreign_keys:
        for column, reference in zip(key.columns, key.references, strict=True):
            if column in one.columns:
                found.setdefault(column, []).append(schema.qualified_name(reference))
    return found


def _called(name: str, label: str, synonyms: Sequence[str]) -> str:
    """Names that a question may use beside the one in SQL."""
    plain = name.casefold().replace("_", " ")
    others = [other for other in (label, *synonyms) if other and other.casefold() != plain]
    return ", ".join(map(isolated, others))


def _values(column: Column) -> str:
    shown = ", ".join(isolated(cut(str(value), _LONGEST)) for value in column.values[:_MOST_VALUES])
    left = len(column.values) - _MOST_VALUES
    return f"{shown} and {left} more" if left > 0 else shown


def _short(text: str) -> str:
    return isolated(cut(text, _LONGEST)) if text else ""


def _count(items: Sequence[object], noun: str) -> str:
    return f"{len(items):,} {noun}{'' if len(items) == 1 else 's'}"


def _more(left: int, noun: str) -> str:
    return f"<p>and {left:,} {noun}{'' if left == 1 else 's'} more</p>" if left > 0 else ""
