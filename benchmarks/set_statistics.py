"""What a set's queries and questions are like: CSS's Table 2, and how much its questions differ (appendix A).

    python benchmarks/set_statistics.py                            css, dev and train parts
    python benchmarks/set_statistics.py spider/train.json          any set in the uniform form
    python benchmarks/set_statistics.py --json css_statistics.json

Zhang et al., Findings of ACL 2023. A skeleton is what is left of a query without its tables, columns and values (section
4.2). The length of a query is its number of tokens: a name with what it is qualified by, a literal, a keyword, a sign.

The rewriting ratio of two questions is their edit distance over the sum of their lengths, in characters. Of a template,
whose questions are rewritings of one, it is the mean over their pairs. The paper divides the sum over ten questions by 55,
though they have 45 pairs: what it maximises is 45/55 of this. Questions of a template differ in their values, too.

FASTSQL_DATA names the folder of the data sets.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import combinations
from pathlib import Path
from statistics import fmean
from typing import Any

from rapidfuzz.distance import Levenshtein

from fastsql.cli.console import Console
from fastsql.datasets import Example, read_examples
from fastsql.evaluation.skeleton import skeleton, tokens

sys.path.insert(0, str(Path(__file__).parent))
from record import save

PAPER = {"set": "CSS, the paper", "skeletons": 562, "tokens, mean": 55.41, "most": 243}
"""Table 2's row of CSS, of which 29,280 of 33,620 queries are over databases that were not published."""


def rewriting_ratio(one: str, other: str) -> float:
    """Edit distance over the sum of lengths; 0 for equal texts, at most 1."""
    together = len(one) + len(other)
    return Levenshtein.distance(one, other) / together if together else 0.0


def diversity(groups: Iterable[Sequence[str]]) -> float | None:
    """The mean over groups of rewritten questions of the mean ratio of their pairs; None where no group has two."""
    means = [
        fmean(rewriting_ratio(one, other) for one, other in combinations(group, 2))
        for group in groups
        if len(group) > 1
    ]
    return fmean(means) if means else None


def length(sql: str) -> int:
    """The number of a query's tokens; `table.column` is one."""
    found = tokens(sql)
    return len(found) - 2 * found.count(".")


def statistics(name: str, examples: Sequence[Example]) -> dict[str, Any]:
    """A row of the table. Questions of one template and one database are each other's rewritings."""
    queries = [one.sql for one in examples if one.sql is not None]
    lengths = [length(sql) for sql in queries]
    groups: defaultdict[tuple[str, object], list[str]] = defaultdict(list)
    for one in examples:
        if one.extra.get("template_id") is not None:
            groups[one.db_id, one.extra["template_id"]].append(one.question)
    return {
        "set": name,
        "queries": len(queries),
        "skeletons": len({skeleton(sql, names=False) for sql in queries}),
        "tokens, mean": fmean(lengths) if lengths else None,
        "most": max(lengths, default=None),
        "rewriting ratio": diversity(groups.values()),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a table; write the same as JSON where asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="*", type=Path, help="questions with SQL in the uniform form")
    parser.add_argument("--json", type=Path, help="write figures here")
    options = parser.parse_args(arguments)
    if options.files:
        rows = [statistics(file.stem.partition(".")[0], read_examples(file)) for file in options.files]
    else:
        examples = read_examples(Path(os.environ.get("FASTSQL_DATA", ".")) / "css" / "examples.json.gz")
        originals = [one for one in examples if one.extra.get("source_id") is None]
        rows = [statistics("CSS, originals", originals), statistics("CSS, with what is rebuilt", examples)]
        rows.append(PAPER)
    columns = ("set", "queries", "skeletons", "tokens, mean", "most", "rewriting ratio")
    Console(out=sys.stdout).table(list(columns), [[_cell(row.get(one)) for one in columns] for row in rows])
    if options.json:
        save(options.json, {"sets": rows}, __file__, arguments)
    return 0


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.2f}"
    return f"{value:,}" if isinstance(value, int) else str(value or "")


if __name__ == "__main__":
    raise SystemExit(main())
