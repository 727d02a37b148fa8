"""SQLAlchemy engines and URLs; SQLite stands in for a server."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from fastsql.errors import SchemaError
from fastsql.schema import Schema

from ..worlds.database import write_database

sqlalchemy = pytest.importorskip("sqlalchemy", reason="pip install '.[db]' to run this")

HOSPITAL = """
CREATE TABLE "病人" (id INTEGER PRIMARY KEY, "Select" VARCHAR(5), dob TIMESTAMP, odd);
CREATE TABLE visits (a INT, b INT, who INT REFERENCES "病人" (id), kind TEXT, PRIMARY KEY (b, a));
CREATE TABLE bills (x INT, y INT, id INTEGER PRIMARY KEY AUTOINCREMENT, FOREIGN KEY (x, y) REFERENCES visits (b, a));
CREATE VIEW v AS SELECT id FROM "病人";
INSERT INTO "病人" VALUES (1, 'f', NULL, 7), (2, 'm', NULL, 8);
INSERT INTO visits VALUES (1, 1, 1, '急诊'), (2, 1, 1, '');
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write_database(tmp_path / "hospital.db", HOSPITAL)


def test_an_engine_and_a_url_agree_with_the_file(path: Path) -> None:
    url = f"sqlite:///{path}"
    engine = sqlalchemy.create_engine(url)
    schema = Schema.from_sqlalchemy(engine)
    direct = Schema.from_sqlite(path)
    assert schema == Schema.from_sqlalchemy(url) == Schema.coerce(url) == Schema.coerce(engine)
    assert {table.name for table in schema.tables} == {table.name for table in direct.tables}
    for index, column in enumerate(schema.columns):
        twin = direct.columns[direct.column_index(schema.tables[column.table].name, column.name)]
        told = (column.label, column.primary_key, column.values)
        assert told == (twin.label, twin.primary_key, twin.values), index
    assert schema.columns[schema.column_index("病人", "Select")].type == "text"
    assert schema.columns[schema.column_index("病人", "dob")].type == "time"
    keys = [
        ([schema.qualified_name(i) for i in key.columns], [schema.qualified_name(i) for i in key.references])
        for key in schema.foreign_keys
    ]
    assert sorted(keys) == [(["bills.x", "bills.y"], ["visits.b", "visits.a"]), (["visits.who"], ["病人.id"])]
    engine.dispose()


def test_a_column_without_a_type_is_recorded(path: Path) -> None:
    schema = Schema.from_sqlalchemy(f"sqlite:///{path}")
    assert any("odd" in warning for warning in schema.warnings)
    with pytest.raises(SchemaError, match="odd"):
        Schema.from_sqlalchemy(f"sqlite:///{path}", strict=True)


def test_as_many_values_are_read_as_of_a_file_unless_told_otherwise(path: Path) -> None:
    url = f"sqlite:///{path}"
    assert not any(column.values for column in Schema.from_sqlalchemy(url, max_values=0).columns)
    schema = Schema.from_sqlalchemy(url)
    assert schema.columns[schema.column_index("病人", "select")].values == ("f", "m")
    assert schema.columns[schema.column_index("visits", "kind")].values == ("急诊",)
    schema = Schema.from_sqlalchemy(url, max_values=1)
    assert schema.columns[schema.column_index("病人", "select")].values == ()


def test_numbers_are_a_domain_where_they_say_no_and_yes(tmp_path: Path) -> None:
    engine = sqlalchemy.create_engine(f"sqlite:///{tmp_path}/ward.db")
    with engine.begin() as connection:
        connection.execute(sqlalchemy.text("CREATE TABLE t (smoker INTEGER, beds INTEGER)"))
        connection.execute(sqlalchemy.text("INSERT INTO t VALUES (0, 0), (1, 1), (NULL, 2), (1, NULL)"))
    assert [column.values for column in Schema.from_sqlalchemy(engine).columns] == [(0, 1), ()]
    engine.dispose()


def test_views_are_read_where_asked_for(path: Path) -> None:
    url = f"sqlite:///{path}"
    assert Schema.from_sqlalchemy(url).find_table("v") is None
    assert Schema.from_sqlalchemy(url, views=True).find_table("v") is not None


def test_comments_and_enums_are_understood() -> None:
    metadata = sqlalchemy.MetaData()
    sqlalchemy.Table("t", metadata, sqlalchemy.Column("kind", sqlalchemy.Enum("a", "b", name="kinds")))
    engine = sqlalchemy.create_engine("sqlite://")
    metadata.create_all(engine)
    assert Schema.from_sqlalchemy(engine).columns[0].type == "text"
    engine.dispose()


def test_a_missing_file_is_an_error_and_is_not_created(tmp_path: Path) -> None:
    with pytest.raises(SchemaError, match="no such file"):
        Schema.from_sqlalchemy(f"sqlite:///{tmp_path}/gone.db")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "url",
    ["nonsense://user:secret@host/db", "sqlite+nodriver:///x", "://", "postgresql+nodriver://u:secret@h/d"],
)
def test_a_url_that_leads_nowhere_is_an_error_without_its_password(url: str) -> None:
    with pytest.raises(SchemaError) as caught:
        Schema.from_sqlalchemy(url)
    assert "secret" not in str(caught.value)


def test_a_missing_driver_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg2", None)
    with pytest.raises(SchemaError, match="'psycopg2' is not installed") as caught:
        Schema.from_sqlalchemy("postgresql+psycopg2://user:secret@host/db")
    assert "secret" not in str(caught.value)


def test_a_damaged_database_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "bad.db"
    path.write_bytes(b"no database " * 200)
    with pytest.raises(SchemaError, match=r"bad\.db"):
        Schema.from_sqlalchemy(f"sqlite:///{path}")


def test_without_sqlalchemy_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sqlalchemy", None)
    with pytest.raises(SchemaError, match=r"fastsql\[db\]"):
        Schema.from_sqlalchemy("sqlite://")
