"""What stands between the tables of a script: understood, passed over, or told with its place, and refused when strict."""

from __future__ import annotations

from pathlib import Path

import pytest

from fastsql.errors import SchemaError
from fastsql.schema import Schema

DUMPS = Path(__file__).parents[1] / "fixtures" / "schema" / "dumps"

STRANGE = {
    "a misspelt TABLE": (
        "CREATE TABLE a (x INT);\nCREATE TABEL b (y INT);\nCREATE TABLE c (z INT);",
        "line 2, CREATE TABEL",
        "the statement is not understood; it is left out",
    ),
    "a misspelt TABLE behind a word": (
        "CREATE TABLE a (x INT); CREATE TEMP TABEL b (type INT)", "line 1, CREATE TEMP", "not understood",
    ),
    "a misspelt CREATE": ("CRATE TABLE b (y INT); CREATE TABLE a (x INT)", "line 1, CRATE", "not understood"),
    "no TABLE": ("CREATE b (y INT); CREATE TABLE a (x INT)", "line 1, CREATE b", "not understood"),
    "no semicolon": ("CREATE TABLE a (x INT) CREATE TABEL b (y INT)", "table 'a'", r"follows its columns .*line 1"),
    "words at the end": ("CREATE TABLE a (x INT);\n\nand that is all", "line 3, and", "not understood"),
    "words behind a table": ("CREATE TABLE a (x INT)\nlorem ipsum;", "table 'a'", r"follows its columns .*\(line 2\)"),
    "words behind options": ("CREATE TABLE a (x INT) ENGINE=InnoDB nonsense", "table 'a'", "follows its columns"),
    "one bracket too many": ("CREATE TABLE a (x INT));", "table 'a'", "follows its columns"),
    "two tables in one": ("CREATE TABLE a (x INT), b (y INT)", "table 'a'", "follows its columns"),
    "symbols among columns": ("CREATE TABLE a (x INT,\n ???, z INT)", "table 'a'", r"an item .*\(line 2\)"),
    "half a CREATE": ("CREATE TABLE a (x INT); CREATE", "line 1, CREATE", "not understood"),
    "half a CREATE TABLE": ("CREATE TABLE a (x INT); CREATE TABLE", "CREATE TABLE", "has no name"),
    "a table without columns": ("CREATE TABLE a (x INT); CREATE TABLE b", "table 'b'", "no list of columns"),
    "half an ALTER TABLE": ("CREATE TABLE a (x INT); ALTER TABLE a", "ALTER TABLE", "not complete"),
    "half an ADD": ("CREATE TABLE a (x INT); ALTER TABLE a ADD", "table 'a'", "what ALTER TABLE adds"),
    "a misspelt ADD": ("CREATE TABLE a (x INT); ALTER TABLE a ADDD y INT", "table 'a'", "what ALTER TABLE does"),
    "half a COMMENT": ("CREATE TABLE a (x INT); COMMENT ON TABLE a", "COMMENT ON TABLE", "not complete"),
    "half a view": ("CREATE TABLE a (x INT); CREATE VEIW v AS SELECT 1", "line 1, CREATE VEIW", "not understood"),
}  # fmt: skip


@pytest.mark.parametrize(("ddl", "item", "what"), STRANGE.values(), ids=STRANGE)
def test_what_is_not_understood_is_told_with_its_place_and_refused_when_strict(
    ddl: str, item: str, what: str
) -> None:
    schema = Schema.from_ddl(ddl)
    assert schema.find_column("a", "x") is not None
    (warning,) = schema.warnings
    assert warning.startswith(f"{item}: ")
    with pytest.raises(SchemaError, match=what) as caught:
        Schema.from_ddl(ddl, strict=True)
    assert caught.value.where == item


def test_statements_of_one_kind_are_one_warning() -> None:
    schema = Schema.from_ddl("CREATE TABLE a (x INT);" + "\nCREATE TABEL b (y INT);" * 500 + "\nlorem;" * 3)
    assert schema.warnings == (
        "line 2, CREATE TABEL: the statement is not understood; it is left out, and so are 499 more that begin so",
        "line 502, lorem: the statement is not understood; it is left out, and so are 2 more that begin so",
    )


def test_a_table_that_is_never_closed_names_its_line() -> None:
    with pytest.raises(SchemaError, match=r"table 'b': its list of columns is not closed \(line 2\)"):
        Schema.from_ddl("CREATE TABLE a (x INT);\nCREATE TABLE b (y INT")


def test_no_warning_repeats_what_is_quoted() -> None:
    # It may be a cell: half of an INSERT, say.
    schema = Schema.from_ddl("CREATE TABLE a (x INT); 'Jane Doe', 7); \"Jane Doe\"; `Jane Doe`; 7")
    assert "Jane" not in repr(schema.warnings)
    assert schema.warnings[0].startswith("line 1, no word: ")


@pytest.mark.parametrize("path", sorted(DUMPS.glob("*.sql")), ids=lambda path: path.stem)
def test_a_dump_is_read_without_a_word(path: Path) -> None:
    schema = Schema.coerce(path, strict=True)
    assert [table.name.lower() for table in schema.tables] == ["patients", "stays"]
    assert schema.warnings == ()
    assert len(schema.foreign_keys) == 1
    marked = Schema.coerce("\ufeff" + path.read_text(encoding="utf-8"), strict=True)
    assert marked.tables == schema.tables


def test_dumps_of_five_tools_are_read() -> None:
    assert {path.stem for path in DUMPS.glob("*.sql")} == {
        "mysqldump",
        "oracle",
        "pg_dump",
        "sqlite",
        "sqlserver",
    }


def test_a_table_behind_a_semicolon_and_go_is_read() -> None:
    schema = Schema.from_ddl(
        "CREATE TABLE a (x INT);\nGO\nCREATE TABLE b (y INT);\nGO 2\nCREATE TABLE c (z INT)", "tsql"
    )
    assert [table.name for table in schema.tables] == ["a", "b", "c"]
    assert schema.warnings == ()
