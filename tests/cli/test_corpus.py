"""``fastsql corpus``."""

from __future__ import annotations

from pathlib import Path

import pytest

from fastsql.cli.main import main
from fastsql.datasets import read_examples, read_schemas
from fastsql.datasets.interactions import is_conversational


def test_corpus_writes_a_data_set_and_says_how_far_it_is(
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


def test_written_questions_come_with_conversations(tmp_path: Path) -> None:
    assert main(["corpus", "--written", "--pairs", "20", "-o", str(tmp_path)]) == 0
    assert all(one.sql for one in read_examples(tmp_path / "pairs.json.gz"))
    assert is_conversational(read_examples(tmp_path / "turns.json.gz"))


def test_all_that_was_written_over_a_design_comes_with_its_databases(tmp_path: Path) -> None:
    assert main(["corpus", "--written", "--designs", "surgery", "-o", str(tmp_path)]) == 0
    asked = read_examples(tmp_path / "pairs.json.gz")
    assert {None} < {one.sql for one in asked}
    assert {f"{one.db_id}.sqlite" for one in asked} == {
        one.name for one in (tmp_path / "databases").iterdir()
    }


def test_all_that_was_written_over_the_demo_hospital_comes_with_it(tmp_path: Path) -> None:
    assert main(["corpus", "--written", "--demo", "-o", str(tmp_path)]) == 0
    asked = read_examples(tmp_path / "pairs.json.gz")
    assert {None} < {one.sql for one in asked}
    assert is_conversational(read_examples(tmp_path / "turns.json.gz"))
    assert [f"{db_id}.sqlite" for db_id in read_schemas(tmp_path / "schemas.json")] == [
        one.name for one in (tmp_path / "databases").iterdir()
    ]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--designs", "surgery"), "--written"),
        (("--demo",), "--written"),
        (("--written", "--demo", "--designs", "surgery"), "Leave --designs and --language out"),
        (("--written", "--demo", "--language", "zh"), "Leave --designs and --language out"),
    ],
)
def test_what_written_questions_are_over_is_said_once_and_with_written(
    options: tuple[str, ...], told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["corpus", *options, "-o", str(tmp_path)]) == 2
    assert told in capsys.readouterr().err
