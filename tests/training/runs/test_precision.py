"""bf16 is for devices that are faster in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="pip install '.[train]' runs this")

from fastsql.training.config import TrainConfig  # noqa: E402
from fastsql.training.corpus.corpus import load_corpus  # noqa: E402
from fastsql.training.runs import precision  # noqa: E402
from fastsql.training.runs.progress import RunProgress  # noqa: E402
from fastsql.training.runs.run import Run  # noqa: E402


@pytest.fixture(autouse=True)
def never_measured() -> Iterator[None]:
    precision.is_faster_in_bf16.cache_clear()
    yield
    precision.is_faster_in_bf16.cache_clear()


@pytest.mark.parametrize(
    ("bf16", "float32", "faster"), [(1.0, 2.0, True), (2.0, 1.0, False), (1.0, 1.1, False)]
)
def test_a_run_takes_what_is_faster(
    bf16: float,
    float32: float,
    faster: bool,
    config: TrainConfig,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    seconds = {torch.bfloat16: bf16, torch.float32: float32}
    monkeypatch.setattr(precision, "_seconds", seconds.__getitem__)
    config = replace(config, optim=replace(config.optim, bf16=True))
    with RunProgress(quiet=False) as progress:
        corpus = load_corpus(config.data, config.seed, tmp_path / "cache", progress.note)
        run = Run(config, corpus, tmp_path, torch.device("cpu"), progress)
    assert run.bf16 is faster
    assert ("float32 in place of bf16" in capsys.readouterr().err) is not faster


def test_a_busy_moment_does_not_part_two_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    busy = iter([1.0, 2.0, 2.0, 1.0])
    monkeypatch.setattr(precision, "_seconds", lambda dtype: next(busy))
    assert [precision.is_faster_in_bf16(torch.device("cpu")) for _ in range(2)] == [True, True]


def test_measuring_draws_no_random_number() -> None:
    before = torch.get_rng_state()
    precision.is_faster_in_bf16(torch.device("cpu"))
    assert torch.equal(torch.get_rng_state(), before)


def test_time_is_taken_over_sizes_that_nothing_was_computed_for(monkeypatch: pytest.MonkeyPatch) -> None:
    met: list[int] = []
    monkeypatch.setattr(precision.nn.Linear, "forward", counted(precision.nn.Linear.forward, met))
    assert precision._seconds(torch.float32) > 0
    assert precision._seconds(torch.float32) > 0
    rows = met[::2]  # two maps a step
    assert len(rows) == len(set(rows)) == 2 * (precision.ROUNDS + 1)


def counted(forward: Callable[..., Any], met: list[int]) -> Callable[..., Any]:
    def wrapped(self: Any, x: Any) -> Any:
        met.append(len(x))
        return forward(self, x)

    return wrapped
