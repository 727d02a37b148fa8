"""Whole runs over two toy databases: what is held out stays out, and a run goes on where it stopped."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="pip install 'fastsql[train]' runs this")

from fastsql.errors import ModelError  # noqa: E402
from fastsql.parser.bundles import open_model  # noqa: E402
from fastsql.reverse import load_reverse  # noqa: E402
from fastsql.reverse.weights import read_reverse  # noqa: E402
from fastsql.schema import Schema  # noqa: E402
from fastsql.training.config import ConfigError, WrittenSettings  # noqa: E402
from fastsql.training.reverse.export import export_reverse  # noqa: E402
from fastsql.training.reverse.pairs import ASKED, load_pairs  # noqa: E402
from fastsql.training.reverse.run import train_reverse  # noqa: E402
from fastsql.training.reverse.settings import ReverseSettings, load_settings, settings_from_dict  # noqa: E402
from fastsql.training.runs.checkpoint import LAST, CheckpointError, load_checkpoint  # noqa: E402
from fastsql.training.runs.curves import read_metrics  # noqa: E402
from fastsql.training.runs.ready import TrainingError  # noqa: E402

from ...worlds.toy_bundle import write_bundle  # noqa: E402
from ...worlds.toy_model import WORDPIECE  # noqa: E402

SCHEMAS = {
    "ward": Schema.from_ddl("CREATE TABLE patients (id INTEGER PRIMARY KEY, gender TEXT, age INTEGER)"),
    "shop": Schema.from_ddl("CREATE TABLE goods (id INTEGER PRIMARY KEY, color TEXT)"),
    "held": Schema.from_ddl("CREATE TABLE secrets (id INTEGER PRIMARY KEY, word TEXT)"),
    "reported": Schema.from_ddl("CREATE TABLE exams (id INTEGER PRIMARY KEY, mark TEXT)"),
}
TABLES = {
    "ward": ("patients", "gender"),
    "shop": ("goods", "color"),
    "held": ("secrets", "word"),
    "reported": ("exams", "mark"),
}


def pair(number: int, db_id: str) -> dict[str, object]:
    table, column = TABLES[db_id]
    value = "abcdefghij"[number]
    asked = f"How many {table} of {column} {value}?"
    return {
        "id": str(number),
        "db_id": db_id,
        "question": asked,
        "sql": f"SELECT COUNT(*) FROM {table} WHERE {column} = '{value}'",
    }


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> ReverseSettings:
    """A run of a step, tiny."""
    folder = tmp_path_factory.mktemp("reverse")
    pairs = [pair(number, db_id) for db_id in SCHEMAS for number in range(8)]
    later = {**pair(9, "ward"), "id": "later", "interaction": "1", "turn": 1, "question": "And of these?"}
    write = {
        "train.json": [*pairs, later],
        "dev.json": [
            {**pair(9, "reported"), "id": "r"},
            {**pair(2, "ward"), "id": "same", "db_id": "elsewhere"},
        ],
        "held_out.json": {"templates": [], "examples": [["shop", "3"]], "databases": ["held"]},
        "schemas.json": [{**schema.to_dict(), "db_id": name} for name, schema in SCHEMAS.items()],
    }
    for name, content in write.items():
        (folder / name).write_text(json.dumps(content), encoding="utf-8")
    return settings_from_dict(
        {
            "name": "toy",
            "words_from": str(write_bundle(folder / "bundle")),
            "data": {
                "held_out": str(folder / "held_out.json"),
                "report": [str(folder / "dev.json")],
                "sources": [
                    {
                        "examples": str(folder / "train.json"),
                        "schemas": str(folder / "schemas.json"),
                        "style": "plain",
                    }
                ],
            },
            "model": {"words": 8, "d": 16, "heads": 2, "ffn": 16, "encoder_layers": 1, "decoder_layers": 1},
            "run": {"minutes": 0.0},
        }
    )


@pytest.fixture
def note() -> Callable[[str], None]:
    return lambda line: None


def test_what_is_held_out_or_reported_on_is_not_learnt_from(
    settings: ReverseSettings, tmp_path: Path
) -> None:
    corpus = load_pairs(settings.data, tmp_path)
    learnt = {(one.schema, one.question) for one in corpus.train}
    assert {schema for schema, _ in learnt} == {"ward", "shop"}
    assert ("shop", "How many goods of color d?") not in learnt
    assert ("ward", "How many patients of gender c?") not in learnt  # asked in what is reported on
    assert ("ward", "And of these?") not in learnt
    assert len(learnt) == 7 + 7
    assert {one.schema for one in corpus.dev} == {"held"}


def test_questions_written_by_hand_are_learnt_from_in_a_style_of_their_own(
    settings: ReverseSettings, tmp_path: Path
) -> None:
    written = WrittenSettings(pairs=20, held_out=("dental",))
    corpus = load_pairs(replace(settings.data, written=written), tmp_path)
    told = [one for one in corpus.train if one.style == ASKED]
    assert len(told) > 10
    assert {one.style for one in corpus.train} == {"plain", ASKED}
    assert not any(one.schema.startswith("dental") for one in told)


def test_two_databases_of_one_name_are_refused(settings: ReverseSettings, tmp_path: Path) -> None:
    (source,) = settings.data.sources
    other = Schema.from_ddl("CREATE TABLE goods (color TEXT, id INTEGER)")
    (tmp_path / "schemas.json").write_text(json.dumps([{**other.to_dict(), "db_id": "shop"}]))
    (tmp_path / "train.json").write_text(json.dumps([{**pair(0, "shop"), "id": "new"}]))
    beside = replace(source, examples=str(tmp_path / "train.json"), schemas=str(tmp_path / "schemas.json"))
    with pytest.raises(ConfigError, match="'shop' has other columns"):
        load_pairs(replace(settings.data, sources=(source, beside)), tmp_path)


def test_a_run_may_start_from_the_weights_of_another(settings: ReverseSettings, tmp_path: Path) -> None:
    start = export_reverse(train_reverse(settings, tmp_path / "first", threads=1), tmp_path / "start")
    known = read_reverse(start, open_model(settings.words_from).tokenizer())
    other = replace(settings, seed=settings.seed + 1)

    def distance(folder: str, **how: Path) -> float:
        state = load_checkpoint(train_reverse(other, tmp_path / folder, threads=1, **how))
        name = "output.weight"
        return float(np.abs(state["average"][name].numpy() - known.weights(name)).max())

    # What is learnt in one step at the beginning of the warm-up is next to nothing.
    assert distance("warm", warm_start=start) < 0.1 * distance("fresh")
    with pytest.raises(ModelError, match="missing"):
        train_reverse(other, tmp_path / "none", warm_start=tmp_path / "nothing")
    assert not (tmp_path / "none").exists()


def test_a_run_stops_goes_on_and_is_exported(
    settings: ReverseSettings, tmp_path: Path, note: Callable[[str], None]
) -> None:
    checkpoint = train_reverse(settings, tmp_path, threads=1, report=note)
    first = load_checkpoint(checkpoint)
    assert first["position"]["step"] == 1
    with pytest.raises(TrainingError, match="already holds a run"):
        train_reverse(settings, tmp_path, report=note)
    longer = replace(settings, run=replace(settings.run, minutes=first["position"]["seconds"] / 60))
    train_reverse(longer, tmp_path, resume=True, threads=1, report=note)
    second = load_checkpoint(checkpoint)
    assert second["position"]["step"] == 2
    assert second["seen"] > first["seen"]
    assert second["average_steps"] == 2
    assert [row["kind"] for row in read_metrics(tmp_path)] == ["dev", "dev"]

    model = load_reverse(export_reverse(checkpoint, tmp_path / "weights.safetensors"), WORDPIECE)
    assert model.styles == ("plain",)
    words = model.network._words.rows(torch.arange(WORDPIECE.vocabulary).numpy())
    torch.testing.assert_close(torch.from_numpy(words), second["average"]["words.weight"])


def test_there_must_be_a_run_to_go_on_with(settings: ReverseSettings, tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=LAST):
        train_reverse(settings, tmp_path, resume=True)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('name = "x"', "'data' is missing"),
        ('name = "x"\n[data]\nsources = []\nheld_out = "h.json"', "sources is empty"),
        ('name = "x"\ntempo = 3\n[data]\nsources = []\nheld_out = ""', "unknown setting 'tempo'"),
    ],
)
def test_a_configuration_that_cannot_be_used_says_why(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "c.toml").write_text(text)
    with pytest.raises(ConfigError, match=told):
        load_settings(tmp_path / "c.toml")


def test_the_configuration_of_the_bundled_model_can_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FASTSQL_DATA", "/data")
    settings = load_settings(Path(__file__).parents[3] / "configs" / "reverse-en.toml")
    assert Path(settings.data.held_out).is_file()
