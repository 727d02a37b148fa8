"""What a set of pairs is like: how many of each level of hardness, as in Table 2 of ScienceBenchmark (VLDB 2023)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from fastsql.datasets import Example
from fastsql.evaluation.hardness import LEVELS, hardness
from fastsql.verification.parse import parse_query


def count_hardness(pairs: Iterable[Example]) -> dict[str, int]:
    """The number of pairs of each of Spider's levels; pairs of one template are of one level."""
    levels: dict[str, str] = {}
    counts: Counter[str] = Counter()
    for pair in pairs:
        if pair.sql is not None:
            key = pair.template or pair.sql
            if key not in levels:
                levels[key] = hardness(parse_query(pair.sql))
            counts[levels[key]] += 1
    return {level: counts[level] for level in LEVELS}
