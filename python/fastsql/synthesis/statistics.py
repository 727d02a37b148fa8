"""What a set of pairs is like: how many of each level of hardness, as in Table 2 of ScienceBenchmark (VLDB 2023)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

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


def hardness_table(pairs: Sequence[Example]) -> str:
    """A line as in Table 2 of the paper: of each level the pairs and their share, then the total.

    Behind it what else there is: contrasts, and unanswerable questions by kind.
    """
    counts = count_hardness(pairs)
    total = sum(counts.values())
    shares = [f"{number} {level} ({number / max(total, 1):.1%})" for level, number in counts.items()]
    lines = [f"{', '.join(shares)}, {total} in total"]
    differences = Counter(str(pair.extra["differs"]) for pair in pairs if "differs" in pair.extra)
    refused = Counter(str(pair.extra["unanswerable"]) for pair in pairs if "unanswerable" in pair.extra)
    couples = {kind: number // 2 for kind, number in differences.items()}
    for what, found in (("contrasts", couples), ("unanswerable", refused)):
        if found:
            kinds = ", ".join(f"{number} {kind}" for kind, number in sorted(found.items()))
            lines.append(f"{sum(found.values())} {what}: {kinds}")
    return "\n".join(lines)
