"""The rows of reference tables: read whole or not at all, kept in the dictionary's file, and never wrong about equality."""

from __future__ import annotations

import hashlib
import json
import pickle
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from fastsql import Schema, ValueDictionary
from fastsql.demo import REFERENCE, create_hospital
from fastsql.errors import LimitError, ModelError, SchemaError
from fastsql.limits import DEFAULT
from fastsql.linking.mapped_file import BLOCK
from fastsql.linking.reference_rows import cell_number, rows_of

from ..worlds.database import write_database


@pytest.fixture(scope="module")
def hospital(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("demo") / "hospital.sqlite"
    create_hospital(path, patients=3)
    return path


@pytest.fixture(scope="module")
def schema(hospital: Path) -> Schema:
    return Schema.from_sqlite(hospital, max_values=0).with_reference_tables(*REFERENCE)


@pytest.fixture(scope="module")
def values(hospital: Path, schema: Schema) -> ValueDictionary:
    return ValueDictionary.from_database(hospital, schema)


def lacks(dictionary: ValueDictionary, schema: Schema, table: str, **wanted: Any) -> bool:
    pairs = [(schema.column_index(table, column), value) for column, value in wanted.items()]
    return dictionary.lacks_row(schema.table_index(table), pairs)


def items(hospital: Path) -> Iterator[tuple[int, str, str]]:
    with closing(sqlite3.connect(hospital)) as connection:
        yield from connection.execute("SELECT itemid, label, linksto FROM d_items").fetchall()


def test_values_that_exist_may_be_in_no_row_together(
    hospital: Path, schema: Schema, values: ValueDictionary
) -> None:
    assert {schema.tables[table].name for table in values.tables} == set(REFERENCE)
    sources = {linksto for _, _, linksto in items(hospital)}
    assert len(sources) > 1
    for number, label, linksto in items(hospital):
        for given in (number, str(number), float(number)):
            assert not lacks(values, schema, "d_items", itemid=given, label=label.upper(), linksto=linksto)
        other = next(iter(sources - {linksto}))
        assert lacks(values, schema, "d_items", itemid=number, linksto=other)


def test_tables_that_nobody_marked_are_not_read(hospital: Path) -> None:
    plain = Schema.from_sqlite(hospital, max_values=0)
    dictionary = ValueDictionary.from_database(hospital, plain)
    assert dictionary.tables == ()
    assert not lacks(dictionary, plain, "d_items", label="nothing of the kind")
    assert not lacks(dictionary, plain, "patients", gender="x")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Café", "cafe"),
        (" heparin ", "HEPARIN"),
        ("007", 7),
        (7.0, "7"),
        (Decimal("1.50"), "1.5"),
        ("１２", 12),
        ("ﬁn", "FIN"),
        ("正常", "正常"),
    ],
)
def test_what_some_database_takes_for_equal_counts_as_equal(one: Any, other: Any) -> None:
    assert cell_number(one) == cell_number(other)


def test_what_differs_everywhere_is_told_apart() -> None:
    texts = ["a", "b", "a b", "1", "1.5", "-1", "1e5", "正", "常", "", "\ud800", 2, 10**14]
    assert len({cell_number(text) for text in texts}) == len(texts)
    assert cell_number(None) == 0


@pytest.mark.parametrize("cell", [True, b"x", date(2100, 1, 1), float("nan"), float("inf"), 10**15])
def test_a_column_with_a_cell_that_cannot_be_compared_is_left_out(cell: Any) -> None:
    rows = rows_of("t", ["a", "b"], [(1, "x"), (cell, "y")])
    assert rows is not None
    assert rows.columns == ("b",)
    assert rows.lack([("b", "z")])
    assert not rows.lack([("a", 1), ("b", "y")]), "of a column that is left out nothing is known"
    assert not rows.lack([("b", cell)] if not isinstance(cell, int) else [])
    assert rows_of("t", ["a"], [(cell,)]) is None


def test_null_equals_nothing_and_an_empty_table_has_no_row() -> None:
    rows = rows_of("t", ["a", "b"], [(None, "x"), ("", "y")])
    assert rows is not None
    assert rows.lack([("a", "x")])
    assert not rows.lack([("a", ""), ("b", "y")])
    assert rows.lack([("a", ""), ("b", "x")])
    empty = rows_of("t", ["a"], [])
    assert empty is not None
    assert empty.lack([("a", 1)])


# ---------------------------------------------------------------- how much is read, and when again


def test_a_table_of_too_many_cells_is_left_out_and_said_so(hospital: Path, schema: Schema) -> None:
    rows = sum(1 for _ in items(hospital))
    cells = rows * len(schema.tables[schema.table_index("d_items")].columns)
    at_bound = ValueDictionary.from_database(hospital, schema, max_cells=cells)
    assert schema.table_index("d_items") in at_bound.tables
    below = ValueDictionary.from_database(hospital, schema, max_cells=cells - 1)
    assert ("d_items", "*", f"more than {rows - 1} rows") in below.skipped
    assert not lacks(below, schema, "d_items", label="nothing of the kind")
    with pytest.raises(LimitError, match="reference_cells"):
        replace(DEFAULT, reference_cells=0)


def test_what_takes_too_long_is_left_out_and_said_so(tmp_path: Path) -> None:
    path = write_database(
        tmp_path / "slow.sqlite",
        "CREATE VIEW codes AS WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
        " SELECT 'a' AS code FROM n WHERE i < 0;",
    )
    slow = Schema.from_dict({"codes": {"code": "TEXT"}}).with_reference_tables("codes")
    found = ValueDictionary.from_database(path, slow, columns=[], column_seconds=0.2)
    assert found.tables == ()
    assert found.skipped == (("codes", "*", "its rows take longer than 0.2 s"),)


def test_a_server_is_read_in_the_same_way(hospital: Path, schema: Schema, values: ValueDictionary) -> None:
    pytest.importorskip("sqlalchemy", reason="pip install '.[db]' to run this")
    served = ValueDictionary.from_database(f"sqlite:///{hospital}", schema)
    assert served.tables == values.tables
    for number, label, _ in items(hospital):
        assert not lacks(served, schema, "d_items", itemid=number, label=label)
    assert lacks(served, schema, "d_items", itemid=1, label="nothing of the kind")


def test_progress_tells_reference_tables_whose_reading_the_caller_may_end(
    hospital: Path, schema: Schema
) -> None:
    names: list[str] = []

    def until_rows(done: int, total: int, name: str) -> bool:
        names.append(name)
        return not name.endswith(".*")

    found = ValueDictionary.from_database(hospital, schema, progress=until_rows)
    assert names[-1] == "d_icd_diagnoses.*"
    assert found.tables == ()
    assert ("d_items", "*", "not read: the reading was ended before") in found.skipped


def test_a_stale_dictionary_is_refreshed(tmp_path: Path) -> None:
    path = tmp_path / "codes.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE codes (code TEXT, title TEXT)")
        connection.execute("INSERT INTO codes VALUES ('a', 'old')")
        connection.commit()
        schema = Schema.from_sqlite(path, max_values=0).with_reference_tables("codes")
        dictionary = ValueDictionary.from_database(path, schema)
        assert dictionary.refresh() is dictionary
        connection.execute("INSERT INTO codes VALUES ('b', 'new')")
        connection.commit()
    assert lacks(dictionary, schema, "codes", code="b", title="new")
    assert not lacks(dictionary.refresh(), schema, "codes", code="b", title="new")


# ---------------------------------------------------------------- files


@pytest.fixture
def saved(values: ValueDictionary, tmp_path: Path) -> Path:
    path = tmp_path / "values.fsv"
    values.save(path)
    return path


def test_a_file_and_a_pickle_keep_reference_rows(
    hospital: Path, schema: Schema, saved: Path, tmp_path: Path
) -> None:
    loaded = ValueDictionary.load(saved, schema)
    loaded.save(tmp_path / "again.fsv")
    for found in (
        loaded,
        ValueDictionary.load(tmp_path / "again.fsv", schema),
        pickle.loads(pickle.dumps(loaded)),
    ):
        for number, label, linksto in items(hospital):
            assert not lacks(found, schema, "d_items", itemid=number, label=label, linksto=linksto)
            assert lacks(found, schema, "d_items", itemid=number + 1_000_000, label=label)
    assert b"d_items" in saved.read_bytes()


def test_only_tables_that_the_schema_marks_come_out_of_a_file(
    hospital: Path, schema: Schema, saved: Path
) -> None:
    plain = Schema.from_sqlite(hospital, max_values=0)
    assert ValueDictionary.load(saved, plain).tables == ()
    assert ValueDictionary.load(saved, schema).bound_to(plain).tables == ()
    one = plain.with_reference_tables("d_labitems")
    assert ValueDictionary.load(saved, one).tables == (one.table_index("d_labitems"),)


def test_a_dictionary_of_another_schema_is_an_error(
    saved: Path, schema: Schema, values: ValueDictionary
) -> None:
    data = schema.to_dict()
    for table in data["tables"]:
        if table["name"] == "d_items":
            table["columns"] = [one for one in table["columns"] if one["name"] != "row_id"]
    other = Schema.from_dict(data)
    with pytest.raises(SchemaError, match="row_id"):
        ValueDictionary.load(saved, other)
    with pytest.raises(SchemaError, match="made for another schema"):
        values.check(other)
    values.check(schema)


def test_a_file_of_the_version_before_is_read(
    schema: Schema, values: ValueDictionary, tmp_path: Path
) -> None:
    path = tmp_path / "values.fsv"
    ValueDictionary.from_mapping({("d_items", "label"): ["urine"]}, schema, whole=True).save(path)
    header, directory, rest = path.read_bytes().split(b"\n", 2)
    shown = json.loads(directory)
    assert (shown.pop("tables"), shown.pop("rows")) == ([], [])
    start = len(header) + len(directory) + 2
    length = json.loads(header)["bytes"]
    begin = -(-(len(header) + 1 + length) // BLOCK) * BLOCK
    old = json.dumps(shown).encode() + b"\n" + rest[: length - len(directory) - 1]
    head = {
        "format": "fastsql-values",
        "version": 3,
        "bytes": len(old),
        "sha256": hashlib.sha256(old).hexdigest(),
    }
    top = json.dumps(head).encode() + b"\n" + old
    path.write_bytes(top + b"\0" * (-len(top) % BLOCK) + rest[begin - start :])
    found = ValueDictionary.load(path, schema)
    assert (len(found), found.tables) == (1, ())
    assert found.canonical(schema.column_index("d_items", "label"), "URINE") == "urine"


def _directory(change: Callable[[dict[str, Any]], object]) -> Callable[[bytes], bytes]:
    """The file with another directory, whose sizes and checksums are right."""

    def harm(content: bytes) -> bytes:
        header, rest = content.split(b"\n", 1)
        head = json.loads(header)
        directory, body = rest[: head["bytes"]], rest[head["bytes"] :]
        line, checksums = directory.split(b"\n", 1)
        shown = json.loads(line)
        change(shown)
        new = json.dumps(shown, separators=(",", ":")).encode() + b"\n" + checksums
        head |= {"bytes": len(new), "sha256": hashlib.sha256(new).hexdigest()}
        top = json.dumps(head).encode() + b"\n" + new
        end = len(header) + 1 + len(directory)
        return top + b"\0" * (-len(top) % BLOCK) + body[-end % BLOCK :]

    return harm


@pytest.mark.parametrize(
    "harm",
    [
        lambda content: content[:-8],
        lambda content: content + b"x",
        lambda content: content[:-1] + bytes([content[-1] ^ 1]),
        _directory(lambda shown: shown["tables"].pop()),
        _directory(lambda shown: shown["tables"][0].update(rows=7)),
        _directory(lambda shown: shown["tables"][0].update(rows=-1)),
        _directory(
            lambda shown: (
                shown["tables"].append({"table": "t", "columns": [], "rows": -1}),
                shown["rows"].append(0),
            )
        ),
        _directory(lambda shown: shown["tables"][0].pop("columns")),
        _directory(lambda shown: shown["rows"].append(8)),
        _directory(lambda shown: shown.pop("rows")),
        _directory(lambda shown: shown.update(tables=3)),
    ],
)
def test_a_damaged_file_is_a_model_error(saved: Path, schema: Schema, harm: Callable[[bytes], bytes]) -> None:
    saved.write_bytes(harm(saved.read_bytes()))
    with pytest.raises(ModelError):
        ValueDictionary.load(saved, schema)


def test_an_empty_table_is_kept(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "codes.sqlite")) as connection:
        connection.execute("CREATE TABLE codes (code TEXT, title TEXT)")
    schema = Schema.from_sqlite(tmp_path / "codes.sqlite").with_reference_tables("codes")
    ValueDictionary.from_database(tmp_path / "codes.sqlite", schema).save(tmp_path / "codes.fsv")
    assert lacks(ValueDictionary.load(tmp_path / "codes.fsv", schema), schema, "codes", code="a")


def test_a_directory_that_is_written_anew_unharmed_is_read(saved: Path, schema: Schema) -> None:
    saved.write_bytes(_directory(lambda shown: None)(saved.read_bytes()))
    assert ValueDictionary.load(saved, schema).tables


def test_a_file_that_is_written_into_is_not_read_further(saved: Path, schema: Schema) -> None:
    dictionary = ValueDictionary.load(saved, schema)
    with saved.open("r+b") as stream:
        stream.seek(0, 2)
        stream.write(b"x")
    with pytest.raises(ModelError, match="changed while it was in use"):
        lacks(dictionary, schema, "d_items", label="urine")
