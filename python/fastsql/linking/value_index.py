"""Which known values a text mentions: n-gram look-up by hash, the longest match wins."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from fastsql.errors import ModelError
from fastsql.linking.folding import keys, words
from fastsql.linking.value_table import REMEDY, ValueTable, damaged, key_of, pack_values
from fastsql.linking.vocabulary import chinese, english

if TYPE_CHECKING:
    from fastsql.linking.gram_table import GramTable

Columns = tuple[int, ...]
Hit = tuple[int, int, list[int]]
"""First word, last word (exclusive), numbers of the values."""

_FORMS = 3
"""Values that one span may stand for, as where two differ in punctuation only."""

STOP_WORDS = english.NO_VALUE | chinese.NO_VALUE
"""Words that are no value by themselves."""


@dataclass(frozen=True)
class ValueMatch:
    """A place in the question, characters ``[start, end)``, and the values it may stand for, each with its columns."""

    start: int
    end: int
    values: tuple[tuple[str, tuple[int, ...]], ...]


class ValueIndex:
    """Values by the sequence of their words; case, blanks and punctuation do not count.

    Memory is about 30 bytes a value beyond its text (twice its text where words and value differ). Immutable once built, so
    threads may share it.
    """

    def __init__(self, values: Mapping[str, Columns]) -> None:
        """`values` maps each value to the columns that hold it, in ascending order."""
        numbers: dict[Columns, int] = {}
        self.table = pack_values(
            (value, numbers.setdefault(columns, len(numbers))) for value, columns in values.items()
        )
        self.holders: tuple[Columns, ...] = tuple(numbers)
        """The sets of columns that hold a value, as the table numbers them."""
        self._native: Any = None
        self.brought = False
        """Whether the grams came with the values, from a file."""
        self.packed_grams: GramTable | None = None
        """The values by their grams, where somebody has packed them yet; see `grams`."""

    @classmethod
    def of(
        cls,
        table: ValueTable,
        holders: Sequence[Columns],
        grams: GramTable | None = None,
        *,
        brought: bool = False,
    ) -> ValueIndex:
        """The index over values that are packed already, and perhaps their grams."""
        index = cls.__new__(cls)
        index.__setstate__({"table": table, "holders": tuple(holders), "grams": grams, "brought": brought})
        return index

    def __len__(self) -> int:
        return len(self.table)

    def __getstate__(self) -> dict[str, Any]:
        return {
            "table": self.table,
            "holders": self.holders,
            "grams": self.packed_grams,
            "brought": self.brought,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.table, self.holders, self.packed_grams = state["table"], state["holders"], state["grams"]
        self.brought, self._native = state["brought"], None

    @property
    def grams(self) -> GramTable:
        """The values by their grams; made when they are first asked for, where no file has them."""
        if self.packed_grams is None:
            from fastsql.linking.gram_table import pack_grams  # for those who give values

            # Two threads may both make them; either will do.
            self.packed_grams = pack_grams(self.table)
        return self.packed_grams

    def items(self) -> Iterator[tuple[str, Columns]]:
        """Every value with its columns, in the order given."""
        self.table.expect_unchanged()
        return ((value, self._columns(holders)) for value, holders in self.table.values())

    def match(self, text: str, core: ModuleType | None = None) -> tuple[ValueMatch, ...]:
        """Matches in `text` in their order; of two where one lies inside the other, the longer.

        A value of one letter, of function words only, or of fewer than four digits matches nothing. The last word of a match
        may be a plural. `core` is the native module where it is to look the words up; the matches are the same.
        """
        self.table.expect_unchanged()
        found = words(text)
        sequence = [word.key for word in found]
        hits = self._hits(sequence) if core is None else self._native_hits(sequence, core)
        matches: list[ValueMatch] = []
        reached = 0
        for start, end, numbers in hits:
            # Whatever ends at or before the furthest end so far lies inside an earlier match.
            if end > reached and _is_telling(sequence[start:end]):
                matches.append(self._match(numbers, text, found[start].start, found[end - 1].end))
                reached = end
        return tuple(matches)

    def written(self, text: str, core: ModuleType | None = None) -> Iterator[tuple[int, int, Columns]]:
        """Places [start, end) where `text` has a value but for letter case, and the columns that hold it."""
        self.table.expect_unchanged()
        found = words(text)
        sequence = [word.key for word in found]
        for start, end, numbers in (
            self._hits(sequence) if core is None else self._native_hits(sequence, core)
        ):
            for value, columns in map(self.value, numbers):
                place = _written(value, text, found[start].start, found[end - 1].end)
                if place is not None:
                    yield *place, columns

    def find(self, text: str) -> tuple[tuple[str, Columns], ...]:
        """Values equal to `text` but for letter case and outer blanks, each with its columns."""
        self.table.expect_unchanged()
        wanted = text.strip().casefold()
        found = (self.value(number) for number in self.table.numbers(key_of(keys(text))))
        return tuple((value, columns) for value, columns in found if value.casefold() == wanted)

    def _hits(self, sequence: list[str]) -> Iterator[Hit]:
        """Runs of words that are a value, by their first word, then the longest first."""
        for start, first in enumerate(sequence):
            # A plural that is a whole value, "swabs", has no lengths of its own.
            lengths = self.table.word_lengths(key_of([first]))
            if not lengths and (singular := _singular(first)) != first:
                lengths = [1] * bool(self.table.word_lengths(key_of([singular])))
            for length in lengths:
                run = sequence[start : start + length]
                if len(run) == length > 0:
                    numbers = self.table.numbers(key_of(run))
                    if not numbers and (singular := _singular(run[-1])) != run[-1]:
                        numbers = self.table.numbers(key_of([*run[:-1], singular]))
                    if numbers:
                        yield start, start + length, numbers

    def _native_hits(self, sequence: list[str], core: ModuleType) -> list[Hit]:
        """What `_hits` gives, by the native reader of the same bytes. Two threads may both make one; either will do."""
        with self.reported():
            hits: list[Hit] = self.native(core).hits(key_of(sequence))
        return hits

    def native(self, core: ModuleType) -> Any:
        """The native reader of the same bytes."""
        if self._native is None:
            table = self.table
            checksums = np.zeros(0, dtype=np.uint32) if table.file is None else table.file.checksums
            self._native = core.ValueIndex(np.frombuffer(table.body, dtype=np.uint8), table.bounds, checksums)
        return self._native

    @contextmanager
    def reported(self) -> Iterator[None]:
        """Errors of the native reader say which file it is."""
        try:
            yield
        except ModelError as error:
            raise ModelError(error.what, where=self.table.where, remedy=REMEDY) from error

    def value(self, number: int) -> tuple[str, Columns]:
        """A value by its number in the table, with the columns that hold it."""
        value, holders = self.table.value(number)
        return value, self._columns(holders)

    def _columns(self, holders: int) -> Columns:
        if holders >= len(self.holders):
            raise damaged(self.table.where, "a value is held by columns that it does not list")
        return self.holders[holders]

    def _match(self, numbers: Sequence[int], text: str, start: int, end: int) -> ValueMatch:
        """The match of values with equal words. Those written in the text, punctuation and all, rule out the others."""
        values = [self.value(number) for number in numbers]
        exact: dict[tuple[int, int], list[tuple[str, Columns]]] = {}
        for value in values:
            place = _written(value[0], text, start, end)
            if place is not None:
                exact.setdefault(place, []).append(value)
        if exact:
            start, end = max(exact, key=lambda place: place[1] - place[0])
            values = exact[start, end]
        return ValueMatch(start, end, tuple(values[:_FORMS]))


def is_sql_text(value: str) -> bool:
    """Whether SQL can say the value: not with a NUL or half a surrogate pair."""
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return "\0" not in value


def _written(value: str, text: str, start: int, end: int) -> tuple[int, int] | None:
    """Where `text` has `value` but for letter case, punctuation before its first and after its last word included.

    `start` and `end` are the characters of the words in `text`; None where the text has other punctuation.
    """
    value_words = words(value)
    if not value_words:  # of a damaged file: its key has other words
        return None
    first = start - value_words[0].start
    last = end + len(value) - value_words[-1].end
    return (first, last) if first >= 0 and text[first:last].lower() == value.lower() else None


def _is_telling(value_words: list[str]) -> bool:
    """Whether the words are enough to recognise a value by."""
    if not value_words:
        return False
    if len(value_words) == 1:
        word = value_words[0]
        return (
            len(word) >= (4 if word[0].isdigit() and word.replace(".", "").isdigit() else 2)
            and word not in STOP_WORDS
        )
    if all(len(word) == 1 and not word.isascii() for word in value_words):
        return "".join(value_words) not in STOP_WORDS
    return any(not word.replace(".", "").isdigit() and word not in STOP_WORDS for word in value_words)


def _singular(word: str) -> str:
    """An English plural without its s; any other word as it is."""
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
