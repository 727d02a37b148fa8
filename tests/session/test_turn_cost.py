"""What a turn costs is told beside the same question asked alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ..grammar.test_benchmarks import script
from ..worlds.toy_bundle import QUESTIONS
from ..worlds.toy_model import SCHEMA


def written(folder: Path, turns: int) -> list[str]:
    """Two conversations of so many turns as files, and the options that name them."""
    records = [
        {
            "id": f"{talk}.{turn}",
            "db_id": "ward",
            "question": question,
            "sql": None,
            "interaction": talk,
            "turn": turn,
        }
        for talk in ("a", "b")
        for turn, question in enumerate([*QUESTIONS[:2], "only the women", "sort them by dob"][:turns])
    ]
    (folder / "talks.json").write_text(json.dumps(records), encoding="utf-8")
    schemas = [{**SCHEMA.to_dict(), "db_id": "ward"}]
    (folder / "schemas.json").write_text(json.dumps(schemas), encoding="utf-8")
    return [
        str(folder / "talks.json"),
        "--schemas",
        str(folder / "schemas.json"),
        "--databases",
        str(folder / "ward.sqlite"),
    ]


def test_turns_are_told_apart_by_what_came_of_them(
    talking_bundle: Path, database: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = database.parent
    options = ["--model", str(talking_bundle), "--json", str(folder / "cost.json")]
    assert script("turn_cost")([*written(folder, 4), *options]) == 0
    times = json.loads((folder / "cost.json").read_text("utf-8"))["times"]
    assert times["all"]["turns"] == 6
    assert sum(found["turns"] for name, found in times.items() if name != "all") == 6
    assert all(0 < found["median"] <= found["p90"] for found in times.values())
    assert "going on from earlier queries" in capsys.readouterr().out


def test_first_turns_alone_are_nothing_to_time(
    talking_bundle: Path, database: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert script("turn_cost")([*written(database.parent, 1), "--model", str(talking_bundle)]) == 1
    assert "no conversation has a second turn" in capsys.readouterr().err
