"""How much faster is the native relation-aware attention than NumPy?

Compares, on one thread, the native kernel with two NumPy forms of the same formula: the definition, which builds arrays
of rows x columns x head size, and the factored form of the NumPy model, which does not. Run with ``OMP_NUM_THREADS=1
OPENBLAS_NUM_THREADS=1``.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fastsql import backends
from fastsql.model.attention import relation_scores, relation_values, softmax

Floats = NDArray[np.float32]
Kernel = Callable[[Floats, Floats, Floats, Floats, Floats, NDArray[np.uint8]], Floats]


def definition(
    query: Floats,
    key: Floats,
    value: Floats,
    relation_key: Floats,
    relation_value: Floats,
    relations: NDArray[np.uint8],
) -> Floats:
    """Builds relation_key[relations]: float32[rows, columns, head size]."""
    scores = query @ key.transpose(0, 2, 1) + np.einsum("hid,ijd->hij", query, relation_key[relations])
    weights = softmax(scores / np.float32(np.sqrt(query.shape[-1])))
    result: Floats = weights @ value + np.einsum("hij,ijd->hid", weights, relation_value[relations])
    return result


def factored(
    query: Floats,
    key: Floats,
    value: Floats,
    relation_key: Floats,
    relation_value: Floats,
    relations: NDArray[np.uint8],
) -> Floats:
    """As the NumPy model's graph layer does it."""
    query = query * np.float32(query.shape[-1] ** -0.5)
    weights = softmax(query @ key.transpose(0, 2, 1) + relation_scores(query, relation_key, relations))
    result: Floats = weights @ value + relation_values(weights, relation_value, relations)
    return result


def best_milliseconds(kernel: Kernel, arguments: tuple[NDArray[np.generic], ...], seconds: float) -> float:
    """The fastest of as many runs as fit into `seconds`, three at least."""
    times: list[float] = []
    end = time.perf_counter() + seconds
    while len(times) < 3 or time.perf_counter() < end:
        start = time.perf_counter()
        kernel(*arguments)  # type: ignore[arg-type]  # element types are the kernel's own
        times.append(time.perf_counter() - start)
    return min(times) * 1e3


def main() -> int:
    """Print a table; write the same as JSON where asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", type=int, nargs="+", default=[80, 160, 320], help="rows = columns")
    parser.add_argument("--heads", type=int, default=8)
    parser.add_argument("--head-size", type=int, default=32)
    parser.add_argument("--relations", type=int, default=32)
    parser.add_argument("--seconds", type=float, default=1.0, help="per measurement")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    core = backends.native()
    if core is None:
        print(f"no native module: {backends.native_status().reason}", file=sys.stderr)
        return 1

    kernels: dict[str, Kernel] = {
        "native": core.relation_attention,
        "factored": factored,
        "definition": definition,
    }
    random = np.random.default_rng(0)
    results = []
    print(
        f"native kernel: {core.instruction_sets()[-1]}, {core.compiler}; {os.cpu_count()} processors, best of many, ms"
    )
    print(f"{'rows':>6} {'native':>9} {'factored NumPy':>20} {'definition in NumPy':>24}")
    for size in options.sizes:
        blocks = [
            random.standard_normal((options.heads, size, options.head_size), dtype=np.float32)
            for _ in range(3)
        ]
        tables = [
            random.standard_normal((options.relations, options.head_size), dtype=np.float32) for _ in range(2)
        ]
        relations = random.integers(0, options.relations, (size, size)).astype(np.uint8)
        relations[random.random((size, size)) < 0.6] = 0  # most pairs of a real graph are unrelated
        arguments = (*blocks, *tables, relations)
        np.testing.assert_allclose(
            core.relation_attention(*arguments), definition(*arguments), rtol=1e-3, atol=1e-4
        )
        ms = {name: best_milliseconds(kernel, arguments, options.seconds) for name, kernel in kernels.items()}
        results.append({"rows": size, "milliseconds": ms})
        ratios = {name: ms[name] / ms["native"] for name in ("factored", "definition")}
        print(
            f"{size:6d} {ms['native']:9.3f} {ms['factored']:11.3f} ({ratios['factored']:5.1f}x)"
            f" {ms['definition']:15.3f} ({ratios['definition']:5.1f}x)"
        )
    if options.json:
        options.json.write_text(
            json.dumps({"relation_attention": results}, indent=1) + "\n", encoding="utf-8"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
