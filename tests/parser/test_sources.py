"""What a parser keeps ready: schemas and values, read and encoded once."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import fastsql.linking.prepare
from fastsql import Parser, Schema, ValueDictionary
from fastsql.linking.candidate import Candidate
from fastsql.linking.prepare import Prepared
from fastsql.model import Model

from ..worlds.database import inserted, write_database
from ..worlds.toy_bundle import load_toy
from ..worlds.toy_model import SCHEMA

DDL = "CREATE TABLE ward (id INTEGER PRIMARY KEY, kind TEXT, drug TEXT, seen TIMESTAMP)"
ROWS = [(1, "URGENT", "Aspirin", "2100-01-01"), (2, "elective", "Heparin sodium", "2100-02-01")]


@pytest.fixture
def ward(tmp_path: Path) -> Path:
    return write_database(tmp_path / "ward.sqlite", f"{DDL}; {inserted('ward', ROWS)}")


@pytest.fixture
def encoded(monkeypatch: pytest.MonkeyPatch) -> list[Schema]:
    """The schemas that a model encodes from now on."""
    schemas: list[Schema] = []
    encode = Model.encode_schema

    def counted(self: Model, schema: Schema) -> Any:
        schemas.append(schema)
        return encode(self, schema)

    monkeypatch.setattr(Model, "encode_schema", counted)
    return schemas


def test_a_schema_is_encoded_once(toy_bundle: Path, encoded: list[Schema]) -> None:
    parser = load_toy(toy_bundle)
    same = Schema.from_dict(SCHEMA.to_dict())
    assert same is not SCHEMA
    for schema in (SCHEMA, same, DDL, DDL, SCHEMA, Schema.from_ddl(DDL)):
        parser.parse("how many", schema)
    assert len(encoded) == 2
    parser.parse("how many", SCHEMA.with_values({("patients", "gender"): ["x"]}))
    assert len(encoded) == 3


def test_threads_encode_a_schema_once(toy_bundle: Path, encoded: list[Schema]) -> None:
    parser = load_toy(toy_bundle)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: parser.parse("how many", SCHEMA), range(8)))
    assert len(encoded) == 1


def test_the_schemas_used_last_are_kept(toy_bundle: Path, encoded: list[Schema]) -> None:
    parser = load_toy(toy_bundle)
    schemas = [Schema.from_dict({f"t{i}": {"a": "INT"}}) for i in range(9)]
    for schema in (*schemas[:8], schemas[0], schemas[8]):
        parser.parse("how many", schema)
    assert len(encoded) == 9
    parser.parse("how many", schemas[0])
    assert len(encoded) == 9
    parser.parse("how many", schemas[1])
    assert len(encoded) == 10


def test_a_schema_file_is_read_again_when_it_has_changed(
    toy_bundle: Path, ward: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[object] = []
    coerce = Schema.coerce
    monkeypatch.setattr(Schema, "coerce", lambda *a, **k: (read.append(a), coerce(*a, **k))[1])
    parser = load_toy(toy_bundle)
    for source in (ward, str(ward), ward):
        assert "ward" in (parser.parse("how many", source).best or "")
    assert len(read) == 1
    with closing(sqlite3.connect(ward)) as connection, connection:
        connection.execute("ALTER TABLE ward RENAME TO bay")
        connection.execute("CREATE TABLE filler AS SELECT zeroblob(8192) AS padding")
    assert "ward" not in (parser.parse("how many", ward).best or "")
    assert len(read) == 2


# ---------------------------------------------------------------- values


@pytest.fixture
def candidates(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Candidate, ...]]:
    """The value candidates of the questions that are parsed from now on."""
    found: list[tuple[Candidate, ...]] = []
    prepare = fastsql.linking.prepare.prepare

    def watched(*arguments: Any, **options: Any) -> Prepared:
        prepared = prepare(*arguments, **options)
        found.append(prepared.candidates)
        return prepared

    monkeypatch.setattr("fastsql.engine.base.prepare", watched)
    return found


def by_path(path: Path) -> Iterator[Any]:
    yield path


def by_name(path: Path) -> Iterator[Any]:
    yield str(path)


def by_url(path: Path) -> Iterator[Any]:
    pytest.importorskip("sqlalchemy", reason="pip install '.[db]' to run this")
    yield f"sqlite:///{path}"


def by_engine(path: Path) -> Iterator[Any]:
    sqlalchemy = pytest.importorskip("sqlalchemy", reason="pip install '.[db]' to run this")
    engine = sqlalchemy.create_engine(f"sqlite:///{path}")
    yield engine
    engine.dispose()


def by_connection(path: Path) -> Iterator[Any]:
    with closing(sqlite3.connect(path)) as connection:
        yield connection


def by_dictionary(path: Path) -> Iterator[Any]:
    yield ValueDictionary.from_database(path, Schema.from_ddl(DDL))


@pytest.mark.parametrize("source", [by_path, by_name, by_url, by_engine, by_connection, by_dictionary])
def test_values_come_from_wherever_a_database_is(
    toy_bundle: Path,
    ward: Path,
    candidates: list[tuple[Candidate, ...]],
    source: Callable[[Path], Iterator[Any]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    parser, schema = load_toy(toy_bundle), Schema.from_ddl(DDL)
    read: list[object] = []
    from_database = ValueDictionary.from_database
    for values in source(ward):
        monkeypatch.setattr(
            ValueDictionary, "from_database", lambda *a: (read.append(a), from_database(*a))[1]
        )
        for _ in range(2):
            parser.parse("who got heparin sodium?", schema, values=values)
        assert len(read) == (0 if isinstance(values, ValueDictionary) else 1), "read once"
    for found in candidates:
        (value,) = (c for c in found if c.source in ("dictionary", "schema"))
        assert (value.value, value.span) == ("Heparin sodium", (8, 22))
        assert value.columns == (schema.column_index("ward", "drug"),)


def test_without_values_no_database_is_looked_at(
    toy: Parser, ward: Path, candidates: list[tuple[Candidate, ...]]
) -> None:
    toy.parse("who got heparin sodium?", DDL)
    assert all(candidate.source != "dictionary" for candidate in candidates[0])


def test_small_domains_of_a_values_file_stand_with_the_schema(toy: Parser, ward: Path) -> None:
    state, _ = toy._sources.ready(Schema.from_ddl(DDL), ward)
    assert state.links.schema.columns[1].values == ("URGENT", "elective")
    state, _ = toy._sources.ready(Schema.from_ddl(DDL), None)
    assert state.links.schema.columns[1].values == ()


def test_a_values_file_is_read_again_when_it_has_changed(
    toy: Parser, ward: Path, candidates: list[tuple[Candidate, ...]]
) -> None:
    question = "who got warfarin?"
    toy.parse(question, DDL, values=ward)
    with closing(sqlite3.connect(ward)) as connection, connection:
        rows = [(i, "URGENT", f"drug {i:040}", "2100-01-01") for i in range(3, 400)]
        connection.executemany("INSERT INTO ward VALUES (?, ?, ?, ?)", rows)
        connection.execute("INSERT INTO ward VALUES (2000, 'URGENT', 'Warfarin', '2100-01-01')")
    toy.parse(question, DDL, values=ward)
    before, after = ([c.value for c in found if c.source == "dictionary"] for found in candidates)
    assert (before, after) == ([], ["Warfarin"])


def test_a_servers_tables_are_looked_at_each_time_and_its_values_read_once(
    toy: Parser, ward: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sqlalchemy = pytest.importorskip("sqlalchemy", reason="pip install '.[db]' to run this")
    from fastsql.schema.server_values import ServerValues

    asked: list[str] = []
    distinct = ServerValues.distinct
    monkeypatch.setattr(
        ServerValues, "distinct", lambda *given: (asked.append(given[3]), distinct(*given))[1]
    )
    engine = sqlalchemy.create_engine(f"sqlite:///{ward}")
    for source in (f"sqlite:///{ward}", engine):
        asked.clear()
        for _ in range(2):
            toy.parse("how many", source)
        assert asked == ["kind", "drug"]
    with closing(sqlite3.connect(ward)) as connection, connection:
        connection.execute("CREATE TABLE beds (kind TEXT)")
    assert toy._sources.schema(engine).find_table("beds") is not None
    engine.dispose()


def test_another_engine_is_another_source(
    toy: Parser, tmp_path: Path, candidates: list[tuple[Candidate, ...]]
) -> None:
    """Engines were once told apart by `id`, which a later one may have again."""
    sqlalchemy = pytest.importorskip("sqlalchemy", reason="pip install '.[db]' to run this")
    for drug in ("alpha", "beta", "gamma"):
        path = tmp_path / f"{drug}.sqlite"
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute(DDL)
            connection.execute("INSERT INTO ward VALUES (1, 'URGENT', ?, '2100')", (drug,))
        engine = sqlalchemy.create_engine(f"sqlite:///{path}")
        toy.parse("alpha beta gamma", DDL, values=engine)
        engine.dispose()
        del engine
    values = [[c.value for c in found if c.source == "dictionary"] for found in candidates]
    assert values == [["alpha"], ["beta"], ["gamma"]]
