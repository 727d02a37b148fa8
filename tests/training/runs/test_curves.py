"""The curves of a run can be read: what explains them stands beside them."""

from __future__ import annotations

from typing import Any

import pytest

from fastsql.training.runs.curves import plot_metrics

from ...legends import legends_upon_data

matplotlib_figure = pytest.importorskip("matplotlib.figure", reason="pip install '.[train]' runs this")


def a_run(steps: int) -> list[dict[str, Any]]:
    """Metrics of a run that fill the plots from corner to corner."""
    rows: list[dict[str, Any]] = []
    for step in range(steps):
        share = step / max(steps - 1, 1)
        rows.append({"kind": "train", "minutes": step, "loss": 10 ** (1 - 2 * share), "rate": share})
        scores = {"examples": 1 - share, "templates": share, "databases": 1.0}
        rows.append({"kind": "dev", "minutes": step, "loss": 10 ** (2 * share - 1), **scores})
    return rows


@pytest.mark.parametrize("steps", [0, 1, 2, 30])
def test_no_legend_lies_upon_a_curve(steps: int) -> None:
    figure = matplotlib_figure.Figure(figsize=(11, 3.6), layout="constrained")
    plot_metrics(figure, a_run(steps))
    assert legends_upon_data(figure) == []
    assert sum(axes.get_legend() is not None for axes in figure.axes) == (2 if steps else 1)


@pytest.mark.parametrize("evaluations", [1, 2])
def test_points_of_a_short_run_are_marked(evaluations: int) -> None:
    figure = matplotlib_figure.Figure(figsize=(11, 3.6), layout="constrained")
    plot_metrics(figure, a_run(evaluations))
    lines = [line for axes in figure.axes for line in axes.lines]
    assert len(lines) == 6
    assert {len(line.get_xdata()) for line in lines} == {evaluations}
    assert {line.get_marker() for line in lines} == {"."}
    assert not any(line.get_clip_on() for line in figure.axes[1].lines), (
        "a score of 0 or 100 % is a whole point"
    )


def test_curves_of_a_long_run_are_lines() -> None:
    figure = matplotlib_figure.Figure(figsize=(11, 3.6), layout="constrained")
    plot_metrics(figure, a_run(30))
    assert [line.get_marker() for line in figure.axes[2].lines] == [""]
