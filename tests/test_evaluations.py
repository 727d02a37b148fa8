"""One command runs the evaluations of the benchmarks' page; the page's rows are those of the files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from .test_benchmarks import module
from .worlds.toy_bundle import QUESTIONS
from .worlds.toy_model import SCHEMA

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "benchmarks.md").read_text("utf-8")
RESULTS = ROOT / "benchmarks" / "results"
PAGE_OF_TWO = """
## Two

```bash
cp $FASTSQL_DATA/toy/valid.json made.json
fastsql eval made.json --schemas $FASTSQL_DATA/toy/schemas.json --json $R/spider.json
fastsql eval nothing.json --schemas $FASTSQL_DATA/toy/schemas.json \\
  --json $R/spider_variants.json
python benchmarks/latency.py --json $R/latency.json
```

| Spider dev (half of the official one, by database) | old |
"""


def evaluations() -> Any:
    return module("evaluations")


def test_every_evaluation_of_the_page_is_known_by_its_command() -> None:
    names = [path.stem for path in RESULTS.glob("*.json") if "details" in json.loads(path.read_text("utf-8"))]
    found = evaluations().evaluations(PAGE)
    assert sorted(found) == sorted(names)
    assert all(each.command.endswith(f" --json $R/{name}.json") for name, each in found.items())
    assert "fastsql corpus --written --demo -o everyday" in found["everyday_turns"].preparations
    assert found["spider"].preparations == ()


@pytest.mark.parametrize("name", module("evaluation_rows").ROWS)
def test_the_rows_on_the_page_are_those_of_the_file(name: str) -> None:
    report = json.loads((RESULTS / f"{name}.json").read_text("utf-8"))
    rows = module("evaluation_rows").rows_of(name, report)
    assert rows
    assert evaluations().with_rows(PAGE, {name: report}) == PAGE
    changed = {**report, "em": 1.23, "rs": dict.fromkeys(report["rs"], 1.23)}
    assert evaluations().with_rows(PAGE, {name: changed}) != PAGE


def test_a_row_without_its_place_is_an_error() -> None:
    report = json.loads((RESULTS / "sparc.json").read_text("utf-8"))
    with pytest.raises(ValueError, match="2 rows of sparc's section begin with"):
        evaluations().with_rows(
            "## A\n--json $R/sparc.json\n| SParC dev | 1 |\n| SParC dev | 2 |\n", {"sparc": report}
        )


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "data" / "toy"
    folder.mkdir(parents=True)
    (folder / "schemas.json").write_text(json.dumps([{**SCHEMA.to_dict(), "db_id": "toy"}]), encoding="utf-8")
    example = {"id": "1", "db_id": "toy", "question": QUESTIONS[0], "sql": "SELECT COUNT(*) FROM person"}
    (folder / "valid.json").write_text(json.dumps([example]), encoding="utf-8")
    monkeypatch.setenv("FASTSQL_DATA", str(folder.parent))
    return folder


def test_commands_are_run_after_what_they_read_and_compared_with_the_files(
    data: Path, toy_bundle: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page, into = tmp_path / "page", tmp_path / "into"
    page.write_text(PAGE_OF_TWO, encoding="utf-8")
    given = ["--page", str(page), "--model", str(toy_bundle), "--into", str(into)]
    assert evaluations().main(given) == 1
    printed = capsys.readouterr()
    assert "spider_variants failed: fastsql eval nothing.json" in printed.err
    assert printed.out.startswith("spider ")
    assert printed.out.count("\n") == 1
    report = json.loads((into / "spider.json").read_text("utf-8"))
    recorded = json.loads((RESULTS / "spider.json").read_text("utf-8"))
    assert report["n"] == 1
    assert f"EM {report['em']:.1f} ({report['em'] - recorded['em']:+.1f})" in printed.out
    assert evaluations().main([*given, "spider"]) == 0


@pytest.mark.parametrize("tried", [False, True])
def test_plots_of_another_bundle_are_not_those_of_the_page(data: Path, tmp_path: Path, tried: bool) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    evaluations().Runner(folder, tmp_path if tried else None, 1)
    assert (folder / "docs").resolve() == (tmp_path if tried else ROOT / "docs")


def test_what_cannot_be_run_is_said(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for given, message in (
        (["spyder"], "no evaluation of benchmarks.md: spyder"),
        (["spider", "--model", "other"], "with --model, say --into, too"),
    ):
        with pytest.raises(SystemExit, match="2"):
            evaluations().main(given)
        assert message in capsys.readouterr().err


def test_rows_are_written_in_their_places(tmp_path: Path) -> None:
    page = tmp_path / "page"
    page.write_text(PAGE_OF_TWO, encoding="utf-8")
    assert evaluations().main(["--page", str(page), "--rows", "spider"]) == 0
    report = json.loads((RESULTS / "spider.json").read_text("utf-8"))
    (row,) = module("evaluation_rows").rows_of("spider", report)
    assert page.read_text("utf-8") == PAGE_OF_TWO.replace(
        "| Spider dev (half of the official one, by database) | old |", row
    )
