"""A benchmark's file says by which command, when, where and with which versions its figures came about."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

import fastsql

from .test_benchmarks import module

ROOT = Path(__file__).parents[1]
MEASURING = sorted(
    file
    for file in (ROOT / "benchmarks").rglob("*.py")
    if '"--json"' in file.read_text("utf-8") and file.name != "run.py"
)
"""The benchmarks that write files. The run of all steps on a GPU gathers theirs."""


@pytest.fixture
def record() -> Any:
    return module("record")


def test_a_file_has_the_figures_and_how_they_came_about(
    record: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FASTSQL_DATA", str(tmp_path))
    script = ROOT / "benchmarks" / "latency.py"
    given = ["--data", str(tmp_path / "ehrsql2024"), "--beams", "1", "4"]
    record.save(tmp_path / "x.json", {"latency_ms": {"1": 2.5}}, str(script), given)
    found = json.loads((tmp_path / "x.json").read_text(encoding="utf-8"))
    assert list(found) == ["measured", "latency_ms"]
    assert found["latency_ms"] == {"1": 2.5}
    measured = found["measured"]
    assert measured["command"] == "python benchmarks/latency.py --data $FASTSQL_DATA/ehrsql2024 --beams 1 4"
    assert re.fullmatch(r"20\d\d-\d\d-\d\d", measured["date"])
    assert measured["machine"]["cores"] == os.cpu_count()
    assert measured["machine"]["processor"]
    assert measured["versions"]["fastsql"] == fastsql.__version__
    assert {"revision", "python", "numpy"} <= set(measured["versions"])


def test_no_file_is_written_unless_asked(record: Any, tmp_path: Path) -> None:
    record.save(None, {"x": 1}, __file__, [])
    assert list(tmp_path.iterdir()) == []


def test_a_machine_is_told_with_its_cores_and_vectors(record: Any) -> None:
    machine = record.Machine("AMD EPYC", 2, "AVX2", 23.5, "Linux")
    assert str(machine) == "2 x AMD EPYC, AVX2"
    assert str(record.Machine("Some CPU", 1, "", None, "Linux")) == "1 x Some CPU"


@pytest.mark.parametrize("file", MEASURING, ids=lambda file: file.relative_to(ROOT / "benchmarks").as_posix())
def test_every_benchmark_records_how_it_measured(file: Path) -> None:
    """Through the one place that does: no benchmark writes JSON of its own."""
    source = file.read_text("utf-8")
    assert re.search(
        r"save\(options\.json, .*, __file__, arguments\)|measured\(__file__, arguments\)", source
    )
    assert "options.json.write_text" not in source
