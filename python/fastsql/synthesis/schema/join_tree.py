"""The tables of FROM as a tree: which are joined to which, and whether to one row or to many."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from sqlglot import exp

from fastsql.synthesis.schema.clauses import joins_of, tables_of
from fastsql.synthesis.schema.words import UnsayableError, Words


@dataclass(frozen=True)
class End:
    """A table at the other end of a join; `many`: whether several of its rows may belong to one row of this one."""

    table: int
    many: bool


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
                case exp.EQ(this=exp.Column() as left, expression=exp.Column() as right) if not join.side:
                    self._add(left, right, words)
                case _:
                    raise UnsayableError("outer join, or one of several conditions")

    def _add(self, left: exp.Column, right: exp.Column, words: Words) -> None:
        if not words.links.joins(words.number(left), words.number(right)):
            raise UnsayableError("tables that share a key")
        for side in (left, right):
            groups = words.schema.key_groups
            group, columns = groups[words.number(side)], words.schema.tables[words.owner(side)].columns
            if group < 0 or sum(groups[column] == group for column in columns) > 1:
                raise UnsayableError("one of several keys")
        one, other = words.owner(left), words.owner(right)
        self.ends[one].append(End(other, many=not words.is_unique(right)))
        self.ends[other].append(End(one, many=not words.is_unique(left)))
