"""A part of a large schema that one question can be answered on: pre-selection of tables and columns.

Every row of the relation graph costs time, and a warehouse has thousands of columns, of which a query reads ten. The words
of a question are held against the words of all names, labels and synonyms (`word_match`), rare words counting more, as in
Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009); values found in it vote for the
columns that hold them. A table's score is that of its name and its best columns, and is passed on along foreign keys. What
is kept is decided by ranks: of the first tables many columns, of later ones few.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fastsql.linking.word_match import INITIALS, closeness, initials, name_words

if TYPE_CHECKING:
    from fastsql.linking.candidate import Candidate
    from fastsql.schema import Schema

COLUMNS = 200
"""Columns that a selection keeps, unless told otherwise."""

_FUNCTION_WORDS = """
a about all also an and any are as at be been between both but by can could did do does each find for from get give had has
have how i if in into is it its list many may me more most much my of on or out over please return same show so some such
tell than that the their them then there these they this those to us was we were what when where which while who whose will
with would you your
"""
_STOP_WORDS = frozenset(_FUNCTION_WORDS.split())
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
_TABLE_RANK = 1.3
"""How much faster a column falls back with the rank of its table than with its own rank in the table."""

Scores = NDArray[np.float64]


@dataclass(frozen=True)
class Selection:
    """A reduced schema. `tables[i]` and `columns[j]` are the places in the whole schema of the part's tables and columns."""

    schema: Schema
    tables: tuple[int, ...]
    columns: tuple[int, ...]


class SchemaSelector:
    """Ranks the tables and columns of one schema for a question. Immutable once built, so threads may share it."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        n_tables = len(schema.tables)
        words = [_words(one.name, one.label, *one.synonyms) for one in schema.tables]
        words += [_words(one.name, one.label, *one.synonyms) for one in schema.columns]
        uses = Counter(word for held in words for word in held)
        self._vocabulary = {word: number for number, word in enumerate(uses)}
        self._by_letter: dict[str, list[tuple[str, int]]] = {}
        for word, number in self._vocabulary.items():
            self._by_letter.setdefault(word[0], []).append((word, number))
        rarity = np.array([math.log(1 + len(words) / count) for count in uses.values()])
        # float[T + C, words]: what a word adds to an item; a name said in full comes to about the square root of its rarity.
        weights = np.zeros((len(words), len(rarity)))
        for item, held in enumerate(words):
            places = [self._vocabulary[word] for word in held]
            weights[item, places] = rarity[places] / math.sqrt(max(rarity[places].sum(), 1e-9))
        self._weights = weights
        self._n_tables = n_tables
        self._table_of = np.array([column.table for column in schema.columns], dtype=np.intp)
        self._columns_of = [np.array(table.columns, dtype=np.intp) for table in schema.tables]
        self._near = np.zeros((n_tables, n_tables), dtype=bool)
        self._leads_to: list[tuple[int, int]] = []
        for key in schema.foreign_keys:
            for source, target in zip(key.columns, key.references, strict=True):
                one, other = schema.columns[source].table, schema.columns[target].table
                self._near[one, other] = self._near[other, one] = one != other
                self._leads_to += [(source, other), (target, one)]

    def scores(self, question: str, candidates: Sequence[Candidate] = ()) -> tuple[Scores, Scores]:
        """float[T] and float[C]: how much speaks for each table, and for each column by itself."""
        both = self._weights @ self._matched(question)
        tables, columns = _TABLE_NAME * both[: self._n_tables], both[self._n_tables :]
        for candidate in candidates:
            if candidate.columns:
                columns[list(candidate.columns)] += _VALUE / math.sqrt(len(candidate.columns))
        for table, own in enumerate(self._columns_of):
            best = np.sort(columns[own])[::-1][:_TELLING_COLUMNS]
            tables[table] += float(best @ (0.5 ** np.arange(len(best))))
        passed = tables
        for _ in range(_HOPS):
            passed = tables + _NEIGHBOUR * (self._near * passed[None, :]).max(axis=1, initial=0.0)
        return passed, columns

    def select(
        self, question: str, candidates: Sequence[Candidate] = (), *, limit: int = COLUMNS
    ) -> Selection:
        """The `limit` most telling columns, with primary keys; the whole schema if it has no more columns than that.

        `candidates` are the question's, found with the whole schema (`find_candidates`).
        """
        schema = self.schema
        if len(schema.columns) <= limit:
            return Selection(schema, tuple(range(len(schema.tables))), tuple(range(len(schema.columns))))
        kept: set[int] = set()
        for column in np.argsort(self._costs(*self.scores(question, candidates)), kind="stable").tolist():
            if column not in kept:
                wanted = {column, *schema.tables[schema.columns[column].table].primary_key}
                if len(kept | wanted) <= limit:
                    kept |= wanted
            if len(kept) == limit:
                break
        return reduced(schema, kept)

    def _costs(self, tables: Scores, columns: Scores) -> Scores:
        """float[C]: low for what is to be kept. Columns of foreign keys rank with the table that they lead to."""
        table_rank = _ranks(tables)
        rank = np.empty(len(columns))
        for own in self._columns_of:
            rank[own] = _ranks(columns[own])
        for column, other in self._leads_to:
            rank[column] = min(rank[column], 1 + table_rank[other] / 2)
        costs: Scores = _TABLE_RANK * np.log1p(table_rank)[self._table_of] + np.log1p(rank)
        return costs

    def _matched(self, question: str) -> Scores:
        """float[words]: how well the question says each word of the schema."""
        said = name_words(question)
        best = np.zeros(len(self._vocabulary))
        for word in set(said) - _STOP_WORDS:
            # Whatever says a word begins with its first letter.
            for named, place in self._by_letter.get(word[0], ()):
                best[place] = max(best[place], closeness(word, named))
        for text in initials(said):
            place = self._vocabulary.get(text, -1)
            if place >= 0:
                best[place] = max(best[place], INITIALS)
        return best


def reduced(schema: Schema, columns: Iterable[int]) -> Selection:
    """The schema with these columns only, the tables that have one, and the foreign keys whose columns are all kept."""
    chosen = sorted(set(columns))
    place = {column: number for number, column in enumerate(chosen)}
    tables = sorted({schema.columns[column].table for column in chosen})
    table_place = {table: number for number, table in enumerate(tables)}
    part = replace(
        schema,
        tables=tuple(
            replace(
                schema.tables[table],
                columns=tuple(place[column] for column in schema.tables[table].columns if column in place),
                primary_key=_moved(schema.tables[table].primary_key, place),
            )
            for table in tables
        ),
        columns=tuple(
            replace(schema.columns[column], table=table_place[schema.columns[column].table])
            for column in chosen
        ),
        foreign_keys=tuple(
            replace(key, columns=_moved(key.columns, place), references=_moved(key.references, place))
            for key in schema.foreign_keys
            if all(column in place for column in (*key.columns, *key.references))
        ),
        constants=tuple(
            replace(constant, column=None if constant.column is None else place[constant.column])
            for constant in schema.constants
            if constant.column is None or constant.column in place
        ),
    )
    return Selection(part, tuple(tables), tuple(chosen))


def _words(*texts: str) -> frozenset[str]:
    return frozenset(word for text in texts for word in name_words(text) if word not in _STOP_WORDS)


def _moved(columns: tuple[int, ...], place: dict[int, int]) -> tuple[int, ...]:
    """The columns' new places; none where one of them is gone, as half a key is no key."""
    return tuple(place[column] for column in columns) if all(column in place for column in columns) else ()


def _ranks(scores: Scores) -> Scores:
    """float[n]: 0 for the highest score, 1 for the next; equal ones share a rank: parts of a split table stay together."""
    _, place = np.unique(np.round(-scores, 6), return_inverse=True)
    return place.astype(np.float64)
