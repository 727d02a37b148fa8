"""How long does T5-base take for what fastsql does, in PyTorch on the same card?

    python benchmarks/gpu/t5.py --json t5.json

T5-base as in `benchmarks/peers.py`: random weights, which cost what trained ones cost; it reads 512 tokens and writes
exactly 120, in transformers with cached keys and values, as `generate` runs it, greedy and with a beam of 4, one question
and a batch of 64, bfloat16 and float32. Times are wall times of a call, the median of three after one that warms up.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from figures import show
from gpu.device import Device, Report, card
from peers import SIZES, VOCABULARY, t5
from record import measured

RUNS = 3


def measure(device: Device, model: Any, batch: int, beam: int, read: int, written: int) -> dict[str, float]:
    """Milliseconds a call, and questions a second."""
    torch = device.torch
    ids = torch.randint(100, VOCABULARY - 100, (batch, read), device=device.name)
    times = []
    for _ in range(1 + RUNS):
        device.synchronize()
        start = time.perf_counter()
        with torch.inference_mode():
            text = model.generate(
                ids,
                attention_mask=torch.ones_like(ids),
                num_beams=beam,
                do_sample=False,
                min_new_tokens=written,
                max_new_tokens=written,
                use_cache=True,
            )
        device.synchronize()
        times.append(time.perf_counter() - start)
        if text.shape[1] - 1 != written:
            raise RuntimeError(
                f"{text.shape[1] - 1} tokens were written, not {written}: the times would not compare"
            )
    middle = float(np.median(times[1:]))
    return {"ms": 1e3 * middle, "questions a second": batch / middle}


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a table; write the same as JSON where asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--size", choices=list(SIZES), default="base")
    parser.add_argument("--read", type=int, default=512, help="tokens in")
    parser.add_argument("--written", type=int, default=120, help="tokens out")
    parser.add_argument("--batches", type=int, nargs="+", default=[1, 64])
    parser.add_argument("--beams", type=int, nargs="+", default=[1, 4])
    parser.add_argument("--seconds", type=float, default=90.0, help="after which nothing more is begun")
    parser.add_argument("--simulated", action="store_true", help="on the processor, to try the script out")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    end = time.monotonic() + options.seconds
    device = Device.open(options.simulated)
    rows: dict[str, dict[str, float]] = {}
    report = Report(
        options.json,
        measured(__file__, arguments),
        card=card(options.simulated),
        torch=device.torch.__version__,
        size=options.size,
    )
    report.add(read=options.read, written=options.written, rows=rows)
    with tempfile.TemporaryDirectory() as folder:
        model = t5(options.size, Path(folder)).to(device.name)
    left_out = []
    for beam in options.beams:
        for precision in ("bfloat16", "float32"):
            model.to(getattr(device.torch, precision))
            for batch in options.batches:
                name = f"{precision}, beam {beam}, batch {batch}"
                if time.monotonic() > end:
                    left_out.append(name)
                    continue
                rows[name] = measure(device, model, batch, beam, options.read, options.written)
                report.add(left_out=left_out)
    show(
        f"T5-{options.size}, {options.read} tokens in, {options.written} out",
        rows,
        ["ms", "questions a second"],
    )
    if left_out:
        print(f"no time was left for: {'; '.join(left_out)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
