"""The round trip: a pair whose question a parser reads back as another query is doubtful."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from fastsql.datasets import Example
from fastsql.grammar import ConversionError, render, sql_to_program
from fastsql.schema import Schema

Parse = Callable[[str], "str | None"]
"""A parser's best SQL for a question; None where it has none."""
FLAG = "round_trip"
"""What a flagged pair says of itself beside its question and SQL: true or false."""


def with_round_trip(pairs: Iterable[Example], parse: Parse, schema: Schema) -> Iterator[Example]:
    """The pairs, each with whether the parser's best program for its question is that of its query.

    Programs are compared, not texts: what two queries write differently and mean alike is the same program. Pairs without a
    query have nothing to come back to, and stay as they are.
    """
    for pair in pairs:
        if pair.sql is None:
            yield pair
            continue
        best = parse(pair.question)
        same = best is not None and _canonical(best, schema) == _canonical(pair.sql, schema)
        yield replace(pair, extra={**pair.extra, FLAG: same})


def came_back(pair: Example) -> bool:
    """Whether a pair passed the round trip, or never made it."""
    return bool(pair.extra.get(FLAG, True))


def _canonical(sql: str, schema: Schema) -> str:
    """The query as the grammar writes it; as it is where the grammar cannot."""
    try:
        return render(sql_to_program(sql, schema), schema)
    except ConversionError:
        return sql
