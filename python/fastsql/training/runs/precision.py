"""Whether a device gains anything by computing in bfloat16: some processors only imitate it, many times more slowly."""

from __future__ import annotations

import statistics
import time

import torch

SIZE = 256
"""Rows and columns of the matrices that are multiplied to find out."""
ROUNDS = 3


def is_faster_in_bf16(device: torch.device) -> bool:
    """Measured in less than a second; a GPU is asked instead."""
    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    return _seconds(torch.bfloat16) < _seconds(torch.float32)


def _seconds(dtype: torch.dtype) -> float:
    """The median time of a product, after one that warms up."""
    matrix = torch.ones(SIZE, SIZE, dtype=dtype)
    taken = []
    for _ in range(ROUNDS + 1):
        start = time.perf_counter()
        matrix @ matrix
        taken.append(time.perf_counter() - start)
    return statistics.median(taken[1:])
