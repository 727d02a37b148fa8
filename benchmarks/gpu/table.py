"""The one table of a run on a GPU: what was measured beside what is needed and what is hoped for."""

from __future__ import annotations

if __name__ == "__main__":
    import sys
    from pathlib import Path

    sys.path.insert(0, str(Path(__file__).parents[1]))
    from parts import explain

    explain(__file__)

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gpu.attention_forms import KEY_SIDE_ONLY
from gpu.floor import OURS, attention, stages
from gpu.rates import GpuRates

Reports = Mapping[str, Mapping[str, Any]]
SIZE, BATCH = 320, 64
"""Where attention is compared."""
LARGE = 256
"""Questions of the batch that throughput is promised for."""
COLUMNS = ("", "measured", "needed", "goal", "met", "floor", "floors")


@dataclass(frozen=True)
class Row:
    """A line of the table."""

    name: str
    figure: float | str
    needed: float | None = None
    goal: float | None = None
    floor: float | None = None
    more_is_better: bool = False

    @property
    def met(self) -> str:
        """What of needed and goal is reached."""
        if self.needed is None or isinstance(self.figure, str):
            return ""
        sign = 1 if self.more_is_better else -1
        if self.goal is not None and sign * self.figure >= sign * self.goal:
            return "goal"
        return "yes" if sign * self.figure >= sign * self.needed else "NO"

    def cells(self) -> dict[str, str]:
        """By `COLUMNS`."""
        times = None
        if self.floor and not isinstance(self.figure, str):
            times = self.floor / self.figure if self.more_is_better else self.figure / self.floor
        return {
            "": self.name,
            "measured": self.figure if isinstance(self.figure, str) else f"{self.figure:,.4g}",
            "needed": _short(self.needed),
            "goal": _short(self.goal),
            "met": self.met,
            "floor": _short(self.floor),
            "floors": _short(times),
        }


def text(found: Sequence[Row]) -> Iterator[str]:
    """Lines of the table. What is words stands at its end, where it may be long."""
    cells = [{column: column for column in COLUMNS}, *(row.cells() for row in found)]
    words = [False, *(isinstance(row.figure, str) for row in found)]
    widths = {
        column: max(
            len(row[column]) for row, is_text in zip(cells, words, strict=True) if not (is_text and column)
        )
        for column in COLUMNS
    }
    for row, is_text in zip(cells, words, strict=True):
        first = f"{row['']:<{widths['']}}"
        if is_text:
            yield f"{first}  {row['measured']}"
        else:
            yield "  ".join([first, *(f"{row[column]:>{widths[column]}}" for column in COLUMNS[1:])]).rstrip()


def _short(figure: float | None) -> str:
    return "" if figure is None else f"{figure:,.3g}"


def rows(reports: Reports) -> Iterator[Row]:
    """Of the steps that have a report."""
    for step in ("test", "sanitize"):
        for name, row in reports.get(step, {}).items():
            if "passed" not in row:
                continue  # how it was measured
            passed = {True: "passed", False: "FAILED", None: "not told"}[row["passed"]]
            yield Row(name, f"{passed} ({row['said']})")
    if "sets" in reports.get("check", {}):
        yield from _check(reports["check"])
    rates = GpuRates(**reports["rates"]["rates"]) if "rates" in reports.get("rates", {}) else None
    if rates:
        yield Row("copied within the card, GB/s", rates.copied / 1e9)
        yield Row("product of bfloat16 matrices, TFLOP/s", rates.operations / 1e12)
    for shape in reports.get("attention", {}).get("shapes", []):
        yield from _attention(shape, rates)
    yield from _parse(reports.get("parse", {}), rates)
    for size, row in reports.get("encoder", {}).get("batches", {}).items():
        yield Row(f"encoder, batch {size}, ms", row["ours, ms"])
        if "ONNX Runtime, ms" in row:
            yield Row(
                "  ONNX Runtime, times ours", row["ONNX Runtime, ms"] / row["ours, ms"], more_is_better=True
            )
    for name, row in reports.get("t5", {}).get("rows", {}).items():
        yield Row(f"T5-{reports['t5']['size']}, {name}, ms", row["ms"])
        yield Row("  questions a second", row["questions a second"])


def _check(check: Mapping[str, Any]) -> Iterator[Row]:
    every = check["sets"]["all"]
    said = ", ".join(
        f"{every[name]} {name}" for name in ("same", "tied", "tied earlier", "different", "failed")
    )
    yield Row(f"answers of {every['questions']} questions", said)
    yield Row("largest difference of scores", every["largest"], needed=check["tolerance"])
    yield Row("the same alone as in a batch", f"{every['alone']} of {every['asked alone']}")


def _attention(shape: Mapping[str, Any], rates: GpuRates | None) -> Iterator[Row]:
    forms = {name: row["queued"] for name, row in shape["forms"].items() if "queued" in row}
    if OURS not in forms:
        return
    promised = (shape["rows"], shape["batch"]) == (SIZE, BATCH)
    floor = attention(rates, shape) if rates else None
    yield Row(
        f"attention, N = {shape['rows']}, batch {shape['batch']}, ms",
        forms[OURS],
        floor=floor.floor_ms if floor else None,
    )
    kinds = {
        "torch.compile": [name for name in forms if name.endswith("compiled")],
        "FlexAttention": [name for name in forms if name.startswith("flex") and KEY_SIDE_ONLY not in name],
        "eager": ["naive", "factored", "one-hot", "sdpa"],
    }
    for kind, names in kinds.items():
        best = min((name for name in names if name in forms), key=forms.__getitem__, default=None)
        if best is not None:
            needed = 5.0 if promised and kind == "torch.compile" else None
            yield Row(
                f"  {kind} ({best}), times ours", forms[best] / forms[OURS], needed, more_is_better=True
            )


def _parse(parse: Mapping[str, Any], rates: GpuRates | None) -> Iterator[Row]:
    known = rates if "cost" in parse else None
    if "alone" in parse:
        floor = stages(known, parse, 1)["call"].floor_ms if known else None
        figures = parse["alone"]["cuda"]["call"]
        yield Row("ids to actions, one question, p50, ms", figures["p50"], 3.0, 1.5, floor)
        yield Row("  p90, ms", figures["p90"])
        yield Row("  p99, ms", figures["p99"])
        laps = (
            f"{name} {parse['alone']['cuda'][name]['p50']:.3f}"
            for name in ("encoder", "graph", "decode", "rest")
        )
        yield Row("  p50 by stage, ms", ", ".join(laps))
        yield Row("  C++ core, p50, ms", parse["alone"]["cpu"]["call"]["p50"])
    for size, row in parse.get("batches", {}).items():
        floor = 1e3 * int(size) / stages(known, parse, int(size))["call"].floor_ms if known else None
        needed = (5000.0, 10_000.0) if int(size) == LARGE else (None, None)
        yield Row(
            f"questions a second, batch {size}",
            row["questions a second"],
            *needed,
            floor,
            more_is_better=True,
        )
        if "two callers" in row:
            yield Row("  two callers", row["two callers"], more_is_better=True)
    if "cpu_questions_a_second" in parse:
        yield Row("  C++ core, all processors", parse["cpu_questions_a_second"])
    for device, row in parse.get("end_to_end", {}).items():
        yield Row(f"text to verified SQL, {device}, p50, ms", row["p50"])
        yield Row("  questions a second", row["questions a second"])
