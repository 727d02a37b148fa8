from __future__ import annotations

import io
from pathlib import Path

import pytest

from fastsql.training.runs.curves import METRICS, append_metrics, draw_curves, read_metrics
from fastsql.training.runs.progress import RunProgress


def test_without_a_terminal_progress_is_plain_lines() -> None:
    out = io.StringIO()
    with RunProgress(stream=out) as progress:
        progress.note("hello")
        progress.step(0.25, 60.0, 1.5, 0.5)
        progress.step(0.26, 61.0, 1.6, 0.5)
        progress.dev("seen 90.0 %")
    assert out.getvalue().splitlines() == [
        "hello",
        " 25.0%  epoch 1.50  loss 0.5000  dev -  left 0:03:00",
        "dev seen 90.0 %",
    ]


def test_a_quiet_run_says_nothing() -> None:
    out = io.StringIO()
    with RunProgress(quiet=True, stream=out) as progress:
        progress.note("hello")
        progress.step(0.25, 60.0, 1.5, 0.5)
    assert out.getvalue() == ""


def test_half_a_line_of_metrics_is_passed_over(tmp_path: Path) -> None:
    append_metrics(tmp_path, {"kind": "dev", "loss": 1.0})
    with (tmp_path / METRICS).open("a", encoding="utf-8") as file:
        file.write('{"kind": "de')
    assert read_metrics(tmp_path) == [{"kind": "dev", "loss": 1.0}]
    assert read_metrics(tmp_path / "nowhere") == []


def test_curves_are_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="pip install '.[train]' runs this")
    append_metrics(tmp_path, {"kind": "train", "minutes": 1.0, "loss": 2.0, "rate": 1.0})
    append_metrics(tmp_path, {"kind": "dev", "minutes": 1.0, "loss": 2.0, "templates": 0.1, "examples": 0.5})
    path = draw_curves(tmp_path)
    assert path is not None
    assert path.read_bytes().startswith(b"\x89PNG")
