"""The commands around training: what they say of an input that cannot be used, and of a package that is missing."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import Outcome

Run = Callable[..., Outcome]
CONFIG = Path(__file__).parents[2] / "configs" / "ehr-en.toml"
TOML = "tomllib" if sys.version_info >= (3, 11) else "tomli"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param(["export", "none.pt", "--output", "x"], "none.pt: there is no checkpoint", id="export"),
        pytest.param(
            ["renumber", "none", "--output", "x"], "model 'none': there is no such model", id="renumber"
        ),
        pytest.param(
            ["calibrate", "none", "--config", CONFIG], "none: there is no such model bundle", id="calibrate"
        ),
        pytest.param(["card", "none", "--config", CONFIG], "none: there is no such model bundle", id="card"),
        pytest.param(["augment", "--output", "x.json", "--train", "none.json"], "none.json", id="augment"),
        pytest.param(["fit-ranking", "none"], "none/train.json", id="fit-ranking"),
    ],
)
def test_an_input_that_is_not_there_is_named(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[object], message: str
) -> None:
    if arguments[0] in ("export", "renumber") and importlib.util.find_spec("torch") is None:
        pytest.skip("pip install '.[train]' runs this")
    monkeypatch.chdir(tmp_path)
    outcome = run(*arguments)
    assert outcome.status == 2
    assert outcome.err.startswith("fastsql: ")
    assert message in outcome.err
    assert outcome.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("missing", "arguments"),
    [
        pytest.param("torch", ["train", str(CONFIG), "--output", "run"], id="train"),
        pytest.param("torch", ["export", "last.pt", "--output", "bundle"], id="export"),
        pytest.param("torch", ["renumber", "bundle", "--output", "newer"], id="renumber"),
        pytest.param(TOML, ["calibrate", "bundle", "--config", str(CONFIG)], id="calibrate"),
        pytest.param(TOML, ["card", "bundle", "--config", str(CONFIG)], id="card"),
    ],
)
def test_without_a_package_of_the_extra_train_it_is_named(
    tmp_path: Path, missing: str, arguments: list[str]
) -> None:
    code = (
        f"import sys; sys.modules[{missing!r}] = None\n"
        f"from fastsql.cli.main import main; sys.exit(main({arguments!r}))"
    )
    environment = {**os.environ, "FASTSQL_DATA": str(tmp_path)}
    found = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
        cwd=tmp_path,
    )
    assert found.returncode == 2
    assert found.stderr == f"fastsql: training needs {missing}. Run: pip install 'fastsql[train]'\n"


def test_the_options_of_calibration_show_what_they_are_without(run: Run) -> None:
    pytest.importorskip(TOML, reason="pip install '.[train]' runs this")
    shown = " ".join(run("calibrate", "--help").out.split())
    assert "(default: 240)" in shown
    assert "(default: 2100-12-31 23:59:00)" in shown


def test_a_feature_that_there_is_not_is_named_before_anything_is_read(run: Run, tmp_path: Path) -> None:
    pytest.importorskip(TOML, reason="pip install '.[train]' runs this")
    outcome = run("calibrate", tmp_path / "none", "--config", CONFIG, "--features", "worst,mood")
    assert outcome.status == 2
    assert "there is no feature 'mood'" in outcome.err


def test_synthetic_questions_are_written(run: Run, tmp_path: Path) -> None:
    outcome = run("augment", "--examples", 3, "--output", tmp_path / "pairs.json")
    assert outcome.status == 0, outcome.err
    assert (tmp_path / "pairs.json").read_text(encoding="utf-8").count('"question"') == 3
