"""The diagrams of a report, drawn with matplotlib: reliability, risk and coverage, accuracy by hardness."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from fastsql.errors import FastSQLError
from fastsql.evaluation.breakdown import KINDS, parts_of
from fastsql.evaluation.calibration import calibration_error, reliability_bins, risk_coverage
from fastsql.evaluation.report import Report

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_INK, _SOFT, _MARK = "#1f4e79", "#9db8d2", "#b3261e"
_SIZE = (5.2, 4.2)


def require_matplotlib() -> None:
    """Return if diagrams can be drawn.

    Raises:
        FastSQLError: matplotlib is not installed.
    """
    try:
        import matplotlib.figure  # noqa: F401 - asked only whether it is there
    except ImportError as error:
        raise FastSQLError(
            "matplotlib is not installed", where="diagrams of a report", remedy="Run: pip install matplotlib"
        ) from error


def reliability_diagram(report: Report) -> Figure:
    """Accuracy over confidence in bins of equal mass with Wilson's 95 % intervals, above a histogram of confidences."""
    figure = _figure()
    main, below = figure.subplots(2, 1, sharex=True, height_ratios=(3, 1))
    bins = reliability_bins(report.confidence, report.right)
    accuracy = np.array([one.accuracy for one in bins])
    ends = np.array([one.interval() for one in bins]).reshape(-1, 2)
    main.plot((0, 1), (0, 1), color=_SOFT, linestyle="--", label="perfect")
    main.errorbar(
        [one.confidence for one in bins],
        accuracy,
        # An end may miss the accuracy by a rounding error; matplotlib wants lengths of at least 0.
        yerr=np.clip([accuracy - ends[:, 0], ends[:, 1] - accuracy], 0, None),
        color=_INK,
        marker="o",
        markersize=4,
        linewidth=1,
        capsize=2,
        label=f"measured, {len(bins)} bins",
    )
    error = calibration_error(report.confidence, report.right)
    main.set(ylabel="share right", ylim=(-0.02, 1.02), title=f"Reliability: calibration error {error:.3f}")
    main.legend(loc="upper left", frameon=False)
    below.hist(report.confidence, bins=np.linspace(0, 1, 21).tolist(), color=_SOFT)
    below.set(xlabel="confidence", ylabel="questions", xlim=(0, 1))
    return figure


def risk_coverage_diagram(report: Report) -> Figure:
    """The share of wrong answers over the share of questions answered, and where the parser's decisions lie."""
    figure = _figure()
    axes = figure.subplots()
    curve = risk_coverage(report.confidence, report.right)
    axes.plot(
        100 * curve.coverage, 100 * curve.risk, color=_INK, drawstyle="steps-pre", label="by confidence"
    )
    answered = np.array([not item.prediction.abstained for item in report.judged], dtype=np.bool_)
    if answered.any():
        coverage, risk = 100 * answered.mean(), 100 * (1 - report.right[answered].mean())
        label = f"decided: {risk:.1f} % wrong of {coverage:.1f} % answered"
        axes.plot([coverage], [risk], color=_MARK, marker="D", linestyle="none", label=label, clip_on=False)
    top = max(float(100 * curve.risk.max(initial=0.0)) * 1.1, 1.0)
    axes.set(xlabel="questions answered, %", ylabel="of these wrong, %", xlim=(0, 100), ylim=(0, top))
    axes.set_title(f"Risk and coverage: area {curve.area:.3f}")
    axes.legend(loc="upper left", frameon=False)
    return figure


def hardness_diagram(report: Report) -> Figure:
    """The share of right best hypotheses by Spider's hardness."""
    figure = _figure()
    axes = figure.subplots()
    parts = parts_of(report.judged, KINDS["hardness"])
    labels = [f"{part.name}\n{part.n:,}" for part in parts]
    shares = [100 * (1 - part.wrong / part.n) for part in parts]
    bars = axes.bar(labels, shares, color=_SOFT)
    axes.bar_label(bars, fmt="%.1f", color=_INK)
    axes.set(ylabel="best hypotheses right, %", ylim=(0, 108), title="By hardness (Spider), with questions")
    return figure


DIAGRAMS: Mapping[str, Callable[[Report], Figure]] = {
    "reliability": reliability_diagram,
    "risk-coverage": risk_coverage_diagram,
    "hardness": hardness_diagram,
}


def write_plots(folder: str | Path, report: Report) -> tuple[Path, ...]:
    """Write every diagram as a PNG file into `folder`, which is made if it is missing; their paths.

    Raises:
        FastSQLError: matplotlib is not installed.
    """
    require_matplotlib()
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, draw in DIAGRAMS.items():
        path = folder / f"{name}.png"
        draw(report).savefig(path, dpi=150)
        paths.append(path)
    return tuple(paths)


def svg(name: str, report: Report) -> str:
    """A diagram as an SVG element to stand inside a page: equal reports give equal text, and the letters stay letters.

    Raises:
        FastSQLError: matplotlib is not installed.
    """
    require_matplotlib()
    import matplotlib as mpl

    text = io.StringIO()
    # The salt makes ids differ between the diagrams of one page.
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": name}):
        nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        DIAGRAMS[name](report).savefig(text, format="svg", metadata=nothing)
    drawn = text.getvalue()
    return drawn[drawn.index("<svg") :].strip()


def _figure() -> Figure:
    from matplotlib.figure import Figure

    return Figure(figsize=_SIZE, layout="constrained")
