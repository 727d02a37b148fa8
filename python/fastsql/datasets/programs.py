"""Programs in a data set's file: terminals by the names of a schema's tables and columns."""

from __future__ import annotations

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
)
from fastsql.schema import Schema


def write_program(program: Program, schema: Schema) -> list[Any]:
    """A program as JSON holds it; the inverse of `read_program_rows`."""
    return [_written(terminal, schema) for terminal in program]


def read_program_rows(rows: Any, schema: Schema) -> Program:
    """Reads what `write_program` wrote. Raises ValueError, without any literal, for anything else."""
    if not isinstance(rows, list):
        raise ValueError("it is no list")
    tables = {schema.table_name(table): table for table in range(len(schema.tables))}
    columns = {schema.qualified_name(column): column for column in range(len(schema.columns))}
    return tuple(_read(row, position, tables, columns) for position, row in enumerate(rows))


def _written(terminal: Terminal, schema: Schema) -> Any:
    match terminal:
        case Production(name):
            return name
        case TableRef(table):
            return ["table", schema.table_name(table)]
        case ColumnRef(column, source):
            return ["column", schema.qualified_name(column), source]
        case DerivedRef(source, item):
            return ["item", source, item]
        case TurnRef(turn):
            return ["turn", turn]
        case Literal(value, form, name):
            return ["literal", value, form, name]


def _read(row: Any, position: int, tables: dict[str, int], columns: dict[str, int]) -> Terminal:
    match row:
        case str(name):
            return Production(name)
        case ["table", str(name)] if name in tables:
            return TableRef(tables[name])
        case ["column", str(name), int(source)] if name in columns:
            return ColumnRef(columns[name], source)
        case ["item", int(source), int(item)]:
            return DerivedRef(source, item)
        case ["turn", int(turn)]:
            return TurnRef(turn)
        case ["literal", str() | int() | float() as value, str(form), str(name)]:
            return Literal(value, form, name)
        case ["table" | "column", *_]:
            raise ValueError(f"terminal {position} is not in the schema")
    raise ValueError(f"terminal {position} cannot be read")
