"""How long does a parse take on the GPU, alone and in batches, and what does the processor of the same machine do meanwhile?

    python benchmarks/gpu/parse.py                         EHRSQL 2024 valid in FASTSQL_DATA, batches of 16, 64 and 256
    python benchmarks/gpu/parse.py --data FOLDER --batches 256 --json parse.json

Token ids to action sequences: arguments of the engines are made beforehand, and a call takes them to hypotheses in the
host's memory, with the ways to the card and back. Stages are CUDA events of the batch; "rest" is what they leave of it.
"alone" is one question after another; a batch holds different questions, of the lengths that they have. Two callers share
the engine, so that one batch is brought while another is computed. The C++ core parses the same questions on the processor
in the same run, one by one with the threads it takes by default, and as many at a time as there are processors.

"With Python" begins with linked questions (`CudaEngine.decode_batch`); "end to end" is `parse` and `pipe`, from text to
verified SQL, on the same questions: linking, rendering and verifying are Python there, on one processor.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from itertools import count, cycle, islice, takewhile
from pathlib import Path
from typing import Any

import fastsql
from fastsql.engine.cuda import CudaEngine
from fastsql.engine.native import MOST_THREADS
from fastsql.limits import DEFAULT, Limits
from fastsql.linking.lexicon import Lexicon
from fastsql.model import open_bundle
from fastsql.parser.bundles import find_bundle
from fastsql.schema import Schema

sys.path.insert(0, str(Path(__file__).parents[1]))
from figures import Figures, percentiles, show
from floor import costs, sizes
from gpu.device import Report, card
from gpu.engines import Asked, Cores, Encoded
from gpu.questions import NoQuestionsError, hospital
from record import measured

STAGES = ("encoder", "graph", "decode")
NOW = "2100-12-31 23:59:00"
SPREAD = ("p50", "p90", "p99", "max")


def seconds_of(run: Callable[[], Any]) -> tuple[float, Any]:
    """Wall time of a call, and its result."""
    start = time.perf_counter()
    found = run()
    return time.perf_counter() - start, found


def checked(found: Sequence[Any]) -> Sequence[Any]:
    """The outcomes of a batch. Raises the first that is an exception: times of failures would tell nothing."""
    for one in found:
        if isinstance(one, Exception):
            raise one
    return found


@dataclass(frozen=True)
class Effort:
    """How much is run at least."""

    warm: int
    """Calls before any is timed."""
    batches: int
    rounds: int
    """At most, of questions one after another."""


FULL, LITTLE = Effort(3, 5, 5), Effort(0, 1, 1)


@dataclass(frozen=True)
class Bench:
    """Questions to one schema, ready for both cores. `end` of a measurement is on the clock `time.monotonic`."""

    cores: Cores
    encoded: Encoded
    asked: Sequence[Asked]
    beam: int
    effort: Effort

    def batch(self, taken: Sequence[Asked]) -> Sequence[Any]:
        """The outcomes of a batch on the GPU. Raises the first that is an exception."""
        return checked(self.cores.on_cuda(self.encoded, taken, self.beam))

    def on_cuda(self, asked: Asked) -> Any:
        """A question's outcome on the GPU."""
        return self.batch([asked])[0]

    def on_cpu(self, asked: Asked, engine: Any = None) -> Any:
        """A question's outcome by the C++ core."""
        return self.cores.one_on_cpu(self.encoded, asked, self.beam, engine)

    def alone(self, parse: Callable[[Asked], Any], asked: Sequence[Asked], end: float) -> dict[str, Figures]:
        """Milliseconds of each stage and of the call, of one question after another; all of them once at least."""
        for one in asked[: self.effort.warm]:
            parse(one)
        times: dict[str, list[float]] = {}
        for turn in range(self.effort.rounds):
            if turn and time.monotonic() > end:
                break
            for one in asked:
                spent, found = seconds_of(lambda one=one: parse(one))
                for stage, ms in laps(spent, found).items():
                    times.setdefault(stage, []).append(ms)
        return {stage: percentiles(ms) for stage, ms in times.items()}

    def in_batches(self, size: int, end: float) -> dict[str, float]:
        """Medians over batches of different questions: milliseconds of the call and its stages, and questions a second."""
        left = cycle(self.asked)
        runs: list[dict[str, float]] = []
        for number in count():
            taken = list(islice(left, size))
            spent, found = seconds_of(lambda taken=taken: self.batch(taken))
            if number >= self.effort.warm:
                runs.append({**laps(spent, found[0]), "steps": max(one[2] for one in found)})
            if len(runs) >= self.effort.batches and time.monotonic() > end:
                break
        row = {name: percentiles([run[name] for run in runs])["p50"] for name in runs[0]}
        return {**row, "batches": len(runs), "questions a second": 1e3 * size / row["call"]}

    def with_two_callers(self, size: int, end: float) -> float:
        """Questions a second of batches that two threads ask for."""
        return throughput(self.batch, self.asked, size, 2, self.effort.batches, end)

    def on_processors(self, end: float) -> float:
        """Questions a second of the C++ core with one question a thread, as many at a time as there are processors."""
        engine = self.cores.engine("Engine", 1)

        def parse(taken: list[Asked]) -> None:
            for one in taken:
                self.on_cpu(one, engine)

        return throughput(parse, self.asked, 4, os.cpu_count() or 1, 1, end)

    def with_python(self, size: int, end: float) -> float:
        """Questions a second from linked questions on, through the engine that a parser has."""
        engine = CudaEngine(self.cores.bundle, 0)
        encoded = engine.encode_schema(self.encoded.schema)
        linked = [(one.prepared, one.space) for one in self.asked]
        return throughput(
            lambda taken: engine.decode_batch(taken, encoded, self.beam), linked, size, 1, 1, end
        )


def laps(seconds: float, found: Any) -> dict[str, float]:
    """Milliseconds of a call and of its stages, by an outcome of it."""
    stages = dict(zip(STAGES, found[-1], strict=True))
    return {**stages, "rest": 1e3 * seconds - sum(stages.values()), "call": 1e3 * seconds}


def throughput(
    parse: Callable[[list[Any]], object],
    asked: Sequence[Any],
    size: int,
    callers: int,
    least: int,
    end: float,
) -> float:
    """Questions a second of several callers, each parsing batch after batch: `least` of them, then until `end`."""

    def call(first: int) -> int:
        left, done = cycle([*asked[first:], *asked[:first]]), 0
        while done < least or time.monotonic() < end:
            parse(list(islice(left, size)))
            done += 1
        return done * size

    with ThreadPoolExecutor(callers) as pool:
        spent, counts = seconds_of(lambda: list(pool.map(call, range(0, callers * 7, 7))))
    return float(sum(counts) / spent)


def end_to_end(
    parser: fastsql.Parser,
    questions: Sequence[str],
    schema: Schema,
    beam: int,
    batch: int,
    seconds: float,
    warm: int,
) -> dict[str, float]:
    """Text to verified SQL: milliseconds of `parse` one after another, and questions a second of `pipe`."""
    for question in questions[:warm]:
        parser.parse(question, schema, beam=beam, now=NOW)
    times: list[float] = []
    end = time.monotonic() + seconds / 2
    for question in questions:
        spent, _ = seconds_of(lambda q=question: parser.parse(q, schema, beam=beam, now=NOW))
        times.append(1e3 * spent)
        if time.monotonic() > end:
            break
    row = {name: figure for name, figure in percentiles(times).items() if name in SPREAD}
    end, done = time.monotonic() + seconds / 2, 0
    asked = takewhile(lambda _: time.monotonic() < end or done < batch, cycle(questions))
    pairs = ((question, schema) for question in asked)
    start = time.perf_counter()
    for _ in parser.pipe(pairs, batch_size=batch, beam=beam, now=NOW):
        done += 1
    return {**row, "questions a second": done / (time.perf_counter() - start), "parsed": done}


def measure(options: argparse.Namespace, report: Report) -> None:
    """Everything, into the report. Raises NoQuestionsError."""
    begun = time.monotonic()
    share = options.seconds / 10

    def until(shares: float) -> float:
        return time.monotonic() + shares * share

    schema, questions = hospital(options.data, options.questions)
    bundle = open_bundle(find_bundle(options.model))
    limits = Limits(actions=options.actions)
    cores = Cores(bundle, min(os.cpu_count() or 1, MOST_THREADS), limits)
    known = Lexicon.from_settings(bundle.config.settings).apply(schema)
    encoded = cores.encode(known)
    asked = [cores.ask(question, encoded) for question in questions]
    effort = LITTLE if options.simulated else FULL
    bench = Bench(cores, encoded, asked, options.beam, effort)
    report.add(questions=len(asked), tables=len(known.tables), columns=len(known.columns), beam=options.beam)
    few, largest = asked[: options.alone], options.batches[-1]
    ways = {"cuda": bench.on_cuda, "cpu": bench.on_cpu}
    report.add(alone={device: bench.alone(parse, few, until(1)) for device, parse in ways.items()})
    rows: dict[str, dict[str, float]] = {}
    for size in options.batches:
        rows[str(size)] = bench.in_batches(size, until(0.7))
        rows[str(size)]["two callers"] = bench.with_two_callers(size, until(0.5))
        report.add(batches=rows)
    report.add(cpu_questions_a_second=bench.on_processors(until(0.7)))
    report.add(with_python=bench.with_python(largest, until(0.5)))
    parser = fastsql.load(options.model, device="cpu", threads=1, limits=limits)
    found = sizes(parser, questions[: options.alone], schema, options.beam)
    cost = {stage: asdict(figures) for stage, figures in costs(parser, schema, found, options.beam).items()}
    report.add(sizes=found, cost=cost)
    ends = {}
    for device in ("cuda", "cpu"):
        parser = fastsql.load(options.model, device=device, penalty=0, limits=limits)
        ends[device] = end_to_end(parser, questions, schema, options.beam, largest, share, effort.warm)
        report.add(end_to_end=ends, seconds=time.monotonic() - begun)


def print_tables(figures: dict[str, Any]) -> None:
    """The report as text."""
    for device, stages in figures["alone"].items():
        show(f"one question, token ids to actions, {device}, ms", stages, SPREAD, 3)
    columns = [*STAGES, "rest", "call", "questions a second", "two callers"]
    show("batches, ms (medians)", figures["batches"], columns, 2)
    show("end to end", figures["end_to_end"], [*SPREAD, "questions a second"], 2)
    print(f"\nC++ core on all processors: {figures['cpu_questions_a_second']:,.0f} questions a second")
    print(f"with Python's preparation of arguments: {figures['with_python']:,.0f} questions a second")


def main(arguments: Sequence[str] | None = None) -> int:
    """Print tables; write the same as JSON where asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", default="ehr-en", help="a bundled model or a bundle's folder")
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("FASTSQL_DATA", ".")))
    parser.add_argument("--questions", type=int, default=1000, metavar="N", help="different ones, at most")
    parser.add_argument("--alone", type=int, default=200, metavar="N", help="of these, parsed one by one")
    parser.add_argument("--batches", type=int, nargs="+", default=[16, 64, 256])
    parser.add_argument("--actions", type=int, default=DEFAULT.actions, help="decisions of a query at most")
    parser.add_argument("--beam", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=90.0, help="to spend, about")
    parser.add_argument("--simulated", action="store_true", help="the GPU is: few runs")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    report = Report(
        options.json, measured(__file__, arguments), card=card(options.simulated), model=options.model
    )
    try:
        measure(options, report)
    except NoQuestionsError as error:
        print(error, file=sys.stderr)
        return 2
    print_tables(report.figures)
    return 0


if __name__ == "__main__":
    sys.exit(main())
