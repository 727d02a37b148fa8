"""Judges: from evidence to two numbers, p and u, and from these to a decision.

A judge is a regression of q and one of u (`assess.py` says what these are). A bundle has several: the same evidence means
other things of schemas trained on and of others, of single questions and of turns, with a second opinion and without.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fastsql.reliability.evidence import FEATURES, INSPECTED, SECONDED, Evidence
from fastsql.reliability.regression import Regression, malformed, sigmoid

SECOND_WEIGHT = 0.25
"""What log P(question | program) counts beside log P(program | question) where a hypothesis is chosen: between what is best
over Spider's held-out databases (0.1 to 0.3) and over six designs held out (0.2 to 0.5; docs/reliability.md)."""
RATING_WEIGHT, BESIDE_RATING = 1.0, 0.15
"""What the log-odds by a reranker count there, and what log P(question | program) does beside them (docs/reliability.md)."""


@dataclass(frozen=True)
class Assessment:
    """p and u of a hypothesis."""

    confidence: float
    unanswerable: float = 0.0


def combined(standing: Mapping[int, Assessment]) -> Assessment:
    """The probabilities of a query all of whose parts must be right: p is their product, and u that one has no answer."""
    confidence, answerable = 1.0, 1.0
    for one in standing.values():
        confidence *= one.confidence
        answerable *= 1 - one.unanswerable
    return Assessment(confidence, 1 - answerable)


def threshold(penalty: float, unanswerable: float = 0.0) -> float:
    """The confidence above which answering pays, if a wrong answer costs `penalty` right ones.

    With p the probability that the answer is right and u that the question has none, answering scores p - penalty (1 - p)
    and refusing u (EHRSQL 2024's reliability score, Lee et al. 2024). So it pays where p > (u + penalty) / (1 + penalty).
    """
    return (unanswerable + penalty) / (1 + penalty)


def pays(confidence: float, unanswerable: float, penalty: float) -> bool:
    """Whether answering is expected to score more than refusing."""
    return confidence > threshold(penalty, unanswerable)


@dataclass(frozen=True)
class Judge:
    """The regression of q and that of u; without the latter, every question is taken to have an answer."""

    right: Regression
    unanswerable: Regression | None = None

    def __call__(self, evidence: Evidence) -> Assessment:
        """Both numbers."""
        return self.blended(self, evidence, 1.0)

    def blended(self, other: Judge, evidence: Evidence, share: float) -> Assessment:
        """Both numbers from log-odds that are this judge's by `share` and the `other`'s by the rest."""
        q = share * self.right.log_odds(evidence) + (1 - share) * other.right.log_odds(evidence)
        if self.unanswerable is None or other.unanswerable is None:
            # Who does not know u takes every question to have an answer.
            sides = ((self.unanswerable, share), (other.unanswerable, 1 - share))
            u = sum(weight * known(evidence) for known, weight in sides if known is not None)
        else:
            own, others = self.unanswerable.log_odds(evidence), other.unanswerable.log_odds(evidence)
            u = sigmoid(share * own + (1 - share) * others)
        return Assessment((1 - u) * sigmoid(q), u)

    @classmethod
    def from_settings(cls, found: object, where: str, known: Sequence[str]) -> Judge:
        """Read {"right", "unanswerable"}, the latter where u was fitted. Raises ModelError."""
        if not isinstance(found, Mapping):
            raise malformed("it has no regressions", where)
        right = Regression.from_settings(found.get("right"), f"{where}.right", known)
        if "unanswerable" not in found:
            return cls(right)
        return cls(right, Regression.from_settings(found["unanswerable"], f"{where}.unanswerable", known))

    def to_settings(self) -> dict[str, Any]:
        """The inverse of `from_settings`."""
        parts = {"right": self.right, "unanswerable": self.unanswerable}
        return {name: part.to_settings() for name, part in parts.items() if part is not None}


@dataclass(frozen=True)
class Weights:
    """What is said of a hypothesis counts so much beside log P(program | question) where one is chosen; None asks nobody.

    `likelihood`: of log P(question | program) by a reverse model. `rating`: of the log-odds by a reranker.
    """

    likelihood: float | None
    rating: float | None

    @property
    def of_turns(self) -> Weights | None:
        """What counts where a question may go on from earlier ones: a reverse model reads single questions alone."""
        return None if self.rating is None else Weights(None, self.rating)


@dataclass(frozen=True)
class SecondModels:
    """Who gives a second opinion, told by the SHA-256 of the weights: what another one says is worth something else.

    `reranker` is None in bundles of before there was one, which ask none.
    """

    reverse: str
    reranker: str | None


def weights_of(models: SecondModels) -> Weights:
    """What they count unless a bundle says otherwise."""
    return Weights(SECOND_WEIGHT, None) if models.reranker is None else Weights(BESIDE_RATING, RATING_WEIGHT)


@dataclass(frozen=True)
class Second:
    """A second opinion: what a reverse model and a reranker say of a hypothesis, and what that is worth.

    Attributes:
        models: who is asked.
        weights: how much either counts.
        judge: of queries as they are.
        inspected: of queries whose answers were looked at; None where none were.
        turns: of queries that refer to earlier turns, about which the reranker alone is asked; None where it is not.
    """

    models: SecondModels
    weights: Weights
    judge: Judge
    inspected: Judge | None
    turns: Judge | None = None

    @classmethod
    def from_settings(cls, found: object, where: str) -> Second:
        """Read {"reverse", "weight", "reranker", "rating_weight", "right", "unanswerable", "inspected", "turns"}.

        Raises ModelError.
        """
        judge = Judge.from_settings(found, where, (*FEATURES, *SECONDED))
        assert isinstance(found, Mapping)  # as a judge was read from it
        reverse, reranker, inspected = found.get("reverse"), found.get("reranker"), found.get("inspected")
        if not isinstance(reverse, str):
            raise malformed("it does not name a reverse model", where)
        if not isinstance(reranker, str | None):
            raise malformed("it does not name a reranker", where)
        rating = None if reranker is None else read_weight(found.get("rating_weight"), where)
        weights = Weights(read_weight(found.get("weight"), where), rating)
        names = (*INSPECTED, *SECONDED)
        looked = None if inspected is None else Judge.from_settings(inspected, f"{where}.inspected", names)
        turns = judge_of_turns(found, where, (*FEATURES, *SECONDED))
        return cls(SecondModels(reverse, reranker), weights, judge, looked, turns)

    def to_settings(self) -> dict[str, Any]:
        """The inverse of `from_settings`."""
        parts = {"inspected": self.inspected, "turns": self.turns}
        found = self.judge.to_settings()
        found |= {name: part.to_settings() for name, part in parts.items() if part is not None}
        found |= {"reverse": self.models.reverse, "weight": self.weights.likelihood}
        if self.models.reranker is not None:
            found |= {"reranker": self.models.reranker, "rating_weight": self.weights.rating}
        return found


@dataclass(frozen=True)
class Doubted:
    """The judges of queries over schemas trained on that were in doubt, so that a second opinion was asked for.

    Attributes:
        judge: of queries as they are.
        inspected: of queries whose answers were looked at; None where none were.
    """

    judge: Judge
    inspected: Judge | None

    @classmethod
    def from_settings(cls, found: object, where: str) -> Doubted:
        """Read {"right", "unanswerable", "inspected"}. Raises ModelError."""
        judge = Judge.from_settings(found, where, (*FEATURES, *SECONDED))
        assert isinstance(found, Mapping)  # as a judge was read from it
        inspected, names = found.get("inspected"), (*INSPECTED, *SECONDED)
        return cls(
            judge, None if inspected is None else Judge.from_settings(inspected, f"{where}.inspected", names)
        )

    def to_settings(self) -> dict[str, Any]:
        """The inverse of `from_settings`."""
        found = self.judge.to_settings()
        return found if self.inspected is None else found | {"inspected": self.inspected.to_settings()}


@dataclass(frozen=True)
class Elsewhere:
    """The judges of schemas that the model was not trained on; `known` are the columns of those whose judges are others.

    Attributes:
        judge: of queries as they are.
        inspected: of queries whose answers were looked at; None where none were.
        known: "table.column" in small letters.
        second: the judges of queries that a second opinion was asked for; None where none is.
        turns: of queries that refer to earlier turns; None where those of the schemas trained on judge these, too.
    """

    judge: Judge
    inspected: Judge | None
    known: frozenset[str]
    second: Second | None = None
    turns: Judge | None = None

    def judge_of_turns(self, evidence: Evidence) -> Judge | None:
        """The judge of a query that refers to earlier turns; None where those of the schemas trained on judge it, too."""
        rated = self.second is not None and evidence.rating and self.second.turns
        return rated or self.turns

    def judge_of(self, evidence: Evidence, *, inspected: bool) -> Judge:
        """The judge of a query of which this much is known."""
        side = self.second if self.second is not None and evidence.likelihood else self
        return side.inspected or side.judge if inspected else side.judge

    @classmethod
    def from_settings(cls, found: object, where: str) -> Elsewhere:
        """Read {"right", "unanswerable", "inspected", "known": [names], "second", "turns"}. Raises ModelError."""
        judge = Judge.from_settings(found, where, FEATURES)
        assert isinstance(found, Mapping)  # as a judge was read from it
        known, inspected, second = found.get("known"), found.get("inspected"), found.get("second")
        if not isinstance(known, list) or not all(isinstance(name, str) for name in known):
            raise malformed("it does not have a list of known columns", where)
        return cls(
            judge,
            None if inspected is None else Judge.from_settings(inspected, f"{where}.inspected", INSPECTED),
            frozenset(known),
            None if second is None else Second.from_settings(second, f"{where}.second"),
            judge_of_turns(found, where),
        )

    def to_settings(self) -> dict[str, Any]:
        """The inverse of `from_settings`."""
        parts = {"inspected": self.inspected, "second": self.second, "turns": self.turns}
        return (
            self.judge.to_settings()
            | {name: part.to_settings() for name, part in parts.items() if part is not None}
            | {"known": sorted(self.known)}
        )


def read_weight(found: object, where: str, of: str = "") -> float:
    """What something counts, a number of at least 0. Raises ModelError."""
    if isinstance(found, bool) or not isinstance(found, int | float) or not 0 <= found < math.inf:
        raise malformed(f"its weight{of} is not a number of at least 0", where)
    return float(found)


def judge_of_turns(found: Mapping[str, Any], where: str, names: Sequence[str] = FEATURES) -> Judge | None:
    """Read the judge of queries that refer to earlier turns, where there is one. Raises ModelError."""
    return Judge.from_settings(found["turns"], f"{where}.turns", names) if "turns" in found else None
