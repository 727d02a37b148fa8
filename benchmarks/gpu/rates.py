"""What can this card do at most? Bytes copied and bfloat16 operations a second, through PyTorch.

    python benchmarks/gpu/rates.py --json rates.json

A copy of gigabytes within the card's memory counts bytes read and written; a large product of random matrices counts two
operations a multiply-add. Both are medians of CUDA events. `launch_us` is what one more small kernel takes in a full queue.
`benchmarks/gpu/floor.py` sets kernels and stages against these rates.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from figures import show
from gpu.device import Device, Report, card, time_calls
from record import measured


@dataclass(frozen=True)
class GpuRates:
    """The best that PyTorch reaches, a second."""

    copied: float
    """Bytes read and written by copying within the card's memory."""
    operations: float
    """Of a product of bfloat16 matrices."""
    launch_us: float
    """Microseconds of a kernel that does next to nothing."""

    def floor_ms(self, operations: float, moved: float) -> float:
        """Milliseconds below which no program gets that needs so many operations and bytes; the two overlap at best."""
        return 1000 * max(operations / self.operations, moved / self.copied)


def measure(device: Device) -> GpuRates:
    """Rates of a device. Takes a few seconds on a card."""
    torch = device.torch
    size, width = (2**16, 64) if device.simulated else (2**31, 8192)
    few = {"bursts": 5, "burst": 4, "singles": 1}
    given = torch.randint(0, 256, (size,), dtype=torch.uint8, device=device.name)
    taken = torch.empty_like(given)
    copy = time_calls(device, [lambda: taken.copy_(given)], **few)
    left, right = (torch.randn(width, width, device=device.name).bfloat16() for _ in range(2))
    result = torch.empty_like(left)
    product = time_calls(device, [lambda: torch.mm(left, right, out=result)], **few)
    little = torch.ones(32, device=device.name)
    launch = time_calls(device, [lambda: little.mul_(1.0)], burst=100)
    return GpuRates(2 * size / copy.queued * 1e3, 2 * width**3 / product.queued * 1e3, launch.queued * 1e3)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a table; write the same as JSON where asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--simulated", action="store_true", help="on the processor, to try the script out")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    device = Device.open(options.simulated)
    rates = measure(device)
    Report(
        options.json,
        measured(__file__, arguments),
        card=card(options.simulated),
        torch=device.torch.__version__,
        rates=asdict(rates),
    )
    row = {
        "GB/s copied": rates.copied / 1e9,
        "TFLOP/s": rates.operations / 1e12,
        "launch, us": rates.launch_us,
    }
    show("rates", {"here": row}, list(row), 2)
    return 0


if __name__ == "__main__":
    sys.exit(main())
