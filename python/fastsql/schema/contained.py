"""Keys that nobody declared, told by values: a column whose values are keys of another table refers to it.

Any small number is among the ids 1 to n of every larger table, so that values alone tell little. Names must agree as well,
or the values must be such as do not agree by chance: codes, or numbers between which most are no keys.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Protocol
from uuid import UUID

from fastsql.schema.keys import COMMON_NAMES, foreign_names, plain_name
from fastsql.schema.model import ForeignKey, Structure
from fastsql.schema.names import fold, label_from_name

if TYPE_CHECKING:
    from collections.abc import Iterable

LEAST = 10
"""Distinct values that a column must have: fewer are among the keys of most tables."""
SHARE = 0.99
"""How many of its values must be keys."""
SPARSE = 0.1
"""How many of the numbers between the least and the greatest value may be keys, where names do not agree."""
SAMPLE = 2_000
"""Values of a column that are looked at."""
_TYPES = ("number", "text", "other")
_WORDS = re.compile(r"[^\W_]+")
_ROWS = ("rowid", "oid", "ctid")
"""Names of keys that number the rows of a table, to which nothing refers."""
_SHARED = 1
"""Agreement of names that have a word in common."""


class Cells(Protocol):
    """What is asked of a database. Columns are indices of the schema; None where the time is up."""

    def sample(self, column: int, most: int) -> list[Any] | None:
        """At most so many distinct values of a column that are not NULL, of its first rows."""

    def held(self, key: int, values: Sequence[Any]) -> int | None:
        """How many of some distinct values a key has."""

    def size(self, key: int) -> int | None:
        """How many distinct values a column has."""

    def is_unique(self, column: int) -> bool:
        """Whether no two rows have the same value there, and more than a few have one; False where the time is up."""

    @property
    def late(self) -> bool:
        """Whether the time was up before all was read."""


def contained_keys(schema: Structure, cells: Cells) -> tuple[ForeignKey, ...]:
    """The keys that values and names tell, one a column at most; those that names suggest are looked for first."""
    found: dict[int, tuple[int, float, int]] = {}
    samples: dict[int, list[Any]] = {}
    keys = _keys(schema, cells)
    for agreed, column, key in sorted(_pairs(schema, keys), key=lambda pair: (-pair[0], pair[1:])):
        best = found.get(column, (agreed, 0.0, key))
        if best[0] > agreed:
            continue
        if column not in samples:
            samples[column] = _codes(schema.columns[column].type, cells.sample(column, SAMPLE) or ())
        share = _share(cells, samples[column], key, named=agreed > 0)
        if share >= SHARE and share > best[1]:
            found[column] = agreed, share, key
    return tuple(ForeignKey((column,), (key,)) for column, (_, _, key) in sorted(found.items()))


def _keys(schema: Structure, cells: Cells) -> list[int]:
    """Primary keys of one column, and what is called like a key and tells rows apart: tables may have both."""
    return [
        index
        for index, column in enumerate(schema.columns)
        if index in schema.unique_columns
        or (
            column.type in _TYPES
            and plain_name(column.name).endswith(tuple(COMMON_NAMES))
            and cells.is_unique(index)
        )
    ]


def _pairs(schema: Structure, keys: Sequence[int]) -> Iterable[tuple[int, int, int]]:
    """Columns and keys that they may refer to, with how far their names agree: (agreement, column, key)."""
    referring = {column for key in schema.foreign_keys for column in key.columns}
    connected = {
        frozenset((schema.columns[one].table, schema.columns[other].table))
        for key in schema.foreign_keys
        for one, other in zip(key.columns, key.references, strict=True)
    }
    for index, column in enumerate(schema.columns):
        if index in referring or column.type not in _TYPES or _names_its_table(schema, index):
            continue
        for key in keys:
            other = schema.columns[key]
            tables = frozenset((column.table, other.table))
            alike = other.type == column.type and (
                column.type != "other" or fold(column.sql_type) == fold(other.sql_type)
            )
            if len(tables) < 2 or tables in connected or not alike or plain_name(other.name) in _ROWS:
                continue
            agreed, is_primary = agreement(schema, index, key), index in schema.unique_columns
            if is_primary and (agreed == _SHARED or key not in schema.unique_columns):
                continue
            yield agreed, index, key


def agreement(schema: Structure, column: int, key: int) -> int:
    """How far a name says that a column refers to a key: letters of the key's name that end it; 1: a common word; or 0."""
    name, table = schema.columns[key].name, schema.tables[schema.columns[key].table].name
    said = plain_name(schema.columns[column].name)
    ends = [len(one) for one in foreign_names(plain_name(name), plain_name(table)) if said.endswith(one)]
    if ends and max(ends) > _SHARED:
        return max(ends)
    return _SHARED if _words(schema.columns[column].name) & (_words(name) | _words(table)) else 0


def _names_its_table(schema: Structure, column: int) -> bool:
    """Whether a column is called by its own table: it tells its rows apart, and refers to no other."""
    words = _words(schema.columns[column].name)
    return bool(words) and words <= _words(schema.tables[schema.columns[column].table].name)


def _words(name: str) -> set[str]:
    """The words of a name in the singular, but for those that any key has."""
    found = {word[:-1] if word.endswith("s") else word for word in _WORDS.findall(label_from_name(name))}
    return found - COMMON_NAMES


def _codes(type_class: str, values: Sequence[Any]) -> list[Any]:
    """The values where there are enough, and no amounts among them; else none."""
    amounts = type_class == "number" and not all(str(value).isdecimal() for value in values)
    odd = amounts or not all(isinstance(value, (int, str, UUID, Decimal)) for value in values)
    return [] if len(values) < LEAST or odd else list(values)


def _share(cells: Cells, values: list[Any], key: int, *, named: bool) -> float:
    """How many of the values are keys, from 0 to 1; 0 where it may be by chance."""
    if not values or not (named or _is_sparse(cells, values, key)):
        return 0.0
    return (cells.held(key, values) or 0) / len(values)


def _is_sparse(cells: Cells, values: list[Any], key: int) -> bool:
    texts = [str(value) for value in values]
    if not all(text.isdecimal() for text in texts):
        return True
    numbers = [int(text) for text in texts]
    size = cells.size(key)
    return size is not None and size <= SPARSE * (max(numbers) - min(numbers) + 1)
