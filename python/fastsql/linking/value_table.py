"""Values and the words they are recognised by, packed into flat arrays: the same bytes in memory, in a file, and for C++.

A value's key is the UTF-8 text of its words (`folding.keys`) with one blank between two; a blank inside a word, as some
Arabic ligatures have, is a NUL. Keys are found by CRC-32: the low bits of the checksum choose a bucket of rows. A second
table of the same kind has the first words of the keys, each with the lengths of the keys that begin with it, so that a
question is only looked up where a value could begin.

Little-endian 32-bit integers, for n values, e of them with words, and f distinct first words:

    records       [n, 4]       offset of the value in `texts`; offset of its key, the value's own where both are the same
                               bytes, else behind it; where the key ends; number of the set of columns that hold the value
    key_buckets   [2^k + 1]    first row of each bucket, and behind the last one the number of rows
    key_rows      [e, 2]       checksum of the key, number of the value; those of one key by number
    word_buckets  [2^j + 1]
    word_rows     [f, 5]       checksum of the word, its offset in `texts`, its bytes; first place in `lengths`, how many
    lengths       [any]        words of the keys that begin with a word, the longest first
    texts         bytes        UTF-8
"""

from __future__ import annotations

import sys
import zlib
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastsql.errors import LimitError, ModelError
from fastsql.linking.folding import keys
from fastsql.linking.mapped_file import BLOCK, MappedFile

SECTIONS = ("records", "key_buckets", "key_rows", "word_buckets", "word_rows", "lengths", "texts")
"""The arrays in the order in which they lie in memory and in a file."""
LARGEST_TEXT = 1 << 30
"""Bytes of all values and keys together; offsets have room for four times that."""
REMEDY = "Write it again with ValueDictionary.save."

_RECORD, _KEY_ROW, _WORD_ROW = 4, 2, 5
_SIZE = 4

Integers = NDArray[np.uint32]


def key_of(words: Sequence[str]) -> bytes:
    """The key of a sequence of words. Each word lies in it as it is, between blanks."""
    joined = " ".join(words)
    if words and joined.count(" ") != len(words) - 1:
        joined = " ".join(word.replace(" ", "\0") for word in words)
    return joined.encode("utf-8", "surrogatepass")


class ValueTable:
    """The packed arrays, read. Immutable, so threads may share it; pickled with all that it holds."""

    def __init__(self, body: memoryview, bounds: Sequence[int], file: MappedFile | None = None) -> None:
        """Look into arrays that lie one behind the other.

        Args:
            body: bytes of all sections.
            bounds: where each section begins and where the last ends, in bytes.
            file: where `body` lies, which is asked whether bytes are those that were written; None trusts them.

        Raises ModelError where the sections cannot be what `pack_values` made. Later reading raises it, too: whatever the
        arrays hold, nothing outside them is read.
        """
        self.body, self.bounds, self.file = body, tuple(bounds), file
        if len(self.bounds) != len(SECTIONS) + 1 or self.bounds[0] != 0 or self.bounds[-1] != len(body):
            raise self._damaged("its sections do not fill it")
        pairs = list(zip(self.bounds, self.bounds[1:], strict=False))
        if any(end < begin or begin % _SIZE for begin, end in pairs) or any(
            end % _SIZE for _, end in pairs[:-1]
        ):
            raise self._damaged("its sections overlap or are out of line")
        parts = [_integers(body[begin:end]) for begin, end in pairs[:-1]]
        (
            self._records,
            self._key_buckets,
            self._key_rows,
            self._word_buckets,
            self._word_rows,
            self._lengths,
        ) = parts
        self._texts = body[pairs[-1][0] :]
        for part, width in (
            (self._records, _RECORD),
            (self._key_rows, _KEY_ROW),
            (self._word_rows, _WORD_ROW),
        ):
            if len(part) % width:
                raise self._damaged("a section ends within a row")
        for part in (self._key_buckets, self._word_buckets):
            buckets = len(part) - 1
            if buckets < 1 or buckets & (buckets - 1):
                raise self._damaged(f"a section has {buckets} buckets")

    @property
    def where(self) -> str:
        """The path of the file that it lies in; empty if it lies in memory."""
        return "" if self.file is None else self.file.where

    def expect_unchanged(self) -> None:
        """Raise ModelError where somebody has written into the file that it lies in."""
        if self.file is not None:
            self.file.expect_unchanged()

    def __len__(self) -> int:
        """Number of values."""
        return len(self._records) // _RECORD

    def __getstate__(self) -> dict[str, Any]:
        self._expect(0, 0, len(self.body))
        return {"body": bytes(self.body), "bounds": self.bounds}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(memoryview(state["body"]), state["bounds"])  # type: ignore[misc]

    def value(self, number: int) -> tuple[str, int]:
        """A value's text and the number of its set of columns."""
        begin, key, end, holders = self._record(number)
        try:
            return self._bytes(begin, end if key == begin else key).decode("utf-8", "surrogatepass"), holders
        except UnicodeDecodeError:
            pass  # raised below, unchained: a decoding error shows the bytes, which are a cell of a database
        raise self._damaged("a value is not text")

    def key(self, number: int) -> bytes:
        """A value's key; its text where it has no words."""
        _, begin, end, _ = self._record(number)
        return self._bytes(begin, end)

    def words(self, number: int) -> list[str]:
        """The words of a value's key; its text where it has none. Raises ModelError where they are no text."""
        try:
            found = self.key(number).decode("utf-8", "surrogatepass").split(" ")
        except UnicodeDecodeError:
            raise self._damaged("a value is not text") from None
        return [word.replace("\0", " ") for word in found]

    def holders(self, numbers: NDArray[np.uint32]) -> NDArray[np.uint32]:
        """The numbers of the sets of columns that hold some values, each of which is here."""
        places = numbers.astype(np.int64) * _RECORD
        for block in np.unique(places // (BLOCK // _SIZE)).tolist():
            self._expect(0, block * BLOCK, block * BLOCK + _SIZE)
        found: NDArray[np.uint32] = np.asarray(self._records)[places + _RECORD - 1]
        return found

    def values(self) -> Iterator[tuple[str, int]]:
        """Every value with the number of its set of columns, in the order in which they were packed."""
        return (self.value(number) for number in range(len(self)))

    def numbers(self, key: bytes) -> list[int]:
        """Numbers of the values that have this key, ascending."""
        checksum, found = zlib.crc32(key), []
        for row in self._bucket(self._key_buckets, 1, self._key_rows, _KEY_ROW, checksum):
            if self._key_rows[row] == checksum:
                number = self._key_rows[row + 1]
                _, begin, end, _ = self._record(number)
                if self._bytes(begin, end) == key:
                    found.append(number)
        return found

    def word_lengths(self, word: bytes) -> list[int]:
        """Words of the keys that begin with `word`, the longest first; empty if none does."""
        checksum = zlib.crc32(word)
        for row in self._bucket(self._word_buckets, 3, self._word_rows, _WORD_ROW, checksum):
            found, begin, size, first, count = self._word_rows[row : row + _WORD_ROW]
            if found == checksum and self._bytes(begin, begin + size) == word:
                if first + count > len(self._lengths):
                    raise self._damaged("it refers to lengths that it does not have")
                self._expect(5, first * _SIZE, (first + count) * _SIZE)
                return self._lengths[first : first + count].tolist()
        return []

    def _bucket(
        self, buckets: memoryview, section: int, rows: memoryview, width: int, checksum: int
    ) -> range:
        """Where in `rows`, which are the section behind `section`, the rows of a checksum's bucket begin."""
        place = checksum & (len(buckets) - 2)
        self._expect(section, place * _SIZE, (place + 2) * _SIZE)
        first, last = buckets[place] * width, buckets[place + 1] * width
        if not first <= last <= len(rows):
            raise self._damaged("it refers to rows that it does not have")
        self._expect(section + 1, first * _SIZE, last * _SIZE)
        return range(first, last, width)

    def _record(self, number: int) -> tuple[int, int, int, int]:
        """Offset of the value, offset and end of its key, number of its set of columns."""
        if number >= len(self):
            raise self._damaged("it refers to a value that it does not have")
        place = number * _RECORD
        self._expect(0, place * _SIZE, (place + _RECORD) * _SIZE)
        begin, key, end, holders = self._records[place : place + _RECORD]
        if not begin <= key <= end:
            raise self._damaged("a value ends before it begins")
        return begin, key, end, holders

    def _bytes(self, begin: int, end: int) -> bytes:
        if end > len(self._texts):
            raise self._damaged("it refers to text that it does not have")
        self._expect(6, begin, end)
        return bytes(self._texts[begin:end])

    def _expect(self, section: int, begin: int, end: int) -> None:
        """Check bytes ``[begin, end)`` of a section."""
        if self.file is not None:
            self.file.check(self.bounds[section] + begin, self.bounds[section] + end)

    def _damaged(self, why: str) -> ModelError:
        return damaged(self.where, why)


def pack_values(values: Iterable[tuple[str, int]]) -> ValueTable:
    """Pack distinct values, each with the number of the set of columns that hold it.

    Raises LimitError where values and keys take more than a gibibyte.
    """
    texts = bytearray()
    records, checksums, numbers = array("I"), array("I"), array("I")
    first_words: dict[bytes, list[int]] = {}
    """Each with its offset in `texts`, and a bit for each length."""
    for number, (value, holders) in enumerate(values):
        text = value.encode("utf-8", "surrogatepass")
        words = keys(value)
        key = key_of(words)
        begin = place = len(texts)
        texts += text
        if key and key != text:
            place = len(texts)
            texts += key
        if len(texts) > LARGEST_TEXT:
            raise LimitError(
                f"the values take more than {LARGEST_TEXT:,} bytes",
                where="value dictionary",
                remedy="Read fewer columns, or shorter values.",
            )
        records.extend((begin, place, len(texts), holders))
        if key:  # no words say a value without any
            checksums.append(zlib.crc32(key))
            numbers.append(number)
            known = first_words.setdefault(key.partition(b" ")[0], [place, 0])
            known[1] |= 1 << len(words)
    key_buckets, order = _buckets(checksums)
    key_rows = np.stack([_as_integers(checksums), _as_integers(numbers)], axis=1)[order]
    return _joined(_as_integers(records), key_buckets, key_rows, *_word_table(first_words), texts=texts)


def _word_table(first_words: Mapping[bytes, Sequence[int]]) -> tuple[Integers, Integers, Integers]:
    """word_buckets, word_rows and lengths."""
    checksums = array("I", (zlib.crc32(word) for word in first_words))
    buckets, order = _buckets(checksums)
    words = list(first_words.items())
    lengths, rows = array("I"), array("I")
    for place in order.tolist():
        word, (begin, bits) = words[place]
        found = [length for length in range(bits.bit_length() - 1, 0, -1) if bits >> length & 1]
        rows.extend((checksums[place], begin, len(word), len(lengths), len(found)))
        lengths.extend(found)
    return buckets, _as_integers(rows), _as_integers(lengths)


def _buckets(checksums: array[int]) -> tuple[Integers, NDArray[np.intp]]:
    """First rows of the buckets, and the order that puts rows into their buckets."""
    count = 1 << max(len(checksums) - 1, 0).bit_length()
    bucket = _as_integers(checksums) & np.uint32(count - 1)
    order = np.argsort(bucket, kind="stable")
    starts = np.searchsorted(bucket[order], np.arange(count + 1))
    return starts.astype(np.uint32), order


def _joined(*sections: Integers, texts: bytearray) -> ValueTable:
    parts = [section.astype("<u4", copy=False).tobytes() for section in sections] + [bytes(texts)]
    bounds = [0]
    for part in parts:
        bounds.append(bounds[-1] + len(part))
    return ValueTable(memoryview(b"".join(parts)), bounds)


def _as_integers(numbers: array[int]) -> Integers:
    return np.array(numbers, dtype=np.uint32)


def damaged(where: Path | str, why: str) -> ModelError:
    """The error for a dictionary that is not as it was written."""
    return ModelError(f"the value dictionary is damaged: {why}", where=str(where), remedy=REMEDY)


def _integers(section: memoryview) -> memoryview:
    if sys.byteorder == "little":
        return section.cast("I")
    return np.frombuffer(section, dtype="<u4").astype(np.uint32).data
