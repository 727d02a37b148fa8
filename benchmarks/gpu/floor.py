"""What a kernel and each stage of a parse take at least on a card, and how far from it we are: arithmetic on reports.

A floor is the longer of two times: the operations that the algorithm needs at the card's measured matrix rate, and the
fewest bytes (of attention each input and the result once, of a stage its weights once a batch) at its measured copying rate.
Operations are counted once, although our linear maps multiply twice, by the upper and by the lower half of an activation.
What no floor knows: a search takes its steps one after another, each a chain of small products with barriers between them.
"""

from __future__ import annotations

if __name__ == "__main__":
    import sys
    from pathlib import Path

    sys.path.insert(0, str(Path(__file__).parents[1]))
    from parts import explain

    explain(__file__)

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gpu.rates import GpuRates

Report = Mapping[str, Any]
STAGES = {"encoder": ("encoder",), "graph": ("graph", "memory"), "decode": ("decoder",)}
"""Timed stages, and the parts of `fastsql.model.cost` that run in them."""
OURS = "ours"


@dataclass(frozen=True)
class Floor:
    """What a piece of work needs, and what it took."""

    operations: float
    bytes: float
    floor_ms: float
    ms: float

    @property
    def times(self) -> float:
        """How many floors it took."""
        return self.ms / self.floor_ms

    def figures(self) -> dict[str, float]:
        """For a table."""
        return {
            "million operations": self.operations / 1e6,
            "million bytes": self.bytes / 1e6,
            "floor, ms": self.floor_ms,
            "took, ms": self.ms,
            "floors": self.times,
        }


def attention(rates: GpuRates, shape: Report) -> Floor | None:
    """Of our attention kernel at one shape of `attention.py`'s report; None where it was not timed."""
    mine = shape["forms"].get(OURS, {})
    if "queued" not in mine:
        return None
    operations, moved = shape["operations"], shape["bytes"]
    return Floor(operations, moved, rates.floor_ms(operations, moved), mine["queued"])


def stages(rates: GpuRates, parse: Report, batch: int) -> dict[str, Floor]:
    """Of each stage of a batch of middling questions, by `parse.py`'s report, and of all together.

    A stage cannot begin before the one that it reads has ended: their floors add up.
    """
    took = (
        {name: figures["p50"] for name, figures in parse["alone"]["cuda"].items()}
        if batch == 1
        else parse["batches"][str(batch)]
    )
    steps = max(parse["sizes"]["steps"]["p50"], 1)
    rows: dict[str, Floor] = {}
    for stage, parts in STAGES.items():
        operations = batch * sum(parse["cost"][part]["operations"] for part in parts)
        # The cost of the decoder counts its weights at every step.
        moved = sum(parse["cost"][part]["bytes"] / (steps if part == "decoder" else 1) for part in parts)
        rows[stage] = Floor(operations, moved, rates.floor_ms(operations, moved), took[stage])
    whole = list(rows.values())
    rows["call"] = Floor(
        sum(row.operations for row in whole),
        sum(row.bytes for row in whole),
        sum(row.floor_ms for row in whole),
        took["call"],
    )
    return rows


def streamed(parse: Report, batch: int) -> float:
    """Bytes a second at which a search reads the decoder's weights, if each question reads them at each step."""
    took = parse["alone"]["cuda"]["decode"]["p50"] if batch == 1 else parse["batches"][str(batch)]["decode"]
    return float(1e3 * batch * parse["cost"]["decoder"]["bytes"] / took)
