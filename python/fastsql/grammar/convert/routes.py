"""Inner joins as ways along keys, wherever they are some."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fastsql.grammar.bounds import MAX_HOPS
from fastsql.grammar.program import ColumnRef, Production, TableRef, Terminal

if TYPE_CHECKING:
    from fastsql.schema import Schema


@dataclass(frozen=True)
class Joined:
    """A source that joins FROM: its table, None for a derived one; its terminals; and ON's, none where nothing links it."""

    table: int | None
    source: Sequence[Terminal]
    on: Sequence[Terminal]


def joins_as_written(joined: Sequence[Joined]) -> list[Terminal]:
    """The terminals of inner joins, each said by itself."""
    written: list[Terminal] = []
    for join in joined:
        written += [Production("join" if join.on else "cross_join"), *join.source, *join.on]
    return written


def joins_along_keys(schema: Schema, first: int | None, joined: Sequence[Joined]) -> list[Terminal]:
    """The terminals of inner joins, of as few ways along keys as can be; `first` is FROM's first table."""
    tables = [first]
    written: list[Terminal] = []
    left = list(joined)
    while left:
        hops = next(
            (n for n in range(min(MAX_HOPS, len(left)), 0, -1) if _is_way(schema, tables, left[:n])), 0
        )
        if hops:
            target = left[hops - 1].table
            assert target is not None
            written += [Production("along"), TableRef(target)]
            for number, join in enumerate(left[:hops]):
                written += [*([Production("further")] if number else []), *join.source, *join.on]
        else:
            written += joins_as_written(left[:1])
        taken = max(hops, 1)
        tables += [join.table for join in left[:taken]]
        del left[:taken]
    return written


def _is_way(schema: Schema, tables: Sequence[int | None], joined: Sequence[Joined]) -> bool:
    """Whether joins are a shortest way from the tables that are in FROM already to the last of them."""
    target = joined[-1].table
    if target is None:
        return False
    distances = schema.key_distances[target]
    if min((distances[table] for table in tables if table is not None), default=0) != len(joined):
        return False
    there = list(tables)
    for left, join in zip(range(len(joined) - 1, -1, -1), joined, strict=True):
        if (
            join.table is None
            or distances[join.table] != left
            or not _follows(schema, there, join, distances, left + 1)
        ):
            return False
        there.append(join.table)
    return True


def _follows(
    schema: Schema, there: Sequence[int | None], join: Joined, distances: bytes, before: int
) -> bool:
    """Whether a join compares one pair of keys, the other one of a table that has `before` joins to go."""
    if len(join.on) != 2:
        return False
    earlier, newest = join.on
    if not (isinstance(earlier, ColumnRef) and isinstance(newest, ColumnRef)):
        return False
    table, group = there[earlier.source], schema.join_groups[earlier.column]
    return (
        table is not None
        and distances[table] == before
        and group >= 0
        and schema.join_groups[newest.column] == group
    )
