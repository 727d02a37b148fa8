"""How long does verification take: of the queries that are asked, of the worst that can be written, and of one that is run?

    python benchmarks/verification.py                          gold of ehrsql2024 (FASTSQL_DATA), a small query, nests
    python benchmarks/verification.py --mixed 20000 --json v.json

Gold: the queries of ehrsql2024 valid; `verify` is what a parse pays, `runnable` what an executor pays before the database.
Run: one small query on the demo hospital, end to end: by an executor without a schema, with one, in a process of its own;
"new" is one that nobody has verified yet, "parsed" one that a parse has just verified, "again" one that the executor
remembers.
Nests: every construct that the verifier's lists know, in each other to depths of 1 to 48, then random mixtures with
thousands of words inside (`tests/attacks/nests.py`); and, written anew as an executor would, statements that grow when
their names are replaced, or that are very wide (`tests/attacks/growing.py`). The longest processor time counts; what is
promised is 250 ms.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from fastsql.datasets import read_examples, read_schemas
from fastsql.demo import create_hospital
from fastsql.errors import VerificationError
from fastsql.evaluation import normalise_sql
from fastsql.execution import open_executor, verify
from fastsql.schema import Schema
from fastsql.verification.verify import runnable

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parent))
from tests.attacks.growing import WIDE, growing, wide
from tests.attacks.nests import nests
from tests.worlds.ward import ward_schema

from figures import SPREAD, Figures, percentiles, show
from record import machine, save

DIALECTS = ("sqlite", "postgres", "duckdb", "mysql", "tsql")
DEPTHS = range(1, 49)
PROMISED = 250.0
"""Milliseconds of processor time."""
SMALL = "SELECT COUNT(*) FROM patients"
KINDS = ("again", "new", "parsed")
RUNS = 1_000


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables; write the same as JSON where asked."""
    options = _options().parse_args(arguments)
    print(machine())
    queries = run()
    if options.data is not None and (options.data / "ehrsql2024").is_dir():
        queries |= gold(options.data / "ehrsql2024")
    show("milliseconds a query", queries, SPREAD, digits=3)
    worst = {dialect: hardest(dialect, options.mixed, options.seed) for dialect in DIALECTS}
    show(f"nests; above: more than {PROMISED:g} ms", worst, ("statements", "p99", "max", "above"))
    save(options.json, {"queries": queries, "nests": worst}, __file__, arguments)
    return 0


def gold(folder: Path) -> dict[str, Figures]:
    """Milliseconds of processor time for the gold queries."""
    schema = read_schemas(folder / "schemas.json")["mimic_iv"]
    queries = [normalise_sql(e.sql) for e in read_examples(folder / "valid.json") if e.sql is not None]
    found: dict[str, list[float]] = {"gold, verify": [], "gold, runnable": []}
    for sql in queries:
        with suppress(VerificationError):  # a few compare with constants that no schema names
            found["gold, verify"].append(_milliseconds(lambda sql=sql: verify(sql, schema)))  # type: ignore[misc]
            found["gold, runnable"].append(_milliseconds(lambda sql=sql: runnable(sql, schema)))  # type: ignore[misc]
    return {name: percentiles(times) for name, times in found.items()}


def run() -> dict[str, Figures]:
    """Milliseconds of one small query, wall time, the kinds of executors in turn."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "hospital.sqlite"
        create_hospital(path)
        schema = Schema.from_sqlite(path, max_values=0)
        executors = {
            "no schema": open_executor(path),
            "with a schema": open_executor(path, schema=schema),
            "isolated": open_executor(path, schema=schema, isolated=True),
        }
        kinds = [f"small query, {name}, {kind}" for name in executors for kind in KINDS]
        found: dict[str, list[float]] = {kind: [] for kind in kinds}
        for turn in range(RUNS):
            for name, executor in executors.items():
                parsed = f"{SMALL}  LIMIT {turn + 1}"
                verify(parsed, schema)
                for kind, sql in zip(KINDS, (SMALL, f"{SMALL} LIMIT {turn + 1}", parsed), strict=True):
                    spent = _milliseconds(lambda e=executor, q=sql: e.run(q), time.perf_counter)  # type: ignore[misc]
                    found[f"small query, {name}, {kind}"].append(spent)
        for executor in executors.values():
            executor.close()
    return {name: percentiles(times[10:]) for name, times in found.items()}


def hardest(dialect: str, mixed: int, seed: int) -> Figures:
    """Processor time that nests take, in milliseconds."""

    def check(sql: str) -> None:
        with suppress(VerificationError):  # either verdict will do
            verify(sql, ward_schema(), dialect=dialect)

    def write_anew(sql: str) -> None:
        with suppress(VerificationError):
            runnable(sql, WIDE, dialect=dialect)

    times = [
        _milliseconds(lambda sql=sql: check(sql))  # type: ignore[misc]
        for sql in nests(dialect, DEPTHS, mixed, seed)
    ]
    times += [_milliseconds(lambda sql=sql: write_anew(sql)) for sql in (*growing(), *wide())]  # type: ignore[misc]
    return {
        **percentiles(times),
        "statements": len(times),
        "above": sum(spent > PROMISED for spent in times),
    }


def _milliseconds(work: Callable[[], object], clock: Callable[[], float] = time.process_time) -> float:
    begun = clock()
    work()
    return 1_000 * (clock() - begun)


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    data = os.environ.get("FASTSQL_DATA")
    parser.add_argument("--data", type=Path, default=Path(data) if data else None, help="folder of data sets")
    parser.add_argument("--mixed", type=int, default=2_000, help="random mixtures a dialect")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path)
    return parser


if __name__ == "__main__":
    sys.exit(main())
