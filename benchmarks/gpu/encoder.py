"""Our encoder on the GPU against ONNX Runtime's CUDA provider: does the CUDA core do well to run the encoder itself?

    python benchmarks/gpu/encoder.py --json encoder.json

Questions of one length, the commonest among those that are asked, so that ONNX Runtime's graph takes them as one array. Ours
is the encoder's part of whole parses, by CUDA events; ONNX Runtime's is the wall time of a run with its input and output
bound to the card's memory. Needs the package onnxruntime-gpu, which excludes onnxruntime; where its provider is missing,
ours stands alone, and why is said. Nobody has run this on a card yet.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fastsql.linking.lexicon import Lexicon
from fastsql.model import open_bundle
from fastsql.model.bundle import ENCODER
from fastsql.parser.bundles import find_bundle

sys.path.insert(0, str(Path(__file__).parents[1]))
from figures import show
from gpu.device import Report, card
from gpu.engines import Cores
from gpu.questions import NoQuestionsError, hospital
from record import measured

PROVIDER = "CUDAExecutionProvider"
WARM = 5
Encode = Callable[[], object]


class NoProviderError(RuntimeError):
    """ONNX Runtime cannot run on this machine's GPU."""


def bound(path: Path, ids: NDArray[np.int64]) -> Encode:
    """A run of the encoder's graph on ids int64[batch, tokens] that lie on the card. Raises NoProviderError."""
    try:
        import onnxruntime as ort
    except ImportError as error:
        raise NoProviderError("onnxruntime-gpu is not installed") from error
    if PROVIDER not in ort.get_available_providers():
        raise NoProviderError(
            f"ONNX Runtime has no {PROVIDER} here: install onnxruntime-gpu in place of onnxruntime"
        )
    session = ort.InferenceSession(str(path), providers=[PROVIDER])
    if session.get_providers()[0] != PROVIDER:
        raise NoProviderError(
            f"ONNX Runtime could not load its {PROVIDER}, and took {session.get_providers()[0]}"
        )
    binding = session.io_binding()
    binding.bind_ortvalue_input("ids", ort.OrtValue.ortvalue_from_numpy(ids, "cuda", 0))
    binding.bind_output(session.get_outputs()[0].name, "cuda")

    def run() -> None:
        session.run_with_iobinding(binding)
        binding.synchronize_outputs()

    return run


def wall_ms(run: Encode, repeat: int) -> float:
    """The median of a call, after some that warm up."""
    times = []
    for _ in range(WARM + repeat):
        start = time.perf_counter()
        run()
        times.append(1e3 * (time.perf_counter() - start))
    return float(np.median(times[WARM:]))


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a table; write the same as JSON where asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", default="ehr-en", help="a bundled model or a bundle's folder")
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("FASTSQL_DATA", ".")))
    parser.add_argument("--batches", type=int, nargs="+", default=[1, 16, 64])
    parser.add_argument("--questions", type=int, default=400, metavar="N", help="to choose from")
    parser.add_argument("--repeat", type=int, default=30)
    parser.add_argument("--simulated", action="store_true", help="the GPU is")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    try:
        plain, questions = hospital(options.data, options.questions)
    except NoQuestionsError as error:
        print(error, file=sys.stderr)
        return 2
    bundle = open_bundle(find_bundle(options.model))
    cores = Cores(bundle, 1)
    encoded = cores.encode(Lexicon.from_settings(bundle.config.settings).apply(plain))
    asked = [cores.ask(question, encoded) for question in questions]
    tokens = Counter(len(one.prepared.token_ids) for one in asked).most_common(1)[0][0]
    alike = [one for one in asked if len(one.prepared.token_ids) == tokens]
    tokenizer = bundle.tokenizer()
    rows: dict[str, dict[str, float]] = {}
    report = Report(
        options.json,
        measured(__file__, arguments),
        card=card(options.simulated),
        tokens=tokens + 2,
        batches=rows,
    )
    problem = ""
    for size in options.batches:
        taken = [alike[number % len(alike)] for number in range(size)]
        mine = [cores.on_cuda(encoded, taken, 1)[0][4][0] for _ in range(1 + options.repeat)]
        rows[str(size)] = {"ours, ms": float(np.median(mine[1:]))}
        ids = np.stack([[tokenizer.cls, *one.prepared.token_ids, tokenizer.sep] for one in taken]).astype(
            np.int64
        )
        try:
            rows[str(size)]["ONNX Runtime, ms"] = wall_ms(bound(bundle.path / ENCODER, ids), options.repeat)
        except NoProviderError as error:
            problem = str(error)
        report.add(without=problem)
    show(f"encoder, {tokens + 2} tokens a question, by batch", rows, ["ours, ms", "ONNX Runtime, ms"], 3)
    if problem:
        print(f"without ONNX Runtime: {problem}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
