"""Observations as a file, so that regressions can be fitted again without parsing again.

It holds questions: keep it where these may lie.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from fastsql.errors import FastSQLError
from fastsql.reliability.evidence import Evidence
from fastsql.reliability.judges import SecondModels
from fastsql.training.calibration.observe import Observation
from fastsql.training.calibration.questions import Question
from fastsql.training.corpus.split import Pair

_PAIR = ("id", "question", "sql", "db_id")
"""What is kept of a pair; turns of conversations, which have more, are not observed."""


def save_observations(
    observations: Iterable[Observation], path: Path, second: SecondModels | None = None
) -> None:
    """Writes them as packed JSON; a file that lies there is replaced once the new one is whole.

    `second` are the models that were asked for a second opinion, None where none was.
    """
    rows = [
        {
            "pair": {name: getattr(item.question.pair, name) for name in _PAIR},
            "part": item.question.part,
            "group": item.question.group,
            "sql": item.question.sql,
            "removed": sorted(item.question.removed),
            "values": item.question.values,
            "kind": item.question.kind,
            "state": [round(float(value), 5) for value in item.state],
            "shared": item.shared,
            **_seen(item),
            "told": None if item.told is None else _seen(item.told),
        }
        for item in observations
    ]
    temporary = path.with_name(f"{path.name}.tmp")
    content = {"second": None if second is None else asdict(second), "observations": rows}
    temporary.write_bytes(gzip.compress(json.dumps(content, ensure_ascii=False).encode()))
    temporary.replace(path)


def _seen(item: Observation) -> dict[str, Any]:
    return {
        "evidence": asdict(item.evidence),
        "inspected": None if item.inspected is None else asdict(item.inspected),
        "right": item.right,
        "others": [[asdict(evidence), right] for evidence, right in item.others],
    }


def load_observations(path: Path) -> tuple[Observation, ...]:
    """Reads what `save_observations` wrote. Raises FastSQLError for anything else."""
    try:
        return tuple(map(_observation, _content(path)["observations"]))
    except (KeyError, TypeError, ValueError) as error:
        raise _none(path, error) from error


def asked_models(path: Path) -> SecondModels | None:
    """The models that were asked about the observations of a file, None where none were.

    Raises FastSQLError where it holds none.
    """
    try:
        found = _content(path)["second"]
        return None if found is None else SecondModels(**found)
    except (KeyError, TypeError) as error:
        raise _none(path, error) from error


def _content(path: Path) -> Any:
    try:
        return json.loads(gzip.decompress(path.read_bytes()))
    except (OSError, EOFError, ValueError) as error:
        raise _none(path, error) from error


def _none(path: Path, error: Exception) -> FastSQLError:
    return FastSQLError(
        f"holds no observations ({type(error).__name__})",
        where=str(path),
        remedy="Remove it, and they will be made again.",
    )


def _observation(row: dict[str, Any]) -> Observation:
    question = Question(
        Pair(**row["pair"]),
        row["part"],
        row["group"],
        row["sql"],
        frozenset(row["removed"]),
        row["values"],
        row["kind"],
    )
    state, shared = np.array(row["state"], dtype=np.float32), float(row["shared"])

    def seen(row: dict[str, Any]) -> Observation:
        inspected = None if row["inspected"] is None else Evidence(**row["inspected"])
        others = tuple((Evidence(**evidence), bool(right)) for evidence, right in row["others"])
        evidence, right = Evidence(**row["evidence"]), bool(row["right"])
        return Observation(question, evidence, inspected, state, shared, right, others)

    told = row.get("told")
    return seen(row) if told is None else replace(seen(row), told=seen(told))
