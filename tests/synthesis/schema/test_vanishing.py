"""A database that goes away while pairs are made is an error; a query that fails for a reason of its own is passed over."""

from __future__ import annotations

import os
import random
import shutil
from pathlib import Path

import pytest

from fastsql.errors import ExecutionError
from fastsql.execution import Executor, open_executor
from fastsql.execution.executor import DatabaseGoneError
from fastsql.schema import Schema
from fastsql.synthesis.generate import generate_drawn
from fastsql.synthesis.schema import SchemaSource, known_templates
from fastsql.synthesis.schema.contents import Contents
from fastsql.synthesis.varied import generate_varied

from ...worlds.failing_database import Watched, refusing, vanishing

PAIRS = 30


def source(schema: Schema, executor: Executor) -> SchemaSource:
    return SchemaSource(schema, executor, known_templates())


def test_a_server_that_goes_away_at_whatever_query_ends_the_drawing(
    clinic: Schema, executor: Executor
) -> None:
    asked: list[str] = []
    assert len(generate_varied(source(clinic, Watched(executor, asked.append)), PAIRS)) == PAIRS
    for calls in (0, 1, 5, len(asked) // 2, len(asked) - 1):
        with pytest.raises(DatabaseGoneError, match=r"database: no longer answers \(the server closed"):
            generate_varied(source(clinic, vanishing(executor, calls)), PAIRS)


def test_a_database_that_goes_away_among_contrasts_or_refusals_ends_the_making(
    clinic: Schema, executor: Executor
) -> None:
    """After so many queries that single pairs need no more."""
    for share in ({"contrast": 1.0, "unanswerable": 0.0}, {"contrast": 0.0, "unanswerable": 1.0}):
        told: list[str] = []
        with pytest.raises(DatabaseGoneError):
            generate_varied(source(clinic, vanishing(executor, 7)), PAIRS, report=told.append, **share)
        assert told[0] == "0 pairs"


def test_trials_tell_of_a_database_that_went_away(clinic: Schema, executor: Executor) -> None:
    """Of what is checked once a skeleton, not as it is drawn."""
    alive = True

    def vanish() -> None:
        if not alive:
            raise ExecutionError("gone", where="query")

    made = source(clinic, vanishing(executor, 0, vanish))
    draft = made.draw("1")
    alive = False
    (trial,) = made.trials(draft)
    with pytest.raises(DatabaseGoneError):
        trial.run(trial.sql)


@pytest.mark.parametrize(
    ("calls", "emptied"), [(0, False), (60, False), (60, True)], ids=["at once", "removed", "emptied"]
)
def test_a_file_that_goes_away_ends_the_drawing(
    calls: int, emptied: bool, clinic: Schema, clinic_file: Path, tmp_path: Path
) -> None:
    path = tmp_path / "clinic.sqlite"
    shutil.copyfile(clinic_file, path)

    def vanish() -> None:
        if emptied:
            os.truncate(path, 0)
        else:
            path.unlink(missing_ok=True)

    with open_executor(path) as opened, pytest.raises(DatabaseGoneError, match="no longer answers"):
        generate_drawn(source(clinic, vanishing(opened, calls, vanish)), PAIRS)


def test_queries_that_run_into_a_limit_are_passed_over(clinic: Schema, executor: Executor) -> None:
    made = generate_varied(source(clinic, refusing(executor, 15)), PAIRS)
    assert len(made) == PAIRS


def test_a_column_that_cannot_be_read_is_told_from_a_database_that_is_gone(
    clinic: Schema, executor: Executor
) -> None:
    contents = Contents(clinic, refusing(executor, 1))
    assert contents.values(0) == ()
    assert contents.holds(1, "nobody")
    assert contents.unread == [clinic.qualified_name(0), clinic.qualified_name(1)]
    for ask in (
        lambda gone: gone.values(0),
        lambda gone: gone.holds(1, "nobody"),
        lambda gone: gone.value(0, random.Random(1)),
    ):
        with pytest.raises(DatabaseGoneError):
            ask(Contents(clinic, vanishing(executor, 0)))
