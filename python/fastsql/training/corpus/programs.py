"""Programs as text: what a file keeps of them, and their templates."""

from __future__ import annotations

import json
from typing import Any

from fastsql.grammar.program import (
    ColumnRef,
    DerivedRef,
    Literal,
    Production,
    Program,
    TableRef,
    Terminal,
    TurnRef,
    masked,
)


def template(program: Program) -> str:
    """What programs share that differ in their literals alone, as text."""
    return dump_program(masked(program))


def dump_program(program: Program) -> str:
    """One line of JSON; the inverse of `parse_program`."""
    rows: list[list[Any]] = []
    for item in program:
        if isinstance(item, Production):
            rows.append([item.name])
        elif isinstance(item, TableRef):
            rows.append(["@table", item.table])
        elif isinstance(item, ColumnRef):
            rows.append(["@column", item.column, item.source])
        elif isinstance(item, DerivedRef):
            rows.append(["@item", item.source, item.item])
        elif isinstance(item, TurnRef):
            rows.append(["@turn", item.turn])
        else:
            rows.append(["@literal", item.value, item.format, item.name])
    return json.dumps(rows, ensure_ascii=False, separators=(",", ":"))


def parse_program(text: str) -> Program:
    """Reads what `dump_program` wrote. Raises ValueError for anything else."""
    items: list[Terminal] = []
    for row in json.loads(text):
        match row:
            case ["@table", int(table)]:
                items.append(TableRef(table))
            case ["@column", int(column), int(source)]:
                items.append(ColumnRef(column, source))
            case ["@item", int(source), int(item)]:
                items.append(DerivedRef(source, item))
            case ["@turn", int(turn)]:
                items.append(TurnRef(turn))
            case ["@literal", str() | int() | float() as value, str(form), str(name)]:
                items.append(Literal(value, form, name))
            case [str(production)]:
                items.append(Production(production))
            case _:
                raise ValueError(f"no terminal: a list of {len(row)}")
    return tuple(items)
