"""Fits the weights with which columns of large schemas are ranked (`fastsql.linking.column_ranking`).

A database counts from 45 columns in 6 tables: of smaller ones a query reads too large a part. BIRD's hints name columns as
users of a warehouse do, so its questions are taken with and without them.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sqlglot.errors import SqlglotError

from fastsql.datasets import Example, read_examples, read_schemas, read_values, with_known_values
from fastsql.errors import FastSQLError
from fastsql.linking import find_candidates, gold_items
from fastsql.linking.column_ranking import WEIGHTS, ColumnRanking
from fastsql.linking.name_search import NameSearch
from fastsql.training.calibration.logistic import fit_logistic

TABLES, COLUMNS = 6, 45
"""The least that a database must have."""
QUESTIONS = 30
"""Questions a database, so that none outweighs the others."""
FOLDS = 3
SHARE = 0.2
"""Of a database's columns that are kept where weights are judged."""


class RankingError(FastSQLError):
    """The weights cannot be fitted."""


@dataclass(frozen=True, eq=False)
class Case:
    """A question: features float64[C, k] of the columns of its database, and bool[C], whether gold names them."""

    database: str
    features: NDArray[np.float64]
    gold: NDArray[np.bool_]


def read_cases(folder: Path, seed: int = 0) -> list[Case]:
    """The cases of one data set. Gold that sqlglot cannot read is passed over, and so are queries that name no column."""
    by_database: dict[str, list[Example]] = {}
    for example in read_examples(folder / "train.json"):
        if example.answerable and example.runs:
            by_database.setdefault(example.db_id, []).append(example)
    excerpt = folder / "values.json.gz"
    values = read_values(excerpt) if excerpt.is_file() else {}
    drawn = random.Random(seed)
    cases = []
    for name, plain in sorted(read_schemas(folder / "schemas.json", databases=set(by_database)).items()):
        if len(plain.tables) < TABLES or len(plain.columns) < COLUMNS:
            continue
        schema, dictionary = with_known_values(plain, None, values.get(name))
        search, ranking = NameSearch(schema), ColumnRanking(schema)
        examples = by_database[name]
        for example in drawn.sample(examples, min(QUESTIONS, len(examples))):
            try:
                gold = gold_items(example.sql or "", schema)
            except SqlglotError:
                continue
            if not gold.columns:
                continue
            needed = np.zeros(len(schema.columns), dtype=bool)
            needed[list(gold.columns)] = True
            hint = str(example.extra.get("evidence") or "")
            for question in dict.fromkeys((example.question, f"{hint} {example.question}".strip())):
                found = search.find(question, find_candidates(question, schema, dictionary))
                cases.append(Case(f"{folder.name}/{name}", ranking.features(found), needed))
    return cases


def fit(cases: Sequence[Case]) -> NDArray[np.float64]:
    """Weights float64[k]; every question counts the same."""
    mass = [np.full(len(case.gold), 1 / case.gold.sum()) for case in cases]
    _, weights = fit_logistic(
        np.concatenate([case.features for case in cases]),
        np.concatenate([case.gold for case in cases]),
        np.concatenate(mass),
    )
    return weights


def share_kept(cases: Sequence[Case], weights: NDArray[np.float64]) -> float:
    """The share of gold columns among the `SHARE` of columns that rank first, in percent."""
    kept = 0
    for case in cases:
        first = np.argsort(-case.features @ weights, kind="stable")[: round(SHARE * len(case.gold))]
        kept += int(case.gold[first].sum())
    return 100 * kept / sum(int(case.gold.sum()) for case in cases)


def fitted_lines(cases: Sequence[Case]) -> Iterator[str]:
    """The weights as lines of Python, then what such weights keep on databases that they were not fitted on.

    Raises RankingError where there are too few databases.
    """
    names = sorted({case.database for case in cases})
    if len(names) < FOLDS:
        raise RankingError(
            f"{len(names)} databases of {TABLES} tables and {COLUMNS} columns or more are too few;"
            f" at least {FOLDS} are needed",
            remedy="Name more folders.",
        )
    for name, weight in zip(WEIGHTS, fit(cases), strict=True):
        yield f'    "{name}": {weight:.2f},'
    random.Random(0).shuffle(names)
    for fold in range(FOLDS):
        held = set(names[fold::FOLDS])
        weights = fit([case for case in cases if case.database not in held])
        judged = [case for case in cases if case.database in held]
        yield (
            f"fold {fold + 1}: {share_kept(judged, weights):.1f} % of gold columns kept at {SHARE:.0%} of "
            f"{len(held)} databases' columns"
        )
