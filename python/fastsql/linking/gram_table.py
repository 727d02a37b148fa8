"""Which values have letters in common with a text: three letters at a time, packed into flat arrays like `value_table`.

The grams of a text are those of its key between blanks: any three neighbouring characters whose middle one is no blank, and
those of two neighbouring characters of a script without spaces (Chinese, Japanese), whose key has a blank between them. So
" he", "hea", "art" and "rt " are grams of "heart", and one and two characters at a time are of Chinese text. A value of
three words or more has those of its initials, too. A gram is known by a hash alone: two that share one are taken for the
same, which adds to what is proposed and takes nothing away.

Little-endian 32-bit integers but for the sizes, for n values and p pairs of a value and one of its grams:

    buckets    [2^k + 1]   first posting of each hash, and behind the last one the number of postings
    postings   [p]         numbers of the values that have a gram of this hash, ascending
    sizes      uint8[n]    different grams of each value, at most 255; zeros up to a multiple of four
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from fastsql.errors import ModelError
from fastsql.linking.folding import UNSPACED
from fastsql.linking.mapped_file import BLOCK, MappedFile
from fastsql.linking.nearness import initials
from fastsql.linking.value_table import ValueTable, damaged, key_of

SECTIONS = ("buckets", "postings", "sizes")
"""The arrays in the order in which they lie in memory and in a file."""
PROPOSED = 200
"""Values that one look-up proposes at most."""
READ = 1 << 16
"""Postings that one look-up reads at most, those of the rarest grams first: a bound of its time."""

_MOST_BITS, _FEWEST_BITS = 20, 10
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_BLANK, _LINE = 0x20, 0x0A
_AT_ONCE = 50_000
"""Values whose grams are counted together."""
_FINE = 1 << 16
_WORTH = 16
"""Postings that are read to spare looking at one value."""

Numbers = NDArray[np.uint32]


@dataclass(frozen=True)
class Sought:
    """The grams of a text, rarest first, with their weights, and a scale that puts values in order.

    `rows` are pairs of first and last posting; a value's score is what the weights of its grams that the text has add up to,
    over `base` and `mean` for each gram that it has at all.
    """

    rows: tuple[tuple[int, int], ...]
    weights: tuple[int, ...]
    base: int
    mean: int


class GramTable:
    """The packed arrays, read. Immutable, so threads may share it."""

    def __init__(
        self, body: memoryview, bounds: Sequence[int], count: int, file: MappedFile | None = None
    ) -> None:
        """Look into arrays that lie one behind the other, for `count` values; the rest as for `ValueTable`.

        Raises ModelError where they cannot be what `pack_grams` made. `find` raises it, too.
        """
        self.body, self.bounds, self.file = body, tuple(bounds), file
        fits = len(self.bounds) == len(SECTIONS) + 1 and self.bounds[0] == 0 and self.bounds[-1] == len(body)
        if not fits or any(
            end < begin or begin % 4 for begin, end in zip(self.bounds, self.bounds[1:], strict=False)
        ):
            raise self._damaged("its sections do not fill it")
        buckets = (self.bounds[1] - self.bounds[0]) // 4 - 1
        if buckets < 1 or buckets & (buckets - 1) or buckets > 1 << _MOST_BITS:
            raise self._damaged(f"a section has {buckets} buckets")
        if self.bounds[3] - self.bounds[2] != -(-count // 4) * 4:
            raise self._damaged("there is not one number of grams for each value")
        self.count, self._bits = count, buckets.bit_length() - 1
        self._buckets, self._postings = (
            np.frombuffer(body, "<u4", (end - begin) // 4, begin)
            for begin, end in zip(self.bounds[:2], self.bounds[1:3], strict=True)
        )
        self._sizes = np.frombuffer(body, np.uint8, count, self.bounds[2])

    def __getstate__(self) -> dict[str, object]:
        if self.file is not None:
            self.file.check(0, len(self.body))
        return {"body": bytes(self.body), "bounds": self.bounds, "count": self.count}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__init__(memoryview(state["body"]), state["bounds"], state["count"])  # type: ignore[misc,arg-type]

    def sought(self, keys: Sequence[bytes], *, contained: bool) -> Sought:
        """The grams of texts, each given by its key. `contained`: whether values are sought that the texts have parts of."""
        hashes: set[int] = set()
        for key in keys:
            hashes.update((_hashes(_points(key)) >> np.uint64(_MOST_BITS - self._bits)).tolist())
        rows = sorted(
            (end - begin, place, begin) for place, begin, end in map(self._row, hashes) if begin < end
        )
        kept, weights, left = [], [], READ
        for size, _, begin in rows:
            if size > left:
                break
            left -= size
            kept.append((begin, begin + size))
            weights.append((self.count // size).bit_length())
        mean = max(1, sum(weights) // max(1, len(weights)))
        return Sought(tuple(kept), tuple(weights), 4 * mean if contained else max(1, sum(weights)), mean)

    def propose(
        self, sought: Sought, table: ValueTable, allowed: NDArray[np.bool_] | None = None
    ) -> list[int]:
        """Numbers of the `PROPOSED` values at most that have the most in common with a text, best first.

        `table` has the values; `allowed` says which sets of columns must hold them, as the table numbers these.
        """
        if not sought.rows:
            return []
        found = np.concatenate([self._read(begin, end) for begin, end in sought.rows])
        if len(found) and int(found.max()) >= self.count:
            raise self._damaged("it refers to a value that it does not have")
        lengths = [end - begin for begin, end in sought.rows]
        weights = np.repeat(np.array(sought.weights, dtype=np.int64), lengths)
        numbers, place = np.unique(found, return_inverse=True)
        shared = np.bincount(place, weights=weights).astype(np.int64)
        if allowed is not None:
            holders = table.holders(numbers)
            if len(holders) and int(holders.max()) >= len(allowed):
                raise self._damaged("a value is held by columns that it does not list")
            kept = allowed[holders]
            numbers, shared = numbers[kept], shared[kept]
        scores = shared * _FINE // (sought.base + sought.mean * self._size_of(numbers))
        best = np.lexsort((numbers, -scores))[:PROPOSED]
        proposed: list[int] = numbers[best].tolist()
        return proposed

    def holding(self, word: str, most: int) -> Numbers | None:
        """Numbers of the values that may have a word, ascending; None where it has no grams, or each is of more than `most`.

        The word may stand within a longer one, so that only grams inside of it count.
        """
        text = _points(key_of([word]))
        hashes = _hashes(text if len(text) == 3 and _is_unspaced(text).any() else text[1:-1])
        rows = sorted(
            (end - begin, place, begin)
            for place, begin, end in map(
                self._row, set((hashes >> np.uint64(_MOST_BITS - self._bits)).tolist())
            )
        )
        if not rows or rows[0][0] > most:
            return None
        found = self._read(rows[0][2], rows[0][2] + rows[0][0])
        for size, _, begin in rows[1:]:
            if size > _WORTH * len(found):
                break
            found = np.intersect1d(found, self._read(begin, begin + size), assume_unique=True)
        if len(found) and int(found.max()) >= self.count:
            raise self._damaged("it refers to a value that it does not have")
        return found

    def _row(self, place: int) -> tuple[int, int, int]:
        self._expect(0, 4 * place, 4 * place + 8)
        begin, end = int(self._buckets[place]), int(self._buckets[place + 1])
        if not begin <= end <= len(self._postings):
            raise self._damaged("it refers to postings that it does not have")
        return place, begin, end

    def _read(self, begin: int, end: int) -> Numbers:
        self._expect(1, 4 * begin, 4 * end)
        return self._postings[begin:end]

    def _size_of(self, numbers: Numbers) -> NDArray[np.int64]:
        if self.file is not None:
            for block in np.unique((numbers.astype(np.int64) + self.bounds[2]) // BLOCK).tolist():
                self.file.check(block * BLOCK, block * BLOCK + 1)
        return self._sizes[numbers].astype(np.int64)

    def _expect(self, section: int, begin: int, end: int) -> None:
        if self.file is not None and begin < end:
            self.file.check(self.bounds[section] + begin, self.bounds[section] + end)

    def _damaged(self, why: str) -> ModelError:
        return damaged("" if self.file is None else self.file.where, why)


def pack_grams(table: ValueTable) -> GramTable:
    """The grams of all values of a table. A million short values take some ten seconds, and 20 bytes a letter."""
    count = len(table)
    bits = min(max(count.bit_length() + 3, _FEWEST_BITS), _MOST_BITS)
    sizes = np.zeros(-(-count // 4) * 4, dtype=np.uint8)
    pairs = []
    keys = (_with_initials(table.key(number)) for number in range(count))
    for first in range(0, count, _AT_ONCE):
        pair = _gram_pairs(list(islice(keys, _AT_ONCE)), first, bits)
        found = np.bincount((pair & np.uint64(0xFFFFFFFF)).astype(np.int64) - first)
        sizes[first : first + len(found)] = np.minimum(found, 255)
        pairs.append(pair)
    # A stable sort merges what is in order already.
    every = np.sort(np.concatenate([*pairs, np.zeros(0, dtype=np.uint64)]), kind="stable")
    starts = np.searchsorted(every >> np.uint64(32), np.arange((1 << bits) + 1, dtype=np.uint64))
    postings = (every & np.uint64(0xFFFFFFFF)).astype("<u4")
    parts = [starts.astype("<u4").tobytes(), postings.tobytes(), sizes.tobytes()]
    bounds = np.cumsum([0, *map(len, parts)]).tolist()
    return GramTable(memoryview(b"".join(parts)), bounds, count)


def _with_initials(key: bytes) -> bytes:
    # A value without words is its own key, and may be a line's end, which parts keys here.
    text = key.decode("utf-8", "surrogatepass").replace("\n", " ")
    return f"{text} {initials(text.split(' '))}".encode("utf-8", "surrogatepass") if text.strip() else b""


def _gram_pairs(keys: Sequence[bytes], start: int, bits: int) -> NDArray[np.uint64]:
    """Distinct hashes of values with the values' numbers in the low half, ascending."""
    text = _points(b" \n ".join(keys))
    number = np.cumsum(text == _LINE)[_middles(text)] + start
    hashes = _hashes(text) >> np.uint64(_MOST_BITS - bits)
    pairs = np.sort(hashes << np.uint64(32) | number.astype(np.uint64))
    # Not by `np.unique`, which is many times slower in some versions.
    first = np.concatenate([np.ones(min(len(pairs), 1), dtype=bool), pairs[1:] != pairs[:-1]])
    distinct: NDArray[np.uint64] = pairs[first]
    return distinct


def _points(key: bytes) -> NDArray[np.uint64]:
    """The characters of a key between blanks."""
    text = f" {key.decode('utf-8', 'surrogatepass')} ".encode("utf-32-le", "surrogatepass")
    return np.frombuffer(text, dtype="<u4").astype(np.uint64)


def _middles(text: NDArray[np.uint64]) -> NDArray[np.intp]:
    """Where the middle characters of grams stand."""
    middle = text[1:-1]
    joins = _is_unspaced(text[:-2]) & (middle == _BLANK) & _is_unspaced(text[2:])
    return np.flatnonzero(((middle != _BLANK) & (middle != _LINE)) | joins) + 1


def _hashes(text: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Hashes of `_MOST_BITS` bits of the grams, in their order."""
    place = _middles(text)
    grams = text[place - 1] << np.uint64(42) | text[place] << np.uint64(21) | text[place + 1]
    hashes: NDArray[np.uint64] = grams * _FACTOR >> np.uint64(64 - _MOST_BITS)
    return hashes


def _is_unspaced(text: NDArray[np.uint64]) -> NDArray[np.bool_]:
    found = np.zeros(len(text), dtype=bool)
    for first, last in UNSPACED:
        found |= (text >= first) & (text <= last)
    return found
