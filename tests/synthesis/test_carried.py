"""Written questions over many variants are a data set, and so are those of designs that are held out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fastsql.datasets import DatabaseFiles, read_examples, read_schemas
from fastsql.datasets.interactions import read_interactions
from fastsql.execution import open_executor
from fastsql.execution.executor import DatabaseGoneError
from fastsql.synthesis.carried import CarriedSet, carry_held_out, carry_over, turns_file, write_carried
from fastsql.synthesis.contents import MadeDatabase
from fastsql.synthesis.designs import designs
from fastsql.synthesis.many import set_files
from fastsql.synthesis.source import SynthesisError

from ..worlds.failing_database import vanishing

HELD = "surgery"


@pytest.fixture(scope="module")
def carried() -> CarriedSet:
    return carry_over(60, 3, lambda _: None, without=[HELD])


def test_questions_of_all_designs_but_those_left_out_come_over_many_schemas(carried: CarriedSet) -> None:
    assert len(carried.pairs) >= 60
    assert len(carried.schemas) > 3
    assert not any(one.name.startswith(HELD) for one in carried.schemas)
    assert {one.db_id for one in carried.pairs} <= {one.name for one in carried.schemas}
    assert all(one.sql for one in carried.pairs)


def test_the_same_seed_carries_the_same_questions_over_and_another_seed_others(carried: CarriedSet) -> None:
    assert carry_over(60, 3, lambda _: None, without=[HELD]) == carried
    assert carry_over(60, 4, lambda _: None, without=[HELD]).pairs != carried.pairs


def test_a_set_is_read_as_any_data_set(carried: CarriedSet, tmp_path: Path) -> None:
    write_carried(carried, tmp_path)
    pairs, schemas, _ = set_files(tmp_path)
    assert read_examples(pairs) == carried.pairs
    assert set(read_schemas(schemas)) == {one.name for one in carried.schemas}
    talks = read_interactions(turns_file(tmp_path))
    assert all(len(talk.turns) > 1 for talk in talks)


def test_a_database_that_goes_away_is_no_reason_to_leave_questions_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Vanishing(MadeDatabase):
        def __init__(self, *given: Any, **more: Any) -> None:
            super().__init__(*given, **more)
            self.executor = vanishing(self.executor, 2)

    monkeypatch.setattr("fastsql.synthesis.carried.MadeDatabase", Vanishing)
    with pytest.raises(DatabaseGoneError):
        carry_over(60, 3, lambda _: None)


def test_a_design_that_is_held_out_is_asked_everything_over_databases_that_are_kept(tmp_path: Path) -> None:
    told: list[str] = []
    found = carry_held_out([HELD], 2, told.append, tmp_path)
    assert [one.name for one in found.schemas] == [f"{HELD}_held_0", f"{HELD}_held_1"]
    asked = [one for one in found.pairs if one.sql]
    assert len({one.question for one in asked}) == len(asked) > 50
    assert any(one.sql is None for one in found.pairs)
    with DatabaseFiles(tmp_path, [one.name for one in found.schemas]) as files:
        for one in asked[:20]:
            path = files.path(one.db_id)
            assert path is not None
            assert one.sql is not None
            with open_executor(path) as executor:
                executor.run(one.sql)


def test_designs_that_are_not_there_or_have_no_questions_are_errors(tmp_path: Path) -> None:
    with pytest.raises(SynthesisError, match="no design 'moon'"):
        carry_held_out(["moon"], 1, lambda _: None, tmp_path)
    with pytest.raises(SynthesisError, match="no design has written questions"):
        carry_over(1, 1, lambda _: None, without=[one.name for one in designs()])
