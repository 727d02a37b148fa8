"""Pools of schemas, and data sets over them."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path

import pytest

from fastsql.datasets import read_examples, read_schemas, read_values
from fastsql.execution.executor import DatabaseGoneError
from fastsql.synthesis.many import make_set, write_set
from fastsql.synthesis.pool import SchemaPool
from fastsql.synthesis.schema import SchemaSource
from fastsql.synthesis.source import SynthesisError

from ..worlds.database import inserted, write_database
from ..worlds.failing_database import vanishing


def test_designs_alone_need_no_data_set(tmp_path: Path) -> None:
    told: list[str] = []
    with SchemaPool(2, 2, kinds=["designs"]) as pool:
        made = make_set(pool, 4, 2, told.append)
    assert "2 of 2 schemas, 4 pairs" in told[-1]
    pairs, schemas, values = write_set(made, tmp_path)
    examples, known = read_examples(pairs), read_schemas(schemas)
    assert len(examples) == 4
    assert {example.db_id for example in examples} == set(known) == set(read_values(values))
    assert [schema.fingerprint for schema in made.schemas] == [
        schema.fingerprint for schema in known.values()
    ]
    with SchemaPool(2, 2, kinds=["designs"]) as again:
        assert make_set(again, 4, 2, told.append) == made


@pytest.mark.parametrize(
    ("kinds", "message"), [(["designs", "moon"], "moon"), ([], "folder"), (["spider"], "folder")]
)
def test_kinds_that_cannot_be_had_are_errors(kinds: list[str], message: str) -> None:
    with pytest.raises(SynthesisError, match=message):
        SchemaPool(3, kinds=kinds)


def a_data_set(folder: Path, count: int) -> None:
    """A data set whose last database has training questions no more than the others, and one that has none."""
    folder.mkdir()
    names = [f"db_{number}" for number in range(count)]
    schemas = [
        {
            "db_id": name,
            "tables": [
                {
                    "name": "races",
                    "columns": [
                        {"name": "race_id", "type": "number", "primary_key": True},
                        {"name": "track", "type": "text"},
                    ],
                }
            ],
            "foreign_keys": [],
        }
        for name in (*names, "unasked")
    ]
    pairs = [{"id": name, "db_id": name, "question": "?", "sql": "SELECT 1"} for name in names]
    (folder / "schemas.json").write_text(json.dumps(schemas))
    (folder / "train.json").write_text(json.dumps(pairs))


def test_what_is_held_out_or_not_trained_on_is_never_taken(tmp_path: Path) -> None:
    a_data_set(tmp_path / "bird", 4)
    with SchemaPool(20, folder=tmp_path, kinds=["bird", "designs"], held_out=["db_1"]) as pool:
        assert {one.db_id for one in pool.schemas if one.kind == "bird"} <= {"db_0", "db_2", "db_3"}
        assert len(pool.schemas) == 20
        published = next(one for one in pool.schemas if one.kind == "bird")
        with pool.open(published) as executor:
            ((count,),) = executor.run("SELECT COUNT(*) FROM races").rows
    assert count >= 3


def test_published_rows_are_used(tmp_path: Path) -> None:
    a_data_set(tmp_path / "spider", 1)
    ddl = "CREATE TABLE races (race_id INTEGER PRIMARY KEY, track TEXT);"
    write_database(tmp_path / "db_0.sqlite", ddl + inserted("races", [(7, "Imola")]))
    (tmp_path / "spider" / "databases").mkdir()
    with tarfile.open(tmp_path / "spider" / "databases" / "train_databases.tar.xz", "w:xz") as archive:
        archive.add(tmp_path / "db_0.sqlite", "db_0.sqlite")
    with SchemaPool(1, folder=tmp_path, kinds=["spider"]) as pool, pool.open(pool.schemas[0]) as executor:
        assert executor.run("SELECT * FROM races").rows == ((7, "Imola"),)


def test_schemas_over_which_nothing_can_be_made_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fastsql.synthesis.many.known_templates", tuple)
    told: list[str] = []
    with SchemaPool(2, kinds=["designs"]) as pool, pytest.raises(SynthesisError, match="any of"):
        make_set(pool, 4, 1, told.append)
    assert told[-1] == "2 schemas left out: nothing can be drawn: there are no templates"


def test_a_database_that_goes_away_is_no_schema_over_which_nothing_can_be_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    source = "fastsql.synthesis.many.SchemaSource"
    monkeypatch.setattr(
        source,
        lambda schema, executor, *args, **more: SchemaSource(schema, vanishing(executor, 20), *args, **more),
    )
    with SchemaPool(2, 2, kinds=["designs"]) as pool, pytest.raises(DatabaseGoneError):
        make_set(pool, 40, 2, lambda _: None)


def test_conversational_sets_bring_no_other_databases(fastsql_data: Path) -> None:
    """CoSQL's and QDA-SQL's schemas are Spider's, so that Spider stands for them."""
    spider = {example.db_id for example in read_examples(fastsql_data / "spider" / "train.json")}
    for name in ("cosql/train.json", "qda_sql/train.json.gz"):
        assert {example.db_id for example in read_examples(fastsql_data / name)} <= spider
