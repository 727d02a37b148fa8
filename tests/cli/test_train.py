"""``fastsql train`` hands its arguments to the training loop, and says what is missing without it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import fastsql.training

from .conftest import Outcome

Run = Callable[..., Outcome]
CONFIG = Path(__file__).parents[2] / "configs" / "ehr-en.toml"


def test_arguments_reach_the_loop(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    calls: list[tuple[Any, Any, dict[str, Any]]] = []

    def train(config: Any, output: Any, **settings: Any) -> SimpleNamespace:
        calls.append((config, output, settings))
        return SimpleNamespace(output=output, epochs=1.5, seconds=90.0, finished=True)

    monkeypatch.setitem(fastsql.training.__dict__, "train", train)
    monkeypatch.setattr("fastsql.training.runs.ready.check_ready", lambda *_, **__: None)
    monkeypatch.setenv("FASTSQL_DATA", str(tmp_path))
    outcome = run(
        *("train", CONFIG, "--output", tmp_path / "run", "--max-minutes", 2.5, "--seed", 3, "--resume"),
        *("--set", "model.joint_layers=0", "--set", "model.cached_layers=3", "--fresh", "graph."),
    )
    assert outcome.status == 0, outcome.err
    assert outcome.out == f"{tmp_path / 'run'}: finished, 1.5 epochs in 1.5 minutes\n"
    assert outcome.err.startswith("fastsql: warning: the bundle is not calibrated")
    assert outcome.err.endswith(
        f"Run: fastsql calibrate {tmp_path / 'run' / 'bundle'} --config {CONFIG} --cache {tmp_path / 'run' / 'cache'}"
        " --set model.joint_layers=0 --set model.cached_layers=3\n"
    )
    ((config, output, settings),) = calls
    assert (config.name, output) == ("ehr-en", tmp_path / "run")
    assert (settings["max_minutes"], settings["seed"], settings["resume"]) == (2.5, 3, True)
    assert (config.model.cached_layers, config.model.joint_layers, settings["fresh"]) == (3, 0, ["graph."])


def test_a_missing_configuration_is_an_error(run: Run, tmp_path: Path) -> None:
    outcome = run("train", tmp_path / "none.toml", "--output", tmp_path / "run")
    assert outcome.status == 2
    assert "none.toml" in outcome.err
