"""Values that a text says almost: misspelled, in the plural, in another order of words, cut short, or in part.

Grams propose values that have letters in common with the text (`gram_table`), and the distance of `nearness` puts them in
order.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fastsql.linking.folding import keys
from fastsql.linking.gram_table import GramTable
from fastsql.linking.nearness import distance
from fastsql.linking.value_index import ValueIndex
from fastsql.linking.value_table import key_of

FARTHEST = 0.4
"""The distance beyond which nothing is near."""


@dataclass(frozen=True)
class Near:
    """A value that is near to a text: the columns that hold it, and how far it is, 0 to 1 (`nearness`)."""

    value: str
    columns: tuple[int, ...]
    distance: float


class NearIndex:
    """The values of an index by their grams. Immutable, so threads may share it."""

    def __init__(self, index: ValueIndex, grams: GramTable) -> None:
        self._index, self._grams = index, grams

    def nearest(self, text: str, columns: Collection[int] | None = None, limit: int = 5) -> tuple[Near, ...]:
        """At most `limit` values near to the whole of a text, the nearest first; those that one of `columns` holds."""
        said = keys(text)
        if not said or limit < 1:
            return ()
        sought = self._grams.sought([key_of(said)], contained=False)
        found = []
        for number in self._grams.propose(sought, self._index.table, self._allowed(columns)):
            value, held = self._index.value(number)
            far = distance(said, keys(value))
            if far <= FARTHEST:
                found.append(Near(value, held, far))
        return tuple(sorted(found, key=lambda near: (near.distance, near.value))[:limit])

    def _allowed(self, columns: Collection[int] | None) -> NDArray[np.bool_] | None:
        """bool[h]: the sets of columns that have one of `columns`."""
        if columns is None:
            return None
        wanted = frozenset(columns)
        return np.array([not wanted.isdisjoint(held) for held in self._index.holders], dtype=bool)
