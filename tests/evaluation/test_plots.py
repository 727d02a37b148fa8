"""Diagrams are drawn for every kind of outcome, and equal ones for equal reports."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from fastsql.errors import FastSQLError
from fastsql.evaluation import Report
from fastsql.evaluation.plots import DIAGRAMS, require_matplotlib, svg, write_plots

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
    assert "50.0 % wrong of 50.0 % answered" in svg("risk-coverage", report)


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
