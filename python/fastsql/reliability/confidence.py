"""A calibrated confidence from the decoder's evidence, and the decision to answer.

The raw probability of a sequence says little by itself: long queries get low ones. A logistic regression over a few
figures of the beam, fitted on questions that the model was not trained on (unanswerable ones among them, as wrong
whatever is written), turns them into the probability that the best hypothesis is right. The bundle carries its
weights.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fastsql.errors import ModelError

if TYPE_CHECKING:
    from fastsql.decode import Search

FEATURES = ("sequence", "worst", "margin", "decisions", "strangeness")
"""Log-odds of the sequence; log-odds of its least certain decision; log P ahead of any rival, finished or not (at most
10); square root of the number of decisions; how strange the question's words are (see `Familiarity`).

Log-odds, not log P: whether the model is sure to 99 % or to 99.9 % matters to who must be right ten times in eleven,
and log P hardly tells the two apart."""

_WIDEST_MARGIN = 10.0
_WIDEST_ODDS = 10.0


@dataclass(frozen=True)
class Confidence:
    """A logistic regression over `FEATURES`. Without weights, the probability of the sequence is taken as it is."""

    intercept: float = 0.0
    weights: tuple[float, ...] = ()

    @classmethod
    def from_settings(cls, settings: Mapping[str, object]) -> Confidence:
        """From a bundle's settings: ``confidence`` holds "intercept" and "weights" by feature name.

        Raises ModelError for settings of another form, or for features that this version does not know.
        """
        found = settings.get("confidence")
        if found is None:
            return cls()
        if not isinstance(found, Mapping) or not isinstance(found.get("weights"), Mapping):
            raise _malformed("it has no weights")
        weights = found["weights"]
        if unknown := sorted(set(weights) - set(FEATURES)):
            raise _malformed(f"it weighs {unknown[0]!r}, which this fastsql does not know")
        numbers = [found.get("intercept", 0.0), *(weights.get(name, 0.0) for name in FEATURES)]
        if not all(isinstance(n, (int, float)) and math.isfinite(n) for n in numbers):
            raise _malformed("a weight is no number")
        return cls(float(numbers[0]), tuple(float(number) for number in numbers[1:]))

    def __call__(self, features: Sequence[float]) -> float:
        """Probability, 0 to 1, that the hypothesis with these features is right."""
        if not self.weights:
            return _sigmoid(features[0])
        return _sigmoid(self.intercept + sum(w * f for w, f in zip(self.weights, features, strict=True)))


def _malformed(what: str) -> ModelError:
    return ModelError(
        what, where="setting 'confidence' of the model bundle", remedy="Get the model bundle anew."
    )


def _sigmoid(z: float) -> float:
    return 1 / (1 + math.exp(-z)) if z >= 0 else math.exp(z) / (1 + math.exp(z))


def _log_odds(log_probability: float) -> float:
    """Logarithm of P / (1 - P), within +-10: float32 scores say no more."""
    against = -math.expm1(min(log_probability, 0.0))
    odds = log_probability - math.log(against) if against > 0 else _WIDEST_ODDS
    return min(max(odds, -_WIDEST_ODDS), _WIDEST_ODDS)


def evidence(search: Search, chosen: int, strangeness: float) -> tuple[float, ...]:
    """The features of finished hypothesis `chosen`, in the order of `FEATURES`."""
    best = search.finished[chosen]
    rivals = [h.score for i, h in enumerate(search.finished) if i != chosen]
    # A search that ends early knows its best hypothesis, but not what the unfinished ones would have become: that they
    # score no higher than they do now bounds the margin from below.
    margin = min(best.score - max([*rivals, search.unfinished]), _WIDEST_MARGIN)
    decisions = math.sqrt(len(best.actions))
    return _log_odds(best.score), _log_odds(best.worst), margin, decisions, strangeness


def threshold(penalty: float) -> float:
    """The confidence from which answering pays, if a wrong answer costs `penalty` right ones.

    Answering scores p - penalty * (1 - p), refusing 0 (EHRSQL 2024's reliability score, Lee et al. 2024).
    """
    return penalty / (1 + penalty)
