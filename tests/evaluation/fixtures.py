"""Rows of the data-driven cases of evaluation."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parents[1] / "fixtures" / "evaluation"


def rows(name: str) -> list[tuple[str, ...]]:
    """The tab-separated fields of every line that is no comment."""
    lines = (FOLDER / name).read_text(encoding="utf-8").splitlines()
    return [tuple(line.split("\t")) for line in lines if line and not line.startswith("#")]
