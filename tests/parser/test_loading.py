"""Loading says so where a model's probabilities were not fitted: once a load, and nowhere else."""

from __future__ import annotations

import pickle
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import fastsql

from ..worlds.toy_bundle import LIMITS, QUESTIONS, write_bundle
from ..worlds.toy_model import SCHEMA

WITHOUT_U = {"reliability": {"right": {"intercept": 1.0, "weights": {}}}}


@pytest.fixture
def heard() -> Iterator[list[warnings.WarningMessage]]:
    """All warnings of a test, each as often as it is given."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield caught


def load(folder: Path) -> fastsql.Parser:
    return fastsql.load(folder, device="python", encoder="numpy", limits=LIMITS)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        pytest.param({"calibrated": False}, "never calibrated", id="never"),
        pytest.param(WITHOUT_U, "calibrated without unanswerable questions", id="without u"),
    ],
)
def test_each_load_of_a_model_that_is_not_fully_calibrated_warns_once(
    heard: list[warnings.WarningMessage], tmp_path: Path, settings: dict[str, Any], said: str
) -> None:
    folder = write_bundle(tmp_path / "toy", **settings)
    for count in (1, 2):
        parser = load(folder)
        ours = [item for item in heard if issubclass(item.category, fastsql.CalibrationWarning)]
        assert len(ours) == count
    assert said in str(ours[0].message)
    assert str(folder) in str(ours[0].message)
    assert ours[0].filename == __file__, "it points to the line that loads"
    parser.parse(QUESTIONS[0], SCHEMA)
    pickle.loads(pickle.dumps(parser)).parse(QUESTIONS[0], SCHEMA)
    assert [item for item in heard if issubclass(item.category, fastsql.CalibrationWarning)] == ours


def test_a_calibrated_model_is_loaded_in_silence(
    heard: list[warnings.WarningMessage], toy_bundle: Path
) -> None:
    load(toy_bundle)
    fastsql.load("ehr-en", device="python")
    assert [item for item in heard if issubclass(item.category, fastsql.CalibrationWarning)] == []


def test_the_command_line_warns_in_one_line(tmp_path: Path) -> None:
    folder = write_bundle(tmp_path / "toy", calibrated=False)
    command = [sys.executable, "-m", "fastsql", "parse", QUESTIONS[0]]
    command += ["--schema", "CREATE TABLE patients (id INT)", "--model", str(folder)]
    command += ["--device", "python", "--encoder", "numpy"]
    refused = subprocess.run(command, capture_output=True, text=True, check=False)
    assert refused.returncode == 1
    assert refused.stderr.startswith(f"fastsql: warning: {folder}: this model was never calibrated.")
    assert refused.stderr.count("warning") == 1
    assert "This model was never calibrated" in " ".join(refused.stderr.split())
    answered = subprocess.run([*command, "--penalty", "0"], capture_output=True, text=True, check=False)
    assert answered.returncode == 0, answered.stderr
