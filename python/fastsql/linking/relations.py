"""Relations between question tokens, value candidates, tables and columns: the edges of the graph (`turns.py` adds turns).

The nodes are those of `NodeLayout`: Q tokens, V candidates, T tables, C columns. `relations[i, j]` is the type of
the edge that row i sees when it attends to column j. The types are those of RAT-SQL (Wang et al., ACL 2020,
section 4) and LGESQL (Cao et al., ACL 2021, appendix A), with value links for candidates.

The block of tables and columns depends on the schema only, so `SchemaLinks` holds it ready, with every label
cut into n-grams; a question costs one pass over its own n-grams.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastsql.linking.abbreviations import Abbreviations
from fastsql.linking.candidate import Candidate
from fastsql.linking.native_links import NativeLinks
from fastsql.linking.nodes import NodeLayout
from fastsql.linking.vocabulary.english import NAMES_NOTHING
from fastsql.schema import Schema

RELATIONS = (
    "none",
    # question token to question token, by distance
    *("token-before-far", "token-before-2", "token-before-1", "token-self"),
    *("token-after-1", "token-after-2", "token-after-far"),
    # question and candidates
    *("token-candidate", "token-beside-candidate", "token-in-candidate"),
    *("candidate-token", "candidate-beside-token", "candidate-covers-token"),
    *("candidate-self", "candidate-candidate", "candidate-overlap"),
    # question and schema: nothing in common, part of a name, a whole name
    *("token-table", "token-table-part", "token-table-name"),
    *("table-token", "table-part-token", "table-name-token"),
    *("token-column", "token-column-part", "token-column-name", "token-column-value"),
    *("column-token", "column-part-token", "column-name-token", "column-value-token"),
    # candidates and schema: a value that the column holds, or one that fits its type
    *("candidate-table", "candidate-table-value", "table-candidate", "table-value-candidate"),
    *("candidate-column", "candidate-column-type", "candidate-column-value"),
    *("column-candidate", "column-type-candidate", "column-value-candidate"),
    # within the schema
    *("table-self", "table-table", "table-references", "table-referenced", "table-both"),
    *("table-column", "table-own-column", "table-own-key"),
    *("column-table", "column-own-table", "key-own-table"),
    *("column-self", "column-column", "column-same-table", "column-references", "column-referenced"),
    "column-same-name",
    # earlier turns, and the nodes that their queries name or return: tables, columns and candidates
    *("turn-self", "turn-turn", "turn-uses", "used-by-turn", "turn-returns", "returned-by-turn"),
)
"""The edge types; an edge's number is its place here. A turn and what its query does not name have none of their own."""
PLAIN_RELATIONS = RELATIONS[: RELATIONS.index("turn-self")]
"""Those of models without turns."""

_NUMBER = {name: index for index, name in enumerate(RELATIONS)}
_LONGEST_NAME = 6
_HIDDEN = RELATIONS.index("token-column-value") - RELATIONS.index("token-column")
"""What hides whether a token is in a column's name."""
_WORD = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]|[^\W_\u3400-\u9fff\uf900-\ufaff]+")
_CJK = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]")

Relations = NDArray[np.uint8]


class SchemaLinks:
    """Everything about a schema that linking a question to it needs. Immutable once built."""

    def __init__(
        self, schema: Schema, *, abbreviations: bool = False, core: ModuleType | None = None
    ) -> None:
        """`abbreviations`: whether ``dept`` in a name is linked to "department" in a question, as a part of the name.

        A model has to be trained with it; the bundled ones are not. `core` is the native module (`backends.native`) to link
        with, tables, columns and values alike; None links in Python, to the same end.
        """
        self.schema = schema
        self.nodes = NodeLayout.of_schema(schema)
        """The schema's nodes alone."""
        self.static: Relations = _schema_block(schema)
        """uint8[T + C, T + C], the relations within the schema."""
        self._exact: dict[tuple[str, ...], NDArray[np.intp]] = {}
        self._part: dict[tuple[str, ...], NDArray[np.intp]] = {}
        self._index_names()
        single = (gram[0] for gram in self._part if len(gram) == 1)
        self._abbreviations = Abbreviations(single) if abbreviations else None
        self._table_of = np.array([column.table for column in schema.columns], dtype=np.intp)
        types = np.array([column.type for column in schema.columns], dtype=object)
        self._fits = {
            "number": (types == "number") | (types == "boolean"),
            "date": types == "time",
            "text": types == "text",
        }
        self.core = core
        known = (self._exact, self._part, _NUMBER, self.static, self._table_of, self._fits)
        self._native = None if core is None else NativeLinks(core, *known)

    def __getstate__(self) -> dict[str, Any]:
        # Linking in Python is what every process can do.
        return {**self.__dict__, "core": None, "_native": None}

    def _index_names(self) -> None:
        exact: dict[tuple[str, ...], set[int]] = {}
        part: dict[tuple[str, ...], set[int]] = {}
        schema = self.schema
        for item, (name, label, synonyms) in enumerate(
            [(table.name, table.label, table.synonyms) for table in schema.tables]
            + [(column.name, column.label, column.synonyms) for column in schema.columns]
        ):
            for text in {name, label, *synonyms}:
                words = tuple(word for word, _, _ in split_words(text))
                if not words:
                    continue
                exact.setdefault(words[:_LONGEST_NAME], set()).add(item)
                for gram in _grams(words):
                    if _telling(gram):
                        part.setdefault(gram, set()).add(item)
        self._exact = {gram: np.array(sorted(items), dtype=np.intp) for gram, items in exact.items()}
        self._part = {gram: np.array(sorted(items), dtype=np.intp) for gram, items in part.items()}

    def name_matches(self, question: str, offsets: NDArray[np.int32]) -> NDArray[np.uint8]:
        """uint8[Q, T + C]: 2 where a token is in a whole name of the item, 1 in a part of one, else 0."""
        matches = np.zeros((len(offsets), len(self.static)), dtype=np.uint8)
        for tokens, items, match in self._named(question, offsets):
            block = matches[tokens]
            block[:, items] = np.maximum(block[:, items], match)
        return matches

    def read_matches(
        self, items: Sequence[int], question: str, offsets: NDArray[np.int32], relations: Relations
    ) -> NDArray[np.uint8]:
        """uint8[Q, I], the `name_matches` of I items, read from the `relations` uint8[N, N] of the question.

        A value that a column holds hides the column's name there; for such columns the words are looked up once more.
        """
        block = relations[: len(offsets), self.nodes.schema_of(len(relations))][:, items]
        is_table = np.asarray(items, dtype=np.intp) < self.nodes.tables.stop
        unnamed = np.where(is_table, _NUMBER["token-table"], _NUMBER["token-column"]).astype(np.uint8)
        matches: NDArray[np.uint8] = block - unnamed
        hidden = np.flatnonzero((matches == _HIDDEN).any(axis=0)).tolist()
        if not hidden:
            return matches
        matches[:, hidden] = 0
        for tokens, named, match in self._named(question, offsets):
            for place in hidden:
                if items[place] in named:
                    matches[tokens, place] = np.maximum(matches[tokens, place], match)
        return matches

    def _named(
        self, question: str, offsets: NDArray[np.int32]
    ) -> Iterator[tuple[slice, NDArray[np.intp], int]]:
        """Runs of tokens in whole (2) or parts (1) of the names of items."""
        if not len(offsets):
            return
        words = split_words(question)
        # First and last token (exclusive) of each word.
        first = np.searchsorted(offsets[:, 1], [start for _, start, _ in words], side="right").tolist()
        last = np.searchsorted(offsets[:, 0], [end for _, _, end in words], side="left").tolist()
        for begin in range(len(words)):
            gram: tuple[str, ...] = ()
            for end in range(begin, min(begin + _LONGEST_NAME, len(words))):
                gram = (*gram, words[end][0])
                for match, known in ((1, self._part), (2, self._exact)):
                    if gram in known:
                        yield slice(first[begin], last[end]), known[gram], match
        for begin, end, named in self._shortened(words):
            yield slice(first[begin], last[end - 1]), self._part[named,], 1

    def _shortened(self, words: Sequence[tuple[str, int, int]]) -> Iterable[tuple[int, int, str]]:
        """Runs of words that a word of a name abbreviates."""
        if self._abbreviations is None:
            return ()
        return self._abbreviations.find([word for word, _, _ in words])

    def relations(
        self, question: str, offsets: NDArray[np.int32], candidates: Sequence[Candidate]
    ) -> Relations:
        """uint8[N, N], N = Q + V + T + C, for a question whose tokens lie at `offsets` int32[Q, 2]."""
        if self._native is not None:
            words = split_words(question)
            return self._native.relations(words, self._shortened(words), offsets, candidates)
        nodes = self.nodes.with_question(len(offsets), len(candidates))
        tokens, values, tables, columns = nodes.tokens, nodes.candidates, nodes.tables, nodes.columns
        relations = np.empty((nodes.size, nodes.size), dtype=np.uint8)
        relations[nodes.schema, nodes.schema] = self.static

        place = np.arange(nodes.n_tokens)
        distance = np.clip(place[None, :] - place[:, None], -3, 3)
        relations[tokens, tokens] = distance + _NUMBER["token-self"]

        inside, beside = _span_masks(offsets, candidates)
        near = np.where(inside, 2, np.where(beside, 1, 0)).astype(np.uint8)
        relations[values, tokens] = near + np.uint8(_NUMBER["candidate-token"])
        relations[tokens, values] = near.T + np.uint8(_NUMBER["token-candidate"])
        counts = inside.astype(np.float32)
        overlap = counts @ counts.T > 0
        relations[values, values] = np.where(
            overlap, _NUMBER["candidate-overlap"], _NUMBER["candidate-candidate"]
        )
        diagonal = np.arange(values.start, values.stop)
        relations[diagonal, diagonal] = _NUMBER["candidate-self"]

        holds, fits = self._value_links(candidates)
        matches = self.name_matches(question, offsets)
        by_table = matches[:, self.nodes.tables]
        relations[tokens, tables] = by_table + np.uint8(_NUMBER["token-table"])
        relations[tables, tokens] = by_table.T + np.uint8(_NUMBER["table-token"])
        by_column = matches[:, self.nodes.columns]
        if candidates:
            # A value that the column holds outranks a word of its name.
            by_column = np.where((counts.T @ holds.astype(np.float32)) > 0, np.uint8(3), by_column)
        relations[tokens, columns] = by_column + np.uint8(_NUMBER["token-column"])
        relations[columns, tokens] = by_column.T + np.uint8(_NUMBER["column-token"])

        links = np.where(holds, 2, np.where(fits, 1, 0)).astype(np.uint8)
        relations[values, columns] = links + np.uint8(_NUMBER["candidate-column"])
        relations[columns, values] = links.T + np.uint8(_NUMBER["column-candidate"])
        held = np.zeros((nodes.n_candidates, nodes.n_tables), dtype=np.uint8)
        row, column = np.nonzero(holds)
        held[row, self._table_of[column]] = 1
        relations[values, tables] = held + np.uint8(_NUMBER["candidate-table"])
        relations[tables, values] = held.T + np.uint8(_NUMBER["table-candidate"])
        return relations

    def _value_links(self, candidates: Sequence[Candidate]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """bool[V, C] twice: the column holds the value, the column's type fits the value."""
        shape = (len(candidates), len(self._table_of))
        holds, fits = np.zeros(shape, dtype=bool), np.zeros(shape, dtype=bool)
        for index, candidate in enumerate(candidates):
            holds[index, list(candidate.columns)] = True
            if candidate.kind in self._fits:
                fits[index] = self._fits[candidate.kind]
        return holds, fits


def split_words(text: str) -> list[tuple[str, int, int]]:
    """Words of a text, lower case and without plural s, with their first and last character (exclusive).

    Letters and digits are kept apart at underscores and spaces; each Chinese character is a word.
    """
    return [(_stem(match.group().lower()), match.start(), match.end()) for match in _WORD.finditer(text)]


def _stem(word: str) -> str:
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def _grams(words: tuple[str, ...]) -> Iterable[tuple[str, ...]]:
    for begin in range(len(words)):
        for end in range(begin + 1, min(begin + _LONGEST_NAME, len(words)) + 1):
            yield words[begin:end]


def _telling(gram: tuple[str, ...]) -> bool:
    """Whether part of a name says something: no lone Chinese character, not only stop words."""
    if len(gram) == 1 and _CJK.match(gram[0]):
        return False
    return not all(word in NAMES_NOTHING for word in gram)


def _span_masks(
    offsets: NDArray[np.int32], candidates: Sequence[Candidate]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """bool[V, Q] twice: the token is inside the candidate's span; it is just before or after it."""
    spans = np.array([candidate.span for candidate in candidates], dtype=np.int32).reshape(-1, 2)
    inside = (offsets[None, :, 0] < spans[:, 1:]) & (offsets[None, :, 1] > spans[:, :1])
    beside = np.zeros_like(inside)
    beside[:, :-1] |= inside[:, 1:]
    beside[:, 1:] |= inside[:, :-1]
    return inside, beside


def span_weights(offsets: NDArray[np.int32], candidates: Sequence[Candidate]) -> NDArray[np.float32]:
    """float32[V, Q]: each row averages over the tokens of the candidate's span (all zero if it has none)."""
    inside = _span_masks(offsets, candidates)[0].astype(np.float32)
    weights: NDArray[np.float32] = inside / np.maximum(inside.sum(axis=1, keepdims=True), 1)
    return weights


def _schema_block(schema: Schema) -> Relations:
    n_tables, n_columns = len(schema.tables), len(schema.columns)
    table_of = np.array([column.table for column in schema.columns], dtype=np.intp)
    keys = np.zeros(n_columns, dtype=bool)
    for index, column in enumerate(schema.columns):
        keys[index] = column.primary_key or index in schema.tables[column.table].primary_key

    within = np.full((n_columns, n_columns), _NUMBER["column-column"], dtype=np.uint8)
    numbers: dict[str, int] = {}
    names = np.array(
        [numbers.setdefault(column.name.lower(), len(numbers)) for column in schema.columns], dtype=np.intp
    )
    within[names[:, None] == names[None, :]] = _NUMBER["column-same-name"]
    within[table_of[:, None] == table_of[None, :]] = _NUMBER["column-same-table"]
    tables = np.full((n_tables, n_tables), _NUMBER["table-table"], dtype=np.uint8)
    refers = np.zeros((n_tables, n_tables), dtype=bool)
    for key in schema.foreign_keys:
        for source, target in zip(key.columns, key.references, strict=True):
            within[source, target] = _NUMBER["column-references"]
            within[target, source] = _NUMBER["column-referenced"]
            refers[table_of[source], table_of[target]] = True
    tables[refers] = _NUMBER["table-references"]
    tables[refers.T] = _NUMBER["table-referenced"]
    tables[refers & refers.T] = _NUMBER["table-both"]
    np.fill_diagonal(within, _NUMBER["column-self"])
    np.fill_diagonal(tables, _NUMBER["table-self"])

    own = table_of[None, :] == np.arange(n_tables)[:, None]
    owning = np.where(own, np.where(keys[None, :], 2, 1), 0).astype(np.uint8)
    return np.block(
        [
            [tables, owning + np.uint8(_NUMBER["table-column"])],
            [owning.T + np.uint8(_NUMBER["column-table"]), within],
        ]
    )
