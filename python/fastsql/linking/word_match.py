"""How well a word of a question says a word of a schema's names: equal, inflected, or abbreviated.

Names in real databases are cut ("adm", "dept"), stripped of vowels ("qty", "dschrg") or made of initials ("dob", "los"); see
Luoma and Kumar, SNAILS, SIGMOD 2025.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from fastsql.linking.vocabulary.english import ENDINGS

_WORD = re.compile(
    r"[\u3400-\u9fff\uf900-\ufaff]+|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\d_A-Za-z\u3400-\u9fff]+"
)
_CJK = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]")

EQUAL, INFLECTED, CUT, SQUEEZED, INITIALS = 1.0, 0.8, 0.7, 0.5, 0.7
"""What each way of saying a word counts."""


def name_words(text: str) -> list[str]:
    """Words of a name or label in lower case: cut at blanks, underscores, digits and ``camelCase``.

    Chinese text has no borders between words: each pair of neighbouring characters is one, a lone character is itself.
    """
    found: list[str] = []
    for match in _WORD.finditer(text):
        run = match.group()
        if _CJK.match(run):
            found.extend(_pairs(run))
        else:
            found.append(run.lower())
    return found


def stem(word: str) -> str:
    """The word without an English inflection or common ending; at least four letters stay."""
    for suffix in ENDINGS:
        if word.endswith(suffix) and len(word) - len(suffix) >= 4:
            return word[: -len(suffix)]
    if len(word) > 3 and word.endswith("s") and not word.endswith("ss"):
        return word[:-1]
    return word


def closeness(said: str, named: str) -> float:
    """How well a question's word `said` stands for `named`, a word of a name: 0 to 1."""
    if said == named:
        return EQUAL
    one, other = stem(said), stem(named)
    if one == other:
        return INFLECTED
    if said[0] != named[0] or not said.isascii() or said.isdigit() or named.isdigit():
        return 0.0
    shared = _shared_prefix(one, other)
    if shared >= 4 and shared >= 0.7 * max(len(one), len(other)):
        return INFLECTED
    if 2 < len(named) < len(said) and said.startswith(named):
        return CUT
    if 2 < len(said) < len(named) and named.startswith(said):
        return CUT
    if len(named) < len(said) and len(said) > 3 and _is_squeezed(named, said):
        return SQUEEZED
    return 0.0


def initials(words: Sequence[str], longest: int = 5) -> Iterator[str]:
    """Initials of three or more neighbouring words, as ``dob`` of date of birth."""
    for begin in range(len(words)):
        for end in range(begin + 3, min(begin + longest, len(words)) + 1):
            yield "".join(word[0] for word in words[begin:end])


def _pairs(run: str) -> list[str]:
    return [run] if len(run) == 1 else [run[k : k + 2] for k in range(len(run) - 1)]


def _shared_prefix(one: str, other: str) -> int:
    length = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        length += 1
    return length


def _is_squeezed(short: str, long: str) -> bool:
    """Whether `short` has letters of `long` in their order, mostly consonants, as ``qty`` of quantity."""
    if len(short) < 2 or sum(letter in "aeiou" for letter in short[1:]) * 2 > len(short):
        return False
    place = 0
    for letter in short:
        place = long.find(letter, place) + 1
        if not place:
            return False
    return len(short) > 2 or short[-1] == long[-1]
