"""More graph layers for weights that were trained with fewer."""

from __future__ import annotations

import re
from collections.abc import Mapping

import torch

_LAYER = re.compile(r"graph\.(\d+)\.(.+)")
_ADDED = ("out.", "ffn_out.")
"""What a layer adds to its rows goes through these two."""


def deepened(weights: Mapping[str, torch.Tensor], own: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """`weights`, and those of graph layers that only `own` has: the last known layer's, which add nothing to any row.

    So the deeper model answers as the shallower one did, until training moves what is added from zero.
    """
    last = max((int(found[1]) for name in weights if (found := _LAYER.match(name))), default=-1)
    grown = dict(weights)
    for name in own:
        layer = _LAYER.match(name)
        if layer is None or int(layer[1]) <= last or last < 0:
            continue
        known = weights[f"graph.{last}.{layer[2]}"]
        grown[name] = torch.zeros_like(known) if layer[2].startswith(_ADDED) else known.clone()
    return grown
