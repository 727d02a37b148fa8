"""Predictions as a file: a JSON list of ``{id, sql, confidence, abstained}``, ``sql`` being the best hypothesis or null."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from fastsql.datasets.examples import DatasetError, read_json


@dataclass(frozen=True)
class Prediction:
    """What a parser made of one question. `sql` is its best hypothesis even where it abstained."""

    id: str
    sql: str | None
    confidence: float = 1.0
    abstained: bool = False


def read_predictions(path: str | Path) -> dict[str, Prediction]:
    """Predictions by example id.

    Raises:
        DatasetError: the file does not have the form that :func:`write_predictions` writes.
    """
    items = read_json(Path(path))
    remedy = "Give a list of {id, sql, confidence, abstained}."
    if not isinstance(items, list):
        raise DatasetError("does not hold a list of predictions", where=str(path), remedy=remedy)
    predictions: dict[str, Prediction] = {}
    for number, item in enumerate(items):
        where = f"{path}, item {number}"
        if not isinstance(item, dict) or not isinstance(item.get("id"), str):
            raise DatasetError("has no text under 'id'", where=where, remedy=remedy)
        sql, confidence, abstained = (
            item.get("sql"),
            item.get("confidence", 1.0),
            item.get("abstained", False),
        )
        if (
            not isinstance(sql, str | None)
            or not isinstance(confidence, int | float)
            or not isinstance(abstained, bool)
        ):
            raise DatasetError("has a field of the wrong type", where=where, remedy=remedy)
        if not 0 <= confidence <= 1:
            raise DatasetError("has a confidence outside 0 to 1", where=where, remedy=remedy)
        if item["id"] in predictions:
            raise DatasetError("has an id that occurred before", where=where, remedy="Give one for each id.")
        predictions[item["id"]] = Prediction(item["id"], sql, float(confidence), abstained or sql is None)
    return predictions


def write_predictions(path: str | Path, predictions: Iterable[Prediction]) -> None:
    """Write predictions, one a line."""
    lines = ",\n".join(json.dumps(asdict(prediction), ensure_ascii=False) for prediction in predictions)
    Path(path).write_text(f"[\n{lines}\n]\n", encoding="utf-8")
