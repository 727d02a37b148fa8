"""Which words of a text are a part of some value: what a pattern of LIKE may say.

Looked for is what SQL's LIKE would find, whatever the case of letters. Between two texts of ASCII that is exact; of others
the words are compared, so that punctuation does not count. Runs of words that a value has somewhere, or at its beginning,
are known by their first word and the furthest last one, since every shorter run is there, too; those at its end by their
last word and the first one that is furthest away.

A word's grams (`gram_table`) propose values. A word without any, of one or two letters, a number with a point, which is two
words behind a letter, and a word that more than `COMMON` values may have are taken to be in every column. So is all that is
left when `CHECKED` values have been looked at, which bounds the time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fastsql.linking.folding import Word, words
from fastsql.linking.value_table import damaged, key_of

if TYPE_CHECKING:
    from fastsql.linking.near import NearIndex

COMMON = 512
"""Values that one gram of a word may propose."""
CHECKED = 4_096
"""Values that are looked at for one question."""
EVERY = -1
"""In the place of a set of columns: all of them."""
WITHIN, BEGUN, ENDED = range(3)
"""Where a run lies: anywhere in a value, at its beginning, at its end."""

Row = tuple[int, int, int, int, int]
"""Number of the text, where runs lie, the word that is fixed, the furthest other one, number of a set of columns."""


@dataclass(frozen=True)
class Said:
    """A text, its words, and whether its runs are asked for or it alone."""

    text: str
    words: Sequence[Word]
    whole: bool = False

    @classmethod
    def of(cls, text: str, *, whole: bool = False) -> Said:
        """The text, cut into words."""
        return cls(text, words(text), whole)

    @property
    def plain(self) -> str:
        """The text in small letters where it is ASCII, as places of its words are those of its bytes there; else nothing."""
        return self.text.lower() if self.text.isascii() else ""


def find_parts(
    index: NearIndex, texts: Sequence[Said], allowed: NDArray[np.bool_], core: ModuleType | None = None
) -> list[Row]:
    """Runs of words that values have, of sets of columns that are `allowed`, bool[h].

    `core` is the native module where it is to look; the rows are the same. Raises ModelError where a file is damaged.
    """
    if core is not None:
        asked = [
            (
                one.plain.encode(),
                key_of([word.key for word in one.words]),
                [(w.start, w.end) for w in one.words],
                one.whole,
            )
            for one in texts
        ]
        return index.native_parts(core, asked, allowed)
    search = _Search(index, allowed, CHECKED)
    return [row for number, said in enumerate(texts) for row in search.rows(number, said)]


@dataclass
class _Search:
    index: NearIndex
    allowed: NDArray[np.bool_]
    left: int
    holding: dict[str, NDArray[np.uint32] | None] = field(default_factory=dict)

    def rows(self, number: int, said: Said) -> list[Row]:
        """The rows of one text; those of all columns first."""
        count = len(said.words)
        found: list[Row] = []
        for first in range(1 if said.whole and count else count):
            found += [(number, *row) for row in self._from(said, first)]
        for last in range(count - 1 if said.whole and count else 0, count):
            found += [(number, *row) for row in self._to(said, last)]
        return found

    def _from(self, said: Said, first: int) -> list[tuple[int, int, int, int]]:
        """Runs that begin with a word: how far they go on within values, and at their beginning."""
        count = len(said.words)
        place, values = self._proposed(said, range(first, count))
        reached = count - 1 if place is None else place - 1
        rows = [(WITHIN, first, reached, EVERY)] if reached >= first else []
        for kind, holds in ((WITHIN, _contains), (BEGUN, _begins)):
            furthest: dict[int, int] = {}
            for text, key, holders in values:
                last = furthest.get(holders, reached)
                while last + 1 < count and holds(text, key, *self._run(said, first, last + 1)):
                    last += 1
                furthest[holders] = last
            rows += [
                (kind, first, last, holders) for holders, last in sorted(furthest.items()) if last > reached
            ]
        return rows

    def _to(self, said: Said, last: int) -> list[tuple[int, int, int, int]]:
        """Runs that end with a word: how far back they begin at the end of values."""
        place, values = self._proposed(said, range(last, -1, -1))
        reached = 0 if place is None else place + 1
        rows = [(ENDED, last, reached, EVERY)] if reached <= last else []
        furthest: dict[int, int] = {}
        for text, key, holders in values:
            first = furthest.get(holders, reached)
            while first > 0 and _ends(text, key, *self._run(said, first - 1, last)):
                first -= 1
            furthest[holders] = first
        return rows + [
            (ENDED, last, first, holders) for holders, first in sorted(furthest.items()) if first < reached
        ]

    def _proposed(self, said: Said, places: Sequence[int]) -> tuple[int | None, list[tuple[str, bytes, int]]]:
        """The first place whose values are known, and these: text, key, set of columns. (None, []): there is none."""
        for place in places:
            numbers = self._holding(said.words[place].key)
            if numbers is None:
                continue
            if len(numbers) > self.left:
                break
            self.left -= len(numbers)
            table = self.index.table
            values = [(*table.value(number), table.key(number)) for number in numbers.tolist()]
            return place, [(text, key, holders) for text, holders, key in values if self._may(holders)]
        return None, []

    def _holding(self, word: str) -> NDArray[np.uint32] | None:
        if word not in self.holding:
            self.holding[word] = None if "." in word else self.index.grams.holding(word, COMMON)
        return self.holding[word]

    def _may(self, holders: int) -> bool:
        if holders >= len(self.allowed):
            raise damaged(self.index.table.where, "a value is held by columns that it does not list")
        return bool(self.allowed[holders])

    def _run(self, said: Said, first: int, last: int) -> tuple[str, bytes]:
        """A run as it is written, empty where it is not ASCII, and its key."""
        key = key_of([word.key for word in said.words[first : last + 1]])
        return said.plain[said.words[first].start : said.words[last].end], key


def _compared(how: Callable[..., bool]) -> Callable[[str, bytes, str, bytes], bool]:
    """A comparison of texts where both are ASCII, else of keys."""

    def holds(text: str, key: bytes, run: str, run_key: bytes) -> bool:
        return how(text.lower(), run) if run and text.isascii() else how(key, run_key)

    return holds


_contains = _compared(lambda value, run: run in value)
_begins = _compared(lambda value, run: value.startswith(run))
_ends = _compared(lambda value, run: value.endswith(run))
