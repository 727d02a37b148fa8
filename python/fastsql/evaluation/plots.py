"""The diagrams of a report, drawn with matplotlib: reliability, risk and coverage, accuracy by hardness."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fastsql.errors import FastSQLError
from fastsql.evaluation.breakdown import KINDS, parts_of
from fastsql.evaluation.calibration import Flags, Floats, calibration_error, reliability_bins, risk_coverage
from fastsql.evaluation.report import Report
from fastsql.evaluation.shares import Share

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
    """`reliability_figure` of a report."""
    return reliability_figure(report.confidence, report.right)


def reliability_figure(confidence: Floats, right: Flags) -> Figure:
    """Accuracy over confidence in bins of equal mass with Wilson's 95 % intervals, above a histogram of confidences."""
    figure = _figure()
    main, below = figure.subplots(2, 1, sharex=True, height_ratios=(3, 1))
    bins = reliability_bins(confidence, right)
    accuracy = np.array([one.accuracy for one in bins])
    main.plot((0, 1), (0, 1), color=_SOFT, linestyle="--", label="perfect")
    main.errorbar(
        [one.confidence for one in bins],
        accuracy,
        yerr=_lengths(accuracy, [one.interval() for one in bins]),
        color=_INK,
        marker="o",
        markersize=4,
        linewidth=1,
        capsize=2,
        label=f"measured, {len(bins)} bins",
    )
    error = calibration_error(confidence, right)
    main.set(ylabel="share right", ylim=(-0.02, 1.02), title=f"Reliability: calibration error {error:.3f}")
    _explain(figure)
    below.hist(confidence, bins=np.linspace(0, 1, 21).tolist(), color=_SOFT)
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
        given, wrong = Share.of(answered), Share.of(~report.right[answered])
        coverage, risk = 100 * given.count / given.n, 100 * wrong.count / wrong.n
        label = f"decided: {_told(wrong)} wrong\nof {_told(given)} answered"
        axes.plot([coverage], [risk], color=_MARK, marker="D", linestyle="none", label=label, clip_on=False)
    top = max(float(100 * curve.risk.max(initial=0.0)) * 1.1, 1.0)
    axes.set(xlabel="questions answered, %", ylabel="of these wrong, %", xlim=(0, 100), ylim=(0, top))
    axes.set_title(f"Risk and coverage: area {curve.area:.3f}; brackets: Wilson's 95 %", fontsize="medium")
    _explain(figure)
    return figure


def hardness_diagram(report: Report) -> Figure:
    """The share of right best hypotheses by Spider's hardness, with Wilson's 95 % intervals."""
    figure = _figure()
    axes = figure.subplots()
    parts = parts_of(report.judged, KINDS["hardness"])
    labels = [f"{part.name}\n{part.n:,}" for part in parts]
    shares = [Share(part.n - part.wrong, part.n) for part in parts]
    heights = np.array([100 * share.count / share.n for share in shares])
    lengths = _lengths(heights, [share.interval() or (0.0, 100.0) for share in shares])
    bars = axes.bar(labels, heights, color=_SOFT, yerr=lengths, ecolor=_INK, capsize=2)
    axes.bar_label(bars, fmt="%.1f", color=_INK)
    axes.set(ylabel="best hypotheses right, %", ylim=(0, 112))
    axes.set_title("By hardness (Spider), with questions; Wilson's 95 %", fontsize="medium")
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
    return svg_of(name, lambda: DIAGRAMS[name](report))


def svg_of(name: str, draw: Callable[[], Figure]) -> str:
    """The same of any figure; `name` is another one for each on a page.

    Raises:
        FastSQLError: matplotlib is not installed.
    """
    require_matplotlib()
    import matplotlib as mpl

    text = io.StringIO()
    # The salt makes ids differ between the diagrams of one page.
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": name}):
        nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        draw().savefig(text, format="svg", metadata=nothing)
    drawn = text.getvalue()
    return drawn[drawn.index("<svg") :].strip()


def _figure() -> Figure:
    from matplotlib.figure import Figure

    return Figure(figsize=_SIZE, layout="constrained")


def _explain(figure: Figure) -> None:
    """Put the legend below the axes: wherever it stood within, it would lie on some report's data."""
    figure.legend(loc="outside lower center", frameon=False, ncols=2)


def _lengths(shares: NDArray[np.float64], ends: Sequence[tuple[float, float]]) -> NDArray[np.float64]:
    """float64[2, n]: how far each interval reaches below and above its share."""
    low, high = np.array(ends, dtype=np.float64).reshape(-1, 2).T
    # An end may miss the share by a rounding error; matplotlib wants lengths of at least 0.
    lengths: NDArray[np.float64] = np.maximum(np.stack([shares - low, high - shares]), 0.0)
    return lengths


def _told(share: Share) -> str:
    low, high = share.interval() or (0.0, 100.0)
    return f"{share.percent:.1f} % ({low:.1f} to {high:.1f})"
