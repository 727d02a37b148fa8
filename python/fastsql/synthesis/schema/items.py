"""What is selected, counted and ordered by, in words."""

from __future__ import annotations

import random

from sqlglot import exp

from fastsql.synthesis.phrases import expand
from fastsql.synthesis.schema.arithmetic import Arithmetic
from fastsql.synthesis.schema.clauses import columns_in, conjuncts, is_column, joins_of, tables_of
from fastsql.synthesis.schema.conditions import PARTS_OF_DATES, Conditions, moment_of
from fastsql.synthesis.schema.kinds import AMOUNT, KEY, ORDERED, REFERENCE
from fastsql.synthesis.schema.words import ENGLISH, UnsayableError, Words, plural

_AGGREGATES: dict[type[exp.Expr], str] = {exp.Avg: "average|mean", exp.Sum: "total"}
_ENDS: dict[type[exp.Expr], str] = {exp.Min: "lowest|minimum|smallest", exp.Max: "highest|maximum|largest"}
_IDENTIFIERS = ("id", "code", "number", "no", "key", "identifier", "uid", "uuid", "name")
"""How the labels of keys end, whose values are asked for. "Patients" are who these are, and no numbers."""
_TIMES: dict[type[exp.Expr], str] = {exp.Min: "earliest", exp.Max: "latest|most recent"}


class Items:
    """Puts columns and aggregates into words."""

    def __init__(self, words: Words, rng: random.Random, conditions: Conditions) -> None:
        self._words = words
        self._rng = rng
        self._conditions = conditions
        self._arithmetic = Arithmetic(words, rng)
        self._counted: dict[int, int] = {}

    def say(self, item: exp.Expr, select: exp.Select, subject: int, *, many: bool) -> str:
        """A select item or a key of ORDER BY. Raises UnsayableError.

        `subject`: the table that the question is about; columns of others are said with their table.
        """
        match item.this if isinstance(item, exp.Alias) else item:
            case exp.Column() as column:
                label = self._label(column, subject)
                return self._several(label) if many else label
            case exp.Count(this=exp.Distinct(expressions=[exp.Column() as column])):
                return self._number_of(self._things(column, subject), different=True)
            case exp.Count(this=exp.Star()) if not any(join.side for join in joins_of(select)):
                return self._number_of(self._words.many(self.counted(select), self._rng))
            case exp.Count(this=exp.Column() as column) if self._words.is_primary(
                column
            ) and self._words.owner(column) == self.counted(select):
                return self._number_of(self._words.many(self._words.owner(column), self._rng))
            case (exp.Avg() | exp.Sum()) as mean if isinstance(mean.this, exp.Column):
                if self._words.kind(mean.this) != AMOUNT or self._words.owner(mean.this) != self.counted(
                    select
                ):
                    raise UnsayableError("mean of no amount, or weighted by rows of another table")
                if isinstance(mean, exp.Sum) and not self._words.is_summed(mean.this):
                    raise UnsayableError("a total of what cannot be added up")
                return self._put_together(mean, self._label(mean.this, subject))
            case (exp.Min() | exp.Max()) as end if (
                isinstance(end.this, exp.Column) and self._words.kind(end.this) in ORDERED
            ):
                return self._put_together(end, self._label(end.this, subject))
            case exp.TimeToStr() as part:
                return self._several(self._part(part)) if many else self._part(part)
            case (exp.Avg() | exp.Sum()) as mean if isinstance(_bare(mean.this), exp.Sub):
                if self._table_of(mean) != self.counted(select):
                    raise UnsayableError("mean weighted by rows of another table")
                difference = self.say(_bare(mean.this), select, subject, many=False)
                return self._put_together(mean, difference)
            case computed:
                return self._computed(computed, select, subject, many=many)

    def _computed(self, item: exp.Expr, select: exp.Select, subject: int, *, many: bool) -> str:
        return self._arithmetic.say(
            item,
            lambda operand: self.say(operand, select, subject, many=False),
            lambda condition: self._rows_that_meet(condition, select),
            many=many,
        )

    def _put_together(self, aggregate: exp.AggFunc, label: str) -> str:
        names = {**_AGGREGATES, **_ENDS}
        if is_column(aggregate.this) and self._words.kind(aggregate.this) != AMOUNT:
            names = _TIMES
        said = self._any(names[type(aggregate)])
        if said in label.split():
            raise UnsayableError("the total of totals")
        return f"{said} {label}"

    def _number_of(self, things: str, *, different: bool = False) -> str:
        return f"number of {self._any('different|distinct')} {things}" if different else f"number of {things}"

    def _several(self, label: str) -> str:
        return plural(label)

    def _rows_that_meet(self, condition: exp.Expr, select: exp.Select) -> str:
        """As "visits whose cost is above 5". Raises UnsayableError for a condition on what is not counted."""
        counted = self.counted(select)
        met = self._conditions.met([self._conditions.say(one) for one in conjuncts(condition)], counted)
        return f"{self._words.many(counted, self._rng)} {met}"

    def _table_of(self, item: exp.Expr) -> int:
        """The table of the columns of an expression. Raises UnsayableError where there are several."""
        tables = {self._words.owner(column) for column in columns_in(item)}
        if len(tables) != 1:
            raise UnsayableError("arithmetic over tables")
        return tables.pop()

    def most(self, aggregate: exp.AggFunc) -> str:
        """The ways to say an aggregate of numbers: "highest"."""
        return {**_AGGREGATES, **_ENDS}[type(aggregate)]

    def key(self, key: exp.Expr) -> str:
        """What stands for a group: "ward" for the primary key of wards. Raises UnsayableError for an expression."""
        if isinstance(key, exp.TimeToStr):
            return self._part(key)
        if not isinstance(key, exp.Column):
            raise UnsayableError("key")
        table = self._words.owner(key)
        if self._words.schema.tables[table].primary_key == (self._words.number(key),):
            return self._words.one(table, self._rng)
        return self._words.label(self._words.number(key), self._rng)

    def _part(self, time: exp.TimeToStr) -> str:
        """As "year of the birth". Raises UnsayableError for another part than year, month and day, and for no column."""
        column = moment_of(time)
        part = PARTS_OF_DATES.get(time.text("format"))
        if column is None or part is None:
            raise UnsayableError("part of a time")
        return f"{part} of the {self._words.label(self._words.number(column), self._rng)}"

    def counted(self, select: exp.Select) -> int:
        """The table of which each row of FROM is one: the only one that is joined to no other by a unique key of its own.

        Raises UnsayableError where there are several.
        """
        known = self._counted.get(id(select))
        if known is not None:
            return known
        tables = {self._words.source(node) for node in tables_of(select)}
        for join in joins_of(select):
            sides = join.args["on"].find_all(exp.Column) if join.args.get("on") else ()
            tables -= {self._words.owner(side) for side in sides if self._words.is_unique(side)}
        if len(tables) != 1:
            raise UnsayableError("rows of several tables")
        self._counted[id(select)] = tables.pop()
        return self._counted[id(select)]

    def _label(self, column: exp.Column, subject: int) -> str:
        table = self._words.owner(column)
        label = self._words.label(self._words.number(column), self._rng)
        if self._words.kind(column) in (KEY, REFERENCE) and self._words.language == ENGLISH:
            label = label if label.split()[-1] in _IDENTIFIERS else f"{label} id"
        if table == subject:
            return label
        one = self._words.one(table, self._rng)
        return label if label.startswith(one) else f"{one} {label}"

    def _things(self, column: exp.Column, subject: int) -> str:
        """What is counted: rows that a key stands for, or values of a column."""
        table = self._words.stands_for(column)
        if table is not None:
            return self._words.many(table, self._rng)
        return self._several(self._label(column, subject))

    def _any(self, pattern: str) -> str:
        return expand(pattern, self._rng)


def _bare(node: exp.Expr) -> exp.Expr:
    return _bare(node.this) if isinstance(node, exp.Paren) else node
