"""Diagrams are drawn for every kind of outcome, and equal ones for equal reports."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from fastsql.errors import FastSQLError
from fastsql.evaluation import Judged, Report
from fastsql.evaluation.plots import DIAGRAMS, require_matplotlib, svg, write_plots

from ..legends import legends_upon_data
from .judging import judged, right, wrong

ITEMS = (
    right("a", confidence=0.9, hardness="easy"),
    wrong("b", confidence=0.6, hardness="beyond"),
    wrong("c", confidence=0.2, abstained=True, hardness="easy"),
    judged("d", gold=None, sql=None, confidence=0.0, abstained=True),
)


@pytest.fixture
def drawing() -> None:
    pytest.importorskip("matplotlib", reason="pip install matplotlib runs this")


@pytest.mark.usefixtures("drawing")
def test_each_diagram_is_a_png_file(tmp_path: Path) -> None:
    paths = write_plots(tmp_path / "new", Report(ITEMS))
    assert [path.name for path in paths] == [f"{name}.png" for name in DIAGRAMS]
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in paths)


@pytest.mark.usefixtures("drawing")
@pytest.mark.parametrize("name", DIAGRAMS)
@pytest.mark.parametrize(
    "items", [ITEMS, ITEMS[3:], ITEMS[:1], ()], ids=["all", "unanswerable", "one", "none"]
)
def test_diagrams_are_svg_of_letters_and_the_same_on_every_run(name: str, items: tuple[object, ...]) -> None:
    report = Report(items)  # type: ignore[arg-type]
    drawn = svg(name, report)
    assert drawn.startswith("<svg")
    assert drawn.endswith("</svg>")
    assert "<text" in drawn
    assert "<!DOCTYPE" not in drawn
    assert drawn == svg(name, report)


@pytest.mark.usefixtures("drawing")
def test_the_figures_stand_in_the_diagrams() -> None:
    report = Report(ITEMS)
    error = report.to_json()["details"]["calibration"]["ece"]
    assert f"calibration error {error:.3f}" in svg("reliability", report)
    # Wilson's intervals of one of two, and of two of four.
    told = svg("risk-coverage", report)
    assert "decided: 50.0 % (9.5 to 90.5) wrong" in told
    assert "of 50.0 % (15.0 to 85.0) answered" in told


def everywhere() -> tuple[Judged, ...]:
    """Questions whose confidences, shares right and risks fill each diagram from corner to corner."""
    low = [right(f"r{number}", confidence=number / 400, hardness="easy") for number in range(200)]
    high = [wrong(f"w{number}", confidence=1 - number / 400, hardness="extra") for number in range(200)]
    return (*low, *high, right("x", confidence=1.0, hardness="hard"))


@pytest.mark.usefixtures("drawing")
@pytest.mark.parametrize("name", DIAGRAMS)
@pytest.mark.parametrize(
    "items",
    [everywhere(), ITEMS, ITEMS[3:], ITEMS[:1], ()],
    ids=["full", "few", "unanswerable", "one", "none"],
)
def test_no_legend_lies_upon_data(name: str, items: tuple[Judged, ...]) -> None:
    figure = DIAGRAMS[name](Report(items))
    assert legends_upon_data(figure) == []
    assert bool(figure.legends) == (name != "hardness")


@pytest.mark.usefixtures("drawing")
def test_shares_of_few_have_intervals_in_each_diagram() -> None:
    figure = DIAGRAMS["hardness"](Report(ITEMS))
    (axes,) = figure.axes
    ((lower, upper),) = (
        container.errorbar.lines[2][0].get_segments()[0][:, 1] for container in axes.containers[-1:]
    )
    # One of two easy questions is right.
    assert (lower, upper) == (pytest.approx(9.45, abs=0.01), pytest.approx(90.55, abs=0.01))


def test_without_matplotlib_the_error_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    for draw in (
        require_matplotlib,
        lambda: svg("reliability", Report(ITEMS)),
        lambda: write_plots(tmp_path, Report(ITEMS)),
    ):
        with pytest.raises(FastSQLError, match="pip install matplotlib"):
            draw()
