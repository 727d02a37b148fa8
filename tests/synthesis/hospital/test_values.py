"""Names come from questions and terminologies, never from patients' rows."""

from __future__ import annotations

import random
from contextlib import closing
from pathlib import Path

import pytest

from fastsql.demo.tables import HOSPITAL_DDL
from fastsql.synthesis.hospital import Vocabulary, VocabularyError
from fastsql.synthesis.hospital.kinds import KINDS
from fastsql.synthesis.hospital.values import Values

from ...worlds.database import hasty_connection, write_database
from ...worlds.ward import ward_ddl


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """A hospital with two terms, and a patient's rows that must not be read."""
    path = tmp_path / "hospital.sqlite"
    with closing(hasty_connection(path)) as connection, connection:
        connection.executescript(HOSPITAL_DDL)
        connection.execute("INSERT INTO d_icd_diagnoses VALUES (1, 'x1', 'Chilblains of the nose')")
        connection.execute("INSERT INTO d_items VALUES (1, 7, 'barley water', 'bw', 'inputevents')")
        connection.execute(
            "INSERT INTO prescriptions VALUES (1, 5, 6, '2100-01-01', NULL, 'private drug', '1', 'mg', 'private route')"
        )
        connection.execute(
            "INSERT INTO transfers VALUES (1, 5, 6, 7, 'admit', 'private unit', '2100-01-01', NULL)"
        )
    return path


def test_terminologies_are_read_and_nothing_else(database: Path) -> None:
    vocabulary = Vocabulary.collect([], database)
    names = {
        name for pool in (vocabulary.seen, vocabulary.terms) for found in pool.values() for name in found
    }
    assert {"chilblains of the nose", "barley water"} <= names
    assert not any("private" in name for name in names)


def test_names_of_gold_queries_are_sorted_by_kind() -> None:
    vocabulary = Vocabulary.collect(
        [
            "SELECT COUNT(*) FROM prescriptions WHERE prescriptions.drug = 'st. john''s wort'",
            "SELECT 1 FROM prescriptions WHERE prescriptions.drug IN ( 'aspirin', 'ginger' )",
            "SELECT 1 FROM d_items WHERE d_items.label = 'barley water' AND d_items.linksto = 'inputevents'",
            "SELECT 1 FROM transfers WHERE transfers.careunit = 'burns'",
        ]
    )
    # A name with a quote would need quoting in SQL and reads badly: it is left out.
    assert vocabulary.seen["drug"] == ("aspirin", "ginger")
    assert vocabulary.seen["input"] == ("barley water",)
    assert vocabulary.seen["careunit"] == ("burns",)


def test_a_database_without_terminologies_is_refused(tmp_path: Path) -> None:
    path = write_database(tmp_path / "empty.sqlite", ward_ddl("patients"))
    with pytest.raises(VocabularyError, match="terminology"):
        Vocabulary.collect([], path)


def test_the_demo_has_names_of_every_kind_that_is_asked_about() -> None:
    values = Values(Vocabulary.of_demo(), random.Random(1))
    asked = set(KINDS) - {"culture", "organism"}  # these are only asked for, never named
    assert all(values.name(kind) for kind in asked)
    with pytest.raises(VocabularyError):
        values.name("culture")


def test_several_names_are_different() -> None:
    values = Values(Vocabulary.of_demo(), random.Random(1))
    assert all(len(set(values.names("drug", 3))) == 3 for _ in range(50))
    with pytest.raises(VocabularyError, match="fewer than"):
        values.names("output", 4)
