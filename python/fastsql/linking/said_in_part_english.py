"""Values that an English question says in part: "Dr. Okafor" for Tomas Okafor, "knee surgeries" for knee surgery.

Words are taken for a value where they are of no other one that the schema knows: a single word only where it is written as
a name is, or stands behind a title; several where one of them at least names nothing of the schema.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from fastsql.linking.candidate import IN_PART, Candidate
from fastsql.linking.value_index import STOP_WORDS
from fastsql.linking.word_match import name_words
from fastsql.schema import Schema
from fastsql.schema.model import Value

LONGEST, MOST_WORDS = 60, 5
"""Letters of a value of which there are parts, and words of a part."""
_TITLES = "dr|doctor|prof|professor|mr|mrs|ms|miss|nurse|sister|surgeon"
_TITLE = re.compile(rf"(?<!\w)(?:{_TITLES})\.?\s+$", re.IGNORECASE)
_IS_TITLE = re.compile(_TITLES, re.IGNORECASE)
_LONGEST_TITLE = 20
_WORD = re.compile(r"[^\W\d_]+|\d+")
_POSSESSIVE = re.compile(r"['’]s?$")
_SHORTEST = 3

_Words = tuple[str, ...]
_Place = tuple[str, int, int]
"""A word, and its characters."""


@dataclass(frozen=True)
class _Parts:
    """By words, the one value that they are all or a part of; words that name something of the schema, and those with which
    a value or a part of one begins.
    """

    wholes: dict[_Words, str]
    parts: dict[_Words, str]
    holders: dict[str, tuple[int, ...]]
    names: frozenset[str]
    first_words: frozenset[str]


def said_in_part(question: str, schema: Schema, settled: Sequence[tuple[int, int]]) -> Iterator[Candidate]:
    """Candidates for values that a question says so, outside what is `settled`; of two overlapping ones the longer."""
    known = _known(schema.domains, schema.texts)
    if not known.holders:
        return
    words = [(match.group(), *match.span()) for match in _WORD.finditer(question)]
    keys = [_key(word) for word, _, _ in words]
    reached = 0
    for first, (_, start, _) in enumerate(words):
        if start < reached or keys[first] not in known.first_words:
            continue
        for last in range(min(len(words), first + MOST_WORDS) - 1, first - 1, -1):
            end, said = words[last][2], tuple(keys[first : last + 1])
            if any(start < until and begun < end for begun, until in settled):
                continue
            value = _meant(said, question, (start, end), known)
            if value is not None and (said in known.wholes or _stands_apart(words, first, last, known)):
                title = _title(question, start)
                span = (title.start() if title else start, end)
                yield Candidate(value, "text", span, "schema", known.holders[value], distance=IN_PART)
                reached = end
                break


def _meant(said: _Words, question: str, span: tuple[int, int], known: _Parts) -> str | None:
    """The value that words stand for, if they do."""
    whole = known.wholes.get(said)
    if whole is not None:
        return (
            whole if len(said) > 1 or not (_is_common(said[0], known) or said[0] == whole.lower()) else None
        )
    value = known.parts.get(said)
    if value is None:
        return None
    if len(said) > 1:
        telling = (word not in known.names and word not in STOP_WORDS and not word.isdigit() for word in said)
        return value if any(telling) else None
    written = question[slice(*span)]
    is_name = written[:1].isupper() and span[0] > 0 and written in _WORD.findall(value)
    is_title = _title(question, span[0]) is not None
    return value if (is_name or is_title) and not _is_common(said[0], known) else None


def _stands_apart(words: Sequence[_Place], first: int, last: int, known: _Parts) -> bool:
    """Whether the words around some are no more of the same: "acute kidney" of "acute kidney injury", Marsh of Ann Marsh."""
    before = words[first - 1][0] if first else ""
    behind = words[last + 1][0] if last + 1 < len(words) else ""
    if (
        first > 1
        and before[:1].isupper()
        and _key(before) not in known.names
        and not _IS_TITLE.fullmatch(before)
    ):
        return False
    if first == last:  # a name, which anything but a further name may follow
        return not behind[:1].isupper()
    return not behind or behind.lower() in STOP_WORDS or _key(behind) in known.names


def _title(question: str, start: int) -> re.Match[str] | None:
    """A title before a name."""
    return _TITLE.search(question, max(0, start - _LONGEST_TITLE), start)


def _is_common(word: str, known: _Parts) -> bool:
    """Whether a word by itself says nothing of a value."""
    return word in known.names or word in STOP_WORDS or len(word) < _SHORTEST


@lru_cache(maxsize=64)
def _known(domains: tuple[tuple[Value, ...], ...], texts: tuple[str, ...]) -> _Parts:
    holders: dict[str, list[int]] = {}
    for column, values in enumerate(domains):
        for value in values:
            if isinstance(value, str) and len(value) <= LONGEST:
                holders.setdefault(value, []).append(column)
    wholes: dict[_Words, set[str]] = {}
    parts: dict[_Words, set[str]] = {}
    for value in holders:
        words = tuple(map(_key, _WORD.findall(value)))
        wholes.setdefault(words, set()).add(value)
        for size in range(1, min(len(words), MOST_WORDS + 1)):
            for first in range(len(words) - size + 1):
                parts.setdefault(words[first : first + size], set()).add(value)
    of_one = {words: value for words, (value, *others) in _listed(wholes) if words and not others}
    in_one = {
        words: value for words, (value, *others) in _listed(parts) if not others and words not in wholes
    }
    return _Parts(
        of_one,
        in_one,
        {value: tuple(columns) for value, columns in holders.items()},
        frozenset(_key(word) for text in texts for word in name_words(text)),
        frozenset(words[0] for words in (*of_one, *in_one)),
    )


def _listed(found: dict[_Words, set[str]]) -> Iterator[tuple[_Words, tuple[str, ...]]]:
    return ((words, tuple(values)) for words, values in found.items())


def _key(word: str) -> str:
    """A word without its ending, and as Americans spell it: surgeries and surgery, haemoglobin and hemoglobin are one."""
    key = _POSSESSIVE.sub("", word.lower())
    if len(key) > 5:
        key = key.replace("ae", "e").replace("oe", "e").replace("our", "or")
    if len(key) > 4 and key.endswith("ies"):
        return f"{key[:-3]}y"
    return key[:-1] if len(key) > 3 and key.endswith("s") and not key.endswith(("ss", "is", "us")) else key
