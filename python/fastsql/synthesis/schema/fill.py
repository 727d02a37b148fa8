"""Filling templates with a schema's tables, columns and values (ScienceBenchmark, Algorithm 1).

The grammar's automaton walks along with the template: what it would not offer is not chosen, so a filled program is one that
the parser can write. Equal positions get equal items, different positions different ones.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Collection, Sequence
from typing import TypeVar

from fastsql.grammar.actions import COLUMN, TABLE
from fastsql.grammar.automaton import State
from fastsql.grammar.bounds import MAX_HOPS, MAX_SOURCES
from fastsql.grammar.mask import offers_all_columns
from fastsql.grammar.program import ColumnRef, DerivedRef, Literal, Production, Program, TableRef, Terminal
from fastsql.grammar.routes import ROUTED, TARGET, has_arrived
from fastsql.grammar.takable import chooses, is_takable
from fastsql.grammar.walking import open_space, take
from fastsql.profile.model import Profile
from fastsql.schema import Schema
from fastsql.synthesis.schema.chinese.nouns import is_chinese
from fastsql.synthesis.schema.contents import Contents
from fastsql.synthesis.schema.kinds import TEXTS, column_kinds, may_stand_for
from fastsql.synthesis.schema.links import Links
from fastsql.synthesis.schema.templates import (
    ColumnHole,
    ItemHole,
    Leaf,
    LiteralHole,
    NamedSources,
    Need,
    TableHole,
    Template,
)

T = TypeVar("T")
ARITHMETIC = frozenset({"plus", "minus", "times", "divide", "modulo", "case", "when"})
"""Productions whose numbers are compared with no column."""
_CHARACTERS = {"name": 1}
"""Characters of a Chinese text that LIKE asks for, by kind of column; two of others."""
FARTHER = 0.3
"""How much rarer a table is joined for each join more that leads to it."""
_COUNTS = (1, 2, 3, 4, 5, 10)


class UnfitError(ValueError):
    """A draw in which a template does not fit a schema."""


class Filler:
    """Fills templates with the items of one schema, whose rows `contents` knows."""

    def __init__(self, schema: Schema, contents: Contents, profile: Profile | None = None) -> None:
        self.schema = schema
        self.contents = contents
        self.kinds = column_kinds(schema, profile, contents)
        self._space = open_space(schema)
        self._held = [Counter(self.kinds[column] for column in table.columns) for table in schema.tables]
        self._fitting: dict[Need, frozenset[int]] = {}
        self.links = Links(schema)

    def fill(self, template: Template, rng: random.Random) -> Program:
        """One draw. Raises UnfitError where it leads nowhere, ExecutionError where a column cannot be read."""
        return _Draw(self, template, rng).program()

    def may_fill(self, template: Template) -> bool:
        """Whether the schema has tables enough, and for each of the template's one with the columns that are asked for."""
        fits = len(template.needs) <= len(self.schema.tables)
        return fits and all(map(self.fitting, template.needs))

    def fitting(self, need: Need) -> frozenset[int]:
        """The tables that have columns of these kinds."""
        if need not in self._fitting:
            asked = Counter(need)
            self._fitting[need] = frozenset(
                table for table, held in enumerate(self._held) if _has(held, asked)
            )
        return self._fitting[need]

    def start(self) -> State:
        """The automaton before the first action."""
        return State.start(self._space)


def _ends_of(text: str, size: int) -> list[str]:
    """How a Chinese text opens and ends, whose words nothing sets apart; a short one only opens: 二等 of 二等座."""
    return [text[:size], text[-size:]] if len(text) >= 2 * size else [text[:size]]


def _has(held: Counter[str], asked: Counter[str]) -> bool:
    """Whether columns of these kinds are there; texts may stand for one another (`may_stand_for`)."""
    exact = all(held[kind] >= number for kind, number in asked.items() if kind not in TEXTS)
    return exact and sum(held[kind] for kind in TEXTS) >= sum(asked[kind] for kind in TEXTS)


class _Draw:
    def __init__(self, filler: Filler, template: Template, rng: random.Random) -> None:
        self._filler = filler
        self._template = template
        self._rng = rng
        self._state = filler.start()
        self._sources = NamedSources()
        self._program: list[Terminal] = []
        self._tables: dict[int, int] = {}
        self._columns: dict[int, int] = {}
        self._literals: dict[int, Literal] = {}

    def program(self) -> Program:
        for leaf in self._template.leaves:
            self._take(self._chosen(leaf))
            if isinstance(leaf, TableHole) and self._is_under(ROUTED[:1]):
                self._travel()
        if not self._state.finished or self._state.used > self._state.space.limits.actions:
            raise UnfitError("the template stops short, or is too long")
        return tuple(self._program)

    def _chosen(self, leaf: Leaf) -> Terminal:
        match leaf:
            case Production(name):
                self._check_production(name)
                return leaf
            case TableHole(position):
                return TableRef(self._table(position))
            case ColumnHole(position, source):
                place = self._place(source)
                return ColumnRef(self._column(position, place), place)
            case ItemHole(source, item):
                return DerivedRef(self._place(source), item)
            case LiteralHole():
                return self._literal(leaf)

    def _check_production(self, name: str) -> None:
        """What a production requires is as it was where the template comes from, but for the width of `*`."""
        grammar = self._state.space.grammar
        alternative = grammar.by_production[self._state.symbol].get(grammar.production(name))
        if alternative and "columns" in alternative.requires and not offers_all_columns(self._state.scope):
            raise UnfitError(f"{name} is not possible")

    def _travel(self) -> None:
        """Joins the tables on the way to the table that was just chosen; where several lead there, any."""
        while True:
            for _ in range(3):  # the table, and the two sides of ON
                kind, index = self._any(self._of_way(), "way")
                self._take(TableRef(index) if kind == TABLE else ColumnRef(index, self._holder(index)))
            if has_arrived(self._state):
                return
            self._take(Production(ROUTED[1]))

    def _of_way(self) -> list[tuple[int, int]]:
        """What goes on along references: tables that are nearer to where the way leads, columns that refer to another."""
        state, links, tables = self._state, self._filler.links, self._filler.schema.tables
        symbol = state.space.grammar.symbols[state.symbol]
        if symbol not in ("earlier", "newest"):
            left = links.distance(self._joined(), state.toward)
            return [(TABLE, table) for table in range(len(tables)) if self._is_nearer(table, left)]
        *before, newest = self._joined()
        if symbol == "newest":
            last = state.last.column
            assert last is not None
            return [(COLUMN, one) for one in tables[newest].columns if links.joins(one, last)]
        left = links.distance([newest], state.toward)
        ends = [table for table in before if links.distance([table], state.toward) == left + 1]
        columns = [column for table in ends for column in tables[table].columns]
        return [(COLUMN, column) for column in columns if links.leads(column, newest)]

    def _is_nearer(self, table: int, left: int) -> bool:
        links = self._filler.links
        return (
            links.distance([table], self._state.toward) == left - 1
            and links.distance(self._joined(), table) == 1
        )

    def _joined(self) -> list[int]:
        """The tables of FROM."""
        sources = self._state.scope.sources if self._state.in_query else ()
        return [source.table for source in sources if source.table >= 0]

    def _holder(self, column: int) -> int:
        """The last entry of FROM that has a column and may be meant by the side of ON that stands next."""
        table = self._filler.schema.columns[column].table
        sources = self._state.scope.sources
        newest = self._state.space.grammar.symbols[self._state.symbol] == "newest"
        places = [place for place, source in enumerate(sources) if source.table == table]
        return places[-1] if newest or len(places) == 1 or places[-1] < len(sources) - 1 else places[-2]

    def _table(self, position: int) -> int:
        offered = self._tables_offered() & self._filler.fitting(self._template.needs[position])
        if position in self._tables:
            offered &= {self._tables[position]}
        else:
            offered -= set(self._tables.values())
        if not offered:
            raise UnfitError("no table fits")
        choices = sorted(offered)
        self._tables[position] = self._rng.choices(
            choices, [FARTHER ** self._distance(table) for table in choices]
        )[0]
        return self._tables[position]

    def _tables_offered(self) -> set[int]:
        """All tables, but where a way of keys has to lead there, or another query fixes what may come."""
        grammar = self._state.space.grammar
        routed = grammar.symbols[self._state.symbol] == TARGET
        if not routed and not self._state.widths and not (self._state.in_query and self._state.scope.widths):
            return set(range(len(self._filler.schema.tables)))
        links, joined = self._filler.links, self._joined()
        if routed:
            farthest = min(MAX_HOPS, MAX_SOURCES - len(self._state.scope.sources))
            tables = range(len(self._filler.schema.tables))
            distances = {table: self._distance(table) for table in tables}
            return {
                table
                for table, distance in distances.items()
                if 1 <= distance <= farthest and links.distance(joined, table) == distance
            }
        located = map(self._state.space.locate, self._offered())
        return {index for kind, index in located if kind == TABLE}

    def _distance(self, table: int) -> int:
        """Joins between FROM and a table that joins it; 0 for the first."""
        row = self._filler.schema.key_distances[table]
        return min((row[joined] for joined in self._joined()), default=0)

    def _column(self, position: int, place: int) -> int:
        source = self._state.scope.sources[place]
        if source.table < 0:
            raise UnfitError("a derived table has no column of its own")
        offered = set(self._filler.schema.tables[source.table].columns)
        if self._is_side():
            located = map(self._state.space.locate, self._offered())
            offered &= {index for kind, index in located if kind == COLUMN}
        if position in self._columns:
            offered &= {self._columns[position]}
        else:
            offered = self._fit(offered - set(self._columns.values()), self._template.kinds[position])
        self._columns[position] = self._takable(sorted(offered))
        return self._columns[position]

    def _is_side(self) -> bool:
        """Whether one side of ON stands next."""
        return self._state.space.grammar.symbols[self._state.symbol] in ("earlier", "newest")

    def _takable(self, columns: list[int]) -> int:
        """One of the columns that a search may point at next. Raises UnfitError where there is none."""
        self._rng.shuffle(columns)
        free = not chooses(self._state)
        for column in columns:
            if free or is_takable(self._state, self._state.space.flat(COLUMN, column)):
                return column
        raise UnfitError("no column fits")

    def _fit(self, columns: set[int], kind: str) -> set[int]:
        """Those columns that are of a kind; where there is none, those that may stand for it."""
        kinds = self._filler.kinds
        same = {column for column in columns if kinds[column] == kind}
        return same or {column for column in columns if may_stand_for(kinds[column], kind)}

    def _literal(self, hole: LiteralHole) -> Literal:
        if hole.position not in self._literals:
            literal = self._drawn(hole)
            if literal in self._literals.values():
                raise UnfitError("two literals are the same")
            self._literals[hole.position] = literal
        return self._literals[hole.position]

    def _drawn(self, hole: LiteralHole) -> Literal:
        state, contents, rng = self._state, self._filler.contents, self._rng
        symbol = state.space.grammar.symbols[state.symbol]
        if symbol == "date":
            column = state.last.column
            date = None if column is None else contents.date(column, hole.format, rng)
            return Literal(self._some(date), hole.format)
        column = None if self._is_under(ARITHMETIC) else state.scope.left.column
        if symbol in ("number", "position") or column is None:
            return Literal(rng.choice(_COUNTS) if hole.number is None else hole.number)
        value = self._some(contents.value(column, rng))
        if symbol in ("text", "pattern"):
            return Literal(self._part(str(value), _CHARACTERS.get(self._filler.kinds[column], 2)))
        return Literal(value)

    def _part(self, text: str, characters: int) -> str:
        """What LIKE asks a text for: its first word, its last, or one of them; so many characters of a Chinese one."""
        words = [word for word in text.split() if len(word) > 1] or [text]
        if len(words) == 1 and is_chinese(text):
            words = _ends_of(words[0], characters)
        place = {True: 0, False: len(words) - 1}
        if self._is_under(("begins", "not_begins")):
            return words[place[True]]
        if self._is_under(("ends", "not_ends")):
            return words[place[False]]
        if self._is_under(("like", "not_like")):
            return text
        return self._rng.choice(words)

    def _some(self, value: str | float | None) -> str | int | float:
        if value is None:
            raise UnfitError("a column holds nothing to compare with")
        return value

    def _offered(self) -> Sequence[int]:
        legal = self._state.legal()
        takable: Sequence[int] = legal[self._state.takable()].tolist()
        return takable

    def _any(self, choices: Sequence[T], what: str) -> T:
        if not choices:
            raise UnfitError(f"no {what} fits")
        return self._rng.choice(choices)

    def _place(self, source: int) -> int:
        try:
            return self._sources.place(source)
        except IndexError:
            raise UnfitError("FROM is shorter than the template's") from None

    def _is_under(self, productions: Collection[str]) -> bool:
        names = self._state.space.grammar.productions
        return self._state.parent < len(names) and names[self._state.parent] in productions

    def _take(self, terminal: Terminal) -> None:
        after = take(self._state, terminal)
        self._sources.follow(self._state, after)
        self._state = after
        self._program.append(terminal)
