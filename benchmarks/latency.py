"""How long does a parse take, stage by stage, what does it start with, and what does it do?

    python benchmarks/latency.py                       200 questions of ehrsql2024 valid, bundled model
    python benchmarks/latency.py --model runs/first --questions 50 --json latency.json

Latency is that of questions one after another on a schema that has been encoded before; `--values` adds the look-up of a
database's values. Cold start and memory are those of a fresh process. Operations and bytes follow from the sizes of the
model and of these questions (`fastsql.model.cost`): they do not depend on the machine.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

import fastsql
from fastsql import backends
from fastsql.datasets import read_examples, read_schemas
from fastsql.decode import beam_search
from fastsql.grammar import ActionSpace
from fastsql.linking.lexicon import Lexicon
from fastsql.linking.prepare import prepare
from fastsql.model.cost import Workload, parse_cost
from fastsql.schema import Schema

NOW = "2100-12-31 23:59:00"
PERCENTILES = (50, 90, 99)

COLD = """
import json, sys, time
clock = [time.perf_counter()]
import fastsql
clock.append(time.perf_counter())
model, threads, schema, question, beam = json.loads(sys.argv[1])
parser = fastsql.load(model, threads=threads)
clock.append(time.perf_counter())
schema = fastsql.Schema.from_dict(schema)
clock.append(time.perf_counter())
parser.parse(question, schema, beam=beam)
clock.append(time.perf_counter())
parser.parse(question, schema, beam=beam)
clock.append(time.perf_counter())
stages = ["import", "load", "read schema", "first parse", "second parse"]
times = {name: 1000 * (b - a) for name, a, b in zip(stages, clock, clock[1:])}
memory = {}
try:
    for line in open("/proc/self/status"):
        if line.startswith(("VmRSS", "VmHWM")):
            memory[line[:5]] = int(line.split()[1]) / 1024
except OSError:
    pass
print(json.dumps([times, memory]))
"""
"""A fresh process: milliseconds a stage, and mebibytes resident (VmRSS) and at most (VmHWM), where /proc tells."""

Figures = dict[str, float]


def percentiles(values: Sequence[float]) -> Figures:
    """Percentiles, mean and maximum."""
    found = np.percentile(np.asarray(values), PERCENTILES)
    figures = {f"p{p}": float(v) for p, v in zip(PERCENTILES, found, strict=True)}
    return {**figures, "mean": statistics.fmean(values), "max": float(max(values))}


def latency(
    parser: fastsql.Parser, questions: Sequence[str], schema: Schema, values: Path | None, beam: int
) -> dict[str, Figures]:
    """Milliseconds of every stage, and of the whole call."""
    parser.parse(questions[0], schema, values=values, beam=beam, now=NOW)  # encodes the schema, warms caches
    times: dict[str, list[float]] = {}
    for question in questions:
        start = time.perf_counter()
        result = parser.parse(question, schema, values=values, beam=beam, now=NOW)
        total = 1000 * (time.perf_counter() - start)
        for stage, ms in {**result.timings, "total": total}.items():
            times.setdefault(stage, []).append(ms)
    return {stage: percentiles(ms) for stage, ms in times.items()}


def workload(
    parser: fastsql.Parser, questions: Sequence[str], schema: Schema, beam: int
) -> dict[str, Figures]:
    """What the questions ask of the model: tokens, candidates, decisions of the best hypothesis, steps of the search."""
    known = Lexicon.from_settings(parser.bundle.config.settings).apply(schema)
    state = parser.model.encode_schema(known)
    counts: dict[str, list[float]] = {"tokens": [], "candidates": [], "decisions": [], "steps": []}
    for question in questions:
        prepared = prepare(question, state.links, parser.model.tokenizer)
        space = ActionSpace.for_question(known, question, prepared.offsets, prepared.candidates)
        search = beam_search(parser.model, parser.model.encode_question(prepared, state), space, beam=beam)
        counts["tokens"].append(len(prepared.token_ids))
        counts["candidates"].append(len(prepared.candidates))
        counts["decisions"].append(len(search.finished[0].actions))
        counts["steps"].append(search.steps)
    return {name: percentiles(found) for name, found in counts.items()}


def costs(
    parser: fastsql.Parser, schema: Schema, work: dict[str, Figures], beam: int
) -> dict[str, dict[str, int]]:
    """Operations and streamed bytes of the parse of a middling question, by stage."""
    known = Lexicon.from_settings(parser.bundle.config.settings).apply(schema)
    middling = Workload(
        tokens=round(work["tokens"]["p50"]),
        candidates=round(work["candidates"]["p50"]),
        tables=len(known.tables),
        columns=len(known.columns),
        values=sum(len(column.values) for column in known.columns) + len(known.constants),
        decisions=round(work["steps"]["p50"]),
        beam=beam,
    )
    found = parse_cost(parser.bundle.config.model, middling)
    total = replace(
        next(iter(found.values())),
        operations=sum(cost.operations for cost in found.values()),
        bytes=sum(cost.bytes for cost in found.values()),
    )
    return {stage: asdict(cost) for stage, cost in {**found, "total": total}.items()}


def cold_start(
    model: str, threads: int, schema: Schema, question: str, beam: int, repeat: int
) -> tuple[Figures, Figures]:
    """Medians over fresh processes of milliseconds by stage, and of mebibytes."""
    request = json.dumps([model, threads, schema.to_dict(), question, beam])
    runs = []
    for _ in range(repeat):
        done = subprocess.run(
            [sys.executable, "-c", COLD, request], capture_output=True, text=True, check=True
        )
        runs.append(json.loads(done.stdout))
    times, memory = (
        {name: statistics.median(run[part][name] for run in runs) for name in runs[0][part]}
        for part in (0, 1)
    )
    return {**times, "until the first answer": sum(times.values()) - times["second parse"]}, memory


def spread(items: Sequence[str], count: int) -> list[str]:
    """`count` of the items, evenly spaced."""
    if count >= len(items):
        return list(items)
    return [items[i * len(items) // count] for i in range(count)]


def show(title: str, rows: dict[str, Any], columns: Sequence[str], form: str = "10.1f") -> None:
    """One table."""
    width = max(len(name) for name in rows)
    print(f"\n{title}")
    print(" " * width + "".join(f"{column:>11}" for column in columns))
    for name, figures in rows.items():
        print(f"{name:<{width}}" + "".join(f" {figures[column]:{form}}" for column in columns))


def main() -> int:
    """Print tables; write the same as JSON where asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", default="ehr-en", help="a bundled model or a bundle's folder")
    parser.add_argument(
        "--data",
        type=Path,
        help="folder with valid.json and schemas.json (default: $FASTSQL_DATA/ehrsql2024)",
    )
    parser.add_argument("--values", type=Path, help="an SQLite database to look up values in")
    parser.add_argument("--questions", type=int, default=200, metavar="N")
    parser.add_argument("--beams", type=int, nargs="+", default=[1, 4])
    parser.add_argument("--threads", type=int, default=0, help="of ONNX Runtime; 0 leaves it the choice")
    parser.add_argument("--repeat", type=int, default=3, help="fresh processes for the cold start")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    data = options.data or Path(os.environ.get("FASTSQL_DATA", ".")) / "ehrsql2024"
    if not (data / "valid.json").is_file():
        print(f"{data} has no valid.json: set FASTSQL_DATA, or give --data", file=sys.stderr)
        return 2
    examples = read_examples(data / "valid.json")
    schema = read_schemas(data / "schemas.json")[examples[0].db_id]
    questions = spread([example.question for example in examples], options.questions)
    widest = max(options.beams)

    loaded = fastsql.load(options.model, threads=options.threads, penalty=0)
    times = {str(beam): latency(loaded, questions, schema, options.values, beam) for beam in options.beams}
    work = workload(loaded, questions, schema, widest)
    cost = costs(loaded, schema, work, widest)
    cold, memory = cold_start(options.model, options.threads, schema, questions[0], widest, options.repeat)

    print(
        f"{loaded.bundle.config.name}, encoder on {backends.encoder_runtime()}, {os.cpu_count()} processors, "
        f"{len(questions)} questions, {len(schema.tables)} tables, {len(schema.columns)} columns"
    )
    head = [f"p{p}" for p in PERCENTILES] + ["mean", "max"]
    for beam, stages in times.items():
        show(f"milliseconds, beam {beam}", stages, head)
    show(f"sizes, beam {widest}", work, head)
    show(
        f"cost of a middling question, beam {widest} (millions)",
        {stage: {name: value / 1e6 for name, value in figures.items()} for stage, figures in cost.items()},
        ["operations", "bytes"],
    )
    show("fresh process, milliseconds", {stage: {"median": ms} for stage, ms in cold.items()}, ["median"])
    if memory:
        names = {"VmRSS": "resident after two parses", "VmHWM": "at most"}
        show("memory, MiB", {names[name]: {"median": mib} for name, mib in memory.items()}, ["median"])
    if options.json:
        report = {
            "model": loaded.bundle.config.name,
            "encoder": backends.encoder_runtime(),
            "processors": os.cpu_count(),
            "threads": options.threads,
            "questions": len(questions),
            "latency_ms": times,
            "sizes": work,
            "cost": cost,
            "cold_ms": cold,
            "memory_mib": memory,
        }
        options.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
