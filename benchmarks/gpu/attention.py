"""How long does relation-aware attention take on a GPU, and what does it take in PyTorch on the same card?

    python benchmarks/gpu/attention.py                               N = 320, 160 and 640, batches of 1 and 64
    python benchmarks/gpu/attention.py --sizes 320 --batches 64 --json attention.json

One layer of self-attention over N rows with a relation for each pair (RAT-SQL, section 4.2), bfloat16, forward, for a batch
of questions. Its forms:

    ours                  the kernel of csrc/attention/relation_attention_cuda.cu
    naive                 builds relation_key[relations], [batch, N, N, head size], as published code does
    factored              gathers query . relation_key and sums weights by relation
    one-hot               the same as products with [batch, N, N, relations] marks, which are made beforehand
    sdpa                  fused attention with the gathered bias; the value side computes the weights again
    ..., compiled         torch.compile of naive, factored and one-hot
    flex                  FlexAttention, compiled, relation keys as its score_mod; the value side computes the weights again
    flex, key side only   without relation values: a lesser operation, the floor of what FlexAttention costs

Every form is compared with the definition in double precision, ||out - ref|| / ||ref||, before it is timed; one that is off
is not timed. Inputs rotate among as many sets as exceed the card's cache. `queued` is the time of a call when the card never
waits for its next kernel, `called` that of one call on an idle card. Shapes are taken in the order of their importance, and
compiled forms of later ones are left out where the time is up.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from fastsql import backends

sys.path.insert(0, str(Path(__file__).parents[1]))
from figures import show
from gpu.attention_forms import KEY_SIDE_ONLY, Form, Inputs, eager_forms, flex_forms, prepared
from gpu.device import Device, Report, card, time_calls
from record import measured

OURS = "ours"
BOUND = 1e-2
"""What our kernel may differ from the definition by."""
BOUND_OF_OTHERS = 3e-2
"""PyTorch's forms round scores and weights to bfloat16, too."""
COMPILED = ("naive", "factored", "one-hot")
MOST_SETS = 256
CHECKED = 4
"""Questions of a batch that are compared with the definition."""
COMPILING = 30.0
"""Seconds that a compiled form may need: with less left, it is not begun."""


def ours(core: Any, device: Device, inputs: Inputs) -> Callable[[], Any]:
    """Our kernel on these inputs. Its result is NaN before it runs."""
    batch, heads, rows, head_size = inputs.query.shape
    mixed = device.torch.full_like(inputs.query, math.nan)
    pointers = [tensor.data_ptr() for tensor in (*inputs.arguments, mixed)]
    sizes = {"batch": batch, "heads": heads, "rows": rows, "head_size": head_size}
    attention = core.CudaRelationAttention(*pointers, **sizes, relation_count=len(inputs.relation_key))

    def run() -> Any:
        attention.run(device.stream)
        return mixed

    return run


def error(device: Device, name: str, inputs: Inputs, run: Callable[[], Any]) -> float:
    """||out - ref|| / ||ref|| over some questions of the batch; infinite where anything at all is not finite."""
    torch, found = device.torch, run()
    device.synchronize()
    if not bool(torch.isfinite(found).all()):
        return math.inf
    batch = len(found)
    off = size = 0.0
    for item in sorted({index * (batch - 1) // (CHECKED - 1) for index in range(CHECKED)}):
        wanted = inputs.expected(item, KEY_SIDE_ONLY not in name)
        off += float((found[item].double() - wanted).square().sum())
        size += float(wanted.square().sum())
    return math.sqrt(off / size)


def forms(core: Any, device: Device, compiled: bool) -> Iterator[tuple[str, Form | None, bool]]:
    """(name, function, whether it is compiled); ours has no function, as it takes addresses."""
    torch = device.torch
    if core is not None:
        yield OURS, None, False
    eager = eager_forms(torch)
    yield from ((name, form, False) for name, form in eager.items())
    if not compiled:
        return
    faster = partial(torch.compile, fullgraph=True, dynamic=False)
    yield from ((f"{name}, compiled", faster(eager[name]), True) for name in COMPILED)
    yield from ((name, faster(form), True) for name, form in flex_forms(torch).items())


def measure(
    core: Any, device: Device, sets: Sequence[Inputs], compiled: bool, end: float
) -> dict[str, dict[str, Any]]:
    """Of every form: its error, and its times or why there are none."""
    rows: dict[str, dict[str, Any]] = {}
    device.torch.compiler.reset()
    for name, form, is_compiled in forms(core, device, compiled):
        if is_compiled and time.monotonic() > end - COMPILING:
            rows[name] = {"left out": "no time was left to compile it"}
            continue
        if form is None:
            rows[name] = timed(device, name, sets[0], [ours(core, device, one) for one in sets])
            continue
        try:
            runs = [partial(form, *prepared(name, one, is_compiled)) for one in sets]
            rows[name] = timed(device, name, sets[0], runs)
        except Exception as problem:  # noqa: BLE001 - what PyTorch and Triton raise over a form shares no other base
            message = (str(problem).strip().splitlines() or [""])[0]
            rows[name] = {"left out": f"{type(problem).__name__}: {message[:200]}"}
    return rows


def timed(device: Device, name: str, inputs: Inputs, runs: Sequence[Callable[[], Any]]) -> dict[str, Any]:
    """Of one form, whose first call is on `inputs`: its error, and its times unless that is too large."""
    start = time.monotonic()
    row: dict[str, Any] = {"error": error(device, name, inputs, runs[0])}
    row["seconds before"] = time.monotonic() - start  # compiling is in them
    bound = BOUND if name == OURS else BOUND_OF_OTHERS
    if row["error"] > bound:  # infinite where it is not a number
        return {**row, "left out": f"{row['error']:.2g} off the definition, more than {bound:g}"}
    few = {"bursts": 2, "burst": 2, "singles": 2} if device.simulated else {}
    return {**row, **asdict(time_calls(device, runs, **few))}


def sets_for(device: Device, shape: tuple[int, ...], relations: int) -> list[Inputs]:
    """As many batches of (batch, heads, rows, head size) as fill the cache twice."""
    sizes = (*shape, relations)
    made = [Inputs.random(device.torch, device.name, *sizes, 0)]
    wanted = 1 + min(MOST_SETS - 1, 2 * device.cache_bytes // made[0].moved)
    made += [Inputs.random(device.torch, device.name, *sizes, seed) for seed in range(1, wanted)]
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Print tables; write the same as JSON where asked. Returns 1 if our kernel is off its definition."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", type=int, nargs="+", default=[320, 160, 640], help="rows = columns")
    parser.add_argument("--batches", type=int, nargs="+", default=[64, 1])
    parser.add_argument("--heads", type=int, default=8)
    parser.add_argument("--head-size", type=int, default=32)
    parser.add_argument("--relations", type=int, default=58)
    parser.add_argument("--seconds", type=float, default=150.0, help="after which nothing more is compiled")
    parser.add_argument(
        "--no-compile", action="store_true", help="without torch.compile, which needs minutes"
    )
    parser.add_argument("--simulated", action="store_true", help="on the processor, to try the script out")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    end = time.monotonic() + options.seconds
    device = Device.open(options.simulated)
    core = backends.native()
    if core is None or not hasattr(core, "CudaRelationAttention"):
        print("the native module was built without CUDA: PyTorch's forms only", file=sys.stderr)
        core = None
    shapes = []
    report = Report(
        options.json,
        measured(__file__, arguments),
        card=card(options.simulated),
        torch=device.torch.__version__,
        shapes=shapes,
    )
    wrong = False
    with device.torch.inference_mode():
        for rows, batch in [(rows, batch) for rows in options.sizes for batch in options.batches]:
            sets = sets_for(device, (batch, options.heads, rows, options.head_size), options.relations)
            found = measure(core, device, sets, not options.no_compile, end)
            shapes.append(
                {
                    "rows": rows,
                    "batch": batch,
                    "sets": len(sets),
                    "operations": sets[0].operations,
                    "bytes": sets[0].moved,
                    "forms": found,
                }
            )
            del sets
            report.add()
            wrong |= OURS in found and "left out" in found[OURS]
            _print(shapes[-1])
    return int(wrong or core is None)


def _print(shape: dict[str, Any]) -> None:
    mine = shape["forms"].get(OURS, {}).get("queued")
    rows = {
        name: {
            "error": f"{row['error']:.1e}" if "error" in row else None,
            "queued, ms": row.get("queued"),
            "called, ms": row.get("called"),
            "times ours": row["queued"] / mine if mine and "queued" in row else None,
            "left out": row.get("left out", ""),
        }
        for name, row in shape["forms"].items()
    }
    show(f"attention, N = {shape['rows']}, batch {shape['batch']}", rows, list(next(iter(rows.values()))), 3)


if __name__ == "__main__":
    sys.exit(main())
