"""How long does a parse take, stage by stage and by the schema's width, what does it start with, and how far is the floor?

    python benchmarks/latency.py                       200 questions of ehrsql2024 valid, bundled model
    python benchmarks/latency.py --device python --questions 50 --json latency.json

Latency is that of questions one after another on a schema that has been encoded before; `--values` adds the look-up of a
database's values. What other work on the machine costs is part of it, unless `--rounds` asks for each question's fastest;
"processor" is processor time, which it is not part of: with one thread, what a machine of its own would take.
Widths: the questions' schema cut down to its first tables, or tables of beaver's added (`widths.py`).
Throughput: one caller with `parse_batch`, two callers that share a parser, one caller whose parser has two threads. Cold
start is that of fresh processes. Operations and bytes follow from the sizes of the model and of these questions
(`fastsql.model.cost`); the floor is what they take at the rates of this machine (`rates.py`).
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Any

import fastsql
from fastsql.datasets import read_examples, read_schemas
from fastsql.schema import Schema

sys.path.insert(0, str(Path(__file__).parent))
from cold import cold_start
from figures import SPREAD, Figures, percentiles, show, spread
from floor import costs, floors, sizes
from rates import NoCompilerError, Rates, measure
from record import machine, save
from widths import of_width

NOW = "2100-12-31 23:59:00"


def latency(
    parser: fastsql.Parser,
    questions: Sequence[str],
    schema: Schema,
    values: Path | None,
    beam: int,
    rounds: int,
) -> dict[str, Figures]:
    """Milliseconds of every stage, of the whole call, and of processor time in it, that of all threads.

    Of several rounds, each question's fastest counts.
    """
    parser.parse(questions[0], schema, values=values, beam=beam, now=NOW)  # encodes the schema, warms caches
    fastest: dict[str, dict[str, float]] = {}
    for _ in range(rounds):
        for question in questions:
            start, spent = time.perf_counter(), time.process_time()
            result = parser.parse(question, schema, values=values, beam=beam, now=NOW)
            total = 1000 * (time.perf_counter() - start)
            spent = 1000 * (time.process_time() - spent)
            if question not in fastest or total < fastest[question]["total"]:
                fastest[question] = {**result.timings, "total": total, "processor": spent}
    times: dict[str, list[float]] = {}
    for laps in fastest.values():
        for stage, ms in laps.items():
            times.setdefault(stage, []).append(ms)
    return {stage: percentiles(ms) for stage, ms in times.items()}


def by_width(
    parser: fastsql.Parser, questions: Sequence[str], schemas: Sequence[Schema], beam: int, rounds: int = 3
) -> dict[str, Figures]:
    """Milliseconds by the width of the schema: the first parse, which encodes it, and those after it.

    Rounds alternate; each question's best counts, of the whole call and, by itself, of processor time (its median is given).
    """
    best = [[float("inf")] * len(questions) for _ in schemas]
    least = [[float("inf")] * len(questions) for _ in schemas]
    rows: dict[str, Figures] = {}
    for schema in schemas:
        start = time.perf_counter()
        parser.parse(questions[0], schema, beam=beam, now=NOW)
        rows[f"{len(schema.columns):,}"] = {"first": 1000 * (time.perf_counter() - start)}
    for _ in range(rounds):
        for index, schema in enumerate(schemas):
            for number, question in enumerate(questions):
                start, spent = time.perf_counter(), time.process_time()
                parser.parse(question, schema, beam=beam, now=NOW)
                best[index][number] = min(best[index][number], 1000 * (time.perf_counter() - start))
                least[index][number] = min(least[index][number], 1000 * (time.process_time() - spent))
    for row, schema, ms, spent_ms in zip(rows.values(), schemas, best, least, strict=True):
        row |= {"tables": len(schema.tables), **percentiles(ms), "processor": percentiles(spent_ms)["p50"]}
    return rows


def throughput(
    model: str, device: str, encoder: str, questions: Sequence[str], schema: Schema, beam: int
) -> dict[str, Figures]:
    """Questions a second, by who calls."""
    rows = {}
    for name, callers, threads in (
        ("one caller, one thread", 1, 1),
        ("two callers, one thread each", 2, 1),
        ("one caller, two threads", 1, 2),
    ):
        parser = fastsql.load(model, device=device, encoder=encoder, threads=threads)
        parser.parse(questions[0], schema, beam=beam, now=NOW)
        shares = [questions[caller::callers] for caller in range(callers)]
        with ThreadPoolExecutor(callers) as pool:
            start = time.perf_counter()
            done = pool.map(
                lambda share, parser=parser: parser.parse_batch(share, schema, beam=beam, now=NOW), shares
            )
            count = sum(len(results) for results in done)
            rows[name] = {"questions a second": count / (time.perf_counter() - start)}
    return rows


def rates_for(threads: int) -> Rates | None:
    """The machine's rates with so many threads; None, and a word why, where they cannot be measured."""
    try:
        return measure([threads])[0]
    except NoCompilerError as error:
        print(f"no floor: {error}", file=sys.stderr)
        return None


def report(
    options: argparse.Namespace, sources: Sequence[Schema], questions: Sequence[str]
) -> dict[str, Any]:
    """Everything that is measured."""
    schema, widest = sources[0], max(options.beams)
    chosen = {"device": options.device, "encoder": options.encoder}
    loaded = fastsql.load(options.model, **chosen, threads=options.threads, penalty=0)
    times = {
        str(beam): latency(loaded, questions, schema, options.values, beam, options.rounds)
        for beam in options.beams
    }
    few = spread(questions, options.width_questions)
    widths = by_width(loaded, few, [of_width(columns, sources) for columns in options.widths], widest)
    found = sizes(loaded, questions, schema, widest)
    cost = costs(loaded, schema, found, widest)
    threads = options.threads or os.cpu_count() or 1
    cold, memory = cold_start(
        options.model,
        **chosen,
        threads=options.threads,
        schema=schema,
        question=questions[0],
        beam=widest,
        repeat=options.repeat,
    )
    return {
        "model": loaded.bundle.config.name,
        "machine": str(machine()),
        "device": loaded.engine.device,
        "encoder": loaded.engine.encoder,
        "threads": options.threads,
        "questions": len(questions),
        "rounds": options.rounds,
        "tables": len(schema.tables),
        "columns": len(schema.columns),
        "latency_ms": times,
        "width_questions": len(few),
        "width_ms": widths,
        "sizes": found,
        "cost": {stage: asdict(figures) for stage, figures in cost.items()},
        "floor": floors(cost, times[str(widest)], rates_for(threads) if options.rates else None),
        "questions_per_second": throughput(
            options.model, **chosen, questions=questions, schema=schema, beam=widest
        ),
        "cold_ms": cold,
        "memory_mib": memory,
    }


def summary(found: dict[str, Any], widest: int) -> str:
    """The sentence to cite: times mean something beside the machine that they were taken on, and its floor."""
    total = found["latency_ms"][str(widest)]["total"]
    told = (
        f"{total['p50']:.0f} ms at the median and {total['p99']:.0f} at the 99th percentile"
        f" on {found['machine']} (beam {widest})"
    )
    floor = found["floor"]["total"]
    if "floor, ms" not in floor:
        return told
    return f"{told}, {floor['floors']:.1f} times that machine's floor of {floor['floor, ms']:.1f} ms"


def print_tables(found: dict[str, Any], widest: int) -> None:
    """The report as text."""
    print(
        f"{found['model']} on {found['machine']}: device {found['device']}, encoder {found['encoder']},"
        f" {found['threads'] or 'unset'} threads; {found['questions']} questions, {found['tables']} tables,"
        f" {found['columns']} columns"
    )
    for beam, stages in found["latency_ms"].items():
        best = f", each question's fastest of {found['rounds']}" if found["rounds"] > 1 else ""
        show(f"milliseconds, beam {beam}{best}", stages, SPREAD)
    if found["width_ms"]:
        show(
            f"milliseconds by columns of the schema, beam {widest}, {found['width_questions']} questions, best of 3",
            found["width_ms"],
            ["tables", "first", *SPREAD, "processor"],
        )
    show(f"sizes, beam {widest}", found["sizes"], SPREAD)
    columns = ["million operations", "million bytes", "floor, ms", "p50, ms", "floors"]
    show(f"a middling question against the floor, beam {widest}", found["floor"], columns, 2)
    show(f"throughput, beam {widest}", found["questions_per_second"], ["questions a second"])
    show("fresh process, milliseconds", {k: {"median": v} for k, v in found["cold_ms"].items()}, ["median"])
    if found["memory_mib"]:
        show("its memory, MiB", {k: {"median": v} for k, v in found["memory_mib"].items()}, ["median"])
    print(f"\nA parse takes {summary(found, widest)}.")


def main(arguments: Sequence[str] | None = None) -> int:
    """Print tables; write the same as JSON where asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", default="ehr-en", help="a bundled model or a bundle's folder")
    parser.add_argument("--device", default="auto", help='"cpu", "python" or "auto"')
    parser.add_argument("--encoder", default="auto", help='"native", "onnxruntime", "numpy" or "auto"')
    parser.add_argument(
        "--data",
        type=Path,
        help="folder with valid.json and schemas.json (default: $FASTSQL_DATA/ehrsql2024); widths above its"
        " schema's also take the folder beside it named beaver",
    )
    parser.add_argument("--values", type=Path, help="an SQLite database to look up values in")
    parser.add_argument("--questions", type=int, default=200, metavar="N")
    parser.add_argument(
        "--rounds",
        type=int,
        default=1,
        metavar="N",
        help="on a busy machine: each question's fastest of N counts",
    )
    parser.add_argument("--beams", type=int, nargs="+", default=[1, 4])
    parser.add_argument("--threads", type=int, default=0, help="of one parse; 0 leaves the choice to fastsql")
    parser.add_argument(
        "--widths", type=int, nargs="*", default=[10, 50, 111, 200, 500, 1000], metavar="COLUMNS"
    )
    parser.add_argument("--width-questions", type=int, default=24, metavar="N")
    parser.add_argument("--repeat", type=int, default=3, help="fresh processes for the cold start")
    parser.add_argument("--no-rates", dest="rates", action="store_false", help="do not compute the floor")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    data = options.data or Path(os.environ.get("FASTSQL_DATA", ".")) / "ehrsql2024"
    if not (data / "valid.json").is_file():
        print(f"{data} has no valid.json: set FASTSQL_DATA, or give --data", file=sys.stderr)
        return 2
    examples = read_examples(data / "valid.json")
    sources = [read_schemas(data / "schemas.json")[examples[0].db_id]]
    if (wider := data.parent / "beaver" / "schemas.json").is_file():
        sources += read_schemas(wider).values()
    questions = spread([example.question for example in examples], options.questions)
    found = report(options, sources, questions)
    print_tables(found, max(options.beams))
    save(options.json, found, __file__, arguments)
    return 0


if __name__ == "__main__":
    sys.exit(main())
