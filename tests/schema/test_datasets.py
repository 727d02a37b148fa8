"""Every schema of the public data sets, and the four forms in which EHRSQL 2024 publishes its own."""

from __future__ import annotations

import gzip
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from fastsql.errors import SchemaError
from fastsql.schema import Schema, load_uniform

SETS = {
    "archer": 8,
    "beaver": 1,
    "bird": 74,
    "css": 21,
    "defog_sqleval": 7,
    "ehrsql2024": 1,
    "ehrsql_v1": 2,
    "mimicsql": 1,
    "sciencebenchmark": 3,
    "snails": 6,
    "spider": 150,
    "spider_variants": 152,
    "text2sql_classic": 8,
    "wikisql_partial": 6845,
}
# What is odd in them: sqlite_sequence tables, and one key with a slip of the pen.
WARNINGS = {"archer": 1, "defog_sqleval": 1, "spider": 3, "spider_variants": 3}


def schemas_of(data: Path, name: str) -> dict[str, Schema]:
    path = data / name / "schemas.json"
    if not path.is_file():
        pytest.skip(f"put {name} into the folder that FASTSQL_DATA names to run this")
    return load_uniform(path)


@pytest.mark.parametrize("name", SETS)
def test_every_schema_loads_and_comes_back_equal(fastsql_data: Path, name: str) -> None:
    schemas = schemas_of(fastsql_data, name)
    assert len(schemas) == SETS[name]
    assert sum(len(schema.warnings) for schema in schemas.values()) == WARNINGS.get(name, 0)
    for schema in schemas.values():
        again = Schema.from_dict(schema.to_dict(), strict=True)
        assert again == schema
        assert again.fingerprint == schema.fingerprint


@pytest.mark.parametrize("name", SETS)
def test_every_schema_can_be_created_and_read_back(fastsql_data: Path, name: str) -> None:
    schemas = schemas_of(fastsql_data, name)
    for schema in list(schemas.values())[:: 50 if name == "wikisql_partial" else 1]:
        with closing(sqlite3.connect(":memory:")) as connection:
            connection.executescript(schema.to_ddl())
            again = Schema.from_sqlite(connection)
        assert [table.name for table in again.tables] == [table.name for table in schema.tables]
        assert [column.name for column in again.columns] == [column.name for column in schema.columns]
        assert [column.type for column in again.columns] == [column.type for column in schema.columns]
        assert [table.primary_key for table in again.tables] == [table.primary_key for table in schema.tables]
        assert again.foreign_keys == schema.foreign_keys


def test_composite_keys_of_css_are_found(fastsql_data: Path) -> None:
    schema = schemas_of(fastsql_data, "css")["医疗表"]
    composite = [key for key in schema.foreign_keys if len(key.columns) > 1]
    assert composite
    for key in composite:
        parent = schema.tables[schema.columns[key.references[0]].table]
        assert sorted(key.references) == sorted(parent.primary_key)


def test_coded_columns_of_css_have_their_values(fastsql_data: Path) -> None:
    schema = schemas_of(fastsql_data, "css")["医保表"]
    column = schema.columns[schema.column_index("t_kc21", "CLINIC_TYPE")]
    assert column.values[:2] == ("门诊", "住院")
    assert schema.columns[schema.column_index("t_kc21", "MED_CLINIC_ID")].label == "医疗就诊ID"


def test_strict_loading_names_what_is_odd(fastsql_data: Path) -> None:
    for name, item in (("spider", "sqlite_sequence"), ("defog_sqleval", "state_nem")):
        with pytest.raises(SchemaError, match=item):
            load_uniform(fastsql_data / name / "schemas.json", strict=True)


def test_the_published_forms_of_ehrsql2024_agree(ehrsql2024: Path, tmp_path: Path) -> None:
    uniform = load_uniform(ehrsql2024 / "schemas.json", strict=True)["mimic_iv"]
    spider = Schema.from_spider(ehrsql2024 / "tables.json", strict=True)
    assert spider == uniform
    assert spider.fingerprint == uniform.fingerprint
    assert Schema.coerce(ehrsql2024 / "tables.json") == uniform

    ddl = Schema.coerce(ehrsql2024 / "mimic_iv.sql", strict=True)
    assert ddl.tables == uniform.tables
    assert set(ddl.foreign_keys) == set(uniform.foreign_keys)
    assert [(c.name, c.label, c.type, c.primary_key) for c in ddl.columns] == [
        (c.name, c.label, c.type, c.primary_key) for c in uniform.columns
    ]

    path = tmp_path / "mimic_iv.sqlite"
    path.write_bytes(gzip.decompress((ehrsql2024 / "mimic_iv.sqlite.gz").read_bytes()))
    database = Schema.from_sqlite(path, max_values=0, strict=True)
    assert database == ddl
    assert database.fingerprint == ddl.fingerprint

    with_values = Schema.from_sqlite(path, strict=True)
    gender = with_values.columns[with_values.column_index("patients", "gender")]
    assert gender.values == ("f", "m")
    assert all(len(column.values) <= 50 for column in with_values.columns)
