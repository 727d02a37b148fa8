"""Questions written over a design, carried over to a variant of it: other names, other codes, the values of its own rows."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from sqlglot import exp
from sqlglot.optimizer.scope import Scope, traverse_scope

from fastsql.execution.rows import Cell
from fastsql.grammar import ConversionError, sql_to_program
from fastsql.grammar.program import Program
from fastsql.grammar.render import render_tree, write_tree
from fastsql.linking import find_candidates, literal_recall
from fastsql.linking.dictionary import ValueDictionary
from fastsql.linking.gold import tree_literals
from fastsql.schema import Schema, Value
from fastsql.schema.names import fold
from fastsql.synthesis.contents.fillings import Choice, Each
from fastsql.synthesis.designs.model import (
    Design,
    DesignColumn,
    DesignError,
    DesignTable,
    Held,
    Key,
    Reference,
)
from fastsql.synthesis.designs.variant import Flags, Variant, as_designed
from fastsql.synthesis.designs.written import Asked

FLAGS: Flags = (0, 1)
"""What no and yes are in written SQL."""

Place = tuple[str, str]
"""A column by the first names of its table and of itself, which the variants of a design have in common."""


class CannotCarryError(Exception):
    """A variant lacks what a question is about, or holds it in a way that the question's words do not fit."""


class Origin:
    """A design under its usual names, and the queries that were written over it, each read once."""

    def __init__(self, design: Design) -> None:
        variant = as_designed(design, flags=FLAGS)
        self.design = design
        self._where = f"design {design.name}"
        self._schema = variant.schema
        self.holds = {_place(*one): one[1].holds for one in variant.designed}
        self.tables = {
            fold(self._schema.table_name(self._schema.columns[index].table)): table.names[0]
            for index, (table, _) in enumerate(variant.designed)
        }
        self._places = {
            (table.names[0], fold(self._schema.columns[index].name)): _place(table, column)
            for index, (table, column) in enumerate(variant.designed)
        }
        self._programs: dict[str, Program] = {}

    def tree(self, sql: str) -> exp.Query:
        """A query over the design with all of its columns qualified. Raises DesignError for what is not such a query."""
        if sql not in self._programs:
            try:
                self._programs[sql] = sql_to_program(sql, self._schema)
            except ConversionError as error:
                raise DesignError(
                    "its SQL cannot be read", where=f"{self._where}: {sql}", remedy=str(error)
                ) from error
        return render_tree(self._programs[sql], self._schema)

    def columns(self, tree: exp.Query) -> list[tuple[exp.Column, Place, bool]]:
        """The columns of tables in a query, where each stands in the design, and whether the table's name qualifies it."""
        found: dict[int, tuple[exp.Column, Place, bool]] = {}
        for scope in traverse_scope(tree):
            for column in scope.columns:
                source = _source(scope, column.table)
                if isinstance(source, exp.Table):
                    place = self._places[self.tables[fold(source.name)], fold(column.name)]
                    found.setdefault(id(column), (column, place, not source.alias))
        return list(found.values())


class Carrier:
    """Carries questions over to one variant."""

    def __init__(
        self,
        origin: Origin,
        variant: Variant,
        rows: Sequence[Sequence[Sequence[Cell]]],
        known: tuple[Schema, ValueDictionary | None],
    ) -> None:
        """`rows[table][row][column]` are those of the variant, `known` is its schema with values, and its dictionary."""
        self._origin = origin
        self._variant = variant
        self._rows = rows
        self._known, self._dictionary = known
        self._columns = {_place(*one): index for index, one in enumerate(variant.designed)}
        self._tables = {
            table.names[0]: variant.schema.columns[index].table
            for index, (table, _) in enumerate(variant.designed)
        }

    def carry(self, talk: Sequence[Asked], seed: str) -> list[Asked]:
        """A question, or the turns of a conversation; `seed` draws the values, the same ones for all turns.

        Raises CannotCarryError, and DesignError for SQL that cannot be read over the design.
        """
        values = _Values(random.Random(seed))
        found: list[Asked] = []
        for asked in talk:
            found.append(self._one(asked, values, [turn.question for turn in found]))
        return found

    def _one(self, asked: Asked, values: _Values, before: Sequence[str]) -> Asked:
        tree = self._origin.tree(asked.sql)
        question = asked.question
        for column, place, renamed in self._origin.columns(tree):
            if place not in self._columns:
                raise CannotCarryError("a column is not there")
            index = self._columns[place]
            question = self._fit(question, column, place, index, values)
            known = self._variant.schema.columns[index]
            column.set("this", exp.to_identifier(known.name, quoted=True))
            if renamed:
                name = self._variant.schema.table_name(known.table)
                column.set("table", exp.to_identifier(name, quoted=True))
        for table in list(tree.find_all(exp.Table)):
            name = self._origin.tables[fold(table.name)]
            if name not in self._tables:
                raise CannotCarryError("a table is not there")
            named = self._variant.schema.table_name(self._tables[name])
            table.set("this", exp.to_identifier(named, quoted=True))
        self._check([*before, question], tree)
        return Asked(question, write_tree(tree))

    # ---------------------------------------------------------------- values

    def _fit(self, question: str, column: exp.Column, place: Place, index: int, values: _Values) -> str:
        """The question with values of the variant where it spells others; what the column meets in the query, too."""
        was, now = self._origin.holds[place], self._variant.designed[index][1].holds
        literals = _compared(column)
        match was:
            case Held(type="flag"):
                if not literals and self._variant.flags != FLAGS and column.find_ancestor(exp.Sum, exp.Avg):
                    raise CannotCarryError("no numbers are counted with")
                for literal in literals:
                    _put(literal, self._variant.flags[FLAGS.index(int(literal.name))])
            case Held(drawn=Choice() | Each(), spoken=spoken):
                if spoken and isinstance(now, Held) and not now.spoken:
                    called = {str(value): said for value, said in spoken.items()}
                    for literal in literals:
                        _put(literal, called.get(literal.name, literal.name))
            case Held(type="text") | Key() | Reference():
                for literal in literals:
                    if not isinstance(literal.parent, exp.Like):
                        question = self._exchange(question, literal, index, values)
        return question

    def _exchange(self, question: str, literal: exp.Literal, index: int, values: _Values) -> str:
        """The question with a name, key or code that the variant holds in place of the one that was written."""
        written = literal.name
        # Chinese characters stand beside a number or a code without a blank.
        within = rf"(?<!\w){re.escape(written)}(?!\w)" if written.isascii() else re.escape(written)
        spelled = re.compile(within, re.IGNORECASE | re.ASCII)
        if not spelled.search(question) and (index, written) not in values.drawn:
            raise CannotCarryError("its words do not spell a value")
        known = self._variant.schema.columns[index]
        place = self._variant.schema.tables[known.table].columns.index(index)
        said = values.draw(known.table, place, index, written, self._rows[known.table])
        _put(literal, said)
        return spelled.sub(lambda _: str(said), question)

    # ---------------------------------------------------------------- checks

    def _check(self, questions: Sequence[str], tree: exp.Query) -> None:
        """Whether the grammar can say it over the variant, and whether the schema and the questions so far give all of its
        literals: a turn need not repeat what one before it said.
        """
        try:
            sql_to_program(write_tree(tree), self._variant.schema)
        except ConversionError as error:
            raise CannotCarryError("the grammar cannot say it") from error
        missing = tree_literals(tree, self._known)
        for question in reversed(questions):
            candidates = find_candidates(question, self._known, self._dictionary)
            missing = literal_recall(missing, question, candidates, self._known, self._dictionary).missing
            if not missing:
                return
        raise CannotCarryError("its words do not give a value")


@dataclass
class _Values:
    """What was drawn for the values of one conversation; those that were written for one row come of one row."""

    rng: random.Random
    drawn: dict[tuple[int, str], Value] = field(default_factory=dict)
    _orders: dict[int, list[int]] = field(default_factory=dict)

    def draw(self, table: int, place: int, index: int, written: str, rows: Sequence[Sequence[Cell]]) -> Value:
        """The value of a column that stands for one that was written: of another row for each that the column meets."""
        if (index, written) not in self.drawn:
            if table not in self._orders:
                self._orders[table] = self.rng.sample(range(len(rows)), len(rows))
            taken = sum(column == index for column, _ in self.drawn)
            others = {value for (column, _), value in self.drawn.items() if column == index}
            order = self._orders[table][taken:]
            found = next((rows[row][place] for row in order if rows[row][place] not in {None, *others}), None)
            if not isinstance(found, (str, int, float)):
                raise CannotCarryError("no row holds such a value")
            self.drawn[index, written] = found
        return self.drawn[index, written]


def _place(table: DesignTable, column: DesignColumn) -> Place:
    return table.names[0], column.names[0]


def _source(scope: Scope, name: str) -> object:
    """What a name means in a scope or in those around it."""
    inner: Scope | None = scope
    while inner is not None:
        if name in inner.sources:
            return inner.sources[name]
        inner = inner.parent
    return None


def _compared(column: exp.Column) -> list[exp.Literal]:
    """The literals that a column itself is compared with."""
    parent = column.parent
    match parent:
        case exp.EQ() | exp.NEQ() | exp.GT() | exp.GTE() | exp.LT() | exp.LTE() | exp.Like() | exp.Is():
            others = [parent.this, parent.expression]
        case exp.In():
            others = list(parent.expressions) if parent.this is column else []
        case exp.Between():
            others = [parent.args["low"], parent.args["high"]]
        case _:
            others = []
    return [one for one in others if isinstance(one, exp.Literal)]


def _put(literal: exp.Literal, value: Value) -> None:
    literal.set("this", str(value))
    literal.set("is_string", isinstance(value, str))
