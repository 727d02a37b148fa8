"""How long does a second opinion take, log P(question | program) or a reranker's rating, by the native core and by NumPy?

    python benchmarks/likelihood.py --model run/weights.safetensors
    python benchmarks/likelihood.py --reranker
    OPENBLAS_NUM_THREADS=1 python benchmarks/likelihood.py --programs 1 4 8 16 --json likelihood.json

One question of 15 pieces and some programs for it, over three tables; milliseconds a call. The ways take turns in bursts.
The median and the best are told: the latter is that of a machine that does nothing else. NumPy has as many threads as its
BLAS takes. "difference" is the largest one from NumPy's, in nats.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from fastsql.backends import native
from fastsql.cli.console import Console
from fastsql.errors import FastSQLError
from fastsql.grammar import sql_to_program
from fastsql.grammar.program import Program
from fastsql.parser.bundles import DEFAULT_MODEL, open_model
from fastsql.reranker import bundled_reranker, open_rater
from fastsql.reverse import bundled_reverse, open_likelihood
from fastsql.schema import Schema

sys.path.insert(0, str(Path(__file__).parent))
from record import save

SCHEMA = Schema.from_ddl(
    """
    CREATE TABLE patients (subject_id INTEGER PRIMARY KEY, gender TEXT, age INTEGER);
    CREATE TABLE admissions (
        hadm_id INTEGER PRIMARY KEY,
        subject_id INTEGER REFERENCES patients (subject_id),
        admission_type TEXT,
        admittime DATE
    );
    CREATE TABLE labevents (hadm_id INTEGER REFERENCES admissions (hadm_id), item TEXT, valuenum REAL);
    """
)
QUESTION = "how many women older than 65 were admitted urgently to the hospital last year?"
JOINED = "FROM admissions JOIN patients ON admissions.subject_id = patients.subject_id WHERE gender = 'F'"
QUERIES = (
    f"SELECT COUNT(*) {JOINED} AND admission_type = 'urgent'",
    f"SELECT COUNT(DISTINCT patients.subject_id) {JOINED} AND admission_type = 'urgent' AND age > 65",
    f"SELECT patients.subject_id {JOINED} ORDER BY admittime DESC LIMIT 5",
    "SELECT MAX(valuenum) FROM labevents JOIN admissions USING (hadm_id) WHERE item = 'glucose'",
)
THREADS = (1, 2)
Ask = Callable[[Sequence[Program]], NDArray[np.float64]]
"""Some programs for the question, to what is said of each."""
ROUNDS = 10
PAUSE = 0.1
"""Seconds before a burst, in which the threads of the one before fall asleep."""


def burst(ask: Callable[[], object], count: int) -> list[float]:
    """Milliseconds of each of so many calls, after one that does not count."""
    ask()
    found = []
    for _ in range(count):
        before = time.perf_counter()
        ask()
        found.append(1000 * (time.perf_counter() - before))
    return found


def asking(path: Path | None, core: ModuleType | None, threads: int, *, reranker: bool) -> Ask:
    """What is asked about programs for the question: a reranker, or else a reverse model."""
    tokenizer = open_model(DEFAULT_MODEL).tokenizer()
    if reranker:
        rate = open_rater(path or bundled_reranker(), tokenizer, core=core, threads=threads)
        return lambda programs: rate(QUESTION, (), programs, SCHEMA)
    likelihood = open_likelihood(path or bundled_reverse(), tokenizer, core=core, threads=threads)
    return lambda programs: likelihood(QUESTION, programs, SCHEMA)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a table; write the same as JSON where asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--model", type=Path, help="the file of the model (default: the one that comes with fastsql)"
    )
    parser.add_argument("--reranker", action="store_true", help="ask a reranker instead of a reverse model")
    parser.add_argument("--programs", type=int, nargs="+", default=[1, 4, 16], metavar="N")
    parser.add_argument("--repeat", type=int, default=200)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    core = native()
    reference = asking(options.model, None, 1, reranker=options.reranker)
    ways = {"NumPy": reference}
    for threads in THREADS if core is not None else ():
        ways[f"native, {threads} threads"] = asking(options.model, core, threads, reranker=options.reranker)
    known = [sql_to_program(sql, SCHEMA) for sql in QUERIES]
    report: dict[str, dict[str, float]] = {name: {"difference": 0.0} for name in ways}
    for count in options.programs:
        programs = (known * (count // len(known) + 1))[:count]
        expected = reference(programs)
        times: dict[str, list[float]] = {name: [] for name in ways}
        for _ in range(ROUNDS):
            for name, ask in ways.items():
                time.sleep(PAUSE)
                times[name] += burst(
                    lambda ask=ask, programs=programs: ask(programs),
                    max(1, options.repeat // ROUNDS),
                )
        for name, ask in ways.items():
            difference = float(np.abs(ask(programs) - expected).max())
            report[name]["difference"] = max(report[name]["difference"], difference)
            report[name][f"{count}, median"] = statistics.median(times[name])
            report[name][f"{count}, best"] = min(times[name])
    columns = [f"{count}, {which}" for count in options.programs for which in ("median", "best")]
    rows = [
        [name, *(f"{figures[column]:.2f}" for column in columns), f"{figures['difference']:.1e}"]
        for name, figures in report.items()
    ]
    Console().table(["ms, programs:", *columns, "difference"], rows)
    save(options.json, {"rating" if options.reranker else "likelihood": report}, __file__, arguments)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except FastSQLError as failure:
        sys.exit(f"likelihood: {failure}")
