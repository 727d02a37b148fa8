"""Texts of about one length read as one group: a GPU takes as long to begin a product of this size as to compute it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

LEAST = 3
"""Texts of up to two to this power of tokens are one bin; each further bin has texts of up to twice as many."""


@dataclass(frozen=True, eq=False)
class Bins:
    """Groups of texts, int64[texts, tokens] each, filled up and put below each other.

    Attributes:
        padded: the bins, int64[texts, tokens] each.
        lengths: int64[texts] of each bin, the texts' own.
        members: the numbers of each bin's groups.
        shapes: texts and tokens of every group, in their order.
    """

    padded: list[Tensor]
    lengths: list[Tensor]
    members: list[list[int]]
    shapes: list[tuple[int, int]]

    @classmethod
    def of(cls, groups: Sequence[Tensor], lengths: Tensor | None) -> Bins:
        """The bins of groups of which only the last may be padded already; `lengths` are its texts' own."""
        members: defaultdict[int, list[int]] = defaultdict(list)
        for number, group in enumerate(groups):
            members[max(LEAST, (group.shape[1] - 1).bit_length())].append(number)
        own = [group.new_full((group.shape[0],), group.shape[1]) for group in groups]
        if lengths is not None:
            own[-1] = lengths
        return cls(
            [_padded([groups[number] for number in numbers]) for numbers in members.values()],
            [torch.cat([own[number] for number in numbers]) for numbers in members.values()],
            list(members.values()),
            [(group.shape[0], group.shape[1]) for group in groups],
        )

    def apart(self, states: Sequence[Tensor]) -> list[Tensor]:
        """The groups' states [texts, tokens, hidden] each, of the bins'."""
        found: dict[int, Tensor] = {}
        for numbers, together in zip(self.members, states, strict=True):
            parts = torch.split(together, [self.shapes[number][0] for number in numbers])
            for number, part in zip(numbers, parts, strict=True):
                found[number] = part[:, : self.shapes[number][1]]
        return [found[number] for number in range(len(self.shapes))]


def _padded(groups: Sequence[Tensor]) -> Tensor:
    longest = max(group.shape[1] for group in groups)
    return torch.cat([F.pad(group, (0, longest - group.shape[1])) for group in groups])
