"""Predictions survive the way through a file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fastsql.datasets import DatasetError
from fastsql.evaluation import Prediction, read_predictions, write_predictions

PREDICTIONS = [Prediction("a", "SELECT '心率'", 0.5), Prediction("b", None, 0.0, abstained=True)]


def test_what_is_written_is_read(tmp_path: Path) -> None:
    path = tmp_path / "predictions.json"
    write_predictions(path, PREDICTIONS)
    assert list(read_predictions(path).values()) == PREDICTIONS


def test_the_file_is_a_list_of_documented_objects(tmp_path: Path) -> None:
    path = tmp_path / "predictions.json"
    write_predictions(path, PREDICTIONS)
    assert json.loads(path.read_text(encoding="utf-8"))[0] == {
        "id": "a",
        "sql": "SELECT '心率'",
        "confidence": 0.5,
        "abstained": False,
    }
    write_predictions(path, [])
    assert json.loads(path.read_text()) == []


def test_no_sql_means_a_refusal(tmp_path: Path) -> None:
    path = tmp_path / "predictions.json"
    path.write_text('[{"id": "a", "sql": null}]')
    assert read_predictions(path)["a"].abstained


@pytest.mark.parametrize(
    "content", [{}, [1], [{"sql": "x"}], [{"id": "a", "sql": 3}], [{"id": "a", "confidence": "high"}]]
)
def test_predictions_of_another_form_are_an_error(tmp_path: Path, content: object) -> None:
    path = tmp_path / "predictions.json"
    path.write_text(json.dumps(content))
    with pytest.raises(DatasetError, match=r"predictions\.json"):
        read_predictions(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ([{"id": "a"}, {"id": "a"}], "occurred before"),
        ([{"id": "a", "confidence": 1.5}], "outside 0 to 1"),
        ([{"id": "a", "confidence": float("nan")}], "outside 0 to 1"),
    ],
)
def test_ids_are_given_once_and_confidences_are_probabilities(
    tmp_path: Path, content: object, message: str
) -> None:
    path = tmp_path / "predictions.json"
    path.write_text(json.dumps(content))
    with pytest.raises(DatasetError, match=message):
        read_predictions(path)
