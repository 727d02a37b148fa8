"""Which columns hold the same keys: those that a join compares, as far as declared keys and names tell."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Set
from typing import TYPE_CHECKING

from fastsql.schema.names import fold

if TYPE_CHECKING:
    from fastsql.schema.model import Structure

FARTHEST = 4
"""Joins between tables that :func:`key_distances` tells of, at most."""
_NO_LETTERS = re.compile(r"[\W_]+")
COMMON_NAMES = frozenset({"id", "code", "key", "no", "nr", "number", "uuid", "guid", "rowid"})
"""Names that a primary key may have in any table: elsewhere the table's name stands before them."""
_MANNERS = ("name", "title", "label", "description", "type", "date", "value")
"""How names end that say what a column is like, not whose key it is."""


Pair = tuple[int, int]
"""A column of a foreign key, and the one that it refers to."""


def key_groups(schema: Structure) -> tuple[int, ...]:
    """For each column the least column that holds the same keys; -1 for one that is no key.

    Columns of a foreign key hold the keys that they refer to, and so do all that refer to one column. Between tables that
    no foreign key connects, columns are taken to refer to a primary key of one column by name and type: `patient_id` in
    any table to that of `patients`, or to its `id`.
    """
    pairs = [pair for key in schema.foreign_keys for pair in zip(key.columns, key.references, strict=True)]
    return _grouped(schema, pairs)


def join_groups(schema: Structure) -> tuple[int, ...]:
    """As :func:`key_groups`, where a foreign key of several columns is told by one of them; -1 for one that no join names.

    Parts of such keys say little by themselves: the hospital's number is a part of most keys of a network of hospitals, and
    no two of its tables are to be joined on it alone.
    """
    return _grouped(schema, telling_pairs(schema))


def telling_pairs(schema: Structure) -> list[Pair]:
    """Of each foreign key the pair of columns that tells it: of several the one that the fewest foreign keys have, the last
    of these, as keys go from what is wide to what is narrow: the hospital's number, then the patient's there.
    """
    uses = Counter(column for key in schema.foreign_keys for column in {*key.columns, *key.references})
    return [
        min(
            reversed(list(zip(key.columns, key.references, strict=True))),
            key=lambda pair: uses[pair[0]] + uses[pair[1]],
        )
        for key in schema.foreign_keys
    ]


def whole_keys(schema: Structure) -> dict[Pair, tuple[Pair, ...]]:
    """By the pair that tells a foreign key of several columns, in either order, all of its pairs in that order."""
    pairs = telling_pairs(schema)
    alone = {pair for pair, key in zip(pairs, schema.foreign_keys, strict=True) if len(key.columns) == 1}
    found: dict[Pair, tuple[Pair, ...]] = {}
    for pair, key in zip(pairs, schema.foreign_keys, strict=True):
        if len(key.columns) > 1 and pair not in alone:
            found.setdefault(pair, tuple(zip(key.columns, key.references, strict=True)))
            found.setdefault(pair[::-1], tuple(zip(key.references, key.columns, strict=True)))
    return found


def key_names(schema: Structure) -> tuple[int, ...]:
    """For each column the least key of a join that has its name and type; -1 where none is called so, or its name is common.

    A column of a key's name that no foreign key knows may hold such keys, those of several tables even: the `visit` of a
    report that was written for a stay or for a day in the clinic. What tells the rows of a table apart is its own.
    """
    groups, found = schema.join_groups, dict[tuple[str, str], int]()
    named = [(plain_name(column.name), column.type) for column in schema.columns]
    for column, (name, kind) in enumerate(named):
        if groups[column] >= 0 and name not in COMMON_NAMES:
            found.setdefault((name, kind), column)
    return tuple(
        -1 if column in schema.unique_columns and groups[column] < 0 else found.get(name, -1)
        for column, name in enumerate(named)
    )


def _grouped(schema: Structure, declared: Iterable[Pair]) -> tuple[int, ...]:
    group = list(range(len(schema.columns)))

    def root(column: int) -> int:
        while group[column] != column:
            column = group[column]
        return column

    keys: set[int] = set()
    for one, other in (*declared, *named_alike(schema)):
        keys |= {one, other}
        first, second = sorted((root(one), root(other)))
        group[second] = first
    return tuple(root(column) if column in keys else -1 for column in range(len(schema.columns)))


def key_distances(schema: Structure) -> tuple[bytes, ...]:
    """For each table and each other one the joins on keys that lead from one to the other; FARTHEST + 1 where none do."""
    tables_of = schema.tables_of_keys
    groups_of: list[list[int]] = [[] for _ in schema.tables]
    for group, tables in tables_of.items():
        for table in tables:
            groups_of[table].append(group)
    return tuple(_distances_from(table, groups_of, tables_of) for table in range(len(schema.tables)))


def _distances_from(start: int, groups_of: list[list[int]], tables_of: dict[int, frozenset[int]]) -> bytes:
    distances = bytearray([FARTHEST + 1]) * len(groups_of)
    distances[start] = 0
    border, passed = [start], set[int]()
    for distance in range(1, FARTHEST + 1):
        groups = {group for table in border for group in groups_of[table]} - passed
        passed |= groups
        reached = {table for group in groups for table in tables_of[group]}
        border = [table for table in reached if distances[table] > distance]
        for table in border:
            distances[table] = distance
    return bytes(distances)


def named_alike(schema: Structure) -> Iterator[tuple[int, int]]:
    """Columns and the primary keys that they are taken to refer to."""
    columns = schema.columns
    connected = {
        frozenset((columns[one].table, columns[other].table))
        for key in schema.foreign_keys
        for one, other in zip(key.columns, key.references, strict=True)
    }
    by_name: dict[str, list[int]] = defaultdict(list)
    for index, column in enumerate(columns):
        by_name[plain_name(column.name)].append(index)
    common = COMMON_NAMES | _names_of_several(schema)
    for number, table in enumerate(schema.tables):
        if len(table.primary_key) != 1:
            continue
        (key,) = table.primary_key
        for name in foreign_names(plain_name(columns[key].name), plain_name(table.name), common):
            for index in by_name.get(name, ()):
                other = columns[index].table
                if (
                    other != number
                    and columns[index].type == columns[key].type
                    and frozenset((other, number)) not in connected
                ):
                    yield index, key


def _names_of_several(schema: Structure) -> set[str]:
    """Names of keys that foreign keys tell apart: two that columns of other names refer to, such as a `pid` of projects and
    one of people. What else is called so may be either's, or neither's.
    """
    referred: dict[str, set[int]] = defaultdict(set)
    for key in schema.foreign_keys:
        if len(key.columns) == 1:
            child, parent = (plain_name(schema.columns[one].name) for one in (*key.columns, *key.references))
            if child != parent:
                referred[parent].add(key.references[0])
    return {name for name, keys in referred.items() if len(keys) > 1}


def foreign_names(key: str, table: str, common: Set[str] = COMMON_NAMES) -> set[str]:
    """What a column is called that refers to a table's primary key; `common` are names that do not say whose they are."""
    if key in common:
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


def plain_name(name: str) -> str:
    """The letters and digits of a name, without case."""
    return _NO_LETTERS.sub("", fold(name))
