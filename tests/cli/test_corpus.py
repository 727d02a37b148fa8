"""``fastsql corpus``."""

from __future__ import annotations

from pathlib import Path

import pytest

from fastsql.cli.main import main
from fastsql.datasets import read_examples


def test_it_writes_a_data_set_and_says_how_far_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "made"
    assert main(["corpus", "--schemas", "2", "--pairs", "5", "--kinds", "designs", "-o", str(output)]) == 0
    printed = capsys.readouterr()
    assert "2 of 2 schemas, 5 pairs" in printed.err
    assert printed.out.split() == [
        str(output / name) for name in ("pairs.json.gz", "schemas.json", "values.json.gz")
    ]
    assert len(read_examples(output / "pairs.json.gz")) == 5


def test_published_schemas_need_a_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("FASTSQL_DATA", raising=False)
    assert main(["corpus", "--kinds", "spider", "-o", str(tmp_path)]) == 2
    assert "folder" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
