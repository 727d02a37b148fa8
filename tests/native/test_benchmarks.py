"""The measurement of the automaton, on two small schemas."""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType

import pytest

from ..grammar.test_benchmarks import script


def test_a_step_is_timed_at_every_size(
    core: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = tmp_path / "mask.json"
    given = ["--columns", "3", "20", "--queries", "2", "--seconds", "0.01", "--json", str(report)]
    assert script("mask")(given) == 0
    rows = json.loads(report.read_text(encoding="utf-8"))["mask"]
    assert [row["columns"] for row in rows] == [3, 20]
    for row in rows:
        assert row["microseconds"]["native"] > 0
        assert row["microseconds"]["python"] > 0
        assert row["microseconds"]["steps"] >= 2 * 4  # no query takes fewer
    assert "20" in capsys.readouterr().out
