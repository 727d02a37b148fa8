"""Whether a device gains anything by computing in bfloat16: some processors only imitate it, many times more slowly."""

from __future__ import annotations

import functools
import itertools
import time

import torch
from torch import nn

WIDTHS = (384, 1536)
"""Of the rows of a feed-forward net, and of its middle: the encoder's."""
ROUNDS = 7
MARGIN = 1.2
"""How many times faster bfloat16 has to be: where it is native, it is more than that, and rounding costs something."""
_ROWS = itertools.count(100)
"""Numbers of rows, as of one group of texts, that nothing was computed for: batches keep being of new sizes, and a library
may compile every product anew for each."""


@functools.cache
def is_faster_in_bf16(device: torch.device) -> bool:
    """Measured in a second, once in a process: two runs of one seed are to agree. A GPU is asked instead."""
    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    return _seconds(torch.bfloat16) * MARGIN < _seconds(torch.float32)


def _seconds(dtype: torch.dtype) -> float:
    """The least time of a step of a feed-forward net, each over another number of rows, after one that warms up."""
    with torch.random.fork_rng(
        devices=[]
    ):  # the first run of a process draws nothing that the second does not
        net = nn.Sequential(nn.Linear(*WIDTHS), nn.GELU(), nn.Linear(*WIDTHS[::-1]))
    taken = []
    for rows in itertools.islice(_ROWS, ROUNDS + 1):
        x = torch.ones(rows, WIDTHS[0])
        start = time.perf_counter()
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=dtype == torch.bfloat16):
            y = net(x)
        torch.autograd.backward(y.float().sum())
        taken.append(time.perf_counter() - start)
    return min(taken[1:])
