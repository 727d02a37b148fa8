"""The torch model behind the interface that beam search expects: does the exported pipeline search as it does?

Where `agreement.compare` gives both models the gold decisions, here each follows its own, so that a difference in any step
shows in the action sequences that come out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from fastsql.decode import Search, beam_search
from fastsql.grammar import ActionSpace
from fastsql.grammar.actions import ActionLayout
from fastsql.grammar.trace import Trace
from fastsql.linking.prepare import Prepared
from fastsql.model.model import Model as Reference
from fastsql.model.model import SchemaState
from fastsql.model.schema_inputs import SchemaInputs
from fastsql.schema import Schema
from fastsql.training.batches.batch import Batch, Instance, collate, instance_layout, shared_actions
from fastsql.training.network.decoder import Memory
from fastsql.training.network.model import Model

Ints = NDArray[np.integer[Any]]


class TorchScorer:
    """A trained model that searches: scores come from whole prefixes, so there is no cache to be wrong."""

    def __init__(self, model: Model, schema: SchemaInputs, special: tuple[int, int], n_actions: int) -> None:
        """`special` are the ids of [CLS] and [SEP]; `n_actions` is the size of the question's action space."""
        self.model = model.eval()
        self.schema = schema
        self.special = special
        self.n_actions = n_actions

    def start(self, question: Prepared, hypotheses: int) -> Prefixes:
        """Before the first decision."""
        return Prefixes(self, question, [_Prefix((), (), ()) for _ in range(hypotheses)])

    def batch(self, question: Prepared, prefixes: Sequence[_Prefix]) -> tuple[Batch, ActionLayout]:
        """The prefixes as examples whose last decision is open, and the layout that the search counts in."""
        instances = [Instance(question, prefix.trace(self.n_actions)) for prefix in prefixes]
        own = instance_layout(instances[0], self.schema, self.model.config)
        return collate(instances, self.schema, self.model.config, self.special), own


@dataclass(frozen=True)
class _Prefix:
    """The decisions of one hypothesis, each with its symbol and parent; the last of these are of the open decision."""

    actions: tuple[int, ...]
    symbols: tuple[int, ...]
    parents: tuple[int, ...]

    def open(self, previous: int, symbol: int, parent: int) -> _Prefix:
        """Longer by the action taken (none before the first) and the decision that it leads to."""
        taken = (*self.actions, previous) if self.symbols else ()
        return _Prefix(taken, (*self.symbols, symbol), (*self.parents, parent))

    def trace(self, n_actions: int) -> Trace:
        """As training knows it; the open decision is filled with action 0, which nothing reads."""
        decisions = max(1, len(self.symbols))
        actions = np.zeros(decisions, np.int32)
        actions[: len(self.actions)] = self.actions
        symbols, parents = np.zeros((2, decisions), np.int16)
        symbols[: len(self.symbols)] = self.symbols
        parents[: len(self.parents)] = self.parents
        return Trace(actions, symbols, parents, np.ones((decisions, n_actions), dtype=bool))


class Prefixes:
    """The hypotheses of one search."""

    def __init__(self, scorer: TorchScorer, question: Prepared, prefixes: list[_Prefix]) -> None:
        self._scorer = scorer
        self._question = question
        self._prefixes = prefixes
        self._memory = self._read()

    @torch.no_grad()
    def _read(self) -> Memory:
        scorer = self._scorer
        batch, _ = scorer.batch(self._question, self._prefixes[:1])
        return scorer.model.read(batch)

    @torch.no_grad()
    def step(self, previous: Ints, symbols: Ints, parents: Ints) -> NDArray[np.float32]:
        """Scores float32[B, A] of the next decision, `-inf` where the search has no such action."""
        scorer = self._scorer
        self._prefixes = [
            prefix.open(*taken)
            for prefix, *taken in zip(
                self._prefixes, previous.tolist(), symbols.tolist(), parents.tolist(), strict=True
            )
        ]
        batch, own = scorer.batch(self._question, self._prefixes)
        memory = self._memory.repeat(len(self._prefixes))
        padded = scorer.model.decide(batch, memory)[:, -1].float().cpu().numpy()
        entries = batch.entries.shape[1]  # of one question, so that nothing is padded
        places, padded_places = shared_actions(own, batch.layout, entries, entries)
        scores = np.full((len(padded), own.size), -np.inf, np.float32)
        scores[:, places] = padded[:, padded_places]
        return scores

    def reorder(self, kept: Ints) -> None:
        """Goes on with these hypotheses."""
        self._prefixes = [self._prefixes[number] for number in kept.tolist()]


@dataclass(frozen=True)
class SearchAgreement:
    """How the searches of two models compare.

    `same` of `questions` give the same finished sequences of actions in the same order; of the others, `near` differ only
    where two sequences score within the tolerance. `worst` is the largest difference of a sequence's log-probability.
    """

    questions: int
    same: int
    near: int
    worst: float


def compare_searches(
    model: Model,
    reference: Reference,
    schema: Schema,
    state: SchemaState,
    questions: Sequence[Prepared],
    *,
    beam: int = 4,
    tolerance: float = 1e-3,
) -> SearchAgreement:
    """Beam search with both models over the same questions, each from its own decisions."""
    special = (reference.tokenizer.cls, reference.tokenizer.sep)
    same = near = 0
    worst = 0.0
    for question in questions:
        space = ActionSpace.for_question(schema, question.text, question.offsets, question.candidates)
        ours = beam_search(reference, reference.encode_question(question, state), space, beam=beam)
        scorer = TorchScorer(model, state.inputs, special, space.size)
        theirs = beam_search(scorer, question, space, beam=beam)
        mine, other = ([h.actions for h in search.finished] for search in (ours, theirs))
        known = {h.actions: h.score for h in theirs.finished}
        gaps = [abs(h.score - known[h.actions]) for h in ours.finished if h.actions in known]
        worst = max([worst, *gaps])
        same += mine == other
        near += mine != other and _near(ours, theirs, tolerance)
    return SearchAgreement(len(questions), same, near, worst)


def _near(first: Search, second: Search, tolerance: float) -> bool:
    """True if the searches differ by no more than the order of sequences that score alike."""
    pairs = zip(first.finished, second.finished, strict=False)
    return all(abs(a.score - b.score) <= tolerance for a, b in pairs) and (
        len(first.finished) == len(second.finished)
    )
