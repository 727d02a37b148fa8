"""A schema whose tables are made of another's: columns keep what is said of them, and keys lead where their columns went."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from fastsql.errors import LimitError, SchemaError
from fastsql.schema import Schema
from fastsql.schema.model import Column, Constant, ForeignKey, Table
from fastsql.schema.names import quote
from fastsql.synthesis.source import SynthesisError


@dataclass(frozen=True)
class NewColumn:
    """A column of the new schema and those of the old one that it holds."""

    column: Column
    origins: tuple[int, ...]


@dataclass(frozen=True)
class NewTable:
    """A table of the new schema; of `table` only names, labels and marks count.

    `rows` selects its rows from the old database, which is attached as ``old``, in the order of `columns`; `primary_key`
    has places among these. `keys` are the old foreign keys that it takes part in as child, None for all whose columns
    it has; a table with `keys` is no parent.
    """

    table: Table
    columns: tuple[NewColumn, ...]
    rows: str
    primary_key: tuple[int, ...] = ()
    keys: frozenset[int] | None = None

    def place(self, origin: int) -> int | None:
        """The place of the column that holds an old one."""
        return next((place for place, one in enumerate(self.columns) if origin in one.origins), None)

    def places(self, origins: Iterable[int]) -> tuple[int, ...] | None:
        """The places of all of these, None unless it has them all."""
        found = [self.place(origin) for origin in origins]
        return None if None in found else tuple(place for place in found if place is not None)


def unchanged(schema: Schema, number: int) -> NewTable:
    """A table that stays as it is."""
    table = schema.tables[number]
    return NewTable(
        table,
        tuple(NewColumn(schema.columns[column], (column,)) for column in table.columns),
        select_old(schema, number, table.columns),
        tuple(table.columns.index(column) for column in table.primary_key),
    )


def select_old(schema: Schema, number: int, columns: Iterable[int], where: str = "") -> str:
    """The query for columns of one table of the old database."""
    names = ", ".join(quote(schema.columns[column].name) for column in columns)
    tail = f" WHERE {where}" if where else ""
    return f"SELECT {names} FROM old.{quote(schema.tables[number].name)}{tail}"


def rebuilt(
    schema: Schema, tables: list[NewTable], links: Mapping[int, tuple[int, Iterable[int]]] | None = None
) -> Schema:
    """The schema of these tables.

    Args:
        schema: the old one.
        tables: all tables of the new one.
        links: foreign keys of tables that refer to the old columns that they hold: by new table, that of the parent with
            the old columns.

    Raises SynthesisError where it is beyond the limits of schemas.
    """
    starts = [0]
    for table in tables:
        starts.append(starts[-1] + len(table.columns))
    columns: list[Column] = []
    made: list[Table] = []
    for number, table in enumerate(tables):
        key = {starts[number] + place for place in table.primary_key}
        indices = range(starts[number], starts[number + 1])
        columns += [
            replace(one.column, table=number, primary_key=index in key)
            for index, one in zip(indices, table.columns, strict=True)
        ]
        made.append(
            replace(
                table.table,
                columns=tuple(indices),
                primary_key=tuple(starts[number] + place for place in table.primary_key),
            )
        )
    keys = set(_keys(schema, tables, starts))
    for number, (parent, origins) in (links or {}).items():
        held = list(origins)
        ends = tables[number].places(held), tables[parent].places(held)
        keys.add(_key(starts[number], ends[0] or (), starts[parent], ends[1] or ()))
    new = replace(
        schema,
        tables=tuple(made),
        columns=tuple(columns),
        foreign_keys=tuple(sorted(keys, key=lambda key: (key.columns, key.references))),
        constants=tuple(_constant(one, tables, starts) for one in schema.constants),
        warnings=(),
    )
    try:  # as whoever reads the file will take it: limits, doubles, reserved names
        read = Schema.from_dict(new.to_dict(), strict=True)
    except (SchemaError, LimitError) as error:
        raise SynthesisError(
            f"the extended schema is not valid ({error.what})",
            where=error.where,
            remedy="Leave the operation out.",
        ) from error
    return read


def _keys(schema: Schema, tables: list[NewTable], starts: list[int]) -> Iterable[ForeignKey]:
    """Each old key between all tables that hold its columns and all that hold those it refers to."""
    for number, key in enumerate(schema.foreign_keys):
        for child, one in enumerate(tables):
            columns = one.places(key.columns)
            if columns is None or (one.keys is not None and number not in one.keys):
                continue
            for parent, other in enumerate(tables):
                references = other.places(key.references)
                if references is not None and other.keys is None and (child, columns) != (parent, references):
                    yield _key(starts[child], columns, starts[parent], references)


def _key(child: int, columns: tuple[int, ...], parent: int, references: tuple[int, ...]) -> ForeignKey:
    pairs = sorted((child + one, parent + other) for one, other in zip(columns, references, strict=True))
    return ForeignKey(tuple(one for one, _ in pairs), tuple(other for _, other in pairs))


def _constant(constant: Constant, tables: list[NewTable], starts: list[int]) -> Constant:
    """A constant with the column that holds what it was bound to; bound to none where that is gone."""
    if constant.column is None:
        return constant
    places = ((number, table.place(constant.column)) for number, table in enumerate(tables))
    found = next((starts[number] + place for number, place in places if place is not None), None)
    return replace(constant, column=found)
