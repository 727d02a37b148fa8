"""What the names of a schema say in words: cut where nothing separates them, and abbreviations spelled out.

An abbreviation is one of a list (`abbreviations.py`), or the beginning or the consonants of one word that the schema
spells out elsewhere, and of no other. SNAILS (Luoma and Kumar, SIGMOD 2025) is about such names, and its data set is the
test (`benchmarks/name_words.py`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from fastsql.linking.vocabulary.english import ENDINGS
from fastsql.linking.word_match import SQUEEZED, closeness, stem
from fastsql.profile.abbreviations import AT_END, CLINICAL_WORDS, GENERAL, MEDICAL, PREFIXES, SPOKEN
from fastsql.profile.cutting import cut
from fastsql.profile.english import beginnings, is_english
from fastsql.schema.model import Column, Structure, Table
from fastsql.schema.names import label_from_name

AnySchema = TypeVar("AnySchema", bound=Structure)
Item = TypeVar("Item", Table, Column)

_DIGITS_BEHIND = re.compile(r"([a-z]{4,})(\d{1,2})")
_WORD = re.compile(r"[a-z]+")
_VOWEL = re.compile("[aeiou]")
_BEGINNING, _OF_ENGLISH = 4, 5
"""Letters that the beginning of a word of the schema must have, and that of any English word. The beginning of a word in a
table's name may be shorter: tables lend their names to their columns (``stu_gpa``)."""
_LEAST_CLINICAL = 2
_MOST_GAPS, _LEAST_JOINED, _SHARE_JOINED = 0.05, 5, 0.2
"""A schema joins its words where at most this share of its names has a gap, and so many, and this share, are joined."""
_UNNAMED = "unnamed"
"""The words of a name that is only blanks."""


@dataclass(frozen=True)
class NameWords:
    """A name as `cut` into words, and with its abbreviations `spelled` out; both in lower case."""

    cut: str
    spelled: str


class Names:
    """The names of a schema together: each helps to read the others. Immutable once built."""

    def __init__(self, tables: Sequence[str], columns: Sequence[str], texts: Iterable[str] = ()) -> None:
        """`texts` is what is said of tables and columns, such as comments."""
        said = {word for text in texts for word in _WORD.findall(text.lower())}
        in_tables, own = _words(tables), _words((*tables, *columns))
        clinical = len(CLINICAL_WORDS & own) >= _LEAST_CLINICAL
        self._short: Mapping[str, str] = {**GENERAL, **MEDICAL} if clinical else GENERAL
        long = frozenset(word for word in own | said if len(word) >= _BEGINNING and word not in self._short)
        self._full = frozenset(word for word in long if is_english(word))
        self._by_letter: dict[str, list[str]] = {}
        for word in sorted(long):
            self._by_letter.setdefault(word[0], []).append(word)
        self._of_tables = self._full & in_tables
        self._joined = self._joins({*tables, *columns})

    def read(self, name: str, *, table: bool = False) -> NameWords:
        """The words of a name. Of a table's, a prefix that only says that it is a table is left out."""
        words = label_from_name(name).split() or [_UNNAMED]
        if table and len(words) > 1 and words[0] in PREFIXES:
            words = words[1:]
        words = self._cut(words)
        spelled = [self._spelled(word, place, words) for place, word in enumerate(words)]
        return NameWords(" ".join(words), " ".join(spelled))

    def _joins(self, names: Collection[str]) -> bool:
        """Whether all names join their words, as far as is seen: where some have gaps, the others are words."""
        words = [label_from_name(name).split() for name in names]
        gaps = sum(len(one) > 1 for one in words)
        if gaps > _MOST_GAPS * len(words):
            return False
        runs = (one[0] for one in words if len(one) == 1 and _WORD.fullmatch(one[0]))
        joined = sum(len(cut(run, self._full, self._short, joined=True)) > 1 for run in runs)
        return joined >= max(_LEAST_JOINED, _SHARE_JOINED * len(words))

    def _cut(self, words: Sequence[str]) -> list[str]:
        found: list[str] = []
        for word in words:
            digits = _DIGITS_BEHIND.fullmatch(word)
            if digits and word not in self._short:
                found += [*self._cut([digits[1]]), digits[2]]
            elif word.isascii() and word.isalpha():
                found += cut(word, self._full, self._short, joined=self._joined)
            else:
                found.append(word)
        return found

    def _spelled(self, word: str, place: int, words: Sequence[str]) -> str:
        if place and place == len(words) - 1 and word in AT_END and words[place - 1] != "yes":
            return AT_END[word]
        if word in self._short:
            return self._short[word]
        if word in SPOKEN or not word.isascii() or not word.isalpha() or is_english(word):
            return word
        return self._in_full(word) or word

    def _in_full(self, word: str) -> str:
        """The one word of the schema, else of English, that a word is the beginning or the consonants of; or none."""
        longer = [full for full in self._by_letter.get(word[0], ()) if len(full) > len(word)]
        begun = [full for full in longer if _begins(word, full)]
        if len(word) == _BEGINNING - 1:
            return _one_of(full for full in begun if full in self._of_tables)
        if len(word) < _BEGINNING:
            return ""
        squeezed = (
            [] if _VOWEL.search(word, 1) else [full for full in longer if closeness(full, word) == SQUEEZED]
        )
        if begun or squeezed or len(word) < _OF_ENGLISH:
            found = _one_of(begun or squeezed)
            return found if found in self._full else ""
        return _one_of(full for full in beginnings().get(word[:_OF_ENGLISH], ()) if _begins(word, full))


def given_label(one: Table | Column) -> str:
    """The label that a source or a person gave; empty where it is only the name."""
    return "" if one.label == label_from_name(one.name) else one.label


def schema_words(schema: Structure) -> tuple[list[str], list[str]]:
    """The names of columns and tables in words, but for what is called alike then: it keeps the words of its name."""
    items: list[Table | Column] = [*schema.tables, *schema.columns]
    told = [text for one in items for text in (one.description, given_label(one)) if text.isascii()]
    names = Names([table.name for table in schema.tables], [column.name for column in schema.columns], told)
    tables = _apart([names.read(table.name, table=True) for table in schema.tables])
    columns: list[str] = []
    for table in schema.tables:
        columns += _apart([names.read(schema.columns[column].name) for column in table.columns])
    return columns, tables


def spelled(schema: AnySchema) -> AnySchema:
    """The schema under the words of its names: what a model that was trained so links a question to, and reads."""
    columns, tables = schema_words(schema)
    return replace(
        schema,
        tables=tuple(_said(table, words) for table, words in zip(schema.tables, tables, strict=True)),
        columns=tuple(_said(column, words) for column, words in zip(schema.columns, columns, strict=True)),
    )


def _said(item: Item, words: str) -> Item:
    if words == item.label or words in item.synonyms:
        return item
    label, other = (item.label, words) if given_label(item) else (words, item.label)
    return replace(item, label=label, synonyms=(*item.synonyms, other))


def _words(names: Iterable[str]) -> frozenset[str]:
    return frozenset(word for name in names for word in label_from_name(name).split())


def _begins(word: str, full: str) -> bool:
    return full.startswith(word) and full[len(word) :] not in ENDINGS


def _one_of(words: Iterable[str]) -> str:
    """The shortest of words that are forms of one; empty where they are of several, or there are none."""
    found = sorted(words, key=lambda word: (len(word), word))
    return found[0] if found and len({stem(word) for word in found}) == 1 else ""


def _apart(read: Sequence[NameWords]) -> list[str]:
    uses = Counter(one.spelled for one in read)
    return [one.spelled if uses[one.spelled] == 1 else one.cut for one in read]
