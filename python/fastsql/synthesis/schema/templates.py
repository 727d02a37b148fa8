"""Query templates: programs whose tables, columns and literals are open (ScienceBenchmark, section 3.3.1).

A template keeps which leaves are equal: a position stands for one item wherever it occurs. It keeps no name and no literal
but small whole numbers ("the top 3", "more than 2"), and of columns only their kind. Joins along keys keep the table
to which they lead; the tables in between depend on the schema that the template is filled with.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

from fastsql.grammar.program import ColumnRef, DerivedRef, Literal, Production, Program, TableRef, Terminal
from fastsql.grammar.routes import HOP, is_routed
from fastsql.grammar.state import State
from fastsql.grammar.walking import open_space, walk
from fastsql.schema import Schema
from fastsql.synthesis.schema.kinds import CODE, KEY, REFERENCE, column_kinds

SMALL = 20
"""The largest whole number that is taken for a part of the template; beside it, that of percent."""
PERCENT = 100


RECKONING = frozenset(
    {
        "sum",
        "avg",
        "min",
        "max",
        "sum_distinct",
        "avg_distinct",
        "plus",
        "minus",
        "times",
        "divide",
        "modulo",
        "abs",
        "round",
    }
)
"""Productions for which a column has to be an amount: identifiers are none ("non-aggregatable columns", section 3.3.2)."""


class TemplateError(ValueError):
    """A program that no template stands for. The message says why, without any name or literal."""


@dataclass(frozen=True)
class TableHole:
    """An open table."""

    position: int


@dataclass(frozen=True)
class ColumnHole:
    """An open column of the `source`-th named entry of FROM; tables on the way between two are not named.

    `table`: the position of the table that it belongs to.
    """

    position: int
    source: int
    table: int


@dataclass(frozen=True)
class ItemHole:
    """A select item of the derived table that is the `source`-th named entry of FROM."""

    source: int
    item: int


@dataclass(frozen=True)
class LiteralHole:
    """An open literal: a small whole number that belongs to the template, the format of a date, or neither."""

    position: int
    number: int | None = None
    format: str = ""


Need: TypeAlias = tuple[str, ...]
"""Kinds of columns that one table has to hold, each as often as it is asked for."""
Leaf: TypeAlias = "Production | TableHole | ColumnHole | ItemHole | LiteralHole"


@dataclass(frozen=True)
class Template:
    """The leaves of a program in its order; `kinds`: the kind of the column at each position (`kinds.py`)."""

    leaves: tuple[Leaf, ...]
    kinds: tuple[str, ...]

    @cached_property
    def needs(self) -> tuple[Need, ...]:
        """What each open table has to hold: the kinds of its open columns, sorted."""
        columns = {leaf.position: leaf.table for leaf in self.leaves if isinstance(leaf, ColumnHole)}
        tables = {leaf.position for leaf in self.leaves if isinstance(leaf, TableHole)}
        return tuple(
            tuple(sorted(self.kinds[column] for column, table in columns.items() if table == position))
            for position in range(len(tables))
        )

    @cached_property
    def productions(self) -> frozenset[str]:
        """The names of its productions."""
        return frozenset(leaf.name for leaf in self.leaves if isinstance(leaf, Production))

    def dump(self) -> list[Any]:
        """As JSON writes it; the inverse of `load`."""
        return [[_dump(leaf) for leaf in self.leaves], list(self.kinds)]

    @classmethod
    def load(cls, content: Any) -> Template:
        """Reads what `dump` made. Raises ValueError for anything else."""
        match content:
            case [[*leaves], [*kinds]] if all(isinstance(name, str) for name in kinds):
                return cls(tuple(_load(leaf) for leaf in leaves), tuple(kinds))
        raise ValueError("not a template")


def read_template(program: Program, schema: Schema) -> Template:
    """The template of a program over a schema.

    Raises TemplateError for one that names a constant of its schema or a column of a table on the way between two others,
    and for one that reckons with keys.
    """
    reader = _Reader(schema)
    leaves = [
        leaf
        for state, terminal, after in walk(program, open_space(schema))
        for leaf in reader.read(state, terminal, after)
    ]
    return Template(tuple(leaves), tuple(reader.kinds))


class NamedSources:
    """Which entries of each open FROM a template names: all but tables on the way between two others."""

    def __init__(self) -> None:
        self._seen: list[int] = []
        self._named: list[list[int]] = []

    def follow(self, state: State, after: State) -> None:
        """Takes note of what an action has added to FROM."""
        depth = _depth(after)
        del self._seen[depth:], self._named[depth:]
        while len(self._seen) < depth:
            self._seen.append(0)
            self._named.append([])
        if not depth:
            return
        sources = after.scope.sources
        on_way = state.symbol == state.space.grammar.symbol(HOP) and sources[-1].table != after.toward
        if not on_way:
            self._named[-1] += range(self._seen[-1], len(sources))
        self._seen[-1] = len(sources)

    def name(self, source: int) -> int | None:
        """The number of an entry of the innermost FROM among those that are named."""
        return self._named[-1].index(source) if source in self._named[-1] else None

    def place(self, number: int) -> int:
        """The place in the innermost FROM of a named entry. Raises IndexError where there are fewer."""
        return self._named[-1][number]


def _is_reckoned_with(state: State) -> bool:
    names = state.space.grammar.productions
    return state.parent < len(names) and names[state.parent] in RECKONING


def is_on_way(state: State, terminal: Terminal) -> bool:
    """Whether a terminal is one of those that a way along keys implies."""
    if terminal == Production("further"):
        return True
    cell = state.stack
    assert cell is not None
    symbol = state.space.grammar.symbols[cell.symbol]
    return symbol == HOP or (symbol in ("earlier", "newest") and is_routed(state.space.grammar, cell))


def _depth(state: State) -> int:
    depth, scope = 0, state.scope if state.in_query else None
    while scope is not None:
        depth, scope = depth + 1, scope.outer
    return depth


class _Reader:
    """Masks terminals one after the other."""

    def __init__(self, schema: Schema) -> None:
        self.kinds: list[str] = []
        self._schema = schema
        self._kinds = column_kinds(schema)
        self._positions: dict[str, dict[object, int]] = {}
        self._sources = NamedSources()

    def read(self, state: State, terminal: Terminal, after: State) -> Iterator[Leaf]:
        if not is_on_way(state, terminal):
            yield self._leaf(terminal, state)
        self._sources.follow(state, after)

    def _leaf(self, terminal: Terminal, state: State) -> Leaf:
        match terminal:
            case Production():
                return terminal
            case TableRef(table):
                return TableHole(self._position("table", table))
            case ColumnRef(column, source):
                if self._kinds[column] in (KEY, REFERENCE, CODE) and _is_reckoned_with(state):
                    raise TemplateError("reckons with a key")
                table = self._position("table", self._schema.columns[column].table)
                hole = ColumnHole(self._position("column", column), self._source(source), table)
                if hole.position == len(self.kinds):
                    self.kinds.append(self._kinds[column])
                return hole
            case DerivedRef(source, item):
                return ItemHole(self._source(source), item)
            case Literal(value, form, name):
                if name:
                    raise TemplateError("names a constant of its schema")
                small = isinstance(value, int) and (0 <= value <= SMALL or value == PERCENT)
                # A number of rows or days is no value of a column, equal as they may be.
                counts = state.space.grammar.symbols[state.symbol] == "number"
                return LiteralHole(
                    self._position("literal", (value, counts)), int(value) if small else None, form
                )
        raise TemplateError("points at an earlier turn")

    def _source(self, source: int) -> int:
        named = self._sources.name(source)
        if named is None:
            raise TemplateError("names a column of a table on the way between two others")
        return named

    def _position(self, kind: str, item: object) -> int:
        known = self._positions.setdefault(kind, {})
        return known.setdefault(item, len(known))


def _dump(leaf: Leaf) -> Any:
    match leaf:
        case Production(name):
            return name
        case TableHole(position):
            return ["t", position]
        case ColumnHole(position, source, table):
            return ["c", position, source, table]
        case ItemHole(source, item):
            return ["i", source, item]
        case LiteralHole(position, number, form):
            return ["v", position, number, form]


def _load(content: Any) -> Leaf:
    match content:
        case str(name):
            return Production(name)
        case ["t", int(position)]:
            return TableHole(position)
        case ["c", int(position), int(source), int(table)]:
            return ColumnHole(position, source, table)
        case ["i", int(source), int(item)]:
            return ItemHole(source, item)
        case ["v", int(position), int() | None as number, str(form)]:
            return LiteralHole(position, number, form)
    raise ValueError("not a leaf of a template")
