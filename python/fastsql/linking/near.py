"""Values that a text says almost: misspelled, in the plural, in another order of words, cut short, or in part.

Grams propose values that have letters in common with the text (`gram_table`), and the distance of `nearness` puts them in
order. In a question, a value is looked for around the words that one of its words may stand for; there, words are taken for
misspelled strictly (`nearness.STRICTLY`), since one drug must not become another.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastsql.linking.folding import keys
from fastsql.linking.gram_table import GramTable
from fastsql.linking.nearness import SHORTEST, STRICTLY, distance, half_letters, initials, pair_cost
from fastsql.linking.value_index import ValueIndex
from fastsql.linking.value_table import ValueTable, key_of

FARTHEST = 0.4
"""The distance beyond which nothing is near."""
SAID = 0.25
"""The distance up to which words of a question may stand for a value."""
FORMS = 3
"""Values that one place of a question may stand for."""

_SHORTEST = 4
_SHORTEST_UNSPACED = 3
_LONGEST = 128
"""Letters of a value that a question is searched for."""
_MORE = 2
"""Words that a place may have beyond those of the value."""


@dataclass(frozen=True)
class Near:
    """A value that is near to a text: the columns that hold it, and how far it is, 0 to 1 (`nearness`)."""

    value: str
    columns: tuple[int, ...]
    distance: float


@dataclass(frozen=True)
class Place:
    """Words ``[begin, end)`` of a question that may stand for a value."""

    begin: int
    end: int
    near: Near


class NearIndex:
    """The values of an index by their grams. Immutable, so threads may share it."""

    def __init__(self, index: ValueIndex, grams: GramTable) -> None:
        self._index, self._grams = index, grams
        self._native: Any = None
        self._sets: dict[frozenset[int], NDArray[np.bool_]] = {}

    def nearest(self, text: str, columns: Collection[int] | None = None, limit: int = 5) -> tuple[Near, ...]:
        """At most `limit` values near to the whole of a text, the nearest first; those that one of `columns` holds."""
        said = keys(text)
        if not said or limit < 1:
            return ()
        sought = self._grams.sought([key_of(said)], contained=False)
        found = []
        allowed = None if columns is None else self.allowed(columns)
        for number in self._grams.propose(sought, self._index.table, allowed):
            value, held = self._index.value(number)
            far = distance(said, keys(value))
            if far <= FARTHEST:
                found.append(Near(value, held, far))
        return tuple(sorted(found, key=lambda near: (near.distance, near.value))[:limit])

    def said(
        self,
        words: Sequence[str],
        idle: Collection[int],
        columns: Collection[int],
        settled: Sequence[tuple[int, int]] = (),
        core: ModuleType | None = None,
    ) -> tuple[Place, ...]:
        """Places in a question that are nearly a value that one of `columns` holds, the nearest first.

        `words` are the question's, empty ones where nothing is looked for; a place does not begin or end with words numbered
        `idle`. A word that is one of a proposed value's is none that is misspelled: "weight" stands for no "height" where
        there is a "daily weight". Words ``[begin, end)`` that are `settled` say a value exactly: a place may hold them among
        others, and no part of them. No two places overlap unless they are the same, of up to `FORMS` values.
        `core` is the native module where it is to look; the places are the same.
        """
        allowed = self.allowed(columns)
        asked = (words, idle, settled, allowed)
        rows = self._native_rows(*asked, core) if core else self._rows(*asked)
        found = []
        for far, begin, end, number in rows:
            value, held = self._index.value(number)
            kept = tuple(column for column in held if column in columns)
            found.append(Place(begin, end, Near(value, kept, far)))
        found.sort(key=lambda one: (one.near.distance, one.begin - one.end, one.begin, one.near.value))
        return _apart(found)

    def _rows(
        self,
        words: Sequence[str],
        idle: Collection[int],
        settled: Sequence[tuple[int, int]],
        allowed: NDArray[np.bool_] | None,
    ) -> Iterator[tuple[float, int, int, int]]:
        """Distance, first and last word (exclusive), and number of each value that has a place."""
        table, runs = self._index.table, _runs(words)
        telling = [key_of([words[place] for place in range(*run) if place not in idle]) for run in runs]
        proposed = self._grams.propose(self._grams.sought(telling, contained=True), table, allowed)
        values = [table.words(number) for number in proposed]
        known = frozenset(words).intersection(*[[word for value in values for word in value]])
        for number, value in zip(proposed, values, strict=True):
            place = _best_place(value, words, runs, idle, settled, known)
            if place is not None:
                yield *place, number

    def _native_rows(
        self,
        words: Sequence[str],
        idle: Collection[int],
        settled: Sequence[tuple[int, int]],
        allowed: NDArray[np.bool_] | None,
        core: ModuleType,
    ) -> list[tuple[float, int, int, int]]:
        marks = [int(place in idle) for place in range(len(words))]
        with self._index.reported():
            every = np.ones(len(self._index.holders), dtype=bool) if allowed is None else allowed
            rows: list[tuple[float, int, int, int]] = self._native_grams(core).said(
                words, marks, list(settled), every.tolist()
            )
        return rows

    def _native_grams(self, core: ModuleType) -> Any:
        """The native reader of the same bytes. Two threads may both make one; either will do."""
        if self._native is None:
            grams = self._grams
            checksums = np.zeros(0, dtype=np.uint32) if grams.file is None else grams.file.checksums
            body = np.frombuffer(grams.body, dtype=np.uint8)
            self._native = core.GramIndex(self._index.native(core), body, grams.bounds, checksums)
        return self._native

    def native_parts(
        self, core: ModuleType, texts: Sequence[object], allowed: NDArray[np.bool_]
    ) -> list[tuple[int, int, int, int, int]]:
        """What `value_parts.find_parts` gives, by the native reader."""
        with self._index.reported():
            rows: list[tuple[int, int, int, int, int]] = self._native_grams(core).parts(
                texts, allowed.tolist()
            )
        return rows

    @property
    def table(self) -> ValueTable:
        """The values."""
        return self._index.table

    @property
    def grams(self) -> GramTable:
        """Their grams."""
        return self._grams

    def allowed(self, columns: Collection[int]) -> NDArray[np.bool_]:
        """bool[h]: the sets of columns that have one of `columns`."""
        wanted = frozenset(columns)
        if wanted not in self._sets:
            of_set = [not wanted.isdisjoint(held) for held in self._index.holders]
            self._sets[wanted] = np.array(of_set, dtype=bool)
        return self._sets[wanted]


def _runs(words: Sequence[str]) -> list[tuple[int, int]]:
    """First and last place (exclusive) of the words between empty ones."""
    runs, begin = [], 0
    for place, word in enumerate([*words, ""]):
        if not word:
            if begin < place:
                runs.append((begin, place))
            begin = place + 1
    return runs


def _best_place(
    value: Sequence[str],
    words: Sequence[str],
    runs: Sequence[tuple[int, int]],
    idle: Collection[int],
    settled: Sequence[tuple[int, int]],
    known: Collection[str],
) -> tuple[float, int, int] | None:
    """How far a value is from the place of the question that is nearest to it, and that place; None if it is too far."""
    size = sum(map(len, value))
    if size > _LONGEST:
        return None
    first_letters = initials(value)
    best: tuple[float, int, int] | None = None
    for begin, end in runs:
        touched = [
            place
            for place in range(begin, end)
            if place not in idle and (words[place] == first_letters or _touches(words[place], value))
        ]
        for first in touched:
            for last in touched:
                said = words[first : last + 1]
                if not 0 < len(said) <= len(value) + _MORE or not _is_telling(said):
                    continue
                if any(
                    begun < last + 1
                    and first < ended
                    and (begun < first or ended > last + 1 or len(said) == ended - begun)
                    for begun, ended in settled
                ):
                    continue
                if any(word in known and not _is_in(word, value) for word in said):
                    continue
                longest = max(size, sum(map(len, said)))
                far = _cost(said, value, first_letters) / (2 * longest)
                if far <= SAID and (best is None or (far, first, last + 1) < best):
                    best = far, first, last + 1
    return best


def _cost(said: Sequence[str], value: Sequence[str], first_letters: str) -> int:
    """The half letters from words of a question to a value.

    One word stands for several by initials or all letters; it is no value with an ending, but for a plural s.
    """
    if len(said) == 1 and said[0] != first_letters:
        joined = "".join(value)
        inflected = said[0].startswith(joined) and said[0] != joined + "s"
        if inflected or (len(value) > 1 and joined.startswith(said[0])):
            return 2 * len(said[0] + joined)
        cost = pair_cost(said[0], joined, STRICTLY)
        return 2 * len(said[0] + joined) if cost is None else max(cost, int(said != value))
    return half_letters(said, value, STRICTLY)


def _is_in(word: str, value: Sequence[str]) -> bool:
    """Whether a word is one of a value's, but for a plural s."""
    return any(word == other or word + "s" == other or word == other + "s" for other in value)


def _touches(word: str, value: Sequence[str]) -> bool:
    """Whether a word of a question stands for one of a value's, or is written together with it."""
    for other in value:
        if pair_cost(word, other, STRICTLY) is not None:
            return True
        short, long = sorted((word, other), key=len)
        if len(short) >= SHORTEST and long.endswith(short):
            return True
    return False


def _is_telling(said: Sequence[str]) -> bool:
    letters = sum(map(len, said))
    return letters >= (_SHORTEST if any(len(word) > 1 for word in said) else _SHORTEST_UNSPACED)


def _apart(found: Sequence[Place]) -> tuple[Place, ...]:
    kept: list[Place] = []
    for place in found:
        same = [one for one in kept if (one.begin, one.end) == (place.begin, place.end)]
        overlap = any(one.begin < place.end and place.begin < one.end for one in kept)
        if len(same) < FORMS and (same or not overlap):
            kept.append(place)
    return tuple(kept)
