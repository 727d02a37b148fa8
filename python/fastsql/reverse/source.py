"""A program as the tokens that the reverse model reads: productions as symbols, labels and values as word pieces.

Tables and columns are written as what they are called, so that a schema never seen reads like any other. Productions
come in the program's own order, the same for every way to write a query. What says nothing is left out: the tables' only key
of a join.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from fastsql.errors import LimitError
from fastsql.forking import renew_in_child
from fastsql.grammar.program import ColumnRef, DerivedRef, Literal, Production, Program, TableRef, Terminal
from fastsql.model.tokenizer import Tokenizer
from fastsql.schema.model import Column, Structure, Table

Ints = NDArray[np.int32]

MAX_TOKENS = 768
"""Of one program."""
TABLE_MARKS = 8
"""Tables told apart; further ones share the last mark."""
SCHEMAS = 8
"""Schemas whose names are kept as word pieces."""
_SYNONYMS = 0.3
"""How often an item that has synonyms is called by one, where names are drawn."""
OTHER = "other"
ITEMS = tuple(f"item {position}" for position in range(8))
"""Symbols beside the productions: what the grammar has learnt since, and columns of derived tables."""


class Kind(IntEnum):
    """What a token is. The first piece of a label or value is told from those that follow it."""

    SYMBOL = 0
    TABLE = 1
    TABLE_MORE = 2
    COLUMN = 3
    COLUMN_MORE = 4
    TEXT = 5
    TEXT_MORE = 6
    NUMBER = 7
    NUMBER_MORE = 8


@dataclass(frozen=True)
class Copied:
    """Pieces `start` to `end` of a source spell `text`: a value, or what a table or column is called."""

    start: int
    end: int
    text: str
    value: bool


@dataclass(frozen=True, eq=False)
class Source:
    """One program: `ids`, `kinds` and `tables`, int32[S] each.

    Ids below the tokenizer's vocabulary are word pieces, those above are symbols. `tables` is a mark for the table that
    a piece belongs to, in order of mention from 1; 0 for none. `spans` are in order of position.
    """

    ids: Ints
    kinds: Ints
    tables: Ints
    spans: tuple[Copied, ...] = ()


@dataclass
class _Writer:
    """Collects the tokens of one program, and how its tables and columns are called and marked."""

    rng: random.Random | None
    ids: list[int] = field(default_factory=list)
    kinds: list[int] = field(default_factory=list)
    tables: list[int] = field(default_factory=list)
    spans: list[Copied] = field(default_factory=list)
    names: dict[int, str] = field(default_factory=dict)
    marks: dict[int, int] = field(default_factory=dict)

    def name(self, item: Table | Column) -> str:
        """What an item is called in this source."""
        if self.rng is None or not item.synonyms:
            return item.label
        if id(item) not in self.names:
            said = self.rng.random() < _SYNONYMS
            self.names[id(item)] = self.rng.choice(item.synonyms) if said else item.label
        return self.names[id(item)]

    def mark(self, table: int) -> int:
        """The number of a table in order of mention, from 1."""
        return min(self.marks.setdefault(table, len(self.marks) + 1), TABLE_MARKS)

    def symbol(self, number: int) -> None:
        """One symbol."""
        self._add([number], Kind.SYMBOL, 0)

    def words(self, text: str, ids: list[int], kind: Kind, table: int = 0, *, value: bool = False) -> None:
        """The pieces of a text."""
        self.spans.append(Copied(len(self.ids), len(self.ids) + len(ids), text, value))
        self._add(ids, kind, table)

    def _add(self, ids: list[int], kind: Kind, table: int) -> None:
        first, more = int(kind), int(kind) + (kind is not Kind.SYMBOL)
        self.ids += ids
        self.kinds += [first, *[more] * (len(ids) - 1)][: len(ids)]
        self.tables += [table] * len(ids)


class SourceReader:
    """Writes programs over one schema as sources.

    `symbols` numbers the productions and other symbols that a model knows, from the tokenizer's vocabulary on. Threads may
    share a reader.
    """

    def __init__(self, schema: Structure, tokenizer: Tokenizer, symbols: Mapping[str, int]) -> None:
        self._schema = schema
        self._tokenizer = tokenizer
        self._symbols = symbols
        self._names: dict[str, list[int]] = {}
        self._keys = _declared_keys(schema)

    def read(self, program: Program, style: str = OTHER, rng: random.Random | None = None) -> Source:
        """The source of a program, to be worded in a `style`.

        Tables and columns are called by their labels; with an `rng`, some by a synonym, each by one throughout.
        Raises LimitError where the source is longer than `MAX_TOKENS`.
        """
        out = _Writer(rng)
        out.symbol(self._symbol(style))
        for item in _without_known_keys(program, self._keys):
            self._write(item, out)
        if len(out.ids) > MAX_TOKENS:
            raise LimitError(
                f"the program has {len(out.ids):,} tokens, more than the {MAX_TOKENS} that the reverse model reads",
                where="program",
            )
        ids, kinds, tables = (np.asarray(row, dtype=np.int32) for row in (out.ids, out.kinds, out.tables))
        return Source(ids, kinds, tables, tuple(out.spans))

    def _write(self, item: Terminal, out: _Writer) -> None:
        if isinstance(item, Production):
            out.symbol(self._symbol(item.name))
        elif isinstance(item, TableRef):
            name = out.name(self._schema.tables[item.table])
            out.words(name, self._name(name), Kind.TABLE, out.mark(item.table))
        elif isinstance(item, ColumnRef):
            column = self._schema.columns[item.column]
            name = out.name(column)
            out.words(name, self._name(name), Kind.COLUMN, out.mark(column.table))
        elif isinstance(item, DerivedRef):
            out.symbol(self._symbol(ITEMS[min(item.item, len(ITEMS) - 1)]))
        elif isinstance(item, Literal):
            self._write_literal(item, out)
        else:
            out.symbol(self._symbol(OTHER))

    def _write_literal(self, item: Literal, out: _Writer) -> None:
        """A literal is its text; a named constant what it is called."""
        text = item.name.replace("_", " ") or str(item.value)
        kind = Kind.TEXT if isinstance(item.value, str) else Kind.NUMBER
        out.words(text, self._words(text), kind, value=True)

    def _name(self, text: str) -> list[int]:
        """Word pieces of what a table or column is called. They are kept; those of values are not, which have no end."""
        if text not in self._names:
            self._names[text] = self._words(text)
        return self._names[text]

    def _words(self, text: str) -> list[int]:
        """Word pieces, cut after `TEXT_TOKENS` of them."""
        (ids,) = self._tokenizer.encode_texts([text])
        return ids[1:-1]

    def _symbol(self, name: str) -> int:
        return self._symbols.get(name, self._symbols[OTHER])


class SourceReaders:
    """Readers over the schemas that were read last. Thread-safe."""

    def __init__(self, tokenizer: Tokenizer, symbols: Mapping[str, int]) -> None:
        self._tokenizer = tokenizer
        self._symbols = symbols
        self._readers: dict[int, SourceReader] = {}
        self.renew_after_fork()
        renew_in_child(self)

    def renew_after_fork(self) -> None:
        """Called in a child process after a fork: makes the lock anew."""
        self._lock = threading.Lock()

    def over(self, schema: Structure) -> SourceReader:
        """Reads programs over this very object: a reader holds on to its schema, so no other has its identity."""
        with self._lock:
            reader = self._readers.pop(id(schema), None)
            if reader is None:
                reader = SourceReader(schema, self._tokenizer, self._symbols)
            self._readers[id(schema)] = reader
            while len(self._readers) > SCHEMAS:
                del self._readers[next(iter(self._readers))]
        return reader


def _declared_keys(schema: Structure) -> frozenset[frozenset[int]]:
    """Pairs of columns of which each is a declared key, the only one between its two tables."""
    between: dict[frozenset[int], list[frozenset[int]]] = {}
    for key in schema.foreign_keys:
        pair = (key.columns[0], key.references[0])
        tables = frozenset(schema.columns[column].table for column in pair)
        between.setdefault(tables, []).append(frozenset(pair))
    return frozenset(keys[0] for keys in between.values() if len(keys) == 1)


def _without_known_keys(program: Program, known: frozenset[frozenset[int]]) -> Iterator[Terminal]:
    """The program without what its joins along keys imply.

    A join is `along`, its target, and hops: a table and the two columns that join it, `further` between them. The target is
    written once, a key that is the only one between its tables not at all.
    """
    position = 0
    while position < len(program):
        item = program[position]
        yield item
        position += 1
        if item != Production("along"):
            continue
        target = program[position]
        yield target
        position += 1
        first = True
        while first or program[position : position + 1] == (Production("further"),):
            position += not first
            hop, *key = program[position : position + 3]
            position += 3
            first = False
            if hop != target:
                yield Production("further")
                yield hop
            columns = frozenset(one.column for one in key if isinstance(one, ColumnRef))
            if columns not in known:
                yield from key
