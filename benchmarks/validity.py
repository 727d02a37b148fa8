"""Is what is decoded always valid SQL, whatever the scores?

    python benchmarks/validity.py                 5,000 decodes, stratified over the data sets under FASTSQL_DATA
    python benchmarks/validity.py --number 200 --set spider --seed 1

Every decode takes random scores (a third of them with a bias that favours the same actions throughout), on a schema of
the set, for a question drawn from a few in English and Chinese. It counts if sqlglot reads the SQL and SQLite prepares
it on an empty database of the schema.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sqlite3
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import sqlglot

from fastsql.grammar import ActionSpace, State, read_program, render
from fastsql.linking import find_candidates
from fastsql.schema import Schema, load_uniform

QUESTIONS = (
    "What were the top five drugs of patient 10004235 since 08/2100?",
    "Was it on 12/29/last year, or \"in 'May' 2 months ago\"?",
    "今年第二次住院的患者中，年龄大于60岁的有多少人？",
    "count",
)
_TOKEN = re.compile(r"[\u3400-\u9fff]|\w+|[^\w\s]")


def decode(schema: Schema, question: str, rng: np.random.Generator, biased: bool) -> tuple[str, int]:
    """SQL of one decode under random scores, and how many actions it took."""
    tokens = np.array([m.span() for m in _TOKEN.finditer(question)], dtype=np.int32)
    space = ActionSpace.for_question(schema, question, tokens, find_candidates(question, schema))
    bias = rng.normal(scale=3.0, size=space.size) if biased else np.zeros(space.size)
    state = State.start(space)
    decisions: list[int] = []
    while not state.finished:
        legal = state.legal()
        if len(legal) == 1:
            state = state.advance(int(legal[0]), decision=False)
            continue
        scores = rng.gumbel(size=len(legal)) + bias[legal]
        decisions.append(int(legal[scores.argmax()]))
        state = state.advance(decisions[-1])
    return render(read_program(decisions, space), schema), state.used


def fault_of(sql: str, database: sqlite3.Connection) -> str:
    """Why a statement is not valid; empty if it is."""
    try:
        sqlglot.parse_one(sql, read="sqlite")
        database.execute("EXPLAIN " + sql)
    except (sqlglot.errors.SqlglotError, sqlite3.Error, RecursionError) as error:
        return f"{type(error).__name__}: {str(error)[:80]}"
    return ""


def run_set(name: str, schemas: list[Schema], number: int, rng: np.random.Generator) -> dict[str, Any]:
    """`number` decodes on the schemas in turn."""
    faults: list[str] = []
    lengths: list[int] = []
    start = time.perf_counter()
    for index in range(number):
        schema = schemas[int(rng.integers(len(schemas)))]
        database = sqlite3.connect(":memory:")
        database.executescript(schema.to_ddl())
        sql, used = decode(schema, QUESTIONS[index % len(QUESTIONS)], rng, index % 3 == 0)
        lengths.append(used)
        if fault := fault_of(sql, database):
            faults.append(f"{schema.name}: {fault}")
        database.close()
        if sys.stderr.isatty():
            print(f"\r{name}: {index + 1} of {number}", end="", file=sys.stderr)
    if sys.stderr.isatty():
        print("\r" + " " * 60 + "\r", end="", file=sys.stderr)
    seconds = time.perf_counter() - start
    return {
        "decodes": number,
        "valid": number - len(faults),
        "actions_mean": float(np.mean(lengths)),
        "actions_max": max(lengths),
        "ms": 1000 * seconds / number,
        "faults": faults,
    }


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--number", type=int, default=5000, help="decodes in all (default: %(default)s)")
    parser.add_argument("--set", action="append", help="only this data set; may be given several times")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path, help="write the figures here")
    options = parser.parse_args()
    if "FASTSQL_DATA" not in os.environ:
        parser.error("set FASTSQL_DATA to the folder of the data sets (docs/data.md)")
    files = sorted(Path(os.environ["FASTSQL_DATA"]).glob("*/schemas.json"))
    sets = {
        f.parent.name: list(load_uniform(f).values())
        for f in files
        if not options.set or f.parent.name in options.set
    }
    if not sets:
        parser.error("there is no such data set under FASTSQL_DATA")
    rng = np.random.default_rng(options.seed)
    each = -(-options.number // len(sets))
    print(f"{'set':<20}{'schemas':>8}{'decodes':>9}{'valid':>8}{'actions':>9}{'longest':>9}{'ms each':>9}")
    figures = {}
    for name, schemas in sets.items():
        f = figures[name] = run_set(name, schemas, each, rng)
        print(
            f"{name:<20}{len(schemas):>8}{f['decodes']:>9}{f['valid']:>8}{f['actions_mean']:>9.0f}{f['actions_max']:>9}{f['ms']:>9.1f}"
        )
        for fault in f["faults"][:3]:
            print(f"  {fault}")
    decodes, valid = (sum(f[key] for f in figures.values()) for key in ("decodes", "valid"))
    print(
        f"{'all':<20}{sum(map(len, sets.values())):>8}{decodes:>9}{valid:>8}   {100 * valid / decodes:.3f} % valid"
    )
    if options.json is not None:
        options.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    sys.exit(valid < decodes)


if __name__ == "__main__":
    main()
