"""What is learnt from, one by one."""

from __future__ import annotations

from dataclasses import dataclass

from fastsql.grammar.program import Program
from fastsql.training.corpus.lexicon import PoolKey
from fastsql.training.corpus.split import Pair


@dataclass(frozen=True)
class Sample:
    """A pair whose SQL the grammar can express. `entries`: its literals that augmentation may exchange, by pool."""

    pair: Pair
    program: Program
    entries: tuple[tuple[PoolKey, str], ...] = ()
    weight: float = 1.0  # how often an epoch shows it, on average
    earlier: tuple[tuple[str, Program], ...] = ()  # the turns before it in its conversation
