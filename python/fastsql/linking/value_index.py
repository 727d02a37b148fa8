"""Which known values a text mentions: n-gram look-up by hash, the longest match wins."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from fastsql.linking.folding import keys, words

_FORMS = 3
"""Values that one span may stand for, as where two differ in punctuation only."""

_FUNCTION_WORDS = """
a about after again all also am among an and any are as at be been before being below between both but by can could did do
does during each every few for from had has have he her him his how i if in into is it its last list many may me more most
much my no not now of off on once one only or other our out over own per please same she show since so some such tell than
that the their them then there these they this those through time times to today total under until up us was we were what
when where which while who whom whose why will with within would yes yet you your first second third next two three four
five six seven eight nine ten day days month months year years
多少 什么 哪些 哪个 一个 有没有 可以 名称 编号
"""
_STOPWORDS = frozenset(_FUNCTION_WORDS.split())


@dataclass(frozen=True)
class ValueMatch:
    """A place in the question, characters ``[start, end)``, and the values it may stand for, each with its columns."""

    start: int
    end: int
    values: tuple[tuple[str, tuple[int, ...]], ...]


class ValueIndex:
    """Values by the sequence of their words; case, blanks and punctuation do not count.

    Memory is about 200 bytes a value beyond its text; a question of n words costs at most n times the number of distinct
    lengths among the values that begin with one of its words. Immutable once built, so threads may share it.
    """

    def __init__(self, values: Mapping[str, tuple[int, ...]]) -> None:
        """`values` maps each value to the columns that hold it, in ascending order."""
        self._values = list(values)
        self._columns = list(values.values())
        # Word sequences are kept as hashes: half the memory of their texts. A hit is confirmed on the value itself.
        self._by_hash: dict[int, int] = {}
        self._further: dict[int, tuple[int, ...]] = {}
        lengths: dict[str, int] = {}
        for number, value in enumerate(self._values):
            value_words = keys(value)
            if not value_words:
                continue
            key = hash(" ".join(value_words))
            if self._by_hash.setdefault(key, number) != number:
                self._further[key] = (*self._further.get(key, ()), number)
            first = value_words[0]
            lengths[first] = lengths.get(first, 0) | 1 << len(value_words)
        self._lengths = {first: _set_bits(found) for first, found in lengths.items()}

    def __len__(self) -> int:
        return len(self._values)

    def items(self) -> Iterator[tuple[str, tuple[int, ...]]]:
        """Every value with its columns, in the order given."""
        return zip(self._values, self._columns, strict=True)

    def match(self, text: str) -> tuple[ValueMatch, ...]:
        """Matches in `text` in their order; of two where one lies inside the other, the longer.

        A value of one letter, of function words only, or of fewer than four digits matches nothing. The last word of a match
        may be a plural.
        """
        found = words(text)
        sequence = [word.key for word in found]
        matches: list[ValueMatch] = []
        reached = 0
        for start, first in enumerate(sequence):
            # A plural that is a whole value, "swabs", has no lengths of its own.
            lengths = self._lengths.get(first) or (1,) * (_singular(first) in self._lengths)
            for length in lengths:
                end = start + length
                # Whatever ends at or before the furthest end so far lies inside an earlier match.
                if end <= reached:
                    break
                if end > len(sequence):
                    continue
                key = sequence[start:end]
                numbers = self._numbers(key) or self._numbers([*key[:-1], _singular(key[-1])])
                if not numbers or not _is_telling(key):
                    continue
                matches.append(self._match(numbers, text, found[start].start, found[end - 1].end))
                reached = end
                break
        return tuple(matches)

    def find(self, text: str) -> tuple[tuple[str, tuple[int, ...]], ...]:
        """Values equal to `text` but for letter case and outer blanks, each with its columns."""
        wanted = text.strip().casefold()
        numbers = [
            number for number in self._numbers(keys(text)) if self._values[number].casefold() == wanted
        ]
        return tuple((self._values[number], self._columns[number]) for number in numbers)

    def _numbers(self, key: list[str]) -> list[int]:
        """Positions of the values whose words are `key`."""
        hashed = hash(" ".join(key))
        first = self._by_hash.get(hashed)
        if first is None:
            return []
        return [
            number for number in (first, *self._further.get(hashed, ())) if keys(self._values[number]) == key
        ]

    def _match(self, numbers: list[int], text: str, start: int, end: int) -> ValueMatch:
        """The match of values with equal words. Those written in the text, punctuation and all, rule out the others."""
        exact: dict[tuple[int, int], list[int]] = {}
        for number in numbers:
            place = _written(self._values[number], text, start, end)
            if place is not None:
                exact.setdefault(place, []).append(number)
        if exact:
            start, end = max(exact, key=lambda place: place[1] - place[0])
            numbers = exact[start, end]
        return ValueMatch(
            start, end, tuple((self._values[one], self._columns[one]) for one in numbers[:_FORMS])
        )


def _written(value: str, text: str, start: int, end: int) -> tuple[int, int] | None:
    """Where `text` has `value` but for letter case, punctuation before its first and after its last word included.

    `start` and `end` are the characters of the words in `text`; None where the text has other punctuation.
    """
    value_words = words(value)
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
            and word not in _STOPWORDS
        )
    if all(len(word) == 1 and not word.isascii() for word in value_words):
        return "".join(value_words) not in _STOPWORDS
    return any(not word.replace(".", "").isdigit() and word not in _STOPWORDS for word in value_words)


def _singular(word: str) -> str:
    """An English plural without its s; any other word as it is."""
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def _set_bits(bits: int) -> tuple[int, ...]:
    """Positions of the bits of `bits` that are set, the highest first."""
    return tuple(position for position in range(bits.bit_length() - 1, -1, -1) if bits >> position & 1)
