"""The measurements of dialects, on a data set of three questions."""

from __future__ import annotations

from pathlib import Path

import pytest

from .test_benchmarks import data, run, script  # noqa: F401 - a fixture among them

pytestmark = pytest.mark.usefixtures("duckdb_driver")


@pytest.fixture
def toy(data: Path) -> Path:  # noqa: F811 - the fixture of that name
    return data


def test_rows_are_compared(toy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, report = run("dialects", toy, "--set", "toy", "--split", "dev", "--dialect", "duckdb")
    assert code == 0
    assert report["unconverted"] == {"value Ln": 1}
    assert report["dialects"]["duckdb"] | {"ms": None} == {
        "queries": 2,
        "same": 2,
        "same_percent": 100.0,
        "ms": None,
        "differences": {},
    }
    assert "not converted: 1" in capsys.readouterr().out


def test_what_differs_is_listed(toy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A query that DuckDB refuses, and one that gives other rows."""
    from fastsql.grammar import render

    def spoilt(program: object, schema: object, dialect: str = "sqlite", **options: object) -> str:
        sql: str = render(program, schema, dialect=dialect, **options)  # type: ignore[arg-type]
        return sql if dialect == "sqlite" else sql.replace("COUNT(*)", "1 + COUNT(*)").replace("= 3", "== ==")

    monkeypatch.setattr("fastsql.grammar.render", spoilt)
    _, report = run("dialects", toy, "--set", "toy", "--split", "dev", "--dialect", "duckdb")
    found = report["dialects"]["duckdb"]
    assert (found["same"], found["same_percent"]) == (0, 0.0)
    assert found["differences"] == {"does not run: ParserException": ["0"], "as many rows, others": ["1"]}


def test_dialects_says_what_it_misses(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert script("dialects")(["--data", str(tmp_path)]) == 1
    assert "no valid.json" in capsys.readouterr().err


def test_validity_is_that_of_a_dialect(toy: Path) -> None:
    code, report = run("validity", toy, "--decodes", "6", "--seed", "5", "--dialect", "duckdb")
    assert code == 0
    assert report["dialect"] == "duckdb"
    assert report["sets"]["all"]["prepare"] == 6
