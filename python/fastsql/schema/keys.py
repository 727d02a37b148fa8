"""Which columns hold the same keys: those that a join compares, as far as declared keys and names tell."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING

from fastsql.schema.names import fold

if TYPE_CHECKING:
    from fastsql.schema.model import Structure

_NO_LETTERS = re.compile(r"[\W_]+")
_PLAIN = frozenset({"id", "code", "key", "no", "nr", "number", "uuid", "guid"})
"""Names that a primary key may have in any table: elsewhere the table's name stands before them."""
_MANNERS = ("name", "title", "label", "description", "type", "date", "value")
"""How names end that say what a column is like, not whose key it is."""


def key_groups(schema: Structure) -> tuple[int, ...]:
    """For each column the least column that holds the same keys; -1 for one that is no key of a join.

    Columns of a foreign key hold the keys that they refer to, and so do all that refer to one column. Between tables that
    no foreign key connects, columns are taken to refer to a primary key of one column by name and type: `patient_id` in
    any table to that of `patients`, or to its `id`.
    """
    group = list(range(len(schema.columns)))

    def root(column: int) -> int:
        while group[column] != column:
            column = group[column]
        return column

    declared = [pair for key in schema.foreign_keys for pair in zip(key.columns, key.references, strict=True)]
    keys: set[int] = set()
    for one, other in (*declared, *_named_alike(schema)):
        keys |= {one, other}
        first, second = sorted((root(one), root(other)))
        group[second] = first
    return tuple(root(column) if column in keys else -1 for column in range(len(schema.columns)))


def _named_alike(schema: Structure) -> Iterator[tuple[int, int]]:
    """Columns and the primary keys that they are taken to refer to."""
    columns = schema.columns
    connected = {
        frozenset((columns[one].table, columns[other].table))
        for key in schema.foreign_keys
        for one, other in zip(key.columns, key.references, strict=True)
    }
    by_name: dict[str, list[int]] = defaultdict(list)
    for index, column in enumerate(columns):
        by_name[_plain(column.name)].append(index)
    for number, table in enumerate(schema.tables):
        if len(table.primary_key) != 1:
            continue
        (key,) = table.primary_key
        for name in _foreign_names(_plain(columns[key].name), _plain(table.name)):
            for index in by_name.get(name, ()):
                other = columns[index].table
                if (
                    other != number
                    and columns[index].type == columns[key].type
                    and frozenset((other, number)) not in connected
                ):
                    yield index, key


def _foreign_names(key: str, table: str) -> set[str]:
    """What a column is called that refers to a table's primary key."""
    if key in _PLAIN:
        return {singular + key for singular in _singulars(table)}
    return set() if key.endswith(_MANNERS) else {key}


def _singulars(name: str) -> set[str]:
    """The name, and what it may be one of."""
    found = {name}
    if name.endswith("s"):
        found.add(name[:-1])
    if name.endswith("es"):
        found.add(name[:-2])
    if name.endswith("ies"):
        found.add(name[:-3] + "y")
    return found


def _plain(name: str) -> str:
    return _NO_LETTERS.sub("", fold(name))
