"""What an adaptation brought, question by question, and what its pairs leave out."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from fastsql.adapt.fitting import Outcome
from fastsql.datasets import Example
from fastsql.evaluation.calibration import Flags, Floats, risk_coverage
from fastsql.grammar import ConversionError, sql_to_program
from fastsql.grammar.grouping import AGGREGATES
from fastsql.grammar.inlining import SET_OPERATIONS
from fastsql.grammar.program import ColumnRef, Literal, Production, Program, TableRef
from fastsql.reliability.assess import Reliability
from fastsql.schema import Schema

SHOWN = 20
"""Pairs that people are asked to look at."""
PRECISION = 0.95
"""Share of given answers that should be right where a penalty is recommended."""
_CONSTRUCTS = {
    "grouping": ("group", "gather"),
    "aggregates": AGGREGATES,
    "subqueries": ("in", "not_in", "scalar", "not_exists", "derived"),
    "set operations": SET_OPERATIONS,
    "order or limit": ("asc", "desc", "asc_nulls_last", "desc_nulls_first", "limit"),
    "different values": ("distinct", "count_distinct", "sum_distinct", "avg_distinct"),
}
_TIMES = ("date_", "in_year", "in_month", "in_day", "since_", "until_", "within_", "same_")


@dataclass(frozen=True)
class Verdict:
    """What a bundle makes of a question that nothing was trained on.

    Attributes:
        by_hand: whether people wrote it.
        answerable: whether there is an answer.
        right: whether the likeliest query is right.
        confidence: of that query, 0 to 1.
        tables: names of the tables of gold's query.
        constructs: what it has, of the names that `constructs_of` gives.
    """

    by_hand: bool
    answerable: bool
    right: bool
    confidence: float
    tables: tuple[str, ...]
    constructs: tuple[str, ...]


@dataclass(frozen=True)
class Comparison:
    """Verdicts before and after, and what the pairs that were trained on hold.

    Attributes:
        before: of the base.
        after: of the adapted bundle.
        shown: some of the pairs.
        columns: names of columns that no pair touches.
        values: by column, known values of categories that no pair compares with.
    """

    before: tuple[Verdict, ...]
    after: tuple[Verdict, ...]
    shown: tuple[Example, ...] = ()
    columns: tuple[str, ...] = ()
    values: tuple[tuple[str, tuple[str, ...]], ...] = ()


def verdicts(reliability: Reliability, outcomes: Sequence[Outcome], schema: Schema) -> tuple[Verdict, ...]:
    """What became of the cases, with the probabilities of a bundle."""
    return tuple(
        Verdict(
            one.case.by_hand,
            one.case.program is not None,
            one.right,
            reliability.assess(one.evidence).confidence,
            tables_of(one.case.program or (), schema),
            tuple(constructs_of(one.case.program or ())),
        )
        for one in outcomes
    )


def compare(
    before: tuple[Verdict, ...],
    after: tuple[Verdict, ...],
    pairs: Sequence[Example],
    schema: Schema,
    seed: int,
) -> Comparison:
    """The comparison. `pairs`: those that were made; the same arguments give the same."""
    asked = [one for one in pairs if one.sql]
    touched: Counter[int] = Counter()
    said: set[object] = set()
    for one in asked:
        try:
            program = sql_to_program(str(one.sql), schema)
        except ConversionError:
            continue
        touched.update(part.column for part in program if isinstance(part, ColumnRef))
        said |= {part.value for part in program if isinstance(part, Literal)}
    columns = [number for number in range(len(schema.columns)) if not touched[number]]
    values = []
    for number, column in enumerate(schema.columns):
        missing = tuple(str(value) for value in column.values if value not in said)
        if missing and number not in columns:
            values.append((schema.qualified_name(number), missing))
    shown = random.Random(f"{seed}/shown").sample(asked, min(SHOWN, len(asked)))
    return Comparison(before, after, tuple(shown), tuple(map(schema.qualified_name, columns)), tuple(values))


def tables_of(program: Program, schema: Schema) -> tuple[str, ...]:
    """The names of the tables that a query reads, in order."""
    tables = {one.table for one in program if isinstance(one, TableRef)}
    tables |= {schema.columns[one.column].table for one in program if isinstance(one, ColumnRef)}
    return tuple(schema.table_name(table) for table in sorted(tables))


def constructs_of(program: Program) -> Iterator[str]:
    """What a query has that makes it hard; "plain" for none of it."""
    names = {one.name for one in program if isinstance(one, Production)}
    found = [construct for construct, parts in _CONSTRUCTS.items() if names.intersection(parts)]
    if any(name.startswith(_TIMES) for name in names):
        found.append("times")
    yield from found or ["plain"]


def floats(found: Sequence[Verdict]) -> tuple[Floats, Flags]:
    """Confidences, and whether these are right."""
    return np.array([one.confidence for one in found]), np.array([one.right for one in found], dtype=np.bool_)


def recommended_penalty(found: Sequence[Verdict]) -> float | None:
    """The least penalty at which `PRECISION` of the given answers are right; None where there is none.

    In hindsight, on these questions: with few of them it says little.
    """
    curve = risk_coverage(*floats(found))
    fit = np.flatnonzero(curve.risk <= 1 - PRECISION + 1e-9)
    if not len(fit):
        return None
    threshold = float(curve.threshold[fit[-1]])
    return threshold / max(1 - threshold, 1e-6)
