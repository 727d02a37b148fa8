"""Models with a line graph search natively what NumPy has read, and find what the reference finds."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from fastsql import ModelError, load
from fastsql.engine.line_graph import LineGraphEngine
from fastsql.engine.reference import ReferenceEngine
from fastsql.model.config import LGE

from ..worlds import toy_bundle
from ..worlds.toy_bundle import QUESTIONS, load_toy, outcome
from ..worlds.toy_model import SCHEMA
from .searches import expect_same

pytestmark = pytest.mark.usefixtures("core")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    config = replace(toy_bundle.make_config().with_turns(), graph=LGE, edge_d=8)
    return toy_bundle.write_bundle(tmp_path_factory.mktemp("lines") / "toy", config=config)


@pytest.mark.parametrize("question", QUESTIONS)
def test_both_searches_find_the_same(folder: Path, question: str) -> None:
    found, _ = toy_bundle.search(load_toy(folder, device="cpu", encoder="numpy"), question, SCHEMA)
    expect_same(found, toy_bundle.search(load_toy(folder, encoder="numpy"), question, SCHEMA)[0])


def test_parses_and_turns_are_those_of_the_reference(folder: Path) -> None:
    told = []
    for device, engine in (("cpu", LineGraphEngine), ("python", ReferenceEngine)):
        parser = load_toy(folder, device=device, encoder="numpy")
        assert type(parser.engine) is engine
        assert parser.engine.device == device
        session = parser.session(SCHEMA)
        told.append([outcome(session.ask(question), digits=4) for question in QUESTIONS])
    assert told[0] == told[1]


def test_no_gpu_is_asked_to_compute_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fastsql.engine.open.resolve_device", lambda device: device)
    with pytest.raises(ModelError, match="its graph is 'lge', which no GPU computes"):
        load(folder, device="cuda")


def test_its_encoder_is_one_of_pythons(folder: Path) -> None:
    with pytest.raises(ModelError, match="has no encoder 'native'"):
        load(folder, device="cpu", encoder="native")
