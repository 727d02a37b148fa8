"""What a grammar and its linking can say of gold queries: conversion, round trip, tracing, literals. No model takes part."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlglot.errors import SqlglotError

from fastsql.datasets import Example
from fastsql.errors import ExecutionError
from fastsql.evaluation.answers import answer_rows
from fastsql.evaluation.canonical import canonical_form
from fastsql.evaluation.gold_sql import normalise_sql
from fastsql.execution import ReadOnlyExecutor
from fastsql.grammar import (
    ActionSpace,
    ConversionError,
    GroundingError,
    Program,
    render,
    sql_to_program,
    trace_program,
)
from fastsql.linking import ValueDictionary, find_candidates, gold_literals, literal_recall
from fastsql.schema import Schema

Tokens = NDArray[np.int32]
Tokenize = Callable[[str], Tokens]
"""The tokens of a question as int32[Q, 2], characters ``[start, end)``."""


@dataclass
class Tally:
    """What was counted over one split of a data set."""

    name: str
    split: str
    queries: int = 0
    converted: int = 0
    same: int = 0
    same_by: Counter[str] = field(default_factory=Counter)
    traceable: dict[str, int] = field(default_factory=lambda: {"with": 0, "without": 0})
    literals: int = 0
    had: dict[str, int] = field(default_factory=lambda: {"with": 0, "without": 0})
    provenance: Counter[str] = field(default_factory=Counter)
    decisions: list[int] = field(default_factory=list)
    failures: dict[str, Counter[str]] = field(default_factory=dict)
    examples: dict[str, list[str]] = field(default_factory=dict)

    def fail(self, stage: str, reason: str, example: Example) -> None:
        """Counts a failure; the ids of the first few of each kind are kept."""
        self.failures.setdefault(stage, Counter())[reason] += 1
        ids = self.examples.setdefault(f"{stage}: {reason}", [])
        if len(ids) < 5:
            ids.append(example.id)

    def report(self) -> dict[str, Any]:
        """Figures in percent, and counts."""

        def share(count: int, of: int) -> float | None:
            return round(100 * count / of, 2) if of else None

        return {
            "set": self.name,
            "split": self.split,
            "queries": self.queries,
            "converted": share(self.converted, self.queries),
            "round_trip": share(self.same, self.queries),
            "round_trip_by": dict(self.same_by),
            "traceable": {key: share(count, self.queries) for key, count in self.traceable.items()},
            "literals": self.literals,
            "literal_recall": {key: share(count, self.literals) for key, count in self.had.items()},
            "literal_provenance": dict(self.provenance.most_common()),
            "decisions": {
                name: int(np.percentile(self.decisions, q, method="higher")) if self.decisions else None
                for name, q in (("p50", 50), ("p95", 95), ("max", 100))
            },
            "failures": {stage: dict(counts.most_common()) for stage, counts in self.failures.items()},
            "failing_ids": self.examples,
        }


@dataclass(frozen=True)
class Coverable:
    """A database as a parser sees it: `with` its values and a dictionary, and `without`; both with what questions taught."""

    schema: Schema
    dressed: Mapping[str, Schema]
    dictionary: ValueDictionary | None
    executor: ReadOnlyExecutor | None


def measure(example: Example, domain: Coverable, tokenize: Tokenize, now: str, tally: Tally) -> None:
    """Convert, render, compare, trace; count what came of it."""
    if example.sql is None:
        raise ValueError("an example without SQL has nothing to cover")
    tally.queries += 1
    _measure_literals(example.question, example.sql, domain, tally)
    try:
        program = sql_to_program(example.sql, domain.schema)
    except ConversionError as error:
        tally.fail("conversion", error.construct, example)
        return
    tally.converted += 1
    by, fault = _compare(example.sql, render(program, domain.schema, now=now), domain, now)
    tally.same_by[by] += not fault
    tally.same += not fault
    if fault:
        tally.fail("round trip", fault, example)
    tokens = tokenize(example.question)
    for key in domain.dressed:
        count, fault = _decisions(program, example.question, tokens, domain, key)
        tally.traceable[key] += not fault
        if fault:
            tally.fail(f"tracing {key} the database", fault, example)
        elif key == "with":
            tally.decisions.append(count)


def _compare(gold: str, ours: str, domain: Coverable, now: str) -> tuple[str, str]:
    """By what gold and ours were compared, and what is wrong; empty if nothing is."""
    gold = normalise_sql(gold, now)
    if domain.executor is not None:
        try:
            with domain.executor.cursor(gold) as rows:
                expected = answer_rows(rows)
        except ExecutionError:
            expected = None
        if expected is not None:
            try:
                with domain.executor.cursor(ours) as rows:
                    return "rows", "" if answer_rows(rows) == expected else "other rows"
            except ExecutionError:
                return "rows", "does not run"
    one, other = canonical_form(gold, domain.schema), canonical_form(ours, domain.schema)
    if one is None or other is None:
        return "form", "no canonical form"
    return "form", "" if one == other else "another canonical form"


def _decisions(
    program: Program, question: str, tokens: Tokens, domain: Coverable, key: str
) -> tuple[int, str]:
    """Decisions that write a program, and why they cannot; empty if they can."""
    schema = domain.dressed[key]
    candidates = find_candidates(question, schema, domain.dictionary if key == "with" else None)
    space = ActionSpace.for_question(schema, question, tokens, candidates)
    try:
        return len(trace_program(program, space).actions), ""
    except GroundingError as error:
        return 0, str(error)


def _measure_literals(question: str, sql: str, domain: Coverable, tally: Tally) -> None:
    try:
        literals = gold_literals(sql, domain.schema)
    except SqlglotError:
        return
    tally.literals += len(literals)
    for key, schema in domain.dressed.items():
        dictionary = domain.dictionary if key == "with" else None
        candidates = find_candidates(question, schema, dictionary)
        recall = literal_recall(literals, question, candidates, schema, dictionary)
        tally.had[key] += len(literals) - len(recall.missing)
        if key == "with":
            tally.provenance.update(str(provenance) for _, provenance in recall.explained)
