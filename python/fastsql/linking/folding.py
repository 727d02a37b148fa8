"""Question text in a form that is easy to match: folded without moving a character, and cut into words."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

# Full-width ASCII (U+FF01..U+FF5E), the ideographic space and the typographic forms of ASCII punctuation. Every entry maps
# one character to one character, so that an offset in the folded text is an offset in the question.
_FOLD = {0xFF00 + code - 0x20: code for code in range(0x21, 0x7F)}
_FOLD |= {
    0x3000: 0x20,
    0xA0: 0x20,
    0x2010: 0x2D,
    0x2011: 0x2D,
    0x2012: 0x2D,
    0x2013: 0x2D,
    0x2014: 0x2D,
    0x2212: 0x2D,
}
_FOLD |= {0x2018: 0x27, 0x2019: 0x27, 0x201C: 0x22, 0x201D: 0x22}

_HAN_POINTS = ((0x3007, 0x3007), (0x3400, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x3FFFF))
UNSPACED = (*_HAN_POINTS, (0x3040, 0x30FF))
"""First and last code points of characters that are words of their own: Chinese ones and Japanese syllables."""


def _inside(ranges: Iterable[tuple[int, int]]) -> str:
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges)


HAN = _inside(_HAN_POINTS)
"""Chinese characters, as the inside of a regular expression's character class."""

UNSPACED_CLASS = _inside(UNSPACED)
"""The same, as the inside of a regular expression's character class."""
_HAN = re.compile(f"[{HAN}]")
_WORD = re.compile(rf"[{UNSPACED_CLASS}]|[0-9]+(?:\.[0-9]+)+|[^\W_{UNSPACED_CLASS}]+")


class Word(NamedTuple):  # made many times a question, for which a dataclass is slow
    """A word with its place in the question, characters ``[start, end)``. `key` is what compares equal."""

    key: str
    start: int
    end: int


def fold(text: str) -> str:
    """`text` in lower case with ASCII digits and punctuation; as long as `text`, character for character."""
    folded = text.translate(_FOLD).lower()
    if len(folded) != len(text):
        # Lower case is longer than upper case for a few letters (the Turkish dotted I); those stay as they are.
        folded = "".join(
            low if len(low := letter.lower()) == 1 else letter for letter in text.translate(_FOLD)
        )
    return folded


@lru_cache(maxsize=16)
def words(text: str) -> tuple[Word, ...]:
    """`text` cut into words: runs of letters and digits, decimal numbers, single Chinese or Japanese characters.

    Blanks and punctuation separate words and are dropped, so ``Type-2  diabetes`` and ``type 2 diabetes`` have equal keys.
    The texts asked for last are remembered: linking cuts a question half a dozen times.
    """
    if text.isascii():
        lower = text.lower()
        return tuple(Word(match.group(), match.start(), match.end()) for match in _WORD.finditer(lower))
    return tuple(
        Word(_key(match.group()), match.start(), match.end())
        for match in _WORD.finditer(text.translate(_FOLD))
    )


def keys(text: str) -> list[str]:
    """The keys of `words(text)`, without places."""
    if text.isascii():
        return [text.lower()] if text.isalnum() else _WORD.findall(text.lower())
    return [_key(word) for word in _WORD.findall(text.translate(_FOLD))]


def has_han(text: str) -> bool:
    """Whether `text` has a Chinese character."""
    return not text.isascii() and _HAN.search(text) is not None


def _key(word: str) -> str:
    return word.lower() if word.isascii() else unicodedata.normalize("NFKC", word).casefold()
