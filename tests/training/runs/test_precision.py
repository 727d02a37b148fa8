"""bf16 is for devices that have units for it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="pip install '.[train]' runs this")

from fastsql.training.config import TrainConfig  # noqa: E402
from fastsql.training.corpus.corpus import load_corpus  # noqa: E402
from fastsql.training.network.linear import Linear  # noqa: E402
from fastsql.training.runs import precision  # noqa: E402
from fastsql.training.runs.progress import RunProgress  # noqa: E402
from fastsql.training.runs.run import Run  # noqa: E402

CPU = torch.device("cpu")


@pytest.mark.parametrize(
    ("told", "faster"), [({"amx_bf16": True}, True), ({"avx512_bf16": True}, False), ({}, False)]
)
def test_what_is_asked_for_holds_where_the_processor_has_units_for_it(
    told: dict[str, bool],
    faster: bool,
    config: TrainConfig,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(precision, "_capabilities", lambda: told)
    config = replace(config, optim=replace(config.optim, bf16=True))
    with RunProgress(quiet=False) as progress:
        corpus = load_corpus(config.data, config.seed, tmp_path / "cache", progress.note)
        run = Run(config, corpus, tmp_path, CPU, progress)
    assert run.bf16 is faster
    assert ("float32 in place of bf16" in capsys.readouterr().err) is not faster


def test_torch_that_tells_nothing_of_a_processor_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(torch.cpu, "get_capabilities", raising=False)
    assert not precision.is_faster_in_bf16(CPU)


def test_on_a_processor_linear_maps_alone_are_rounded() -> None:
    torch.manual_seed(0)
    layer, x = Linear(24, 16), torch.randn(100, 24)
    with precision.computing(CPU, bf16=True):
        rounded, sum_of_two = layer(x), x @ x.T
    with precision.computing(CPU, bf16=False):
        assert not torch.equal(layer(x), rounded)
    assert rounded.dtype == sum_of_two.dtype == torch.float32
    assert torch.equal(sum_of_two, x @ x.T)
