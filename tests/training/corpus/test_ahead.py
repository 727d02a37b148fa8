"""What a corpus takes long for, made by several processes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="pip install '.[train]' runs this")

from fastsql.datasets import DatasetError
from fastsql.grammar import sql_to_program
from fastsql.training.config import MadeSettings, TrainConfig, WrittenSettings
from fastsql.training.corpus import conversion
from fastsql.training.corpus.ahead import prepare_ahead
from fastsql.training.corpus.corpus import load_corpus
from fastsql.training.corpus.written import with_written


@pytest.fixture(scope="module")
def wide(config: TrainConfig) -> TrainConfig:
    """The ward, conversations made of its questions, and a few pairs of our own designs, made and written."""
    (ward,) = config.data.sources
    talks = replace(ward, conversations="made", report=(), carve=False, dev=False)
    made = MadeSettings(schemas=2, pairs=6, kinds=("designs",))
    written = WrittenSettings(pairs=20)
    return replace(config, data=replace(config.data, sources=(ward, talks), made=made, written=written))


def test_what_was_made_ahead_is_found(
    wide: TrainConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone, several = tmp_path / "alone", tmp_path / "several"
    plain = load_corpus(with_written(wide, alone, print).data, wide.seed, alone)
    told: list[str] = []
    prepare_ahead(wide, several, 2, told.append)
    assert told[0] == "preparing 4 parts of the data in 2 processes"
    assert len(told) == 5
    assert told[-1].startswith("4 of 4 parts ready: ")
    before = sorted(path.name for path in several.rglob("*") if path.is_file())
    found: list[str] = []

    def converted(sql: str, *_: object) -> object:
        found.append(sql)
        return sql_to_program(sql, *_)

    monkeypatch.setattr(conversion, "sql_to_program", converted)
    again = load_corpus(with_written(wide, several, print).data, wide.seed, several)
    assert [(one.pair.key, one.program) for one in again.train] == [
        (one.pair.key, one.program) for one in plain.train
    ]
    assert sorted(path.name for path in several.rglob("*") if path.is_file()) == before
    assert not set(found) & {one.pair.sql for one in again.train}, "what can be converted was"


def test_one_process_makes_nothing_ahead(wide: TrainConfig, tmp_path: Path) -> None:
    prepare_ahead(wide, tmp_path, 1, print)
    assert not list(tmp_path.iterdir())


def test_a_part_alone_is_left_to_who_asks_for_it(config: TrainConfig, tmp_path: Path) -> None:
    prepare_ahead(config, tmp_path, 2, print)
    assert not list(tmp_path.iterdir())


def test_an_error_in_another_process_says_where(config: TrainConfig, tmp_path: Path) -> None:
    (ward,) = config.data.sources
    missing = replace(ward, examples=str(tmp_path / "missing.json"))
    config = replace(config, data=replace(config.data, sources=(missing, missing)))
    with pytest.raises(DatasetError, match=r"missing\.json") as failed:
        prepare_ahead(config, tmp_path / "cache", 2, print)
    assert failed.value.where


def test_other_weights_make_nothing_anew(wide: TrainConfig, tmp_path: Path) -> None:
    with_written(wide, tmp_path, print)
    load_corpus(wide.data, wide.seed, tmp_path)
    files = sorted(path.name for path in tmp_path.rglob("*") if path.is_file())
    made = replace(wide.data.made, weight=0.9, conversations_weight=0.1)
    load_corpus(replace(wide.data, made=made), wide.seed, tmp_path)
    assert sorted(path.name for path in tmp_path.rglob("*") if path.is_file()) == files
