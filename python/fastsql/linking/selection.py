"""A part of a large schema that one question can be answered on: pre-selection of tables and columns.

Every row of the relation graph costs time, and a warehouse has thousands of columns, of which a query reads ten. What the
question says of names (`name_search`) and how the schema hangs together rank the columns (`column_ranking`); the first ones
are kept, with the keys that join their tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from fastsql.linking.column_ranking import ColumnRanking
from fastsql.linking.name_search import NameSearch

if TYPE_CHECKING:
    from fastsql.linking.candidate import Candidate
    from fastsql.schema import Schema

COLUMNS = 200
"""Columns that a selection keeps, unless told otherwise."""


@dataclass(frozen=True)
class Selection:
    """A reduced schema. `tables[i]` and `columns[j]` are the places in the whole schema of the part's tables and columns."""

    schema: Schema
    tables: tuple[int, ...]
    columns: tuple[int, ...]


class SchemaSelector:
    """Selects from one schema. Immutable once built, so threads may share it."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self._search = NameSearch(schema)
        self._ranking = ColumnRanking(schema)
        self._joins: list[list[tuple[int, tuple[int, ...]]]] = [[] for _ in schema.tables]
        """For each table the tables that a foreign key joins it to, with the columns of the key on both sides."""
        for key in schema.foreign_keys:
            one, other = schema.columns[key.columns[0]].table, schema.columns[key.references[0]].table
            self._joins[one].append((other, (*key.columns, *key.references)))
            self._joins[other].append((one, (*key.columns, *key.references)))

    def select(
        self, question: str, candidates: Sequence[Candidate] = (), *, limit: int = COLUMNS
    ) -> Selection:
        """The `limit` columns likeliest to be needed; the whole schema if it has no more columns.

        A table comes with its primary key and with the foreign keys that join it to tables chosen before. `candidates` are
        the question's, found with the whole schema (`find_candidates`).
        """
        schema = self.schema
        if len(schema.columns) <= limit:
            return Selection(schema, tuple(range(len(schema.tables))), tuple(range(len(schema.columns))))
        kept: set[int] = set()
        tables: set[int] = set()
        scores = self._ranking.scores(self._search.find(question, candidates))
        for column in np.argsort(-scores, kind="stable").tolist():
            if len(kept) == limit:
                break
            table = schema.columns[column].table
            with_keys = {column, *schema.tables[table].primary_key}
            if table not in tables:
                for other, columns in self._joins[table]:
                    if other in tables:
                        with_keys.update(columns)
            # At the end there may be room for the column, but not for its keys.
            for wanted in (with_keys, {column}):
                if len(kept | wanted) <= limit:
                    kept |= wanted
                    tables.add(table)
                    break
        return reduced(schema, kept)


def reduced(schema: Schema, columns: Iterable[int]) -> Selection:
    """The schema with these columns only, the tables that have one, and the foreign keys whose columns are all kept."""
    chosen = sorted(set(columns))
    place = {column: number for number, column in enumerate(chosen)}
    tables = sorted({schema.columns[column].table for column in chosen})
    table_place = {table: number for number, table in enumerate(tables)}
    part = replace(
        schema,
        tables=tuple(
            replace(
                schema.tables[table],
                columns=tuple(place[column] for column in schema.tables[table].columns if column in place),
                primary_key=_moved(schema.tables[table].primary_key, place),
            )
            for table in tables
        ),
        columns=tuple(
            replace(schema.columns[column], table=table_place[schema.columns[column].table])
            for column in chosen
        ),
        foreign_keys=tuple(
            replace(key, columns=_moved(key.columns, place), references=_moved(key.references, place))
            for key in schema.foreign_keys
            if all(column in place for column in (*key.columns, *key.references))
        ),
        constants=tuple(
            replace(constant, column=None if constant.column is None else place[constant.column])
            for constant in schema.constants
            if constant.column is None or constant.column in place
        ),
    )
    return Selection(part, tuple(tables), tuple(chosen))


def _moved(columns: tuple[int, ...], place: dict[int, int]) -> tuple[int, ...]:
    """The columns' new places; none where one of them is gone, as half a key is no key."""
    return tuple(place[column] for column in columns) if all(column in place for column in columns) else ()
