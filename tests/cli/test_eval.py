"""``fastsql eval`` reads a data set, writes figures and predictions, and says what they are."""

from __future__ import annotations

import gzip
import html
import json
import re
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import fastsql

from .conftest import WOMEN, Loader, Outcome

Run = Callable[..., Outcome]
ITEMS: list[dict[str, Any]] = [
    {
        "id": "a",
        "db_id": "ward",
        "question": "Which are women?",
        "sql": "SELECT subject_id FROM patients WHERE gender = 'f'",
    },
    {
        "id": "b",
        "db_id": "ward",
        "question": "Which women are heavy?",
        "sql": "SELECT subject_id FROM patients",
    },
    {"id": "c", "db_id": "ward", "question": "Who has a dog?", "sql": None},
]
FIGURES = ["n", "ex", "em", "em_values", "rs", "wrong", "abstained", "valid_sql", "latency_ms", "details"]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    columns = [
        {"name": name, "label": name, "type": kind, "primary_key": False}
        for name, kind in (("subject_id", "number"), ("gender", "text"), ("weight", "number"))
    ]
    tables = [{"name": "patients", "label": "patients", "columns": columns}]
    (tmp_path / "data.json").write_text(json.dumps(ITEMS))
    (tmp_path / "schemas.json").write_text(
        json.dumps([{"db_id": "ward", "tables": tables, "foreign_keys": []}])
    )
    (tmp_path / "splits.json").write_text(json.dumps({"example": {"dev": ["c", "a"]}}))
    return tmp_path


def command(data: Path, *more: object) -> tuple[object, ...]:
    return ("eval", data / "data.json", "--schemas", data / "schemas.json", "--jobs", 1, *more)


def test_figures_and_predictions_are_written(run: Run, data: Path, database: Path) -> None:
    files = ("--json", data / "out.json", "--predictions", data / "predictions.json")
    outcome = run(*command(data, "--databases", database, *files))
    assert outcome.status == 0, outcome.err
    figures = json.loads((data / "out.json").read_text())
    assert list(figures) == FIGURES
    assert (figures["n"], figures["ex"], figures["wrong"], figures["abstained"]) == (3, 50, 1, 1)
    assert figures["rs"] == {"0": 66.6667, "5": -100, "10": -266.6667, "N": -33.3333}
    assert figures["details"]["penalty"] == 10
    predictions = json.loads((data / "predictions.json").read_text())
    assert predictions[0] == {"id": "a", "sql": WOMEN, "confidence": 0.9, "abstained": False}
    assert predictions[2] == {"id": "c", "sql": None, "confidence": 0.1, "abstained": True}


def test_the_figures_are_printed(run: Run, data: Path, database: Path) -> None:
    outcome = run(*command(data, "--databases", database, "--seen", data / "data.json"))
    assert "3 questions, 2 of them answerable" in outcome.out
    assert "execution accuracy  50.0 %" in outcome.out
    assert "seen skeletons" in outcome.out
    assert "refusals            Se 100.0 %" in outcome.out
    assert " of the answerable answered" in outcome.out
    assert "parsing: 3" in outcome.err


def test_predictions_can_be_judged_without_a_model(
    run: Run, loader: Loader, data: Path, database: Path
) -> None:
    run(
        *command(data, "--databases", database, "--predictions", data / "p.json", "--json", data / "one.json")
    )
    loader.parsers.clear()
    run(
        *command(
            data, "--databases", database, "--from-predictions", data / "p.json", "--json", data / "two.json"
        )
    )
    assert loader.parsers == []
    one, two = (json.loads((data / name).read_text()) for name in ("one.json", "two.json"))
    assert two.pop("latency_ms") == {"p50": None, "p90": None, "p99": None}
    del one["latency_ms"], one["details"], two["details"]
    assert one == two


def test_predictions_of_other_questions_are_told_of(run: Run, data: Path) -> None:
    given = [{"id": name, "sql": None} for name in "abcd"]
    (data / "p.json").write_text(json.dumps(given))
    outcome = run(*command(data, "--from-predictions", data / "p.json"))
    assert (outcome.status, "1 predictions of other questions" in outcome.err) == (0, True)
    outcome = run(*command(data, "--from-predictions", data / "p.json", "--limit", 2))
    assert "other questions" not in outcome.err
    (data / "p.json").write_text(json.dumps(given[:1]))
    outcome = run(*command(data, "--from-predictions", data / "p.json"))
    assert (outcome.status, "2 of 3 examples have no prediction, such as 'b'" in outcome.err) == (2, True)


def test_a_report_and_plots_are_written_when_asked(run: Run, data: Path, database: Path) -> None:
    pytest.importorskip("matplotlib", reason="pip install matplotlib runs this")
    files = ("--report", data / "report.html", "--plots", data / "plots", "--shown", 1)
    outcome = run(*command(data, "--databases", database, *files))
    assert outcome.status == 0, outcome.err
    page = (data / "report.html").read_text(encoding="utf-8")
    assert "Evaluation on data.json" in page
    assert "This page shows questions and SQL" in page
    assert "Which women are heavy?" in page
    assert sorted(path.name for path in (data / "plots").iterdir()) == [
        "hardness.png",
        "reliability.png",
        "risk-coverage.png",
    ]


def test_nothing_is_written_unless_asked(run: Run, data: Path, database: Path) -> None:
    before = sorted(data.iterdir())
    outcome = run(*command(data, "--databases", database))
    assert sorted(data.iterdir()) == before
    assert "women" not in outcome.out + outcome.err


@pytest.mark.parametrize("option", ["--report", "--plots"])
def test_without_matplotlib_the_work_does_not_begin(
    run: Run, loader: Loader, data: Path, monkeypatch: pytest.MonkeyPatch, option: str
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    outcome = run(*command(data, option, data / "out"))
    assert outcome.status == 2
    assert "pip install matplotlib" in outcome.err
    assert loader.parsers == []


def test_intervals_are_printed_unless_left_out(run: Run, data: Path, database: Path) -> None:
    outcome = run(*command(data, "--databases", database))
    assert re.search(r"execution accuracy +50\.0 % \([\d.]+ to [\d.]+, Wilson\)", outcome.out)
    outcome = run(*command(data, "--databases", database, "--resamples", 0, "--json", data / "out.json"))
    assert re.search(r"execution accuracy +50\.0 %$", outcome.out, re.MULTILINE)
    assert json.loads((data / "out.json").read_text())["details"]["intervals"] is None


def test_a_report_says_what_was_measured(run: Run, data: Path, database: Path) -> None:
    pytest.importorskip("matplotlib", reason="pip install matplotlib runs this")
    given = command(
        data, "--databases", database, "--now", "2100-12-31", "--beam", 2, "--limit", 2, "--seed", 5
    )
    files = ("--json", data / "out.json", "--report", data / "report.html")
    outcome = run(*given, *files)
    typed = shlex.join(["fastsql", *map(str, (*given, *files))])
    told = json.loads((data / "out.json").read_text())["details"]["provenance"]
    expected = {
        "version": fastsql.__version__,
        "model": "FakeParser",
        "penalty": 10,
        "beam": 2,
        "now": "2100-12-31 00:00:00",
        "sampled_from": 3,
        "seed": 5,
        "command": typed,
    }
    assert {name: told[name] for name in expected} == expected
    page = html.unescape(re.sub("<[^>]+>", " ", (data / "report.html").read_text(encoding="utf-8")))
    for shown in (outcome.out, page):
        text = " ".join(shown.split())
        for words in (
            "model FakeParser",
            f"fastsql {fastsql.__version__}",
            "penalty 10, beam 2",
            "now 2100-12-31 00:00:00",
            "2 of 3, a stratified sample, seed 5",
            typed,
        ):
            assert words in text


def test_a_limit_draws_a_sample_of_every_kind(run: Run, data: Path) -> None:
    """The first of these questions all have an answer."""
    items = [
        {**ITEMS[0], "id": str(number), "sql": ITEMS[0]["sql"] if number < 40 else None}
        for number in range(50)
    ]
    (data / "data.json").write_text(json.dumps(items))
    counts = {}
    for seed in (0, 1):
        given = command(data, "--limit", 10, "--seed", seed, "--predictions", data / f"{seed}.json")
        run(*given, "--json", data / "out.json", "--resamples", 0)
        details = json.loads((data / "out.json").read_text())["details"]
        assert (details["answerable"], details["unanswerable"]) == (8, 2)
        counts[seed] = {item["id"] for item in json.loads((data / f"{seed}.json").read_text())}
    assert counts[0] != counts[1]


def test_ids_and_limit_choose_questions(run: Run, data: Path, loader: Loader) -> None:
    run(
        *command(
            data,
            "--split-ids",
            f"{data / 'splits.json'}:example.dev",
            "--limit",
            1,
            "--json",
            data / "out.json",
        )
    )
    assert json.loads((data / "out.json").read_text())["n"] == 1
    assert len({call["question"] for call in loader.parsers[0].calls}) == 1


@pytest.fixture
def talks(data: Path) -> Path:
    """Two conversations: women and heavy women; women and a question without an answer."""
    items = [
        {**ITEMS[index], "id": f"{talk}{turn}", "interaction": talk, "turn": turn}
        for talk, indices in (("x", (0, 1)), ("y", (0, 2)))
        for turn, index in enumerate(indices)
    ]
    (data / "data.json").write_text(json.dumps(items))
    return data


def test_conversations_are_asked_with_a_history(
    run: Run, loader: Loader, talks: Path, database: Path
) -> None:
    files = ("--json", talks / "out.json", "--predictions", talks / "p.json")
    outcome = run(*command(talks, "--databases", database, *files))
    assert outcome.status == 0, outcome.err
    assert sum("history" in call for call in loader.parsers[0].calls) == 4
    assert re.search(
        r"conversations +QM 66\.7 % \(.*\) of turns, IM 50\.0 % \(.*\) of 2 conversations", outcome.out
    )
    assert re.search(r"first failure +IFF 2\.50 \(.*\), 83\.3 % \(.*\) of the perfect 3\.00", outcome.out)
    assert re.search(r"QM by turn +1 100\.0 % of 2, 2 0\.0 % of 1", outcome.out)
    figures = json.loads((talks / "out.json").read_text())
    assert list(figures) == [*FIGURES[:-1], "interactions", "details"]
    again = run(*command(talks, "--databases", database, "--from-predictions", talks / "p.json"))
    assert "IM 50.0 %" in again.out
    plain = run(*command(talks, "--resamples", 0, "--databases", database))
    assert "IFF 2.50, 83.3 % of the perfect 3.00" in plain.out


def test_a_limit_and_ids_choose_whole_conversations(run: Run, talks: Path) -> None:
    outcome = run(*command(talks, "--limit", 1, "--json", talks / "out.json"))
    assert "2 of 4, a stratified sample" in outcome.out
    assert "of turns, by queries, IM" in outcome.out
    (talks / "ids.json").write_text(json.dumps(["x0", "x1"]))
    assert "2 questions" in run(*command(talks, "--split-ids", talks / "ids.json")).out
    (talks / "ids.json").write_text(json.dumps(["x0", "x1", "y1"]))
    outcome = run(*command(talks, "--split-ids", talks / "ids.json"))
    assert outcome.status == 2
    assert "lists some turns of interaction 'y', but not 'y0'" in outcome.err


def test_turns_out_of_order_are_told_before_the_work(run: Run, loader: Loader, talks: Path) -> None:
    items = json.loads((talks / "data.json").read_text())
    (talks / "data.json").write_text(json.dumps(items[::-1]))
    outcome = run(*command(talks))
    assert (outcome.status, loader.parsers) == (2, [])
    assert "not behind the turn before it" in outcome.err


def test_without_a_database_accuracy_is_null(run: Run, data: Path) -> None:
    outcome = run(*command(data, "--json", data / "out.json"))
    assert json.loads((data / "out.json").read_text())["ex"] is None
    assert "execution accuracy  -" in outcome.out


def test_a_gzipped_database_reaches_the_parser(run: Run, loader: Loader, data: Path, database: Path) -> None:
    packed = data / "ward.sqlite.gz"
    packed.write_bytes(gzip.compress(database.read_bytes()))
    run(*command(data, "--databases", packed))
    assert all(call["values"] is not None for call in loader.parsers[0].calls)


def test_values_can_be_withheld(run: Run, loader: Loader, data: Path, database: Path) -> None:
    run(*command(data, "--databases", database, "--no-values"))
    assert {call["values"] for call in loader.parsers[0].calls} == {None}


def test_reference_tables_reach_the_parser(run: Run, loader: Loader, data: Path, database: Path) -> None:
    run(*command(data, "--databases", database, "--reference", "patients"))
    schemas = [call["schema"] for call in loader.parsers[0].calls]
    assert {table.reference for schema in schemas for table in schema.tables} == {True}
    missing = run(*command(data, "--reference", "wards"))
    assert missing.status == 2
    assert "--reference wards: no schema has this table" in missing.err


def test_beam_and_inspection_reach_the_parser(run: Run, loader: Loader, data: Path, database: Path) -> None:
    run(*command(data, "--databases", database, "--beam", 2, "--inspect"))
    assert {call["beam"] for call in loader.parsers[0].calls} == {2}
    rows = {call["inspector"] is not None for call in loader.parsers[0].calls}
    assert rows == {True}
    run(*command(data, "--inspect"))
    assert all("inspector" not in call for call in loader.parsers[1].calls), "there is nothing to inspect"


def test_examples_are_remembered_with_the_values_of_the_database(
    run: Run, loader: Loader, data: Path, database: Path, tmp_path: Path
) -> None:
    pairs = tmp_path / "pairs.json"
    pairs.write_text(json.dumps([{"question": "Who is heavy?", "sql": "SELECT 1"}]))
    assert run(*command(data, "--databases", database, "--examples", pairs)).status == 0
    assert run(*command(data, "--databases", database, "--examples", pairs, "--no-values")).status == 0
    told = [parser.remembered for parser in loader.parsers]
    assert told[0][0][:2] == told[1][0][:2] == ("Who is heavy?", "SELECT 1")
    assert (told[0][0][2]["values"], told[1][0][2]["values"]) == (database, None)


def test_nobody_remembers_examples_where_predictions_are_judged(run: Run, data: Path) -> None:
    (data / "p.json").write_text(json.dumps([{"id": name, "sql": None} for name in "abc"]))
    outcome = run(*command(data, "--from-predictions", data / "p.json", "--examples", data / "pairs.json"))
    assert (outcome.status, "no model is asked" in outcome.err) == (2, True)


def test_databases_that_are_missing_are_named(run: Run, data: Path) -> None:
    (data / "empty").mkdir()
    outcome = run(*command(data, "--databases", data / "empty"))
    assert outcome.status == 0
    assert "lacks 1 of 1 databases: ward" in outcome.err


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--json", "no/such/folder/out.json", "is not a folder"),
        ("--report", "no/such/folder/out.html", "is not a folder"),
        ("--plots", "no/such/folder", "is not a folder"),
        ("--plots", __file__, "is not a folder"),
        ("--shown", "-1", "at least 0"),
        ("--resamples", "-1", "at least 0"),
        ("--limit", "0", "at least 1"),
        ("--seed", "-1", "at least 0"),
        ("--time-limit", "0", "above 0"),
        ("--databases", "nowhere", "no such file or folder"),
        ("--split-ids", "nowhere.json", "no such file"),
        ("--from-predictions", "nowhere.json", "no such file"),
        ("--model", "nowhere", "no such model"),
    ],
)
def test_mistakes_are_told_before_the_work(
    run: Run, loader: Loader, data: Path, option: str, value: str, message: str
) -> None:
    outcome = run(*command(data, option, value))
    assert outcome.status == 2
    assert message in outcome.err
    assert all(parser.calls == [] for parser in loader.parsers)
