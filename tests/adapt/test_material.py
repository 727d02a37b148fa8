"""What is learnt from, where the database goes away while it is made."""

from __future__ import annotations

from pathlib import Path

import pytest

from fastsql.adapt.material import OWN, TURNS, Amounts, make_material
from fastsql.adapt.seeds import Seeds
from fastsql.execution import Executor
from fastsql.execution.executor import DatabaseGoneError
from fastsql.schema import Schema
from fastsql.synthesis.many import set_files

from ..worlds.failing_database import Watched, vanishing

_LITTLE = Amounts(pairs=20, conversations=6)


def make(schema: Schema, executor: Executor, folder: Path) -> None:
    folder.mkdir()
    make_material(schema, executor, None, Seeds(), folder, 1, lambda _: None, _LITTLE)


def test_a_database_that_goes_away_ends_the_making_and_what_is_made_is_not_taken_for_whole(
    schema: Schema, executor: Executor, tmp_path: Path
) -> None:
    asked: list[str] = []
    make(schema, Watched(executor, asked.append), tmp_path / "whole")
    assert set_files(tmp_path / "whole", OWN)[0].is_file()
    for calls in (0, len(asked) // 2, len(asked) - 1):  # the last checks a conversation
        folder = tmp_path / str(calls)
        with pytest.raises(DatabaseGoneError, match="no longer answers"):
            make(schema, vanishing(executor, calls), folder)
        assert not (folder / TURNS).exists()
        assert not set_files(folder, OWN)[0].exists()
