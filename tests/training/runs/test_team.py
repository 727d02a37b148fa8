"""Processes that train one model together."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="pip install '.[train]' runs this")
pytest.importorskip("onnx", reason="pip install '.[train]' runs this")

from fastsql.training import train  # noqa: E402
from fastsql.training.config import AugmentSettings, TrainConfig  # noqa: E402
from fastsql.training.runs.checkpoint import LAST, load_checkpoint  # noqa: E402
from fastsql.training.runs.curves import read_metrics  # noqa: E402
from fastsql.training.runs.run import TrainingError  # noqa: E402
from fastsql.training.runs.team import Leader  # noqa: E402

from .members import die, fail, parameters, take_part  # noqa: E402

pytestmark = [
    pytest.mark.filterwarnings("ignore::fastsql.CalibrationWarning"),
    pytest.mark.usefixtures("few_searches"),
]


@pytest.fixture(autouse=True)
def found_by_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets new processes import what they are to run from here."""
    monkeypatch.syspath_prepend(str(Path(__file__).parents[3]))


def test_gradients_are_averaged_over_all_processes() -> None:
    own = parameters(0.0, None, 1.0)
    with Leader(3, own, take_part, ()) as team:
        team.gather()
        for fraction in (0.25, 0.5):
            assert team.agree(fraction, False) == (fraction, False)
            own = parameters(0.0, None, 1.0)
            team.average(own)
            found = [parameter.grad.tolist() for parameter in own if parameter.grad is not None]
            assert found[:2] == [[1.0, 1.0], [0.0, 0.0]]
            assert found[2] == pytest.approx([(1.0 + 2 * fraction) / 3] * 2)
        team.agree(1.0, True)


def test_what_is_not_trained_is_not_shared() -> None:
    own = parameters(3.0, 5.0)
    own[1].requires_grad_(False)
    with Leader(1, own, take_part, ()) as team:
        team.average(own)
    assert [parameter.grad.tolist() for parameter in own if parameter.grad is not None] == [
        [3.0, 3.0],
        [5.0, 5.0],
    ]


@pytest.mark.parametrize("steps", [0, 1])
def test_the_other_processes_end_quietly_when_the_leader_goes(steps: int) -> None:
    with Leader(2, parameters(1.0, None, 1.0), take_part, ()) as team:
        ((process, _),) = team._others
        team.gather()
        for _ in range(steps):
            team.agree(0.5, False)
    assert process.exitcode == 0


@pytest.mark.parametrize(
    ("follow", "message"),
    [(fail, "ValueError: no such batch"), (die, "a process that trains beside this one ended with code -9")],
)
def test_a_process_that_fails_is_heard_of(follow: Any, message: str) -> None:
    with Leader(2, parameters(1.0), follow, ()) as team, pytest.raises(TrainingError, match=message):
        team.gather()


def run(config: TrainConfig, output: Path, cache: Path, processes: int, **options: Any) -> dict[str, Any]:
    train(
        config,
        output,
        threads=1,
        device="cpu",
        loaders=0,
        processes=processes,
        cache=cache,
        quiet=True,
        **options,
    )
    return load_checkpoint(output / LAST)


def test_two_processes_learn_what_one_learns_from_twice_the_batches(
    config: TrainConfig, cache: Path, tmp_path: Path
) -> None:
    still = replace(
        config,
        model=replace(config.model, dropout=0.0, encoder_dropout=0.0),
        augment=AugmentSettings(schema=0.0),
        optim=replace(config.optim, clip=1e9),
        schedule=replace(config.schedule, epochs=1.0),
    )
    alone = run(replace(still, optim=replace(still.optim, accumulate=2)), tmp_path / "alone", cache, 1)
    together = run(still, tmp_path / "together", cache, 2)
    assert together["position"]["step"] * 2 == alone["position"]["step"]
    for name, weight in alone["model"].items():
        torch.testing.assert_close(together["model"][name], weight, rtol=1e-3, atol=1e-5, msg=name)


def test_a_team_goes_on_behind_the_batches_that_all_of_it_took(
    config: TrainConfig, cache: Path, tmp_path: Path
) -> None:
    first = replace(config, schedule=replace(config.schedule, epochs=1.0))
    state = run(first, tmp_path / "run", cache, 2)
    position = state["position"]
    assert position["epoch"] + position["batch"] / position["batches"] >= 1.0
    later = run(config, tmp_path / "run", cache, 2, resume=True)["position"]
    assert later["epoch"] >= 2
    # The leader sees every other batch.
    steps = [row["step"] for row in read_metrics(tmp_path / "run") if row["kind"] == "epoch"]
    assert steps[-1] == pytest.approx(position["batches"], abs=1)


def test_a_gpu_has_no_team(config: TrainConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    with pytest.raises(TrainingError, match="on a CPU only"):
        train(config, tmp_path / "run", device="cuda", processes=2, quiet=True)
