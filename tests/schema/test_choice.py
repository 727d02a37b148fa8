"""Tables and views are chosen by name, before anything of them is read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fastsql.errors import LimitError, SchemaError
from fastsql.limits import Limits
from fastsql.schema import Schema

from ..worlds.database import write_database

DDL = """
CREATE TABLE patients (id INTEGER PRIMARY KEY, sex TEXT);
CREATE TABLE stays (id INTEGER PRIMARY KEY, patient INT REFERENCES patients (id));
CREATE TABLE tmp_a (x TEXT);
CREATE TABLE "tmp[b]?" (x TEXT);
"""


def names(schema: Schema) -> list[str]:
    return [table.name for table in schema.tables]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write_database(
        tmp_path / "ward.sqlite",
        DDL + "CREATE VIEW women AS SELECT id FROM patients; CREATE VIEW broken AS SELECT x FROM gone;",
    )


def test_every_source_takes_the_same_choice(path: Path) -> None:
    pytest.importorskip("sqlalchemy", reason="pip install '.[db]' to run this")
    whole = Schema.from_ddl(DDL)
    picked: dict[str, Any] = {"tables": ["PATIENTS", "tmp*"], "exclude": ["tmp_*"]}
    for schema in (
        Schema.from_ddl(DDL, **picked),
        Schema.from_sqlite(path, **picked),
        Schema.from_sqlalchemy(f"sqlite:///{path}", **picked),
        Schema.coerce(DDL, **picked),
        Schema.coerce(path, **picked),
        Schema.coerce(f"sqlite:///{path}", **picked),
        Schema.coerce(whole.to_dict(), **picked),
    ):
        assert names(schema) == ["patients", "tmp[b]?"]
        assert schema.warnings == ()


def test_keys_to_tables_that_were_left_out_are_no_warning(path: Path) -> None:
    for source in (DDL, path, Schema.from_ddl(DDL).to_dict()):
        schema = Schema.coerce(source, strict=True, exclude=["patients"])
        assert names(schema)[0] == "stays"
        assert schema.foreign_keys == ()


def test_a_view_that_nobody_asked_for_is_not_looked_at(path: Path) -> None:
    assert names(Schema.from_sqlite(path, views=["women"], strict=True))[-1] == "women"
    assert any("broken" in warning for warning in Schema.from_sqlite(path, views=True).warnings)
    assert (
        Schema.from_sqlite(path, views=True, exclude=["broken"], strict=True).find_table("women") is not None
    )


@pytest.mark.parametrize("what", ["tables", "exclude", "views"])
def test_a_name_that_fits_nothing_is_an_error(path: Path, what: str) -> None:
    chosen: dict[str, Any] = {what: ["pateints"]}
    with pytest.raises(SchemaError, match=f"{what}: 'pateints': there is no (table|view) of this name"):
        Schema.from_sqlite(path, **chosen)
    with pytest.raises(SchemaError, match="list of names"):
        Schema.from_sqlite(path, **{what: "patients"})


def test_choosing_is_for_what_is_read() -> None:
    with pytest.raises(SchemaError, match="chosen when a schema is read"):
        Schema.coerce(Schema.from_ddl(DDL), tables=["patients"])
    with pytest.raises(SchemaError, match="no table is chosen"):
        Schema.from_ddl(DDL, tables=[])
    for more in ({"views": True}, {"namespace": "billing"}):
        with pytest.raises(SchemaError, match="read from a database"):
            Schema.coerce(DDL, **more)  # type: ignore[arg-type]


def test_limits_count_what_was_chosen(path: Path) -> None:
    few = Limits(tables=2)
    for source in (DDL, path):
        with pytest.raises(LimitError):
            Schema.coerce(source, limits=few)
        assert len(Schema.coerce(source, limits=few, exclude=["tmp*"]).tables) == 2


def test_values_are_read_of_chosen_tables_alone(path: Path) -> None:
    pytest.importorskip("sqlalchemy", reason="pip install '.[db]' to run this")
    told: list[str] = []
    Schema.from_sqlalchemy(
        f"sqlite:///{path}", tables=["patients"], progress=lambda *given: told.append(given[2])
    )
    assert told == ["patients.sex", ""]
