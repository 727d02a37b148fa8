"""What a set of interactions is like, in the terms of tables 1, 2 and 7 of EHR-SeqSQL."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from fastsql.grammar.turn_kinds import KINDS
from fastsql.synthesis.interactions.interaction import Interaction

PAPER_KINDS = {"independent": 14_005, "referential": 11_560, "filtering": 5_947, "modifying": 507}
"""Table 7."""


@dataclass(frozen=True)
class Statistics:
    """Counts of a set; `templates`: single questions' queries without values, functions and times; `kinds`: of turns."""

    interactions: int
    turns: int
    longest: int
    templates: int
    kinds: dict[str, int]

    @property
    def mean(self) -> float:
        """Turns of an interaction, on average."""
        return self.turns / max(1, self.interactions)

    def lines(self) -> list[str]:
        """For people: counts, then kinds with their shares of turns beside those of the paper."""
        total = sum(PAPER_KINDS.values())
        kinds = ", ".join(
            f"{kind} {self.kinds[kind]} ({self.kinds[kind] / max(1, self.turns):.1%}, there {PAPER_KINDS[kind] / total:.1%})"
            for kind in KINDS
        )
        of_templates = f" of {self.templates} templates" if self.templates else ""
        counts = f"{self.interactions} interactions{of_templates}, {self.turns} turns"
        return [
            f"{counts}, {self.mean:.2f} on average, {self.longest} at most",
            f"kinds, beside those of EHR-SeqSQL: {kinds}",
        ]


def count(interactions: Sequence[Interaction]) -> Statistics:
    """The statistics of a set."""
    lengths = [len(one.turns) for one in interactions]
    kinds = Counter(kind for one in interactions for turn in one.turns for kind in turn.kinds)
    return Statistics(
        len(interactions),
        sum(lengths),
        max(lengths, default=0),
        len({one.composition for one in interactions if one.composition}),
        {kind: kinds[kind] for kind in KINDS},
    )
