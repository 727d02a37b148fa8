"""Wider graph and decoder for weights that were trained narrower, by more heads of the same size.

The wider model answers as the narrower one did, until training moves what is added (Net2Net, Chen et al., 2016, for layers
that are normalised). A state gets further numbers, each the mean of those that it had: its mean stays, its variance shrinks
by the share of the old numbers, which the norm's weight makes up for, and the norm's output is zero in the new places.
There something drawn at random may read, as nothing is there yet; what new heads and hidden units find is written with
zeros.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence

import torch
from torch import Tensor

from fastsql.grammar.actions import POINTER_KINDS

_Grow = Callable[[Tensor, int, int], Tensor]


def _mean(tensor: Tensor, axis: int, size: int) -> Tensor:
    """A state's numbers and, in the new places, their mean."""
    mean = tensor.mean(axis, keepdim=True)
    return torch.cat([tensor, mean.expand(_with(tensor, axis, size - tensor.shape[axis]))], axis)


def _zero(tensor: Tensor, axis: int, size: int) -> Tensor:
    return torch.cat([tensor, tensor.new_zeros(_with(tensor, axis, size - tensor.shape[axis]))], axis)


def _drawn(tensor: Tensor, axis: int, size: int) -> Tensor:
    """Weights as large as those that are there; biases of zero."""
    if tensor.ndim < 2:
        return _zero(tensor, axis, size)
    new = torch.randn(_with(tensor, axis, size - tensor.shape[axis]), dtype=tensor.dtype) * tensor.std()
    return torch.cat([tensor, new], axis)


def _query(tensor: Tensor, axis: int, size: int) -> Tensor:
    """Queries of pointers, whose scores are divided by the root of their size."""
    return _drawn(tensor * math.sqrt(size / tensor.shape[axis]), axis, size)


def _norm_weight(tensor: Tensor, axis: int, size: int) -> Tensor:
    return _mean(tensor * math.sqrt(tensor.shape[axis] / size), axis, size)


_PARTS = {"qkv": 3, "self_qkv": 3, "cross_kv": 2, "pointer_query": len(POINTER_KINDS)}
"""Maps whose rows are so many matrices, one below the other."""

# How rows and columns of each weight grow, where they do: states are written with `_mean`.
_RULES: tuple[tuple[str, _Grow, _Grow], ...] = (
    (r"(token|item|owner|value)_in\.", _mean, _zero),
    (r"(candidate|item_type|turn\.(age|usable|entry_(kind|type|place)))\b", _zero, _mean),
    (r"decoder\.(production|kind|symbol|parent|position|turn\.kind)\.", _zero, _mean),
    (r"turn\.question\.", _mean, _zero),
    (r".*norm\.weight", _norm_weight, _zero),
    (r".*norm\.bias", _zero, _zero),
    (r".*\.(qkv|self_qkv|cross_query|cross_kv|ffn_in)\.", _drawn, _drawn),
    (r".*\.(out|self_out|cross_out|ffn_out)\.", _mean, _zero),
    (r"decoder\.row\.", _mean, _drawn),
    (r"decoder\.production_scores\.", _zero, _drawn),
    (r"decoder\.(pointer_query|turn\.query)\.", _query, _drawn),
    (r"decoder\.(pointer_key\.\w+|turn\.key)\.", _zero, _drawn),
)


def widened(weights: Mapping[str, Tensor], own: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """`weights`, grown to the shapes that `own` has under the same names: those of a model with more heads of the same size.

    Weights that `own` lacks or has in that shape stay as they are. What is drawn is the same every time, so that a run can
    be mixed with what it began from. Questions with earlier turns may be answered a little otherwise at first: a turn's
    entries are sums of normalised states, whose means are not carried.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return {
            name: _grown(name, weight, own[name].shape) if name in own else weight
            for name, weight in weights.items()
        }


def _grown(name: str, weight: Tensor, shape: Sequence[int]) -> Tensor:
    """A weight in a shape that is no smaller in any axis."""
    if weight.shape == shape or weight.ndim != len(shape):
        return weight
    rule = next((rule for rule in _RULES if re.match(rule[0], name)), None)
    if rule is None or any(new < old for old, new in zip(weight.shape, shape, strict=True)):
        return weight
    _, rows, columns = rule
    if weight.ndim == 2 and weight.shape[1] != shape[1]:
        weight = columns(weight, 1, shape[1])
    if weight.shape[0] != shape[0]:
        parts = _PARTS.get(name.split(".")[-2], 1)
        weight = torch.cat([rows(part, 0, shape[0] // parts) for part in weight.chunk(parts)])
    return weight


def _with(tensor: Tensor, axis: int, size: int) -> list[int]:
    shape = list(tensor.shape)
    shape[axis] = size
    return shape
