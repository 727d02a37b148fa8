"""The tables of FROM as a tree: which are joined to which, and whether to one row or to many."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from sqlglot import exp

from fastsql.synthesis.schema.clauses import joins_of, tables_of
from fastsql.synthesis.schema.words import UnsayableError, Words


@dataclass(frozen=True)
class End:
    """A table at the other end of a join.

    `many`: whether several of its rows may belong to one row of this one; `outer`: whether there may be none of them.
    """

    table: int
    many: bool
    outer: bool = False


class JoinTree:
    """What each table of a query is joined to."""

    def __init__(self, select: exp.Select, words: Words) -> None:
        """Raises UnsayableError unless each join is along the only key between its tables, and no table comes twice."""
        self.ends: defaultdict[int, list[End]] = defaultdict(list)
        tables = [words.source(node) for node in tables_of(select)]
        if len(set(tables)) < len(tables):
            raise UnsayableError("self join")
        for join in joins_of(select):
            match join.args.get("on"):
                case exp.EQ(this=exp.Column() as left, expression=exp.Column() as right):
                    self._add(left, right, words, outer=join.side == "LEFT")
                case _:
                    raise UnsayableError("a join by several conditions")

    def _add(self, left: exp.Column, right: exp.Column, words: Words, *, outer: bool) -> None:
        if not words.links.joins(words.number(left), words.number(right)):
            raise UnsayableError("tables that share a key")
        for side in (left, right):
            groups = words.schema.key_groups
            group, columns = groups[words.number(side)], words.schema.tables[words.owner(side)].columns
            if group < 0 or sum(groups[column] == group for column in columns) > 1:
                raise UnsayableError("one of several keys")
        one, other = words.owner(left), words.owner(right)
        self.ends[one].append(End(other, not words.is_unique(right), outer))
        if outer:  # those rows are not asked about, which may not be there
            self.ends[other] = []
        else:
            self.ends[other].append(End(one, not words.is_unique(left)))
