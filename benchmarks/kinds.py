"""Which kinds of questions of a training set does the synthetic hospital ask, and which are missing?

    python benchmarks/kinds.py                        EHRSQL 2024's train, its held-out part apart; 24,000 drafts
    python benchmarks/kinds.py --show 20              the most frequent kinds that are missing, each with a query
    python benchmarks/kinds.py --set sm3_synthea      another schema: forms alone can be compared

FASTSQL_DATA names the folder of the data sets. Only `train.json` is read. Compared are, of canonical renderings:

skeleton   the query without its literals: an exact template
kind       its skeleton without filters on time, which go with every kind
form       its kind without names of tables and columns

A skeleton or kind is covered if a draft has it; "often" if at least `OFTEN` of them have, so that a corpus of a third of the
drafts has it not by luck. The drafts are not checked here; `--pairs FILE` compares a file of `fastsql augment` instead.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import sqlglot
from sqlglot import exp

from fastsql.cli.console import Console
from fastsql.datasets import Example, read_examples, read_schemas
from fastsql.evaluation.skeleton import skeleton
from fastsql.grammar import ConversionError, render, sql_to_program
from fastsql.schema import Schema
from fastsql.synthesis.hospital import DATABASE, Hospital, Vocabulary
from fastsql.synthesis.statistics import count_hardness
from fastsql.training.corpus.split import HeldOut

sys.path.insert(0, str(Path(__file__).parent))
from record import ROOT, save

HELD_OUT = ROOT / "configs" / "ehr-en.held_out.json"
OFTEN = 9
LEVELS = ("skeleton", "kind", "form")
_VALUE = re.compile(r"'[^']*'|\d\d+")
_COMPARISONS = (exp.EQ, exp.GT, exp.GTE, exp.LT, exp.LTE)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a table; write the same as JSON where asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--set", default="ehrsql2024", help="name of the data set's folder")
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("FASTSQL_DATA", ".")))
    parser.add_argument("--drafts", type=int, default=24_000, help="queries to draw")
    parser.add_argument("--pairs", type=Path, help="synthetic pairs to compare with instead")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", type=int, default=0, help="missing kinds to print")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    console = Console()
    folder = options.data / options.set
    train = [one for one in read_examples(folder / "train.json") if one.sql and one.answerable]
    schemas = read_schemas(folder / "schemas.json", databases={one.db_id for one in train})
    with Hospital(Vocabulary.collect([one.sql or "" for one in train])) as hospital:
        if options.pairs:
            drafts = [pair.sql or "" for pair in read_examples(options.pairs)]
        else:
            drafts = [hospital.draw(f"{options.seed}/{number}").sql for number in range(options.drafts)]
        levels = list(_levels(console.track(drafts, "drafts", len(drafts)), hospital.schema))
    pairs = [
        Example("", DATABASE, "", sql, template=found["skeleton"])
        for sql, found in zip(drafts, levels, strict=True)
        if found is not None
    ]
    made = {level: Counter(one[level] for one in levels if one is not None) for level in LEVELS}
    gold = []
    for db_id, schema in schemas.items():
        examples = [one for one in train if one.db_id == db_id]
        found = _levels([one.sql or "" for one in examples], schema)
        gold += [pair for pair in zip(examples, found, strict=True) if pair[1] is not None]
    held = HeldOut.load(HELD_OUT)
    parts = {
        "held-out templates": [one for one in gold if one[0].id in {name for _, name in held.templates}],
        "held-out examples": [one for one in gold if one[0].id in {name for _, name in held.examples}],
        "all of train": gold,
    }
    rows = [
        {"part": name, "level": level, **_coverage(part, level, made[level])}
        for name, part in parts.items()
        if part
        for level in LEVELS
    ]
    console.table(list(rows[0]), [list(row.values()) for row in rows])
    hardness = count_hardness(pairs)
    console.line(f"\n{len(drafts)} drafts: " + ", ".join(f"{key} {count}" for key, count in hardness.items()))
    _show(console, gold, made["kind"], options.show)
    save(options.json, {"set": options.set, "coverage": rows, "hardness": hardness}, __file__, arguments)
    return 0


def _coverage(
    part: Sequence[tuple[Example, dict[str, str]]], level: str, made: Counter[str]
) -> dict[str, Any]:
    counts = Counter(found[level] for _, found in part)
    covered = [key for key in counts if made[key]]
    often = [key for key in counts if made[key] >= OFTEN]
    return {
        "different": len(counts),
        "covered": len(covered),
        "often": len(often),
        "queries": len(part),
        "covered, %": round(100 * sum(counts[key] for key in covered) / len(part), 1),
        "often, %": round(100 * sum(counts[key] for key in often) / len(part), 1),
    }


def _levels(queries: Iterable[str], schema: Schema) -> Iterator[dict[str, str] | None]:
    """The skeleton, kind and form of queries; None for what the grammar cannot say. One query of a text is converted."""
    known: dict[str, dict[str, str] | None] = {}
    for sql in queries:
        # Single digits stay in the key: `1 * x` has another canonical form than `24 * x`.
        key = _VALUE.sub("?", sql)
        if key not in known:
            known[key] = _names(sql, schema)
        yield known[key]


def _names(sql: str, schema: Schema) -> dict[str, str] | None:
    try:
        canonical = render(sql_to_program(sql, schema), schema)
    except ConversionError:
        return None
    kind = without_times(canonical)
    return {
        "skeleton": skeleton(canonical),
        "kind": skeleton(kind),
        "form": skeleton(kind, names=False),
    }


def without_times(sql: str) -> str:
    """The query without conditions that compare a column's time with a date or with now."""
    query = sqlglot.parse_one(sql, dialect="sqlite")
    for where in list(query.find_all(exp.Where)):
        condition = where.this
        parts = condition.flatten() if isinstance(condition, exp.And) else [condition]
        kept = [part for part in parts if not _is_time(part)]
        if kept:
            where.set("this", exp.and_(*kept, copy=False))
        else:
            where.pop()
    return query.sql(dialect="sqlite")


def _is_time(condition: exp.Expr) -> bool:
    if not isinstance(condition, _COMPARISONS) or condition.find(exp.Query):
        return False
    left, right = condition.this, condition.expression
    timed = isinstance(left, (exp.Anonymous, exp.Func)) and not isinstance(left, exp.AggFunc)
    return timed and len(list(left.find_all(exp.Column))) == 1 and right.find(exp.Column) is None


def _show(
    console: Console, gold: Sequence[tuple[Example, dict[str, str]]], made: Counter[str], number: int
) -> None:
    missing = Counter(found["kind"] for _, found in gold if not made[found["kind"]])
    example = {found["kind"]: one for one, found in reversed(gold)}
    for key, count in missing.most_common(number):
        console.line(f"\n{count} queries, such as: {example[key].question}")
        console.sql(example[key].sql or "", "  ")


if __name__ == "__main__":
    sys.exit(main())
