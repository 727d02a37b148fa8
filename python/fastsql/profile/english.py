"""English words by how common they are: what tells TOTALCOST from a word that nobody knows.

`english.txt` has them in order; `scripts/english_words.py` writes it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files

COMMON = 6_000
"""Rank up to which a word is one that people put into names."""


def word_set(text: str) -> frozenset[str]:
    """The words between the blanks of a text."""
    return frozenset(text.split())


@cache
def ranks() -> Mapping[str, int]:
    """The place of each word, the most common one first."""
    text = files("fastsql.profile").joinpath("english.txt").read_text(encoding="ascii")
    return {word: rank for rank, word in enumerate(text.split())}


_ENDINGS = (("s", ""), ("es", ""), ("ies", "y"), ("ed", ""), ("ed", "e"), ("ing", ""), ("ing", "e"))
"""What a plural, a past or a participle ends with, and what the word ends with without it."""


def rank(word: str) -> int | None:
    """The place of a word of lower case, or of what it may be the plural or past of; None where the list has neither."""
    known = ranks()
    places = [known[word]] if word in known else []
    for ending, rest in _ENDINGS:
        base = word[: -len(ending)]
        if word.endswith(ending) and len(base) >= 3 and base + rest in known:
            places.append(known[base + rest])
    return min(places, default=None)


def is_english(word: str) -> bool:
    """Whether a word of lower case, or what it may be the plural or past of, is in the list."""
    return rank(word) is not None


def is_common(word: str) -> bool:
    """Whether people put a word into names."""
    return ranks().get(word, COMMON) < COMMON


@cache
def beginnings() -> Mapping[str, frozenset[str]]:
    """By their first five letters, the common words of seven letters and more."""
    found: dict[str, set[str]] = {}
    for word, rank in ranks().items():
        if rank < COMMON and len(word) >= 7:
            found.setdefault(word[:5], set()).add(word)
    return {start: frozenset(words) for start, words in found.items()}
