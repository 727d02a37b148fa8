"""What is made of a database is made anew where the database has changed."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="pip install '.[train]' runs this")

from fastsql.demo import create_hospital
from fastsql.training.config import ConfigError, SourceSettings, TrainConfig
from fastsql.training.corpus.files import check_files, stamp
from fastsql.training.corpus.sources import read_pairs
from fastsql.training.corpus.synthetic import synthetic_examples

Read = Callable[[SourceSettings, int, Path, Callable[[str], None]], object]


def quiet(_line: str) -> None:
    pass


def test_a_stamp_tells_a_file_and_those_in_a_folder_from_what_they_were(tmp_path: Path) -> None:
    inside = tmp_path / "ward" / "ward.sqlite"
    inside.parent.mkdir()
    inside.write_bytes(b"one")
    before = {place: stamp(place) for place in (inside, tmp_path)}
    assert all(stamp(place) == one for place, one in before.items())
    moved = tmp_path.parent / f"{tmp_path.name}-moved"
    shutil.copytree(tmp_path, moved)
    os.utime(moved / "ward" / "ward.sqlite", (1, 1))
    assert stamp(moved) == before[tmp_path], "wherever they lie, and whenever they were written"
    assert stamp(moved / "ward" / "ward.sqlite") == before[inside]
    inside.write_bytes(b"another")
    assert all(stamp(place) != one for place, one in before.items())


def makings(read: Read, source: SourceSettings, cache: Path) -> int:
    """How often pairs are made where they are read twice, and once more of a database that has grown."""
    first = read(source, 7, cache, quiet)
    assert read(source, 7, cache, quiet) == first
    assert len(list(cache.iterdir())) == 1
    with sqlite3.connect(source.database) as connection:
        connection.execute("CREATE TABLE further (id INTEGER)")
    read(source, 7, cache, quiet)
    return len(list(cache.iterdir()))


def test_conversations_are_made_anew_of_a_changed_database(
    config: TrainConfig, ward: Path, tmp_path: Path
) -> None:
    database = Path(shutil.copy(ward / "ward.sqlite", tmp_path))
    source = replace(config.data.sources[0], database=str(database), conversations="made")
    assert makings(read_pairs, source, tmp_path / "cache") == 2


def test_recorded_conversations_have_no_use_for_a_database(
    config: TrainConfig, ward: Path, tmp_path: Path
) -> None:
    examples = json.loads((ward / "train.json").read_text(encoding="utf-8"))[:4]
    talks = [{**one, "interaction": one["id"], "turn": 0} for one in examples]
    (tmp_path / "talks.json").write_text(json.dumps(talks), encoding="utf-8")
    database = Path(shutil.copy(ward / "ward.sqlite", tmp_path))
    source = replace(
        config.data.sources[0],
        examples=str(tmp_path / "talks.json"),
        database=str(database),
        conversations="given",
    )
    assert makings(read_pairs, source, tmp_path / "cache") == 1


def test_synthetic_pairs_are_made_anew_of_a_changed_database(config: TrainConfig, tmp_path: Path) -> None:
    database = tmp_path / "hospital.sqlite"
    create_hospital(database, patients=2)
    source = replace(config.data.sources[0], database=str(database), generate=2)
    assert makings(synthetic_examples, source, tmp_path / "cache") == 2


def test_a_source_gives_its_split_but_for_what_is_reported_on(
    config: TrainConfig, ward: Path, tmp_path: Path
) -> None:
    source = config.data.sources[0]
    examples = json.loads(Path(source.examples).read_text(encoding="utf-8"))
    answered = [one for one in examples if one["sql"]]
    splits = tmp_path / "splits.json"
    chosen, reported = [one["id"] for one in answered[:6]], [one["id"] for one in answered[4:5]]
    splits.write_text(json.dumps({"part": {"train": chosen, "dev": reported}}), encoding="utf-8")
    named = replace(source, ids=f"{splits}:part.train", reported_ids=f"{splits}:part.dev")
    pairs, _ = read_pairs(named, 7, tmp_path / "cache", quiet)
    hidden = {one["question"] for one in answered if one["id"] in reported}
    assert {pair.id for pair in pairs} == {one["id"] for one in answered[:6] if one["question"] not in hidden}


def test_a_split_that_is_not_there_is_said_before_anything_is_read(
    config: TrainConfig, tmp_path: Path
) -> None:
    source = replace(config.data.sources[0], ids=f"{tmp_path}/none.json:train")
    with pytest.raises(ConfigError, match=r"ids .*none\.json.* there is no such file"):
        check_files(replace(config.data, sources=(source,)))
