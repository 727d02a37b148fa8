"""Rows for all tables of a schema, whose keys fit.

Tables are made parents first. A row belongs to rows of other tables, drawn unevenly: few have many, some have none. What a
row belongs to twice over, as a result to a visit and to the visit's patient, it takes from there, so that both agree.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from fastsql.profile.model import Profile
from fastsql.profile.reading import named_column
from fastsql.schema import Schema
from fastsql.schema.model import ForeignKey
from fastsql.synthesis.contents.fillings import Cell, Constraints, Each, Filling, Row
from fastsql.synthesis.contents.suggest import is_person

PERSONS_MADE, LEAST_MADE, MOST_MADE = 45, 12, 240
"""Rows of a table of persons or of things; of one that is referred to and refers to nothing; of any."""
_WITHOUT = 0.15
"""The share of rows that none of another table belongs to."""
_EMPTY = (0.0, 0.0, 0.1)
"""Shares of rows in which a key that may be empty is."""
_TOPS = 0.3
"""The share of rows that refer to none of their own table, such as those of a hierarchy's heads."""
_TRIES = 25
"""How often a row is drawn anew until its keys are new; then its table has rows enough."""

Table = list[list[Cell]]


def make_rows(
    schema: Schema,
    fillings: Sequence[Filling],
    seed: str = "1",
    *,
    profile: Profile | None = None,
    constraints: Constraints | None = None,
    size: float = 1.0,
) -> list[Table]:
    """Rows by table, cells in the order of its columns; the same arguments give the same. `size` multiplies their number.

    No row refers to what is not there, primary keys and what `constraints` say hold.
    """
    made = _Making(schema, fillings, seed, profile or schema.profile, constraints or Constraints(), size)
    for table in made.order():
        made.fill(table)
    made.close_circles()
    made.prune()
    return [[row.cells for row in rows] for rows in made.rows]


@dataclass
class _Made:
    """A row that is made; what begins when, for rows that belong to it."""

    cells: list[Cell]
    begin: datetime | None = None
    end: datetime | None = None


@dataclass
class _Parents:
    """The rows that may be referred to, with how often they are."""

    rows: list[_Made]
    weights: list[float]


@dataclass
class _KeyDraw:
    """A foreign key, the rows that it may refer to, and the share of rows in which it is empty."""

    key: ForeignKey
    parents: _Parents
    empty: float


@dataclass
class _Making:
    """Rows in the making, by table."""

    schema: Schema
    fillings: Sequence[Filling]
    seed: str
    profile: Profile
    constraints: Constraints
    size: float
    rows: list[list[_Made]] = field(default_factory=list)

    def __post_init__(self) -> None:
        schema = self.schema
        self.rows = [[] for _ in schema.tables]
        self._persons = {
            table for table in range(len(schema.tables)) if is_person(schema, self.profile, table)
        }
        likely = [
            ForeignKey((column,), (target,))
            for column, known in enumerate(self.profile.columns)
            if known.refers_to and (target := named_column(schema, known.refers_to)) is not None
        ]
        self._keys: list[list[ForeignKey]] = [[] for _ in schema.tables]
        for key in dict.fromkeys((*schema.foreign_keys, *likely)):
            if key.columns != key.references:
                self._keys[schema.columns[key.columns[0]].table].append(key)
        self._unique: list[set[tuple[int, ...]]] = [
            {table.primary_key} if table.primary_key else set() for table in schema.tables
        ]
        for columns in (*self.constraints.unique, *(key.references for keys in self._keys for key in keys)):
            self._unique[schema.columns[columns[0]].table].add(tuple(columns))
        self._late: list[tuple[int, ForeignKey]] = []

    def order(self) -> list[int]:
        """Tables, parents first. Where they refer to one another in a circle, keys to what comes later are filled last."""
        parents = [{self._parent(key) for key in keys} - {table} for table, keys in enumerate(self._keys)]
        left, done = list(range(len(parents))), list[int]()
        while left:
            table = min(left, key=lambda one: (len(parents[one] - set(done)), one))
            left.remove(table)
            for key in list(self._keys[table]):
                if self._parent(key) not in (*done, table):
                    self._keys[table].remove(key)
                    self._late.append((table, key))
            done.append(table)
        return done

    def fill(self, table: int) -> None:
        """Makes the rows of a table whose parents are made."""
        rng = random.Random(f"{self.seed}/{table}")
        keys = sorted(
            self._keys[table], key=lambda key: (-len(key.columns), -len(self._keys[self._parent(key)]))
        )
        taken: dict[tuple[int, ...], set[tuple[Cell, ...]]] = {
            columns: set() for columns in self._unique[table]
        }
        draws = [
            _KeyDraw(key, self._parents(key, rng), self._share_of_empty(table, key, rng)) for key in keys
        ]
        for number in range(self._number(table, rng)):
            for _ in range(_TRIES):
                made = self._row(table, number, draws, rng)
                values = {columns: self._cells(made, columns) for columns in taken}
                if not any(cells in taken[columns] for columns, cells in values.items() if None not in cells):
                    break
            else:
                return
            for columns, cells in values.items():
                taken[columns].add(cells)
            self.rows[table].append(made)

    def close_circles(self) -> None:
        """Fills the keys that were left open."""
        for table, key in self._late:
            rng = random.Random(f"{self.seed}/{table}/late")
            fixed = {column for columns in self._unique[table] for column in columns}
            parents = self._parents(key, rng)
            if not parents.rows or fixed & set(key.columns):
                continue
            for row in self.rows[table]:
                (parent,) = rng.choices(parents.rows, parents.weights)
                self._refer(row.cells, table, key, parent)

    def prune(self) -> None:
        """Leaves out rows that refer to nothing, which circles of unique keys may leave behind.

        A key by which nothing would be left is passed over: one of two with the same columns, whose parents have nothing in
        common.
        """
        keys = [(table, key) for table, keys in enumerate(self._keys) for key in keys] + self._late
        passed_over: set[ForeignKey] = set()
        again = True
        while again:
            again = False
            for table, key in keys:
                there = {self._cells(row, key.references) for row in self.rows[self._parent(key)]}
                kept = [
                    row
                    for row in self.rows[table]
                    if None in (cells := self._cells(row, key.columns)) or cells in there
                ]
                if not kept:
                    passed_over.add(key)
                elif key not in passed_over:
                    again |= len(kept) < len(self.rows[table])
                    self.rows[table] = kept

    def _row(self, table: int, number: int, draws: Sequence[_KeyDraw], rng: random.Random) -> _Made:
        columns = self.schema.tables[table].columns
        cells: list[Cell] = [None] * len(columns)
        row = Row(rng, number, chinese=not self.profile.tables[table].called.isascii())
        settled = self._refer_all(table, cells, row, draws)
        for column in sorted(set(columns) - settled, key=lambda one: (self.fillings[one].place, one)):
            filling = self.fillings[column]
            if column in self.constraints.required or column in self.schema.tables[table].primary_key:
                filling = replace(filling, nulls=0.0)
            cells[column - columns[0]] = filling.cell(row)
        made = _Made(cells, row.started or row.begin, row.ended if row.started else row.end)
        for draw in draws:
            must = self._parent(draw.key) == table and not draw.empty
            if must and None in self._cells(made, draw.key.columns):
                self._refer(cells, table, draw.key, made)  # the first row: there is no other yet
        return made

    def _refer_all(self, table: int, cells: list[Cell], row: Row, draws: Sequence[_KeyDraw]) -> set[int]:
        """Draws what a row refers to; the columns that are settled by it."""
        first = self.schema.tables[table].columns[0]
        settled: set[int] = set()
        for draw in draws:
            key = draw.key
            passed_over = set(key.columns) <= settled or row.rng.random() < draw.empty
            settled |= set(key.columns)
            own = self._parent(key) == table
            of = _Parents(self.rows[table], [1.0] * len(self.rows[table])) if own else draw.parents
            if passed_over or not of.rows:
                continue
            (parent,) = row.rng.choices(of.rows, of.weights)
            self._refer(cells, table, key, parent)
            if row.begin is None and self._is_event(self._parent(key), table):
                row.begin, row.end = parent.begin, parent.end
            # What the parent belongs to, this row belongs to, too.
            for other in draws:
                (column, *more) = other.key.columns
                shared = None if more or column in settled else self._shared(key, column)
                if shared is None or (parent.cells[shared] is None and column in self.constraints.required):
                    continue
                cells[column - first] = parent.cells[shared]
                settled.add(column)
        return settled

    def _is_event(self, parent: int, table: int) -> bool:
        """Whether what a table holds happens while what its parent holds goes on.

        It does not while a person lives or a thing is there, such as a machine, which belongs to nothing.
        """
        if parent == table or not self._keys[parent]:
            return False
        return not any(one in self._persons for one in (parent, table))

    def _shared(self, key: ForeignKey, column: int) -> int | None:
        """The place in `key`'s parent of the only column that holds the same key as a column; None: there is none.

        Nor is there where the column's own table holds that key twice: "from" and "to" are not both what the parent's is.
        """
        groups = self.schema.key_groups

        def holding(table: int) -> list[int]:
            columns = self.schema.tables[table].columns
            return [place for place, one in enumerate(columns) if groups[one] == groups[column]]

        found, own = holding(self._parent(key)), holding(self.schema.columns[column].table)
        return found[0] if len(found) == len(own) == 1 and groups[column] >= 0 else None

    def _refer(self, cells: list[Cell], table: int, key: ForeignKey, parent: _Made) -> None:
        first = self.schema.tables[table].columns[0]
        for column, cell in zip(key.columns, self._cells(parent, key.references), strict=True):
            cells[column - first] = cell

    def _cells(self, row: _Made, columns: Sequence[int]) -> tuple[Cell, ...]:
        first = self.schema.tables[self.schema.columns[columns[0]].table].columns[0]
        return tuple(row.cells[column - first] for column in columns)

    def _parents(self, key: ForeignKey, rng: random.Random) -> _Parents:
        rows = list(self.rows[self._parent(key)])
        rng.shuffle(rows)
        weights = [1 / (rank + 2) ** 0.7 for rank in range(len(rows))]
        for rank in range(len(rows) - round(_WITHOUT * len(rows)), len(rows)):
            weights[rank] = 0.0
        return _Parents(rows, weights)

    def _parent(self, key: ForeignKey) -> int:
        return self.schema.columns[key.references[0]].table

    def _share_of_empty(self, table: int, key: ForeignKey, rng: random.Random) -> float:
        if {*self.schema.tables[table].primary_key, *self.constraints.required} & set(key.columns):
            return 0.0
        return _TOPS if self._parent(key) == table else rng.choice(_EMPTY)

    def _number(self, table: int, rng: random.Random) -> int:
        """How many rows a table gets: of what it belongs to, each has some."""
        listed = [
            len(filling.drawn.values) for filling in self._fillings(table) if isinstance(filling.drawn, Each)
        ]
        if listed:
            return max(listed)
        parents = [
            len(self.rows[self._parent(key)]) for key in self._keys[table] if self._parent(key) != table
        ]
        if not parents:
            referred = any(self._parent(key) == table for keys in self._keys for key in keys)
            few = referred and table not in self._persons and len(self.schema.tables[table].columns) <= 6
            number: float = LEAST_MADE if few else PERSONS_MADE
        else:
            primary = set(self.schema.tables[table].primary_key)
            single = any(primary and primary <= set(key.columns) for key in self._keys[table])
            number = max(parents) * (0.8 if single else rng.uniform(1.2, 2.6))
        return max(3, min(MOST_MADE, round(number * self.size)))

    def _fillings(self, table: int) -> list[Filling]:
        return [self.fillings[column] for column in self.schema.tables[table].columns]
