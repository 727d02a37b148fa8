"""Metrics of a run, one JSON object a line, and the curves drawn from them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_FEW = 20
"""Points that are marked, as a line through fewer may be too short to be seen."""
METRICS = "metrics.jsonl"
CURVES = "curves.png"
_BELOW: dict[str, Any] = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.2), "frameon": False, "ncols": 2}


def append_metrics(folder: Path, row: dict[str, Any]) -> None:
    """Adds one line to the run's metrics."""
    with (folder / METRICS).open("a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")


def read_metrics(folder: Path) -> list[dict[str, Any]]:
    """The lines of a run so far; one that a killed run left half written is passed over."""
    path = folder / METRICS
    rows: list[dict[str, Any]] = []
    if path.is_file():
        for line in path.read_text(encoding="utf-8").splitlines():
            try:
                row = json.loads(line)
            except json.JSONDecodeError:
                continue
            if isinstance(row, dict):
                rows.append(row)
    return rows


def draw_curves(folder: Path) -> Path | None:
    """Writes curves.png: loss, dev scores and learning rate over minutes. None where matplotlib is not installed."""
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError:
        return None
    figure = Figure(figsize=(11, 3.6), layout="constrained")
    plot_metrics(figure, read_metrics(folder))
    path = folder / CURVES
    figure.savefig(path, dpi=110)
    return path


def plot_metrics(figure: Figure, rows: list[dict[str, Any]]) -> None:
    """Loss, dev scores and learning rate, side by side; legends stand below, where no curve goes.

    Where a run is so short that a curve would be a dot or two, its points are marked.
    """
    train = [row for row in rows if row.get("kind") == "train"]
    dev = [row for row in rows if row.get("kind") == "dev"]
    loss, score, rate = figure.subplots(1, 3)
    minutes = [row["minutes"] for row in train]
    marker = "." if len(train) <= _FEW else ""
    loss.plot(minutes, [row["loss"] for row in train], label="train (augmented)", marker=marker)
    loss.plot([row["minutes"] for row in dev], [row["loss"] for row in dev], label="dev", marker=".")
    loss.set(title="loss of a decision", xlabel="minutes", yscale="log")
    loss.legend(**_BELOW)
    for name, label in (
        ("examples", "seen templates"),
        ("templates", "unseen templates"),
        ("databases", "unseen databases"),
    ):
        known = [(row["minutes"], 100 * row[name]) for row in dev if row.get(name) is not None]
        if known:
            score.plot(*zip(*known, strict=True), label=label, marker=".", clip_on=False)  # 0 and 100 whole
    score.set(title="dev: whole program right, %", xlabel="minutes", ylim=(0, 100))
    if score.lines:
        score.legend(**_BELOW)
    rate.plot(minutes, [row["rate"] for row in train], marker=marker)
    rate.set(title="learning rate (share of peak)", xlabel="minutes")
