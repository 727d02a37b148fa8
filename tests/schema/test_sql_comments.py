"""Comments behind columns describe them, wherever the text that made a table can be read."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from fastsql import Schema

DDL = """
-- a heading of a dump
CREATE TABLE patients ( -- one row a patient
    id INT PRIMARY KEY, -- number on the wristband
    sex CHAR(1) DEFAULT '--' NOT NULL, /* F or M */
    -- old_id INT,
    weight REAL CHECK (weight > 0), -----
    height REAL, -- in cm
    jzlsh TEXT, -- 就诊流水号
    a INT, b INT -- of the second
    , c INT,
    FOREIGN KEY (id) REFERENCES others (id) -- no column
);
CREATE TABLE others (id INT); -- behind it all
"""
SAID = ["number on the wristband", "F or M", "", "in cm", "", "", "of the second", "", ""]


def test_a_comment_behind_a_column_is_its_description() -> None:
    schema = Schema.from_ddl(DDL)
    assert [one.description for one in schema.columns] == SAID
    assert [one.description for one in schema.tables] == ["one row a patient", ""]


def test_a_chinese_comment_may_be_the_label() -> None:
    assert Schema.from_ddl(DDL).columns[4].label == "就诊流水号"


def test_a_file_of_sqlite_keeps_the_text_that_made_it() -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(DDL)
        schema = Schema.from_sqlite(connection)
    assert [one.description for one in schema.columns] == SAID


@pytest.mark.parametrize("comment", ["COMMENT 'said'", "COMMENT 'said' -- not this"])
def test_a_declared_comment_comes_first(comment: str) -> None:
    schema = Schema.from_ddl(f"CREATE TABLE t (a INT {comment}\n)", dialect="mysql")
    assert schema.columns[0].description == "said"


def test_a_text_that_is_not_understood_says_nothing() -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE TABLE t AS SELECT 1 AS a -- one\n")
        connection.execute("CREATE TABLE [odd -- ] (a INT)")
        assert [one.description for one in Schema.from_sqlite(connection).columns] == ["", ""]
