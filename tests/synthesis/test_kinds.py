"""What counts as one kind of question when a training set is compared with synthetic pairs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fastsql.synthesis.hospital.source import hospital_schema

from ..test_benchmarks import module

COUNT = "SELECT COUNT(*) FROM labevents"
ITEM = "labevents.itemid = 5"


@pytest.mark.parametrize(
    ("sql", "left"),
    [
        (f"{COUNT} WHERE {ITEM} AND STRFTIME('%Y', labevents.charttime) = '2100'", f"{COUNT} WHERE {ITEM}"),
        (f"{COUNT} WHERE DATETIME(labevents.charttime) >= DATETIME('now', '-2 year')", COUNT),
        (
            f"{COUNT} WHERE labevents.charttime = '2100-05-01 10:00:00'",
            f"{COUNT} WHERE labevents.charttime = '2100-05-01 10:00:00'",
        ),
        (f"{COUNT} WHERE ABS(labevents.valuenum) > labevents.itemid", None),
        ("SELECT AVG(a.x) FROM a JOIN b ON a.x = b.x WHERE DATETIME(a.t) < DATETIME(b.t)", None),
    ],
)
def test_filters_on_time_go_with_every_kind(sql: str, left: str | None) -> None:
    assert module("kinds").without_times(sql).lower() == (left or sql).lower()


def test_what_no_draft_asks_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "toy"
    folder.mkdir()
    schema = {**hospital_schema().to_dict(), "db_id": "mimic_iv"}
    (folder / "schemas.json").write_text(json.dumps([schema]), encoding="utf-8")
    pairs = {
        "How many patients are there?": "SELECT COUNT(*) FROM patients",
        "Which rooms were seldom used?": "SELECT t.careunit FROM transfers AS t GROUP BY t.careunit HAVING COUNT(*) < 3",
    }
    examples = [
        {"id": str(number), "db_id": "mimic_iv", "question": question, "sql": sql}
        for number, (question, sql) in enumerate(pairs.items())
    ]
    (folder / "train.json").write_text(json.dumps(examples), encoding="utf-8")
    (folder / "pairs.json").write_text(json.dumps(examples[:1]), encoding="utf-8")
    report = tmp_path / "kinds.json"
    given = ["--set", "toy", "--data", str(tmp_path), "--pairs", str(folder / "pairs.json"), "--show", "5"]
    assert module("kinds").main([*given, "--json", str(report)]) == 0
    rows = json.loads(report.read_text(encoding="utf-8"))["coverage"]
    assert {row["level"]: row["covered, %"] for row in rows} == {"skeleton": 50, "kind": 50, "form": 50}
    shown = capsys.readouterr().out
    assert "1 queries, such as: Which rooms were seldom used?" in shown
    assert "How many patients are there?" not in shown
