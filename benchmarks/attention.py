"""How long does relation-aware attention take, and what would it take in PyTorch?

    python benchmarks/attention.py                                    64 to 1,024 rows, one thread and two
    python benchmarks/attention.py --sizes 320 --json attention.json

The operation is one layer of self-attention over N rows with a relation for each pair (RAT-SQL, section 4.2),
forward only, heads first. Its forms:

    native                with the kernels of each instruction set
    naive                 builds relation_key[relations], float32[N, N, head size], and multiplies by it as published
                          code does (Shaw et al., 2018, section 3.3)
    factored              gathers query . relation_key and sums weights by relation, as the native kernels do
    sdpa                  fused attention with the gathered bias; its weights are computed again for the value side,
                          which the fused form does not give
    sdpa, key side only   without relation values: a lesser operation, the floor of what a fused form costs
    compiled              torch.compile of naive and factored
    numpy                 the Python backend

Every form is compared with the definition in double precision before anything is timed. Forms take turns, a few
runs each, so that what else the machine does meets all of them. Times are wall times; the ratio is of medians. Without
PyTorch, its forms are left out.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastsql import backends
from fastsql.model.attention import relation_scores, relation_values, softmax

sys.path.insert(0, str(Path(__file__).parent))
from record import save

Floats = NDArray[np.float32]
Form = Callable[..., Any]
Times = dict[str, float]
"""Milliseconds: `median` and `best`."""

NATIVE = "native"
KEY_SIDE_ONLY = "sdpa, key side only"
BURST = 5
"""Runs of a form before the next one has its turn: what the others left in the caches weighs on the first of them only."""
PAUSE = 0.01
"""Seconds before a burst: threads of the form before it still watch for work for a while, and hold their processors."""
UNRELATED = 0.6
"""Share of the pairs that have relation 0: most pairs of a real graph have nothing in common."""


@dataclass(frozen=True)
class Problem:
    """Arguments of an attention of N rows to themselves."""

    query: Floats  # [heads, N, head size]
    key: Floats
    value: Floats
    relation_key: Floats  # [relations, head size]
    relation_value: Floats
    relations: NDArray[np.uint8]  # [N, N]

    @classmethod
    def random(cls, rows: int, heads: int, head_size: int, relations: int) -> Problem:
        """Normal numbers, and relations of which all occur."""
        random = np.random.default_rng(0)
        query, key, value = random.standard_normal((3, heads, rows, head_size), dtype=np.float32)
        relation_key, relation_value = random.standard_normal((2, relations, head_size), dtype=np.float32)
        edges = random.integers(0, relations, (rows, rows)).astype(np.uint8)
        edges[random.random((rows, rows)) < UNRELATED] = 0
        return cls(query, key, value, relation_key, relation_value, edges)

    @property
    def arguments(self) -> tuple[NDArray[Any], ...]:
        """In the order in which every form takes them."""
        return (self.query, self.key, self.value, self.relation_key, self.relation_value, self.relations)

    @property
    def operations(self) -> int:
        """Multiplications and additions of the factored form's four products."""
        heads, rows, head_size = self.query.shape
        return 4 * heads * rows * head_size * (rows + len(self.relation_key))

    def expected(self, relation_value: Floats) -> NDArray[np.float64]:
        """The definition in double precision, float64[heads, N, head size]."""
        result = np.empty(self.query.shape)
        keys, values = (
            table[self.relations].astype(np.float64) for table in (self.relation_key, relation_value)
        )
        for head, query in enumerate(self.query.astype(np.float64)):
            scores = query @ self.key[head].T.astype(np.float64) + np.einsum("id,ijd->ij", query, keys)
            weights = np.exp((scores - scores.max(axis=1, keepdims=True)) / np.sqrt(query.shape[1]))
            weights /= weights.sum(axis=1, keepdims=True)
            result[head] = weights @ self.value[head] + np.einsum("ij,ijd->id", weights, values)
        return result


def numpy_factored(
    query: Floats, key: Floats, value: Floats, rk: Floats, rv: Floats, relations: NDArray[np.uint8]
) -> Floats:
    """As the graph layer of the NumPy model does it."""
    query = query * np.float32(query.shape[-1] ** -0.5)
    weights = softmax(query @ key.transpose(0, 2, 1) + relation_scores(query, rk, relations))
    result: Floats = weights @ value + relation_values(weights, rv, relations)
    return result


def torch_forms(torch: Any) -> dict[str, Form]:
    """PyTorch's forms of the operation; tensors as in `Problem`, relations int64."""

    def naive(query: Any, key: Any, value: Any, rk: Any, rv: Any, relations: Any) -> Any:
        keys, values = rk[relations], rv[relations]  # [N, N, head size]
        by_row = torch.matmul(query.transpose(0, 1), keys.transpose(1, 2)).transpose(0, 1)
        scores = (torch.matmul(query, key.transpose(1, 2)) + by_row) / query.shape[-1] ** 0.5
        weights = torch.softmax(scores, dim=-1)
        return torch.matmul(weights, value) + torch.matmul(weights.transpose(0, 1), values).transpose(0, 1)

    def bias(query: Any, rk: Any, relations: Any) -> Any:
        by_relation = torch.matmul(query, rk.T)  # [heads, N, relations]
        return torch.gather(by_relation, 2, relations.expand(len(query), -1, -1))

    def value_side(weights: Any, rv: Any, relations: Any) -> Any:
        mass = weights.new_zeros((*weights.shape[:2], len(rv)))
        return torch.matmul(mass.scatter_add_(2, relations.expand(len(weights), -1, -1), weights), rv)

    def factored(query: Any, key: Any, value: Any, rk: Any, rv: Any, relations: Any) -> Any:
        query = query * query.shape[-1] ** -0.5
        weights = torch.softmax(torch.matmul(query, key.transpose(1, 2)) + bias(query, rk, relations), dim=-1)
        return torch.matmul(weights, value) + value_side(weights, rv, relations)

    def sdpa_keys(query: Any, key: Any, value: Any, rk: Any, _rv: Any, relations: Any) -> Any:
        query = query * query.shape[-1] ** -0.5
        added = bias(query, rk, relations)
        attend = torch.nn.functional.scaled_dot_product_attention
        return attend(query[None], key[None], value[None], attn_mask=added[None], scale=1.0)[0]

    def sdpa(query: Any, key: Any, value: Any, rk: Any, rv: Any, relations: Any) -> Any:
        query = query * query.shape[-1] ** -0.5
        added = bias(query, rk, relations)
        attend = torch.nn.functional.scaled_dot_product_attention
        mixed = attend(query[None], key[None], value[None], attn_mask=added[None], scale=1.0)[0]
        weights = torch.softmax(torch.matmul(query, key.transpose(1, 2)) + added, dim=-1)
        return mixed + value_side(weights, rv, relations)

    return {
        "torch naive": naive,
        "torch factored": factored,
        "torch sdpa": sdpa,
        f"torch {KEY_SIDE_ONLY}": sdpa_keys,
    }


def forms(
    core: ModuleType, torch: Any, problem: Problem, threads: int, compiled: bool
) -> dict[str, Callable[[], Any]]:
    """What is measured, by name: calls without arguments on `threads` threads."""
    given = problem.arguments
    found: dict[str, Callable[[], Any]] = {}
    for name in core.instruction_sets():
        attention = core.RelationAttention(threads=threads, instruction_set=name)
        found[f"{NATIVE} {name}"] = lambda attention=attention: attention(*given)[0]
    if torch is not None:
        tensors = [torch.from_numpy(array) for array in given]
        tensors[-1] = tensors[-1].long()
        for name, form in torch_forms(torch).items():
            found[name] = lambda form=form: form(*tensors)
            if compiled and name in ("torch naive", "torch factored"):
                faster = torch.compile(form, fullgraph=True, dynamic=False)
                found[f"{name}, compiled"] = lambda form=faster: form(*tensors)
    found["numpy factored"] = lambda: numpy_factored(*given)
    return found


def check(calls: dict[str, Callable[[], Any]], problem: Problem) -> None:
    """Calls every form once. Raises AssertionError where one is off the definition."""
    whole = problem.expected(problem.relation_value)
    lesser = problem.expected(np.zeros_like(problem.relation_value))
    for name, call in calls.items():
        wanted = lesser if KEY_SIDE_ONLY in name else whole
        np.testing.assert_allclose(np.asarray(call()), wanted, rtol=1e-4, atol=1e-4, err_msg=name)


def timed(calls: dict[str, Callable[[], Any]], seconds: float) -> dict[str, Times]:
    """Rounds of one burst of each form, until the forms have had `seconds` each on average."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    end = time.perf_counter() + seconds * len(calls)
    while not next(iter(times.values())) or time.perf_counter() < end:
        for name, call in calls.items():
            time.sleep(PAUSE)
            for _ in range(BURST):
                start = time.perf_counter()
                call()
                times[name].append(time.perf_counter() - start)
    return {
        name: {"median": statistics.median(runs) * 1e3, "best": min(runs) * 1e3}
        for name, runs in times.items()
    }


def measure(
    core: ModuleType, torch: Any, problem: Problem, threads: int, options: argparse.Namespace
) -> dict[str, Times]:
    """Times of every form on so many threads."""
    if torch is None:
        calls = forms(core, None, problem, threads, compiled=False)
        check(calls, problem)
        return timed(calls, options.seconds)
    torch.set_num_threads(threads)
    torch.compiler.reset()
    with torch.inference_mode():
        calls = forms(core, torch, problem, threads, compiled=not options.no_compile)
        check(calls, problem)
        return timed(calls, options.seconds)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a table; write the same as JSON where asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--sizes", type=int, nargs="+", default=[64, 160, 320, 640, 1024], help="rows = columns"
    )
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--heads", type=int, default=8)
    parser.add_argument("--head-size", type=int, default=32)
    parser.add_argument("--relations", type=int, default=58)
    parser.add_argument("--seconds", type=float, default=0.5, help="per form, size and number of threads")
    parser.add_argument(
        "--no-compile", action="store_true", help="without torch.compile, which needs a compiler and minutes"
    )
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    core = backends.native()
    if core is None:
        print(f"no native module: {backends.native_status().reason}", file=sys.stderr)
        return 1
    torch = import_module("torch") if find_spec("torch") else None
    if torch is None:
        print(
            "PyTorch is not installed (pip install torch): only native and NumPy are measured",
            file=sys.stderr,
        )
    best = f"{NATIVE} {core.instruction_sets()[-1]}"
    results = []
    print(
        f"relation-aware attention, ms; {options.heads} heads of {options.head_size}, {options.relations} relations;"
        f" {core.compiler}, torch {torch.__version__ if torch else 'absent'}, {os.cpu_count()} processors"
    )
    print(f"{'rows':>5} {'threads':>8} {'form':<28} {'median':>9} {'best':>9} {'GFLOP/s':>8} {'ratio':>7}")
    for size in options.sizes:
        problem = Problem.random(size, options.heads, options.head_size, options.relations)
        for threads in options.threads:
            found = measure(core, torch, problem, threads, options)
            results.append(
                {"rows": size, "threads": threads, "operations": problem.operations, "milliseconds": found}
            )
            for name, ms in found.items():
                rate = f"{problem.operations / ms['median'] / 1e6:.1f}" if name.startswith(NATIVE) else ""
                print(
                    f"{size:5d} {threads:8d} {name:<28} {ms['median']:9.3f} {ms['best']:9.3f} {rate:>8}"
                    f" {ms['median'] / found[best]['median']:6.1f}x"
                )
    save(options.json, {"attention": results}, __file__, arguments)
    return 0


if __name__ == "__main__":
    sys.exit(main())
