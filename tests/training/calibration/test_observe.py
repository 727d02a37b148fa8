"""What becomes of questions, as the parser sees them, and the files that keep it."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch", reason="pip install '.[train]' runs this")
pytest.importorskip("onnx", reason="pip install '.[train]' runs this")

from fastsql.engine import Decoded
from fastsql.errors import FastSQLError
from fastsql.model.bundle import open_bundle
from fastsql.parser.link import Linked
from fastsql.parser.weigh import SecondOpinion
from fastsql.reliability import Reliability
from fastsql.reliability.judges import Weights
from fastsql.training.calibration.observations import asked_models, load_observations, save_observations
from fastsql.training.calibration.observe import observe, open_databases
from fastsql.training.calibration.questions import (
    SEEN,
    UNSEEN,
    held_out,
)
from fastsql.training.config import TrainConfig
from fastsql.training.corpus.corpus import Corpus

from .observed import MODELS, D, of_other_schemas, seconded


def test_every_question_is_observed_as_the_parser_sees_it(
    bundle: Path, config: TrainConfig, corpus: Corpus, tmp_path: Path
) -> None:
    questions = held_out(config, corpus, 2)
    notes: list[str] = []
    found = observe(open_bundle(bundle), config, questions, threads=1, report=notes.append)
    assert {item.question for item in found} == set(questions)
    assert not any(item.right for item in found if item.question.sql is None)
    assert all(item.state.shape == (D,) for item in found)
    assert all(item.evidence.void == 0 for item in found)
    assert any(item.inspected is not None for item in found)
    assert {item.question.part for item in found if item.others} <= {SEEN, UNSEEN}
    assert any(item.others for item in found), "the further hypotheses are seen as well"
    assert notes == [f"{len(questions)} of {len(questions)} parsed"]
    file = tmp_path / "observed.json.gz"
    save_observations(found, file)
    for old, new in zip(found, load_observations(file), strict=True):
        assert (old.question, old.evidence, old.inspected, old.right, old.others) == (
            new.question,
            new.evidence,
            new.inspected,
            new.right,
            new.others,
        )
        np.testing.assert_allclose(old.state, new.state, atol=1e-5)


def test_several_processes_observe_what_one_does(bundle: Path, config: TrainConfig, corpus: Corpus) -> None:
    questions = held_out(config, corpus, 2)
    opened = open_bundle(bundle)
    one = observe(opened, config, questions, threads=1)
    notes: list[str] = []
    two = observe(opened, config, questions, processes=2, report=notes.append)
    assert notes[-1] == f"{len(questions)} of {len(questions)} parsed"
    for mine, theirs in zip(one, two, strict=True):
        assert (mine.question, mine.evidence, mine.inspected, mine.right, mine.others) == (
            theirs.question,
            theirs.evidence,
            theirs.inspected,
            theirs.right,
            theirs.others,
        )
        np.testing.assert_array_equal(mine.state, theirs.state)


class Liked:
    """A second opinion that likes the last hypothesis best."""

    def weighed(self, _linked: Linked, decoded: Decoded, _weights: Weights, *, reorder: bool) -> Decoded:
        assert reorder
        finished = [replace(one, likelihood=-1.0, rating=0.5) for one in decoded.search.finished[::-1]]
        return replace(decoded, search=replace(decoded.search, finished=tuple(finished)))


def test_a_question_in_doubt_is_observed_without_a_second_opinion_and_with_one(
    bundle: Path,
    config: TrainConfig,
    corpus: Corpus,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(SecondOpinion, "bundled", lambda *_: Liked())
    doubts = iter([True, False] * 100)
    monkeypatch.setattr(Reliability, "doubts", lambda *_: next(doubts, False))
    own = [one for one in held_out(config, corpus, 2) if one.part in (SEEN, UNSEEN)]
    opened = open_bundle(bundle)
    alone = {item.question: item for item in observe(opened, config, own, threads=1)}
    assert all(item.told is None for item in alone.values()), "nobody was asked"
    doubts = iter([True, True, *[False] * 100])
    found = observe(opened, config, own, threads=1, second=MODELS)
    told = [item for item in found if item.told is not None]
    assert len(told) == 1
    for item in found:
        before = alone[item.question]
        assert (item.evidence, item.inspected, item.right) == (
            before.evidence,
            before.inspected,
            before.right,
        )
        assert item.evidence.rating == 0
    (item,) = told
    assert item.told is not None
    assert item.in_use is item.told
    assert item.told.evidence.rating == 0.5
    assert item.told.evidence.margin < 0, "another hypothesis is likelier"
    save_observations(found, tmp_path / "observed.json.gz")
    again = load_observations(tmp_path / "observed.json.gz")
    for old, new in zip(found, again, strict=True):
        assert (old.told is None) == (new.told is None)
        if old.told is not None and new.told is not None:
            assert (old.told.evidence, old.told.inspected, old.told.right, old.told.others) == (
                new.told.evidence,
                new.told.inspected,
                new.told.right,
                new.told.others,
            )


def test_databases_that_nobody_asks_for_are_not_opened(config: TrainConfig) -> None:
    with ExitStack() as stack:
        assert open_databases(config.data.sources, stack, {"nowhere"}) == ({}, {})
        schemas, _ = open_databases(config.data.sources, stack, {"ward"})
        assert set(schemas) == {"ward"}


def test_observations_say_which_models_were_asked(tmp_path: Path) -> None:
    file = tmp_path / "observed.json.gz"
    save_observations(seconded(), file, MODELS)
    assert asked_models(file) == MODELS
    assert [item.evidence.lead for item in load_observations(file)] == [
        item.evidence.lead for item in seconded()
    ]
    save_observations(of_other_schemas(), file)
    assert asked_models(file) is None


def test_a_file_of_something_else_holds_no_observations(tmp_path: Path) -> None:
    file = tmp_path / "observed.json.gz"
    file.write_bytes(b"[]")
    with pytest.raises(FastSQLError, match="holds no observations"):
        load_observations(file)
