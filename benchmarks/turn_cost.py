"""What does a turn of a conversation cost beside the same question asked alone?

    python benchmarks/turn_cost.py talks.json --schemas schemas.json --databases mimic_iv.sqlite.gz --json turn_cost.json
    python benchmarks/turn_cost.py $FASTSQL_DATA/sparc/dev.json --schemas ... --databases ... --limit 80

Conversations are drawn by a seed, and asked as people ask them: each turn is given what the parser made of those before
it. Every question that has an answered turn before it is timed twice, alone and in its conversation, by the processor time
of one thread; which comes first changes from turn to turn. Turns are told apart by what came of them, as most are read
twice, by themselves and as going on from earlier queries.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import fastsql
from fastsql import Schema, Turn
from fastsql.cli.console import Console
from fastsql.datasets import DatabaseFiles, read_schemas
from fastsql.datasets.interactions import Interaction, read_interactions
from fastsql.parser import Parser

sys.path.insert(0, str(Path(__file__).parent))
from record import machine, save

NOW = "2100-12-31 23:59:00"
ALL = "all"
ALONE, GOING_ON = "by themselves", "going on from earlier queries"


@dataclass(frozen=True)
class Timed:
    """What became of a question, and its milliseconds in the conversation and alone."""

    way: str
    turn: float
    alone: float


def timed(parser: Parser, talk: Interaction, schema: Schema, values: Path | None) -> Iterator[Timed]:
    """The questions of a conversation that have an answered turn before them."""
    history: list[Turn] = []
    for place, example in enumerate(talk.turns):
        taken: dict[bool, float] = {}
        turns: list[Turn] = []
        for conversing in (True, False) if place % 2 else (False, True):
            before = history if conversing else None
            begun = time.process_time()
            result = parser.parse(example.question, schema, values=values, history=before, now=NOW)
            taken[conversing] = (time.process_time() - begun) * 1000
            if isinstance(result, Turn):
                turns.append(result)
        if any(one.usable for one in history):
            yield Timed(GOING_ON if turns[0].uses else ALONE, taken[True], taken[False])
        history += turns


def figures(found: Sequence[Timed]) -> dict[str, float]:
    """How many there are, and how many times what they cost alone: median, mean and 90th percentile."""
    times = np.array([one.turn / one.alone for one in found])
    return {
        "turns": len(times),
        "median": float(np.median(times)),
        "mean": float(times.mean()),
        "p90": float(np.percentile(times, 90)),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a table; write the same as JSON where asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("interactions", type=Path, help="conversations in the uniform form")
    parser.add_argument("--schemas", type=Path, required=True)
    parser.add_argument("--databases", type=Path, required=True, help="a folder, an archive or one database")
    parser.add_argument("--model", default="ehr-en", help="a bundled model or a bundle's folder")
    parser.add_argument("--limit", type=int, default=80, metavar="N", help="conversations that are asked")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    talks = list(read_interactions(options.interactions))
    random.Random(options.seed).shuffle(talks)
    talks = talks[: options.limit]
    schemas = read_schemas(options.schemas)
    asked = fastsql.load(options.model, threads=1, penalty=0)
    found: list[Timed] = []
    with DatabaseFiles(options.databases, sorted({talk.db_id for talk in talks})) as files:
        for talk in Console().track(talks, "conversations", len(talks)):
            found += timed(asked, talk, schemas[talk.db_id], files.path(talk.db_id))
    if not found:
        print("no conversation has a second turn", file=sys.stderr)
        return 1
    ways: dict[str, list[Timed]] = defaultdict(list, {ALL: found})
    for one in found:
        ways[one.way].append(one)
    times = {name: figures(ways[name]) for name in (ALL, ALONE, GOING_ON) if name in ways}
    print(f"{machine()}; {len(talks)} conversations; times what the same question costs alone")
    print(f"{'':32}{'turns':>7}{'median':>8}{'mean':>8}{'90th':>8}")
    for name, row in times.items():
        print(f"{name:32}{row['turns']:7}{row['median']:8.2f}{row['mean']:8.2f}{row['p90']:8.2f}")
    turn, alone = (float(np.median([getattr(one, kind) for one in found])) for kind in ("turn", "alone"))
    print(f"a turn takes {turn:.1f} ms at the median, its question alone {alone:.1f}")
    content = {"model": options.model, "seed": options.seed, "times": times, "milliseconds": [turn, alone]}
    save(options.json, content, __file__, arguments)
    return 0


if __name__ == "__main__":
    sys.exit(main())
