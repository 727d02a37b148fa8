"""What runs the question encoder fastest: the native core, ONNX Runtime with which options, or NumPy?

    python benchmarks/encoder.py                          the bundled model, questions of 10, 20, 33 and 50 tokens
    python benchmarks/encoder.py --tokens 20 --repeat 50 --json encoder.json

One question at a time, milliseconds at the median. The ways take turns in bursts: ONNX Runtime's threads look for work for a
while after each call, and would take a processor from whoever comes next. ONNX Runtime is run with every combination of
threads, graph optimisation level and memory arena, and with its weights quantised to int8 (MatMulNBits, weight-only), where
the packages `onnxruntime`, `onnx` and `onnx_ir` are. "difference" is the largest one from NumPy's states.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastsql.backends import native
from fastsql.cli.console import Console
from fastsql.errors import FastSQLError
from fastsql.model import Bundle, open_bundle
from fastsql.model.bundle import ENCODER, WEIGHTS
from fastsql.parser.bundles import find_bundle

sys.path.insert(0, str(Path(__file__).parent))
from record import save

Encode = Callable[[NDArray[np.int32]], NDArray[np.float32]]
THREADS = (1, 2)
ROUNDS = 4
PAUSE = 0.1
"""Seconds before a burst, in which the threads of the one before fall asleep."""


def native_ways(bundle: Bundle) -> Iterator[tuple[str, Encode]]:
    """The native core."""
    core: Any = native()
    if core is None:
        return
    tokenizer, weights = bundle.tokenizer(), bundle.weights().stored()
    for threads in THREADS:
        engine = core.Engine(bundle.config.model.to_dict(), weights, tokenizer.cls, tokenizer.sep, threads)
        yield f"native, {threads} threads", engine.encode_texts


def onnx_ways(bundle: Bundle, scratch: Path) -> Iterator[tuple[str, Encode]]:
    """ONNX Runtime with the options that could matter."""
    try:
        import onnxruntime as ort
    except ImportError:
        return
    levels = {
        "all": ort.GraphOptimizationLevel.ORT_ENABLE_ALL,
        "basic": ort.GraphOptimizationLevel.ORT_ENABLE_BASIC,
    }
    graph = bundle.path / ENCODER
    for threads in THREADS:
        for level, chosen in levels.items():
            for arena in (True, False):
                yield (
                    f"ONNX Runtime, {threads} threads, graph {level}, {'arena' if arena else 'no arena'}",
                    _session(ort, graph, threads, chosen, arena),
                )
        quantised = _quantised(ort, graph, scratch)
        if quantised is not None:
            yield (
                f"ONNX Runtime, {threads} threads, weight-only int8",
                _session(ort, quantised, threads, levels["all"], arena=True),
            )


def _session(ort: Any, graph: Path, threads: int, level: Any, arena: bool) -> Encode:
    options = ort.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    options.graph_optimization_level, options.enable_cpu_mem_arena = level, arena
    options.log_severity_level = 3
    session = ort.InferenceSession(str(graph), options, providers=["CPUExecutionProvider"])
    return lambda ids: session.run(None, {"ids": ids.astype(np.int64)})[0]


def _quantised(ort: Any, graph: Path, scratch: Path) -> Path | None:
    """The graph with 8-bit weights in blocks of 32; None where the tools are missing."""
    try:
        import onnx
        from onnxruntime.quantization.matmul_nbits_quantizer import MatMulNBitsQuantizer
    except ImportError:
        return None
    target = scratch / "quantised.onnx"
    if not target.is_file():
        # The bundle's graph multiplies its weights back by itself; the quantiser takes constants only.
        options = ort.SessionOptions()
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_BASIC
        options.optimized_model_filepath = str(scratch / "folded.onnx")
        options.log_severity_level = 3
        ort.InferenceSession(str(graph), options, providers=["CPUExecutionProvider"])
        shutil.copy(graph.with_name(WEIGHTS), scratch)  # word embeddings stay where they are
        folded = onnx.load(options.optimized_model_filepath)
        quantizer = MatMulNBitsQuantizer(folded, block_size=32, is_symmetric=True, bits=8)
        quantizer.process()
        if not any(node.op_type == "MatMulNBits" for node in quantizer.model.model.graph.node):
            raise RuntimeError("no matrix of the graph was quantised")
        onnx.save_model(quantizer.model.model, target)
    return target


def burst(encode: Encode, ids: NDArray[np.int32], count: int) -> list[float]:
    """Milliseconds of each of so many calls, after one that does not count."""
    encode(ids)
    clock = [time.perf_counter()]
    for _ in range(count):
        encode(ids)
        clock.append(time.perf_counter())
    return [1000 * (after - before) for before, after in pairwise(clock)]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a table; write the same as JSON where asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", default="ehr-en", help="a bundled model or a bundle's folder")
    parser.add_argument("--tokens", type=int, nargs="+", default=[10, 20, 33, 50], metavar="N")
    parser.add_argument("--repeat", type=int, default=100)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    bundle = open_bundle(find_bundle(options.model))
    reference = bundle.model("numpy").encoder
    console = Console()
    with tempfile.TemporaryDirectory() as scratch:
        ways = {
            "NumPy": reference.encode,
            **dict(onnx_ways(bundle, Path(scratch))),
            **dict(native_ways(bundle)),
        }
        random = np.random.default_rng(0)
        vocabulary = bundle.config.model.encoder.vocabulary
        report: dict[str, dict[str, float]] = {name: {} for name in ways}
        for tokens in options.tokens:
            ids = random.integers(0, vocabulary, (1, tokens), dtype=np.int32)
            expected = reference.encode(ids)
            times: dict[str, list[float]] = {name: [] for name in ways}
            for name, encode in ways.items():
                difference = float(np.abs(encode(ids) - expected).max())
                report[name]["difference"] = max(difference, report[name].get("difference", 0.0))
            for _ in console.track(range(ROUNDS), f"{tokens} tokens", ROUNDS):
                for name, encode in ways.items():
                    time.sleep(PAUSE)
                    times[name] += burst(encode, ids, max(1, options.repeat // ROUNDS))
            for name, found in times.items():
                report[name][str(tokens)] = statistics.median(found)
    columns = [str(tokens) for tokens in options.tokens]
    rows = [
        [name, *(f"{figures[column]:.2f}" for column in columns), f"{figures['difference']:.1e}"]
        for name, figures in report.items()
    ]
    console.table(["ms at the median, tokens:", *columns, "difference"], rows)
    save(options.json, {"encoders": report}, __file__, arguments)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except FastSQLError as failure:
        sys.exit(f"encoder: {failure}")
