"""The CUDA core as the package sees it: whether it is there, and batches for it. tests/native/test_cuda.py runs it."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import fastsql
from fastsql import LimitError, ModelError, backends
from fastsql.backends import CudaStatus
from fastsql.engine.cuda import MOST_QUESTIONS, CudaEngine
from fastsql.model import open_bundle

H200 = ("NVIDIA H200", 9, 0, 132, 140 * 2**30)
NO_DRIVER = "no GPU can be used (the NVIDIA driver is missing)"


class Core(ModuleType):
    """A native module with a CUDA core that finds `gpus`; without any `gpus`, one that was built without CUDA."""

    compiler = "GNU 12.2.0"

    def __init__(self, gpus: tuple[list[Any], str] | None) -> None:
        super().__init__("fastsql._core")
        self.__file__ = "_core.so"
        if gpus is not None:
            self.gpus = lambda: gpus

    def instruction_sets(self) -> tuple[str, ...]:
        return ("baseline", "avx2")

    def Grammar(self, table: Any) -> None:  # noqa: N802
        """Nothing that these tests look at."""

    def CudaEngine(self, sizes: Any, weights: Any, **options: Any) -> CudaCore:  # noqa: N802
        return CudaCore()


class CudaCore:
    """Answers numbers with their squares: LimitError where there are more than `room`, ModelError for a negative one."""

    room = MOST_QUESTIONS

    def __init__(self) -> None:
        self.batches: list[list[int]] = []

    def parse(self, state: str, asked: list[int], beam: int, *, patience: float = 0.0) -> list[Any]:
        self.batches.append(asked)
        if len(asked) > self.room:
            raise LimitError("the GPU has no memory left")
        if min(asked) < 0:
            raise ModelError("a token's id is -1")
        return [
            LimitError("outgrew its bytes") if number == 13 else (number * number, beam) for number in asked
        ]


class Schema:
    """As far as `CudaEngine` looks at one."""

    state = "on the GPU"


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Callable[[tuple[list[Any], str] | None], None]:
    """Puts a native module in the place of what is there."""

    def put(gpus: tuple[list[Any], str] | None) -> None:
        monkeypatch.setenv(backends.NATIVE_VARIABLE, "auto")
        monkeypatch.setitem(sys.modules, "fastsql._core", Core(gpus))

    return put


@pytest.fixture
def engine(
    install: Callable[..., None], toy_bundle: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[CudaEngine, CudaCore]:
    """An engine, and the stub of a core below it; numbers stand for linked questions, their squares for what is decoded."""
    install(([H200], ""))
    made = CudaEngine(open_bundle(toy_bundle))
    monkeypatch.setattr(made, "arguments", lambda prepared, schema, space: prepared)
    monkeypatch.setattr("fastsql.engine.cuda._decoded", lambda parsed, milliseconds: parsed)
    core: CudaCore = made._engine
    return made, core


# ---------------------------------------------------------------- whether it is there


@pytest.mark.parametrize(
    ("gpus", "reason"),
    [
        (
            None,
            "the native module was built without CUDA; where nvcc is, reinstall fastsql with FASTSQL_CUDA=ON",
        ),
        (([], NO_DRIVER), NO_DRIVER),
        (
            (
                [("Tesla T4", 7, 5, 40, 16 * 2**30)],
                "Tesla T4 has compute capability 7.5; the kernels need 8.0",
            ),
            "Tesla T4 has compute capability 7.5; the kernels need 8.0",
        ),
    ],
)
def test_without_a_gpu_cuda_says_why(
    install: Callable[..., None],
    toy_bundle: Path,
    gpus: tuple[list[Any], str] | None,
    reason: str,
) -> None:
    install(gpus)
    assert backends.cuda_status() == CudaStatus((), reason)
    with pytest.raises(ModelError) as caught:
        fastsql.load(toy_bundle, device="cuda")
    assert caught.value.where == "device 'cuda'"
    assert reason in str(caught.value)
    assert "use 'auto' or 'cpu'" in str(caught.value)
    assert backends.resolve_device("auto") == "cpu"


def test_without_the_native_module_there_is_no_cuda(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(backends.NATIVE_VARIABLE, "off")
    assert backends.cuda_status().reason.startswith("it needs the native module, which is switched off")
    with pytest.raises(ModelError, match="needs the native module"):
        backends.resolve_device("cuda")


def test_gpus_are_named_with_what_they_can_do(install: Callable[..., None]) -> None:
    install(([H200, ("NVIDIA L4", 8, 9, 58, 24 * 2**30)], ""))
    status = backends.cuda_status()
    assert status.reason == "ready"
    assert status.gpus == (
        "NVIDIA H200, compute capability 9.0, 140 GiB",
        "NVIDIA L4, compute capability 8.9, 24 GiB",
    )
    assert backends.resolve_device("cuda") == "cuda"
    assert backends.resolve_device("auto") == "cpu", "a GPU is asked for by name"


# ---------------------------------------------------------------- batches


def test_a_batch_is_one_call(engine: tuple[CudaEngine, CudaCore]) -> None:
    cuda, core = engine
    asked: Sequence[Any] = [(number, None) for number in range(5)]
    found: list[Any] = cuda.decode_batch(asked, Schema(), 4)  # type: ignore[arg-type]
    assert found == [(number * number, 4) for number in range(5)]
    assert core.batches == [[0, 1, 2, 3, 4]]


def test_a_batch_that_the_gpu_has_no_memory_for_is_taken_in_halves(
    engine: tuple[CudaEngine, CudaCore],
) -> None:
    cuda, core = engine
    core.room = 2
    found: list[Any] = cuda._parse_batch((Schema(), 1, 0.0), list(range(7)))  # type: ignore[arg-type, list-item]
    assert found == [(number * number, 1) for number in range(7)]
    assert [len(batch) for batch in core.batches] == [7, 3, 1, 2, 4, 2, 2]


def test_what_fails_alone_fails_for_itself(engine: tuple[CudaEngine, CudaCore]) -> None:
    cuda, core = engine
    found: list[Any] = cuda._parse_batch((Schema(), 1, 0.0), [1, -2, 13, 4, 5])  # type: ignore[arg-type, list-item]
    assert [type(answer) for answer in found] == [tuple, ModelError, LimitError, tuple, tuple]
    core.room = 0
    with pytest.raises(LimitError, match="no memory left"):
        cuda.decode(3, Schema(), None, 1)  # type: ignore[arg-type]
    with pytest.raises(LimitError, match="no memory left"):
        cuda.decode_batch([(1, None), (2, None)], Schema(), 1)  # type: ignore[list-item, arg-type]


def test_what_is_no_refusal_is_raised_at_once(
    engine: tuple[CudaEngine, CudaCore], monkeypatch: pytest.MonkeyPatch
) -> None:
    cuda, core = engine

    def broken(*given: Any, **options: Any) -> None:
        core.batches.append([])
        raise fastsql.FastSQLError("CUDA, a batch of questions: an illegal memory access was encountered")

    monkeypatch.setattr(core, "parse", broken)
    with pytest.raises(fastsql.FastSQLError, match="illegal memory access"):
        cuda._parse_batch((Schema(), 1, 0.0), [1, 2, 3])  # type: ignore[arg-type, list-item]
    assert len(core.batches) == 1, "the GPU is not asked again"


def test_threads_that_ask_at_the_same_time_share_a_batch(
    engine: tuple[CudaEngine, CudaCore], monkeypatch: pytest.MonkeyPatch
) -> None:
    cuda, core = engine
    started, may_go_on = threading.Event(), threading.Event()
    parse = core.parse

    def slow(state: str, asked: list[int], beam: int, *, patience: float) -> list[Any]:
        started.set()
        assert may_go_on.wait(60)
        return parse(state, asked, beam, patience=patience)

    monkeypatch.setattr(core, "parse", slow)
    one, other = Schema(), Schema()
    with ThreadPoolExecutor(8) as pool:
        ask: Any = cuda.decode
        first = pool.submit(ask, 1, one, None, 4)
        assert started.wait(60)
        rest = [pool.submit(ask, number, one, None, 4) for number in (2, 3, -4)]
        rest += [pool.submit(ask, 5, other, None, 4), pool.submit(ask, 6, one, None, 2)]
        rest += [pool.submit(ask, 7, one, None, 4, 2.0)]
        while len(cuda._gathering._waiting) < len(rest):
            assert not first.done()
        may_go_on.set()
        assert [first.result(), rest[0].result(), rest[1].result()] == [(1, 4), (4, 4), (9, 4)]
        assert isinstance(rest[2].exception(), ModelError)
        assert (rest[3].result(), rest[4].result(), rest[5].result()) == ((25, 4), (36, 2), (49, 4))
    assert sorted(map(sorted, core.batches), key=len)[-1] == [-4, 2, 3]
