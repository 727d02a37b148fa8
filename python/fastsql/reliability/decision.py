"""From two probabilities to a decision."""

from __future__ import annotations


def threshold(penalty: float, unanswerable: float = 0.0) -> float:
    """The confidence above which answering pays, if a wrong answer costs `penalty` right ones.

    With p the probability that the answer is right and u that the question has none, answering scores p - penalty (1 - p)
    and refusing u (EHRSQL 2024's reliability score, Lee et al. 2024). So it pays where p > (u + penalty) / (1 + penalty).
    """
    return (unanswerable + penalty) / (1 + penalty)


def pays(confidence: float, unanswerable: float, penalty: float) -> bool:
    """Whether answering is expected to score more than refusing."""
    return confidence > threshold(penalty, unanswerable)
