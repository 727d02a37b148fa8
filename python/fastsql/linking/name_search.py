"""How much a question says of the names of a schema's tables and columns.

The words of the question are held against the words of all names, labels and synonyms (`word_match`), rare words counting
more, as in Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009); values found in the
question vote for the columns that hold them. A table's score is that of its name and its best columns, and is passed on
along foreign keys.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fastsql.linking.nodes import NodeLayout
from fastsql.linking.vocabulary.english import ASKS_FOR_NOTHING, BESIDE_COMMANDS, COMMANDS
from fastsql.linking.word_match import INITIALS, closeness, initials, name_words

if TYPE_CHECKING:
    from fastsql.linking.candidate import Candidate
    from fastsql.schema import Schema

_CLAUSE = re.compile(r"[.!?;,:\n\u3002\uff01\uff1f\uff1b\uff0c\uff1a]+")
_VALUE = 2.0
"""What a value found in the question adds to a column, if that is the only one that holds it."""
_TABLE_NAME = 1.5
"""What the name of a table counts against that of its best column."""
_TELLING_COLUMNS = 4
"""The best columns of a table that count for it, each half as much as the one before."""
_NEIGHBOUR = 0.6
"""The share of its score that a table passes on along a foreign key."""
_HOPS = 2
"""Foreign keys that a score is passed along."""

Scores = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Found:
    """What one question says of T tables and C columns.

    `tables` float64[T] and `columns` float64[C]: how much speaks for each, for a column by itself. `said` float64[T]: the
    share of a table's name that is said, 0 to 1. `votes` float64[C]: values found in the question that a column holds, each
    shared by the square root of the number of columns that hold it.
    """

    tables: Scores
    columns: Scores
    said: Scores
    votes: Scores


class NameSearch:
    """The words of one schema's names. Immutable once built, so threads may share it."""

    def __init__(self, schema: Schema) -> None:
        self._nodes = NodeLayout.of_schema(schema)
        held = [_words(one.name, one.label, *one.synonyms) for one in schema.tables]
        held += [_words(one.name, one.label, *one.synonyms) for one in schema.columns]
        uses = Counter(word for words in held for word in words)
        self._vocabulary = {word: number for number, word in enumerate(uses)}
        self._by_letter: dict[str, list[tuple[str, int]]] = {}
        for word, number in self._vocabulary.items():
            self._by_letter.setdefault(word[0], []).append((word, number))
        rarity = np.array([math.log(1 + len(held) / count) for count in uses.values()])
        # One entry for each word of each item: the item's number, the word's, and what the word adds to the item. A name
        # said in full comes to the square root of its words' rarity.
        self._items = np.repeat(np.arange(len(held)), [len(words) for words in held])
        self._words = np.array([self._vocabulary[word] for words in held for word in words], dtype=np.intp)
        total = _sums(self._items, rarity[self._words], len(held))
        self._adds = rarity[self._words] / np.sqrt(total)[self._items]
        self._whole: Scores = np.maximum(np.sqrt(total), 1e-9)
        self._columns_of = [np.array(table.columns, dtype=np.intp) for table in schema.tables]
        self._near = np.zeros((len(schema.tables), len(schema.tables)), dtype=bool)
        for key in schema.foreign_keys:
            one, other = schema.columns[key.columns[0]].table, schema.columns[key.references[0]].table
            self._near[one, other] = self._near[other, one] = one != other

    def find(self, question: str, candidates: Sequence[Candidate] = ()) -> Found:
        """What the question says; `candidates` are its values, found with the same schema (`find_candidates`)."""
        matched = self._matched(question)[self._words]
        both = _sums(self._items, self._adds * matched, len(self._whole))
        said: Scores = (both / self._whole)[self._nodes.tables]
        tables, columns = _TABLE_NAME * both[self._nodes.tables], both[self._nodes.columns]
        votes = np.zeros(len(columns))
        for candidate in candidates:
            if candidate.columns:
                votes[list(candidate.columns)] += 1 / math.sqrt(len(candidate.columns))
        columns += _VALUE * votes
        for table, own in enumerate(self._columns_of):
            best = np.sort(columns[own])[::-1][:_TELLING_COLUMNS]
            tables[table] += float(best @ (0.5 ** np.arange(len(best))))
        passed = tables
        for _ in range(_HOPS):
            passed = tables + _NEIGHBOUR * (self._near * passed[None, :]).max(axis=1, initial=0.0)
        return Found(passed, columns, said, votes)

    def _matched(self, question: str) -> Scores:
        """float64[words]: how well the question says each word of the schema."""
        clauses = [_asked(clause) for clause in _CLAUSE.split(question)]
        best = np.zeros(len(self._vocabulary))
        for word in {word for clause in clauses for word in clause} - ASKS_FOR_NOTHING:
            # Whatever says a word begins with its first letter.
            for named, place in self._by_letter.get(word[0], ()):
                best[place] = max(best[place], closeness(word, named))
        for text in (text for clause in clauses for text in initials(clause)):
            place = self._vocabulary.get(text, -1)
            if place >= 0:
                best[place] = max(best[place], INITIALS)
        return best


def _asked(clause: str) -> list[str]:
    """The words of a clause behind the command that opens it."""
    words = name_words(clause)
    begin = 0
    while begin < len(words) and words[begin] in COMMANDS | BESIDE_COMMANDS:
        begin += 1
    return words[begin:]


def _sums(places: NDArray[np.intp], values: Scores, size: int) -> Scores:
    """float64[size]: the sum of the values of each place."""
    sums = np.zeros(size)
    np.add.at(sums, places, values)
    return sums


def _words(*texts: str) -> list[str]:
    """Distinct words of an item's names, in order."""
    words = dict.fromkeys(word for text in texts for word in name_words(text))
    return [word for word in words if word not in ASKS_FOR_NOTHING]
