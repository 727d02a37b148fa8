"""Constrained beam search: the automaton says what may come, the model says what is likely.

A step asks the decoder for scores of all unfinished hypotheses at once, keeps for each only the legal actions,
normalises over those, and takes the best continuations of the whole beam among those that say literals that exist
(`fastsql.grammar.grounding`). An action that is the only legal one costs no step: the automaton takes it by itself. So
everything that leaves the beam is a query of the grammar.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from fastsql.grammar import ActionSpace, State
from fastsql.grammar.actions import NO_ACTION
from fastsql.grammar.transitions import forced_transitions

Question = TypeVar("Question", contravariant=True)
Scores = NDArray[np.float32]
Numbers = NDArray[np.integer[Any]]


class Steps(Protocol):
    """A decoder at work on one question: B hypotheses, all after the same number of decisions."""

    def step(self, previous: Numbers, symbols: Numbers, parents: Numbers) -> Scores:
        """Scores float32[B, A] of all actions, given what each hypothesis decided last and expands now."""

    def reorder(self, kept: Numbers) -> None:
        """Goes on with these hypotheses; a number may come more than once."""


class Scorer(Protocol[Question]):
    """What a search needs of a model: `fastsql.model.Model`, or another that scores the same actions."""

    def start(self, question: Question, hypotheses: int) -> Steps:
        """A decoder before its first decision."""


@dataclass(frozen=True)
class Hypothesis:
    """A sequence of decisions with their log-probabilities."""

    actions: tuple[int, ...]
    log_probabilities: tuple[float, ...]
    path: tuple[int, ...] = ()
    """All actions, as `fastsql.grammar.read_path` reads them: the decisions, and as complements the forced actions."""
    kept: tuple[float, ...] = ()
    """Log-probability, at each decision, of all that the search might decide there: 0 where it passed over nothing."""
    likelihood: float = 0.0
    """Log P(question | program) by a reverse model; 0, which no question has, where none was asked."""
    rating: float = 0.0
    """Log-odds, by a reranker, that the program is what is asked; 0, which hardly any is, where none was asked."""
    marked_down: float = 0.0
    """Nats that it is marked down by, where hypotheses are compared, for what it leaves out of the question."""

    @cached_property
    def score(self) -> float:
        """Log-probability of the whole sequence."""
        return sum(self.log_probabilities)

    @property
    def rank(self) -> float:
        """What it is compared by with other hypotheses: `score`, marked down."""
        return self.score - self.marked_down

    @property
    def worst(self) -> float:
        """Log-probability of the least certain decision; 0 for a query without decisions."""
        return min(self.log_probabilities, default=0.0)


_CERTAIN = math.log(0.99)


@dataclass(frozen=True)
class Search:
    """What a beam search found."""

    finished: tuple[Hypothesis, ...]
    """Best first, by `rank` unless a remembered pair or a second opinion says otherwise: at least one, at most as many as
    the beam is wide."""
    unfinished: float
    """Log-probability of the best hypothesis that was left unfinished; minus infinity if there is none. Whatever it
    would have become is no likelier."""
    steps: int = 0
    """Steps of the decoder that it took, each for all unfinished hypotheses."""

    @property
    def is_divided(self) -> bool:
        """Whether there are others beside the first that it leaves more to than a hundredth of the probability."""
        return bool(self.finished[1:]) and self.finished[0].score < _CERTAIN


def beam_search(
    model: Scorer[Question], question: Question, space: ActionSpace, *, beam: int = 4, patience: float = 0.0
) -> Search:
    """The likeliest queries for a question that a beam of this width finds.

    The search ends when no unfinished hypothesis scores higher than the best finished one: log-probabilities only
    fall, so the first is then certain. What else has finished by then are the alternatives. With `patience` it goes on
    for those that are at most so many nats less likely.
    """
    live = [_settled(Hypothesis((), ()), State.start(space))]
    if live[0].state.finished:
        return Search((live[0].hypothesis,), -math.inf)
    finished: list[Hypothesis] = []
    decoder = model.start(question, 1)
    steps = 0
    while True:
        steps += 1
        previous = np.asarray([h.hypothesis.actions[-1] if h.hypothesis.actions else NO_ACTION for h in live])
        symbols = np.asarray([h.state.symbol for h in live])
        parents = np.asarray([h.state.parent for h in live])
        scores = decoder.step(previous, symbols, parents)
        kept: list[int] = []
        grown: list[_Growing] = []
        for origin, action, gain, mass in _best(scores, live, beam):
            before = live[origin].hypothesis
            longer = _settled(
                Hypothesis(
                    (*before.actions, action),
                    (*before.log_probabilities, gain),
                    (*before.path, action),
                    (*before.kept, mass),
                ),
                live[origin].state.advance(action),
            )
            if longer.state.finished:
                finished.append(longer.hypothesis)
            else:
                grown.append(longer)
                kept.append(origin)
        finished.sort(key=lambda h: -h.score)
        unfinished = grown[0].hypothesis.score if grown else -math.inf
        if not grown or (finished and unfinished <= finished[0].score - patience):
            break
        live = grown
        decoder.reorder(np.asarray(kept))
    return Search(tuple(finished[:beam]), unfinished, steps)


@dataclass(frozen=True)
class _Growing:
    """A hypothesis and the automaton's state after it."""

    hypothesis: Hypothesis
    state: State


def _best(
    scores: NDArray[np.float32], live: list[_Growing], beam: int
) -> list[tuple[int, int, float, float]]:
    """The `beam` best continuations of all hypotheses, best first: hypothesis, action, log-probability, and that of all that
    the hypothesis may take.

    `scores`: float32[B, A], normalised here over each hypothesis' legal actions, also those that it may not take.
    """
    continuations: list[tuple[float, int, int, float, float]] = []
    for origin, growing in enumerate(live):
        legal, takable = growing.state.legal(), growing.state.takable()
        gains = _log_softmax(scores[origin, legal])
        kept = 0.0 if takable.all() else _log_of_sum(gains[takable])
        order = np.argsort(-gains, kind="stable")
        for place in order[takable[order]][:beam]:
            gain = float(gains[place])
            continuations.append((-(growing.hypothesis.score + gain), origin, int(legal[place]), gain, kept))
    return [(origin, action, gain, kept) for _, origin, action, gain, kept in sorted(continuations)[:beam]]


def _log_softmax(scores: NDArray[np.float32]) -> NDArray[np.float32]:
    shifted = scores - scores.max()
    normalised: NDArray[np.float32] = shifted - np.log(np.exp(shifted).sum())
    return normalised


def _log_of_sum(gains: NDArray[np.float32]) -> float:
    largest = gains.max()
    return float(largest + np.log(np.exp(gains - largest).sum()))


def _settled(hypothesis: Hypothesis, state: State) -> _Growing:
    """Both after all actions that are forced."""
    forced = tuple(forced_transitions(state))
    path = (*hypothesis.path, *(~transition.action for transition in forced))
    return _Growing(replace(hypothesis, path=path), forced[-1].after if forced else state)
