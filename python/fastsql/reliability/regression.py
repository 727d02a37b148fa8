"""Logistic regressions as a bundle carries them: by name, checked when they are read."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastsql.errors import ModelError

_LARGEST = 1e12


def sigmoid(z: float) -> float:
    """1 / (1 + exp(-z)), without overflow."""
    return 1 / (1 + math.exp(-z)) if z >= 0 else math.exp(z) / (1 + math.exp(z))


@dataclass(frozen=True)
class Regression:
    """Log-odds as an intercept and weights by feature name."""

    intercept: float
    weights: Mapping[str, float]

    @classmethod
    def from_settings(cls, found: object, where: str, known: Sequence[str]) -> Regression:
        """Read {"intercept", "weights": {feature: weight}}.

        Raises ModelError for another form, for what is no number, and for a feature that is not `known`.
        """
        if not isinstance(found, Mapping) or not isinstance(found.get("weights"), Mapping):
            raise malformed("it has no weights", where)
        weights = found["weights"]
        if unknown := sorted(set(weights) - set(known)):
            raise malformed(f"it has a weight for {unknown[0]!r}, which this fastsql does not know", where)
        intercept = found.get("intercept", 0.0)
        if not all(is_number(number) for number in (intercept, *weights.values())):
            raise malformed("a weight is not a number", where)
        return cls(float(intercept), {name: float(weight) for name, weight in weights.items()})

    def to_settings(self) -> dict[str, Any]:
        """The inverse of `from_settings`, to six decimals."""
        return {
            "intercept": round(self.intercept, 6),
            "weights": {name: round(weight, 6) for name, weight in self.weights.items()},
        }

    def log_odds(self, features: object) -> float:
        """The sum of what the attributes of `features` add."""
        return self.intercept + float(sum(w * getattr(features, name) for name, w in self.weights.items()))

    def __call__(self, features: object) -> float:
        """The probability, 0 to 1."""
        return sigmoid(self.log_odds(features))


@dataclass(frozen=True, eq=False)
class Probe:
    """A logistic regression over a question's state: the mean of its tokens' final rows in the graph, float[d].

    The rows have seen the schema, so the same question has another state where a table is missing. The log-odds that it
    gives are bounded, since states of questions unlike any that it was fitted on lie far out.
    """

    intercept: float
    weights: NDArray[np.float64]

    WIDEST = 8.0

    @classmethod
    def from_settings(cls, found: object, where: str, d: int) -> Probe:
        """Read {"intercept", "weights": [d numbers]}. Raises ModelError for another form or width."""
        weights = found.get("weights") if isinstance(found, Mapping) else None
        if not isinstance(found, Mapping) or not isinstance(weights, list) or len(weights) != d:
            raise malformed(f"it does not have a list of {d} weights", where)
        if not all(is_number(number) for number in (found.get("intercept"), *weights)):
            raise malformed("a weight is not a number", where)
        return cls(float(found["intercept"]), np.array(weights, dtype=np.float64))

    def to_settings(self) -> dict[str, Any]:
        """The inverse of `from_settings`, to five decimals."""
        return {
            "intercept": round(self.intercept, 5),
            "weights": [round(float(weight), 5) for weight in self.weights],
        }

    def log_odds(self, state: NDArray[np.floating[Any]]) -> float:
        """Log-odds within +-`WIDEST`; `state`: float[d]."""
        z = self.intercept + float(self.weights @ state)
        return min(max(z, -self.WIDEST), self.WIDEST)


def is_number(value: object) -> bool:
    """Whether a setting is a number whose products with features stay finite."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) <= _LARGEST


def malformed(what: str, where: str) -> ModelError:
    """The error for a setting that cannot be used."""
    return ModelError(
        what, where=f"setting {where!r} of the model bundle", remedy="Install the model bundle again."
    )
