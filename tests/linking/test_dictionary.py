"""The value dictionary: what it reads, what it leaves out, how it is kept, and how it fails."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import stat
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from fastsql.errors import ExecutionError, ModelError, SchemaError
from fastsql.linking import ValueDictionary, find_candidates
from fastsql.schema import Schema

from ..worlds.database import inserted, write_database
from ..worlds.valued_hospital import SCHEMA, VALUES

SECRET = "Jane Unmistakable Doe"


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """A file with text, numbers stored in a text column, a key column, a long text, and a name that needs quoting."""
    ddl = (
        "CREATE TABLE patients (id TEXT PRIMARY KEY, name TEXT, age INTEGER, note TEXT);"
        'CREATE TABLE "order" (id INTEGER, patient TEXT REFERENCES patients(id), "drug ""name""" TEXT);'
    )
    patients = [
        ("p-1", SECRET, 40, "x" * 500),
        ("p-2", "Bob", 50, "stable"),
        ("p-3", "Bob", 60, None),
        ("p-4", " ", 1, ""),
    ]
    orders = [(1, "p-1", "Aspirin"), (2, "p-2", "stable")]
    rows = inserted("patients", patients) + inserted('"order"', orders)
    return write_database(tmp_path / "ward 1.sqlite", ddl + rows)


@pytest.fixture
def schema(database: Path) -> Schema:
    return Schema.from_sqlite(database, max_values=0)


def matched(dictionary: ValueDictionary, question: str) -> list[str]:
    return [value for match in dictionary.match(question) for value, _ in match.values]


def test_text_columns_that_are_no_keys_are_read(database: Path, schema: Schema) -> None:
    dictionary = ValueDictionary.from_database(database, schema)
    assert len(dictionary) == 4
    assert {schema.qualified_name(column) for column in dictionary.columns} == {
        "patients.name",
        "patients.note",
        'order.drug "name"',
    }
    assert matched(dictionary, "Did p-1 or bob take ASPIRIN?") == ["Bob", "Aspirin"]


def test_a_value_of_several_columns_has_all_of_them(database: Path, schema: Schema) -> None:
    (match,) = ValueDictionary.from_database(database, schema).match("Is it stable?")
    columns = (schema.column_index("patients", "note"), schema.column_index("order", 'drug "name"'))
    assert match.values == (("stable", columns),)


def test_columns_are_opt_in(database: Path, schema: Schema) -> None:
    dictionary = ValueDictionary.from_database(database, schema, [("ORDER", 'drug "name"')])
    assert matched(dictionary, "Did Bob take aspirin?") == ["Aspirin"]
    with pytest.raises(SchemaError, match=r"patients\.nickname"):
        ValueDictionary.from_database(database, schema, [("patients", "nickname")])


def test_a_column_of_too_many_values_is_left_out_and_said_so(database: Path, schema: Schema) -> None:
    dictionary = ValueDictionary.from_database(database, schema, [("patients", "name")], max_values=2)
    assert len(dictionary) == 0
    assert dictionary.skipped == (("patients", "name", "more than 2 distinct values"),)


def test_an_open_connection_is_read_and_left_open(database: Path, schema: Schema) -> None:
    connection = sqlite3.connect(database)
    assert len(ValueDictionary.from_database(connection, schema)) == 4
    assert connection.execute("SELECT count(*) FROM patients").fetchone() == (4,)
    connection.close()


def test_reading_leaves_the_file_as_it_was(database: Path, schema: Schema) -> None:
    before = database.read_bytes()
    ValueDictionary.from_database(str(database), schema)
    assert database.read_bytes() == before
    assert [path.name for path in database.parent.iterdir()] == [database.name]


def test_sqlalchemy_sources_are_read(database: Path, schema: Schema) -> None:
    sqlalchemy = pytest.importorskip("sqlalchemy", reason="pip install '.[db]' to run this")
    url = f"sqlite:///{database}"
    engine = sqlalchemy.create_engine(url)
    for source in (url, engine):
        assert matched(ValueDictionary.from_database(source, schema), "Did bob take aspirin?") == [
            "Bob",
            "Aspirin",
        ]
    engine.dispose()
    with pytest.raises(ExecutionError):
        ValueDictionary.from_database(f"sqlite:///{database.parent}/no/such/folder.db", schema)
    with pytest.raises(ExecutionError, match="Check the URL"):
        ValueDictionary.from_database("nonsense+driver://host/name", schema)


def test_a_missing_sqlalchemy_is_named(schema: Schema, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sqlalchemy", None)
    with pytest.raises(ExecutionError, match=r"fastsql\[db\]"):
        ValueDictionary.from_database("postgresql://localhost/ward", schema)


def vanish(path: Path) -> None:
    path.unlink()


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:5000])


def overwrite(path: Path) -> None:
    path.write_bytes(SECRET.encode() * 100)


def drop_a_table(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("DROP TABLE patients")
    connection.close()


def become_a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize("harm", [vanish, truncate, overwrite, drop_a_table, become_a_folder])
def test_an_unreadable_database_is_an_execution_error(
    database: Path, schema: Schema, harm: Callable[[Path], None]
) -> None:
    harm(database)
    with pytest.raises(ExecutionError) as caught:
        ValueDictionary.from_database(database, schema)
    assert str(database) in str(caught.value)
    assert "Check" in str(caught.value)
    assert SECRET not in str(caught.value)


def test_a_column_that_the_database_lacks_is_no_string_literal(database: Path) -> None:
    # SQLite reads an unknown "name" in double quotes as a string, which would give its own name as a value.
    schema = Schema.from_dict({"patients": {"id": "TEXT", "nickname": "TEXT"}})
    with pytest.raises(ExecutionError, match=r"patients\.nickname"):
        ValueDictionary.from_database(database, schema)


def test_the_repr_of_a_dictionary_shows_no_value(database: Path, schema: Schema) -> None:
    dictionary = ValueDictionary.from_database(database, schema)
    assert repr(dictionary) == "<ValueDictionary 4 values, 3 columns>"


def test_canonical_gives_the_spelling_of_the_column() -> None:
    dictionary = ValueDictionary.from_mapping(
        {("prescriptions", "drug"): ["Aspirin", "ASPIRIN", "%"]}, SCHEMA
    )
    drug, title = SCHEMA.column_index("prescriptions", "drug"), SCHEMA.column_index("diagnoses", "title")
    assert dictionary.canonical(drug, "aspirin") == "Aspirin"
    assert dictionary.canonical(drug, "ASPIRIN") == "ASPIRIN"
    assert dictionary.canonical(title, "aspirin") is None
    assert dictionary.canonical(drug, "as pirin") is None
    assert dictionary.canonical(drug, "%") is None


def test_the_longest_match_wins_and_parts_of_it_are_no_matches() -> None:
    names = ["acute", "acute kidney injury", "kidney injury", "injury of head"]
    dictionary = ValueDictionary.from_mapping({("diagnoses", "title"): names}, SCHEMA)
    assert matched(dictionary, "acute kidney injury of head") == ["acute kidney injury", "injury of head"]
    assert matched(dictionary, "an acute head, a kidney injury") == ["acute", "kidney injury"]


def test_values_that_differ_in_punctuation_only_are_told_apart_by_it() -> None:
    names = ["anti-a", "anti a", "anti (a)"]
    dictionary = ValueDictionary.from_mapping({("prescriptions", "drug"): names}, SCHEMA)
    assert matched(dictionary, "Who got Anti-A?") == ["anti-a"]
    assert matched(dictionary, "Who got anti (a)?") == ["anti (a)"]
    assert matched(dictionary, "Who got anti, a?") == names


# ---- the local file ---------------------------------------------------------------------------------------------------


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / "values.fsv"
    ValueDictionary.from_mapping(VALUES, SCHEMA).save(path)
    return path


def test_a_saved_dictionary_answers_as_before(saved: Path) -> None:
    before, after = ValueDictionary.from_mapping(VALUES, SCHEMA), ValueDictionary.load(saved, SCHEMA)
    assert (len(after), after.columns) == (len(before), before.columns)
    for question in ("Who took dextrose 5% or HEPARIN?", "诊断为2型糖尿病的患者", "code 4019"):
        assert find_candidates(question, SCHEMA, after) == find_candidates(question, SCHEMA, before)


def test_the_file_is_private_and_replaces_the_old_one_whole(saved: Path) -> None:
    ValueDictionary.from_mapping({("diagnoses", "title"): ["sepsis"]}, SCHEMA).save(saved)
    assert len(ValueDictionary.load(saved, SCHEMA)) == 1
    assert [path.name for path in saved.parent.iterdir()] == [saved.name]
    if os.name == "posix":
        assert stat.S_IMODE(saved.stat().st_mode) == 0o600


def test_a_failed_write_leaves_the_old_file(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = saved.read_bytes()

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(ModelError, match="No space left"):
        ValueDictionary.from_mapping({("diagnoses", "title"): ["sepsis"]}, SCHEMA).save(saved)
    assert saved.read_bytes() == before
    assert [path.name for path in saved.parent.iterdir()] == [saved.name]


def test_a_place_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="cannot be written"):
        ValueDictionary.from_mapping(VALUES, SCHEMA).save(tmp_path / "no" / "folder.fsv")


def test_columns_are_kept_by_name(saved: Path) -> None:
    moved = Schema.from_dict({"extra": {"id": "INT"}, **plain(SCHEMA)})
    (match,) = ValueDictionary.load(saved, moved).match("Who gave a swab?")
    assert match.values == (("swab", (moved.column_index("samples", "specimen"),)),)
    with pytest.raises(SchemaError, match="there is no such table"):
        ValueDictionary.load(saved, Schema.from_dict({"extra": {"id": "INT"}}))


def test_a_dictionary_moves_to_another_schema() -> None:
    moved = Schema.from_dict({"extra": {"id": "INT"}, **plain(SCHEMA)})
    dictionary = ValueDictionary.from_mapping(VALUES, SCHEMA).bound_to(moved)
    (found,) = find_candidates("Who gave a swab?", moved, dictionary)
    assert found.columns == (moved.column_index("samples", "specimen"),)


def plain(schema: Schema) -> dict[str, dict[str, str]]:
    return {
        t.name: {schema.columns[c].name: schema.columns[c].sql_type for c in t.columns} for t in schema.tables
    }


def rewritten(**changes: object) -> Callable[[bytes], bytes]:
    """The file with other entries in its first line."""

    def change(content: bytes) -> bytes:
        header, body = content.split(b"\n", 1)
        return json.dumps({**json.loads(header), **changes}).encode() + b"\n" + body

    return change


def with_body(body: str) -> Callable[[bytes], bytes]:
    """A file whose first line is right and whose content is `body`."""
    data = body.encode()
    return lambda content: rewritten(bytes=len(data), sha256=hashlib.sha256(data).hexdigest())(
        content.split(b"\n", 1)[0] + b"\n" + data
    )


@pytest.mark.parametrize(
    "harm",
    [
        pytest.param(lambda content: b"", id="empty"),
        pytest.param(lambda content: content[:20], id="cut in the first line"),
        pytest.param(lambda content: content[:-7], id="cut at the end"),
        pytest.param(lambda content: content + b" ", id="too long"),
        pytest.param(lambda content: content.replace(b"aspirin", b"asparin", 1), id="one letter changed"),
        pytest.param(lambda content: b"\x80\x04pickle", id="a pickle"),
        pytest.param(lambda content: b"[" * 200_000, id="deep nesting"),
        pytest.param(lambda content: b"[1]\n{}", id="another JSON"),
        pytest.param(rewritten(format="x"), id="another format"),
        pytest.param(rewritten(version=5), id="a later version"),
        pytest.param(rewritten(bytes=10**18), id="a size beyond all bounds"),
        pytest.param(rewritten(sha256=None), id="no checksum"),
        pytest.param(with_body("{}"), id="no columns"),
        pytest.param(with_body('{"columns": [["a"]], "groups": []}'), id="half a column name"),
        pytest.param(
            with_body('{"columns": [], "groups": [[[0], ["x"]]]}'), id="a column that is not listed"
        ),
        pytest.param(with_body('{"columns": [], "groups": [[["x"], 5]]}'), id="a group of another form"),
        pytest.param(with_body("[" * 200_000), id="deep nesting inside"),
        pytest.param(with_body('{"columns": '), id="no JSON"),
    ],
)
def test_a_damaged_file_is_a_model_error(saved: Path, harm: Callable[[bytes], bytes]) -> None:
    saved.write_bytes(harm(saved.read_bytes()))
    with pytest.raises(ModelError) as caught:
        ValueDictionary.load(saved, SCHEMA)
    assert str(saved) in str(caught.value)
    assert "aspirin" not in str(caught.value)


def test_a_missing_file_is_a_model_error(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="No such file"):
        ValueDictionary.load(tmp_path / "nothing.fsv", SCHEMA)
