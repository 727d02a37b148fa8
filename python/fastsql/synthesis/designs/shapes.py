"""What of a design a variant has: parts are left out, lists merged into what refers to them, codes spelled out."""

from __future__ import annotations

import random
from dataclasses import replace

from fastsql.synthesis.contents.fillings import Choice, Each
from fastsql.synthesis.designs.model import Design, DesignColumn, DesignTable, Held, Reference

_DECODED = 0.6
"""The share of variants that hold what coded values are called."""


def shaped(design: Design, rng: random.Random) -> tuple[DesignTable, ...]:
    """The tables of a variant: some left out, some lists merged into what refers to them."""
    if rng.random() < _DECODED:
        design = _decoded(design)
    gone = {table.names[0] for table in design.tables if table.optional and rng.random() < 0.3}
    lists = {
        table.names[0]: table
        for table in design.tables
        if not table.references and _listed(table) is not None and rng.random() < 0.25
    }
    rate = rng.choice((0.0, 0.15, 0.3))
    kept = []
    for table in design.tables:
        if table.names[0] in gone or table.names[0] in lists:
            continue
        there = [one for one in table.columns if _target(one) not in gone]
        whole = [_merged(one, lists[_target(one)]) if _target(one) in lists else one for one in there]
        columns = [one for one in whole if _target(one) or not _is_left_out(one, rate, rng)]
        # A table keeps something to ask for beside its key.
        kept.append(replace(table, columns=tuple(columns if len(columns) > 1 else whole)))
    return tuple(kept)


def _target(column: DesignColumn) -> str:
    """The table that a reference is to; empty for any other column."""
    return column.holds.table if isinstance(column.holds, Reference) else ""


def _is_left_out(column: DesignColumn, rate: float, rng: random.Random) -> bool:
    return isinstance(column.holds, Held) and column.holds.kind != "name" and rng.random() < rate


def _decoded(design: Design) -> Design:
    """The design with values as people say them in place of codes."""

    def plain(column: DesignColumn) -> DesignColumn:
        match column.holds:
            case Held(drawn=Choice() as choice, spoken=spoken) as held if spoken:
                values = tuple(spoken.get(value, value) for value in choice.values)
                return replace(
                    column, holds=replace(held, drawn=replace(choice, values=values), type="text", spoken={})
                )
        return column

    tables = (replace(table, columns=tuple(map(plain, table.columns))) for table in design.tables)
    return replace(design, tables=tuple(tables))


def _listed(table: DesignTable) -> DesignColumn | None:
    """The column that names the rows of a list."""
    named = [
        one for one in table.columns if isinstance(one.holds, Held) and isinstance(one.holds.drawn, Each)
    ]
    return next((one for one in named if isinstance(one.holds, Held) and one.holds.kind == "name"), None)


def _merged(column: DesignColumn, table: DesignTable) -> DesignColumn:
    """What stands in the place of a reference to a list: the name itself."""
    listed = _listed(table)
    assert listed is not None
    assert isinstance(listed.holds, Held)
    assert isinstance(listed.holds.drawn, Each)
    held = replace(listed.holds, drawn=Choice(listed.holds.drawn.values, skew=0.6), kind="category")
    return replace(column, holds=held)
