"""Do turns answer the same when they use earlier answers instead of asking again, and how much time does that save?

    python benchmarks/reuse.py --interactions 2000 --patients 1000 10000 --json reuse.json
    python benchmarks/reuse.py --interactions 0 --patients 46520 --timed 40 --engine sqlite    MIMIC-III's size: 8 GB

Interactions are those of EHR-SeqSQL's construction (section 3.1), over the demo hospital: queries taken apart into turns.
Each turn that stands on others runs as it is, with what these returned as parameters, and with that in temporary tables.
Rows are compared as multisets, numbers to 12 digits.

Time (section 5.3.2): of turns that take what an earlier one returned, from the call to the rows, verification included, on
hospitals without the indexes that our own tests add, each after a first run that warms the file's pages. "taken" is how many
of the turns ran with an earlier answer; the others ran as they are, which is counted, too.
"""

from __future__ import annotations

import argparse
import math
import sqlite3
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any, cast

from fastsql.errors import FastSQLError
from fastsql.execution import Rows, open_executor
from fastsql.execution.reuse import Earlier, Reusing, unusable
from fastsql.limits import DEFAULT
from fastsql.synthesis.hospital.ward import Ward

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parent))
from tests.databases import postgres_server
from tests.worlds.asked_hospital import DIALECTS, HOSPITAL, Step, copied, interactions

from figures import show
from record import machine, save

WAYS = ("parameters", "table")
TIME_LIMIT = 120.0


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables; write the same as JSON where asked."""
    options = _options().parse_args(arguments)
    print(machine())
    content: dict[str, Any] = {}
    if options.interactions:
        content["same"] = {
            dialect: same(dialect, options.interactions, options.seed) for dialect in options.engine
        }
        counts = {dialect: figures["counts"] for dialect, figures in content["same"].items()}
        columns = list(dict.fromkeys(name for figures in counts.values() for name in figures))
        show(f"{options.interactions:,} interactions", counts, columns, digits=0)
        for dialect, figures in content["same"].items():
            print(f"{dialect}: why a subquery stayed: {figures['reasons']}")
    timed = {}
    for patients in options.patients:
        with Ward(patients, options.seed) as ward:
            _drop_indexes(ward.path)
            for dialect in options.engine if patients <= options.others else ("sqlite",):
                timed[f"{patients:,} {dialect}"] = saved(ward, dialect, options.timed, options.seed)
    if timed:
        columns = list(next(iter(timed.values())))
        show(f"milliseconds a turn, {options.timed} interactions", timed, columns)
    save(options.json, content | {"time": timed}, __file__, arguments)
    return int(any(figures["counts"]["different"] for figures in content.get("same", {}).values()))


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--interactions", type=int, default=2_000, help="that are compared")
    parser.add_argument(
        "--patients", type=int, nargs="*", default=[1_000], help="of the hospitals that are timed"
    )
    parser.add_argument("--timed", type=int, default=200, help="interactions that are timed")
    parser.add_argument(
        "--others", type=int, default=1_000, help="patients up to which all engines are timed"
    )
    parser.add_argument("--engine", nargs="+", choices=DIALECTS, default=DIALECTS)
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--json", type=Path)
    return parser


@contextmanager
def _executor(ward: Ward, dialect: str) -> Iterator[Reusing]:
    with ExitStack() as stack:
        server = stack.enter_context(postgres_server()) if dialect == "postgres" else None
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        target = copied(ward.path, dialect, folder, server)
        opened = open_executor(target, schema=HOSPITAL, time_limit=TIME_LIMIT)
        yield cast("Reusing", stack.enter_context(opened))


def same(dialect: str, count: int, seed: int) -> dict[str, Any]:
    """What was compared, and what differed."""
    counts: Counter[str] = Counter(dict.fromkeys(("turns", "referring", "different"), 0))
    reasons: Counter[str] = Counter()
    with Ward() as ward, _executor(ward, dialect) as executor:
        for steps in interactions(ward, count, seed):
            answers: list[Rows] = []
            for place, sql in enumerate(step.sql(dialect) for step in steps):
                answers.append(executor.run(sql))
                counts["turns"] += 1
                counts["referring"] += bool(steps[place].stands_on)
                for way in WAYS if steps[place].stands_on else ():
                    given = _earlier(steps, place, answers, dialect, way)
                    rows, reuses = executor.run_reusing(sql, given, HOSPITAL, way=way)
                    counts["different"] += _multiset(rows) != _multiset(answers[-1])
                    counts[way] += any(one.way == way for one in reuses)
                    reasons.update(f"{way}: {one.reason}" for one in reuses if one.reason)
    return {"counts": counts, "reasons": reasons}


def saved(ward: Ward, dialect: str, count: int, seed: int) -> dict[str, float]:
    """Mean and median milliseconds of turns that take an earlier result, in each way, and what share was saved."""
    times: dict[str, list[float]] = {way: [] for way in ("subquery", *WAYS)}
    taken: Counter[str] = Counter()
    left_out = 0
    with _executor(ward, dialect) as executor:
        for steps in interactions(ward, count, seed):
            texts = [step.sql(dialect) for step in steps]
            try:
                answers = [executor.run(text) for text in texts]
            except FastSQLError as error:
                print(f"an interaction is left out: {error.what}")
                left_out += 1
                continue
            for place, step in enumerate(steps):
                if not step.results:
                    continue
                # Another text than before: what was verified before is not verified again.
                times["subquery"].append(_milliseconds(lambda text=f"{texts[place]} ": executor.run(text)))
                for way in WAYS:
                    given = _earlier(steps, place, answers, dialect, way)
                    begun = time.perf_counter()
                    _, reuses = executor.run_reusing(texts[place], given, HOSPITAL, way=way)
                    times[way].append(1000 * (time.perf_counter() - begun))
                    taken[way] += any(one.way == way for one in reuses)
    figures: dict[str, float] = {"left out": left_out, "turns": len(times["subquery"])}
    mean = {way: statistics.fmean(found) for way, found in times.items()}
    for way, found in times.items():
        figures[f"{way[:5]} mean"] = mean[way]
        figures[f"{way[:5]} p50"] = statistics.median(found)
    for way in WAYS:
        figures[f"{way[:5]} taken"] = taken[way]
        figures[f"{way[:5]} saved %"] = 100 * (1 - mean[way] / mean["subquery"])
    return figures


def _milliseconds(run: Any) -> float:
    begun = time.perf_counter()
    run()
    return 1000 * (time.perf_counter() - begun)


def _earlier(
    steps: Sequence[Step], place: int, answers: Sequence[Rows], dialect: str, way: str
) -> list[Earlier]:
    """What a session would keep of the turns that one stands on."""
    numbers = {steps[one].sql(dialect): one for one in sorted(steps[place].stands_on)}
    return [
        Earlier(one, sql, answers[one], unusable(answers[one], way, DEFAULT.reused_values))
        for sql, one in numbers.items()
    ]


def _multiset(rows: Rows) -> Counter[tuple[Any, ...]]:
    return Counter(tuple(map(_cell, row)) for row in rows)


def _cell(cell: Any) -> Any:
    """Another plan may add numbers up in another order."""
    return float(f"{cell:.12g}") if isinstance(cell, float) and math.isfinite(cell) else cell


def _drop_indexes(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        names = connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL"
        ).fetchall()
        for (name,) in names:
            connection.execute(f"DROP INDEX {name}")


if __name__ == "__main__":
    sys.exit(main())
