"""A checkpoint that travels in parts, of a run that is wider than what it began from, and what is made of it."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="pip install '.[train]' runs this")
pytest.importorskip("onnx", reason="pip install '.[train]' runs this")

from fastsql.errors import ModelError  # noqa: E402
from fastsql.model import open_bundle  # noqa: E402
from fastsql.model.weights import WORD  # noqa: E402
from fastsql.training import train  # noqa: E402
from fastsql.training.bundles.mixing import mixed_weights  # noqa: E402
from fastsql.training.bundles.weights import bundle_weights  # noqa: E402
from fastsql.training.bundles.widen import widened  # noqa: E402
from fastsql.training.config import TrainConfig  # noqa: E402
from fastsql.training.runs.checkpoint import (  # noqa: E402
    LAST,
    CheckpointError,
    export_checkpoint,
    load_checkpoint,
    save_checkpoint,
)

from ..untrained import write_untrained  # noqa: E402

SCRIPT = Path(__file__).resolve().parents[3] / "scripts" / "checkpoint_parts.py"


@pytest.fixture(scope="module")
def began(config: TrainConfig, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_untrained(config, tmp_path_factory.mktemp("began") / "ward-en")


@pytest.fixture(scope="module")
def ran(config: TrainConfig, cache: Path, began: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of two updates, half as wide again as the bundle that it began from."""
    folder = tmp_path_factory.mktemp("ran") / "run"
    wider = replace(
        config,
        model=replace(config.model, d=24, heads=3, ffn=32, freeze_words=True, encoder=str(began)),
        schedule=replace(config.schedule, epochs=0.0, updates=2),
    )
    options: dict[str, Any] = {"threads": 1, "device": "cpu", "loaders": 0, "quiet": True, "bundle": False}
    train(wider, folder, warm_start=began, cache=cache, **options)
    return folder


@pytest.fixture(scope="module")
def main() -> Callable[[list[str]], int]:
    command: Callable[[list[str]], int] = runpy.run_path(str(SCRIPT))["main"]
    return command


def test_parts_put_together_are_what_is_exported(
    ran: Path, began: Path, main: Callable[[list[str]], int], tmp_path: Path
) -> None:
    parts, joined = tmp_path / "parts", tmp_path / "joined" / LAST
    assert main(["split", str(ran / LAST), str(parts), "--mib", "1"]) == 0
    sizes = [part.stat().st_size for part in sorted(parts.iterdir())]
    assert max(sizes) <= 2**20
    assert sum(sizes) < (ran / LAST).stat().st_size / 3
    assert main(["join", str(parts), str(joined), "--words", str(began)]) == 0
    expected, found = load_checkpoint(ran / LAST), load_checkpoint(joined)
    assert found["position"] == expected["position"]
    for name, weight in expected["ema"].items():
        torch.testing.assert_close(found["ema"][name], weight, rtol=1e-3, atol=1e-6, msg=name)
    assert torch.equal(found["ema"][WORD], expected["ema"][WORD])
    bundle = open_bundle(export_checkpoint(joined, tmp_path / "bundle", mixed_with=began, share=0.5))
    assert bundle.config.model.d == 24


def test_words_that_were_learnt_travel_too(
    ran: Path, main: Callable[[list[str]], int], tmp_path: Path
) -> None:
    state = load_checkpoint(ran / LAST)
    state["config"]["model"]["freeze_words"] = False
    state["ema"][WORD] = state["ema"][WORD] + 1
    save_checkpoint(tmp_path / LAST, state)
    parts, joined = tmp_path / "parts", tmp_path / "joined.pt"
    assert main(["split", str(tmp_path / LAST), str(parts)]) == 0
    assert main(["join", str(parts), str(joined), "--words", "nobody's"]) == 0
    torch.testing.assert_close(load_checkpoint(joined)["ema"][WORD], state["ema"][WORD], rtol=1e-3, atol=1e-6)


def test_parts_that_are_not_whole_or_of_other_words_are_named(
    ran: Path, began: Path, main: Callable[[list[str]], int], tmp_path: Path
) -> None:
    parts = tmp_path / "parts"
    main(["split", str(ran / LAST), str(parts), "--mib", "1"])
    with pytest.raises(CheckpointError, match="has other words than the run"):
        main(["join", str(parts), str(tmp_path / "a.pt"), "--words", "ehr-en"])
    (first, *_) = sorted(parts.iterdir())
    first.write_bytes(first.read_bytes()[:1000])
    with pytest.raises(CheckpointError, match="its parts make no checkpoint"):
        main(["join", str(parts), str(tmp_path / "a.pt"), "--words", str(began)])


def test_a_run_is_mixed_with_the_narrower_bundle_that_it_began_from(ran: Path, began: Path) -> None:
    state = load_checkpoint(ran / LAST)
    start = widened(bundle_weights(began), state["ema"])
    for share in (0.0, 0.25, 1.0):
        for name, weight in mixed_weights(state, open_bundle(began), share).items():
            torch.testing.assert_close(weight, torch.lerp(start[name], state["ema"][name], share), msg=name)


def test_a_wider_bundle_is_not_what_a_run_began_from(
    ran: Path, config: TrainConfig, began: Path, tmp_path: Path
) -> None:
    wider = replace(config, model=replace(config.model, d=32, heads=4, encoder=str(began)))
    other = open_bundle(write_untrained(wider, tmp_path / "wider"))
    with pytest.raises(ModelError, match="has other sizes"):
        mixed_weights(load_checkpoint(ran / LAST), other, 0.5)
