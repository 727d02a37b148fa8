"""Where products of bfloat16 are worth it: some processors only imitate them, many times more slowly."""

from __future__ import annotations

from contextlib import AbstractContextManager

import torch

from fastsql.training.network.linear import bf16_products

MATRIX_UNIT = "amx_bf16"
"""What a processor is asked for, as torch names it. It is not timed: two runs of one seed are to agree, busy or not."""


def is_faster_in_bf16(device: torch.device) -> bool:
    """Whether a device has units for it. Of processors those with AMX: nine times as many products a second."""
    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    return device.type == "cpu" and bool(_capabilities().get(MATRIX_UNIT))


def computing(device: torch.device, *, bf16: bool) -> AbstractContextManager[None]:
    """Within, a model computes in bfloat16 where asked: on a GPU whatever torch thinks fit, else linear maps alone."""
    if device.type == "cpu":
        return bf16_products(bf16)
    return torch.autocast(device.type, dtype=torch.bfloat16, enabled=bf16)


def _capabilities() -> dict[str, object]:
    """What torch knows of the processor; nothing, where it is of a version that does not tell."""
    told = getattr(torch.cpu, "get_capabilities", dict)
    found: dict[str, object] = told()
    return found
