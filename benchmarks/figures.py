"""Figures of many measurements, and how they are shown."""

from __future__ import annotations

if __name__ == "__main__":
    from parts import explain

    explain(__file__)

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

PERCENTILES = (50, 90, 99)
SPREAD = (*(f"p{p}" for p in PERCENTILES), "mean", "max")

Figures = dict[str, float]


def percentiles(values: Sequence[float]) -> Figures:
    """Percentiles, mean and maximum."""
    found = np.percentile(np.asarray(values), PERCENTILES)
    figures = {f"p{p}": float(v) for p, v in zip(PERCENTILES, found, strict=True)}
    return {**figures, "mean": statistics.fmean(values), "max": float(max(values))}


def medians(runs: Sequence[Mapping[str, float]]) -> Figures:
    """The median of every figure over several runs, which all have the same ones."""
    return {name: statistics.median(run[name] for run in runs) for name in runs[0]}


def spread(items: Sequence[str], count: int) -> list[str]:
    """`count` of the items, evenly spaced."""
    if count >= len(items):
        return list(items)
    return [items[i * len(items) // count] for i in range(count)]


def show(title: str, rows: Mapping[str, Mapping[str, Any]], columns: Sequence[str], digits: int = 1) -> None:
    """One table; a figure that a row lacks stays blank."""
    width = max(len(name) for name in rows)
    widths = [max(len(column), 9) + 2 for column in columns]
    print(f"\n{title}")
    print(" " * width + "".join(f"{column:>{w}}" for column, w in zip(columns, widths, strict=True)))
    for name, figures in rows.items():
        cells = (_cell(figures.get(column), w, digits) for column, w in zip(columns, widths, strict=True))
        print(f"{name:<{width}}" + "".join(cells))


def _cell(value: Any, width: int, digits: int) -> str:
    if value is None:
        return " " * width
    return f"{value:>{width}}" if isinstance(value, str) else f"{value:{width},.{digits}f}"


def best_seconds(run: Callable[[], object], seconds: float) -> float:
    """Processor time of the fastest of as many runs as fit into `seconds`, three at least."""
    times: list[float] = []
    end = time.perf_counter() + seconds
    while len(times) < 3 or time.perf_counter() < end:
        start = time.process_time()
        run()
        times.append(time.process_time() - start)
    return min(times)
