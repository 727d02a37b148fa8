"""The measures of conversations: question match, interaction match, and the index of the first failure.

QM and IM are those of SParC (Yu et al., ACL 2019), taken on results as EHR-SeqSQL does (Ryu et al., Findings of ACL 2024);
IFF is that of EHR-SeqSQL's appendix C.2. A turn is right where execution accuracy counts it right, so QM is execution
accuracy over turns. Turns that it does not count (no gold SQL, or no gold result) keep their place, but can neither be right
nor fail. Where there is no database at all, a turn is right where its query matches gold's but for values
(EM), as SParC's and CHASE's QM has it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from fastsql.evaluation.bootstrap import LEVEL, Indices, bootstrap
from fastsql.evaluation.judged import Judged
from fastsql.evaluation.shares import Share
from fastsql.grammar.turn_kinds import KINDS

LAST = 5
"""Turns from this one on are counted together."""


@dataclass(frozen=True)
class JudgedInteraction:
    """A conversation whose turns have been judged, in the order in which they were asked."""

    turns: tuple[Judged, ...]
    by_form: bool = False
    """Whether queries are compared in place of results."""

    @cached_property
    def counted(self) -> tuple[Judged, ...]:
        """The turns that have a gold result, or a gold query, to compare with."""
        return tuple(turn for turn in self.turns if self.counts(turn))

    def counts(self, turn: Judged) -> bool:
        """Whether there is something to compare a turn with."""
        return turn.answerable if self.by_form else turn.has_answer

    def is_right(self, turn: Judged) -> bool:
        """Whether a turn that counts is right."""
        return turn.verdict.em if self.by_form else turn.right

    @property
    def right(self) -> int:
        """How many turns are right."""
        return sum(map(self.is_right, self.counted))

    @property
    def all_right(self) -> bool:
        """Whether no turn failed."""
        return self.right == len(self.counted)

    @property
    def first_failure(self) -> int:
        """IFF: the number of the first turn that failed, from 1; one more than there are turns where none did."""
        failed = (
            number
            for number, turn in enumerate(self.turns, 1)
            if self.counts(turn) and not self.is_right(turn)
        )
        return next(failed, self.perfect)

    @property
    def perfect(self) -> int:
        """The IFF of a conversation without a failure."""
        return len(self.turns) + 1


@dataclass(frozen=True)
class InteractionScores:
    """The figures of conversations, of which each has a turn that can be right.

    Attributes:
        n: conversations.
        qm: turns that are right.
        im: conversations without a failure.
        iff: the mean number of the first turn that failed.
        iff_perfect: what `iff` would be if none did.
        by_turn: turns that are right by their number, those from the fifth on together.
        by_kind: by the kind of the turn; a turn may be of several kinds, or of none that is known.
        intervals: 95 % intervals of qm, im, iff and iff_percent from a bootstrap that draws whole conversations;
            Wilson's for shares of few; None if they were not asked for.
        wilson: which of them are Wilson's.
        by_form: whether queries were compared in place of results.
    """

    n: int
    qm: Share
    im: Share
    iff: float
    iff_perfect: float
    by_turn: Mapping[str, Share]
    by_kind: Mapping[str, Share]
    intervals: Mapping[str, tuple[float, float]] | None
    wilson: tuple[str, ...] = ()
    by_form: bool = False

    @property
    def iff_percent(self) -> float:
        """`iff` as a share of `iff_perfect`."""
        return 100 * self.iff / self.iff_perfect

    def to_json(self) -> dict[str, Any]:
        """The figures by name: shares in percent, IFF in turns."""
        return {
            "n": self.n,
            "compared": "queries" if self.by_form else "results",
            "qm": self.qm.percent,
            "im": self.im.percent,
            "iff": round(self.iff, 4),
            "iff_perfect": round(self.iff_perfect, 4),
            "iff_percent": round(self.iff_percent, 4),
            "by_turn": _shares_to_json(self.by_turn),
            "by_kind": _shares_to_json(self.by_kind),
            "intervals": None
            if self.intervals is None
            else {"level": LEVEL, "wilson": self.wilson, **self.intervals},
        }


def judged_interactions(judged: Sequence[Judged]) -> tuple[JudgedInteraction, ...]:
    """The conversations that judged turns make, as far as one of their turns can be right."""
    known: dict[str, list[Judged]] = {}
    for item in judged:
        known.setdefault(str(item.example.extra["interaction"]), []).append(item)
    by_form = not any(item.has_answer for item in judged)
    found = (JudgedInteraction(tuple(turns), by_form) for turns in known.values())
    return tuple(one for one in found if one.counted)


def interaction_scores(
    judged: Sequence[Judged], *, resamples: int, seed: int = 0
) -> InteractionScores | None:
    """The figures of judged turns, each conversation's in the order in which they were asked; None if none can be right."""
    found = judged_interactions(judged)
    if not found:
        return None
    qm = Share(sum(one.right for one in found), sum(len(one.counted) for one in found))
    im = Share.of(one.all_right for one in found)
    drawn = _intervals(found, resamples, seed) if resamples else None
    few = {name: share.interval() for name, share in (("qm", qm), ("im", im)) if share.is_of_few}
    if drawn is not None:
        drawn |= {name: ends for name, ends in few.items() if ends is not None}
    return InteractionScores(
        n=len(found),
        qm=qm,
        im=im,
        iff=sum(one.first_failure for one in found) / len(found),
        iff_perfect=sum(one.perfect for one in found) / len(found),
        by_turn=_by_turn(found),
        by_kind=_by_kind(found),
        intervals=drawn,
        wilson=() if drawn is None else tuple(few),
        by_form=found[0].by_form,
    )


def _intervals(
    found: Sequence[JudgedInteraction], resamples: int, seed: int
) -> dict[str, tuple[float, float]]:
    names = ("qm", "im", "iff", "iff_percent")
    above = np.array([(one.right, one.all_right, one.first_failure, one.first_failure) for one in found])
    below = np.array([(len(one.counted), 1, 1, one.perfect) for one in found])
    scale = np.array([100, 100, 1, 100])

    def statistics(indices: Indices) -> list[float]:
        return list(scale * above[indices].sum(axis=0) / below[indices].sum(axis=0))

    low, high = bootstrap(statistics, len(found), rounds=resamples, seed=seed)
    return {
        name: (round(float(one), 4), round(float(other), 4))
        for name, one, other in zip(names, low, high, strict=True)
    }


def _by_turn(found: Sequence[JudgedInteraction]) -> dict[str, Share]:
    outcomes: dict[int, list[bool]] = {}
    for one in found:
        for number, turn in enumerate(one.turns, 1):
            if one.counts(turn):
                outcomes.setdefault(min(number, LAST), []).append(one.is_right(turn))
    return {
        f"{number}+" if number == LAST else str(number): Share.of(outcomes[number])
        for number in sorted(outcomes)
    }


def _by_kind(found: Sequence[JudgedInteraction]) -> dict[str, Share]:
    turns = [(turn, one.is_right(turn)) for one in found for turn in one.counted]
    shares = {kind: Share.of(right for turn, right in turns if kind in kinds_of(turn)) for kind in KINDS}
    return {kind: share for kind, share in shares.items() if share.n}


def kinds_of(turn: Judged) -> tuple[str, ...]:
    """The kinds of a turn: what its record states (`kinds`), otherwise what the parser took it for."""
    stated = turn.example.extra.get("kinds")
    return tuple(stated) if isinstance(stated, list) else turn.kinds


def _shares_to_json(shares: Mapping[str, Share]) -> dict[str, Any]:
    return {
        name: {"n": share.n, "qm": share.percent, "interval": share.interval()}
        for name, share in shares.items()
    }
