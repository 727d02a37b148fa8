"""What columns, tables and earlier turns are called."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass

from fastsql.grammar.program import ColumnRef, DerivedRef, Node
from fastsql.profile.model import Profile
from fastsql.schema import Schema
from fastsql.synthesis.phrases import expand
from fastsql.synthesis.schema.kinds import column_kinds
from fastsql.synthesis.schema.words import UnsayableError, Words, plural

_SLOT = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class Source:
    """An entry of FROM: a table, or the columns of a query by their names. `mention` is what a turn's result is called;
    `times`: which of its columns are moments.
    """

    table: int = -1
    names: tuple[str, ...] = ()
    mention: str = ""
    times: tuple[bool, ...] = ()


Scope = tuple[Source, ...]


@dataclass(frozen=True)
class Said:
    """A turn that has been asked: what its columns are called, which of them are columns of a table, whether it is one row,
    and which are moments. For turns that extend it: `scope` and `rows`, its FROM and what its rows are called, and whether
    it is `ordered`.
    """

    names: tuple[str, ...]
    plain: tuple[bool, ...]
    single: bool
    times: tuple[bool, ...] = ()
    scope: Scope = ()
    rows: str = "rows"
    ordered: bool = False


class Names:
    """Names for one conversation over one schema; where there are several, one is drawn each time."""

    def __init__(self, schema: Schema, rng: random.Random, profile: Profile | None = None) -> None:
        self._schema = schema
        self._rng = rng
        self._profile = profile or schema.profile
        self._words = Words(schema, profile)
        self._kinds = column_kinds(schema, profile)
        self._said: list[Said] = []

    def _any(self, pattern: str) -> str:
        """One phrase of a pattern. What users have written never is a part of one."""
        return expand(pattern, self._rng)

    def _say(self, pattern: str, **parts: str) -> str:
        """One phrase of a pattern with its `{parts}`, taken literally."""
        return _SLOT.sub(lambda slot: parts[slot[1]], self._any(pattern))

    def _many(self, table: int) -> str:
        return self._words.many(table, self._rng)

    def _column_label(self, column: int) -> str:
        """A column; without its table's name only where no other column of the table could be meant."""
        called = " ".join(self._profile.columns[column].called.lower().split())
        try:
            said = self._words.label(column, self._rng)
        except UnsayableError:  # a yes or no: its name is the question that it answers
            return called
        beside = (
            one for one in self._schema.tables[self._schema.columns[column].table].columns if one != column
        )
        names = (f" {self._profile.columns[one].called.lower()}" for one in beside)
        return called if any(name.endswith(f" {said}") for name in names) else said

    def _label(self, node: Node, scope: Scope) -> str:
        """A column; with its table where FROM has several."""
        match node.terminal:
            case ColumnRef(column, number):
                said, owner = self._column_label(column), scope[number]
                table = owner.table
                if sum(one.table == table for one in scope) > 1:
                    raise UnsayableError("a table twice")
                if not any(said in self._labels_of(one) for one in scope if one is not owner):
                    return said
                return f"{said} of the {self._words.one(table, self._rng)}"
            case DerivedRef(number, item):
                owner = scope[number]
                name = owner.names[item]
                if sum(name in one.names for one in scope) > 1 or owner.names.count(name) > 1:
                    if not owner.mention or owner.names.count(name) > 1:
                        raise UnsayableError("columns of one name")
                    return f"{name} of {owner.mention}"
                return name
        raise UnsayableError("no column")

    def _labels_of(self, source: Source) -> frozenset[str]:
        """What the columns of an entry of FROM may be called."""
        if source.table < 0:
            return frozenset(source.names)
        columns = [self._profile.columns[column] for column in self._schema.tables[source.table].columns]
        names = (name for column in columns for name in (column.called, column.words, *column.synonyms))
        full = {" ".join(name.lower().replace("_", " ").split()) for name in names}
        table = f"{self._words.one(source.table, self._rng)} "
        return frozenset(full | {name.removeprefix(table) for name in full})

    # ------------------------------------------------------------ earlier turns

    def _plain_mention(self, turn: int) -> str:
        return self._any(f"A{turn + 1}|answer {turn + 1}|result {turn + 1}")

    def _mention(self, turn: int, *, value: bool = False) -> str:
        """What a turn returned, as a later question calls it; as one `value`, or as many as there are."""
        said = self._said[turn]
        number = self._plain_mention(turn)
        if len(said.names) != 1:
            return number if not self._is_last(turn) else self._any(f"{number}|that list|that result")
        one = value or said.single or not said.plain[0]
        things = said.names[0] if one else plural_of(said.names[0])
        chance = self._rng.random()
        if self._is_last(turn) and chance < 0.45:
            return f"{'that' if one else self._any('those|these')} {things}"
        if chance < 0.75:
            return f"the {things} {self._any('of|in|from')} {number}"
        return number

    def _is_last(self, turn: int) -> bool:
        """Whether a turn is the one just before."""
        return turn == len(self._said) - 1

    def _listed(self, items: Sequence[str]) -> str:
        return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"


def plural_of(name: str) -> str:
    """The plural of a column's name, which its table may follow."""
    head, of, owner = name.partition(" of ")
    return f"{plural(head)}{of}{owner}"
