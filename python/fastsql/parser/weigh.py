"""Between decoding and writing, over a schema that the model never saw or in doubt: hypotheses weighed by a second opinion.

The parser's model says how likely a program is for a question; a reverse model, how likely the question is where a program
is meant; a reranker, reading both together, whether the one asks for the other. They err in different places, so what all
find likely is right oftener than what one does: a noisy channel (Yu et al., The Neural Noisy Channel, ICLR 2017) and a
cross-encoder (Nogueira and Cho, Passage Re-ranking with BERT, 2019) over the few hypotheses of a beam.
"""

from __future__ import annotations

import math
import threading
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from fastsql.backends import native
from fastsql.engine import Decoded, Engine
from fastsql.engine.base import MOST_THREADS
from fastsql.forking import renew_in_child
from fastsql.model.header import bundled_reranker, bundled_reverse, reranker_digest, reverse_digest
from fastsql.parser.link import Linked
from fastsql.parser.write import program_of
from fastsql.reliability.judges import SecondModels

if TYPE_CHECKING:
    from fastsql.model.tokenizer import Tokenizer
    from fastsql.reliability.assess import Reliability
    from fastsql.reliability.judges import Weights
    from fastsql.reranker import Rater
    from fastsql.reverse import Likelihood

OUT_OF_QUESTION = 3.0
"""How much less rank than the first a hypothesis must have for nobody to be asked about it: a twentieth. Over what is held
out as many answers are right as where all are asked about."""


class SecondOpinion:
    """A reverse model and a reranker, each opened when it is first asked: a parser that is never in doubt, over
    schemas that it knows, needs neither.

    Thread-safe. `reranker` is None for a bundle that asks none.
    """

    def __init__(
        self, reverse: Path, reranker: Path | None, tokenizer: Tokenizer, *, native: bool, threads: int
    ) -> None:
        self._reverse = reverse
        self._reranker = reranker
        self._tokenizer = tokenizer
        self._native = native
        self._threads = threads
        self._likelihood: Likelihood | None = None
        self._rater: Rater | None = None
        self.renew_after_fork()
        renew_in_child(self)

    def renew_after_fork(self) -> None:
        """Wait for no thread that was opening in the other process."""
        self._lock = threading.Lock()

    @classmethod
    def bundled(cls, engine: Engine, models: SecondModels) -> SecondOpinion | None:
        """`models`, for an engine whose tokenizer they share; None where one of them does not come with this fastsql."""
        if _missing(models, engine.tokenizer):
            return None
        # The engine of a GPU counts questions, not threads.
        threads = min(engine.threads, MOST_THREADS) if engine.device == "cuda" else engine.threads
        reranker = None if models.reranker is None else bundled_reranker()
        by_core = engine.device != "python"
        return cls(bundled_reverse(), reranker, engine.tokenizer, native=by_core, threads=threads)

    def weighed(self, linked: Linked, decoded: Decoded, weights: Weights, *, reorder: bool = True) -> Decoded:
        """The hypotheses that come into question, each with what is said of it, before the others.

        They are ordered by their own rank and that, times `weights`, unless they are not to be reordered. All are as they
        were where one of them cannot be read.

        Raises ModelError where a model's file is damaged.
        """
        finished = decoded.search.finished
        least = max(one.rank for one in finished) - OUT_OF_QUESTION
        numbers = [number for number, one in enumerate(finished) if one.rank >= least]
        programs = [program_of(linked, decoded, number) for number in numbers]
        told = list(finished)
        if weights.likelihood is not None:
            said = self._likelihoods()(linked.prepared.question, programs, linked.space.schema)
            for number, likelihood in zip(numbers, said.tolist(), strict=True):
                told[number] = replace(told[number], likelihood=likelihood)
        if weights.rating is not None and self._reranker is not None:
            earlier = [turn.question for turn in linked.turns or ()]
            said = self._ratings(self._reranker)(
                linked.prepared.question, earlier, programs, linked.space.schema
            )
            for number, rating in zip(numbers, said.tolist(), strict=True):
                told[number] = replace(told[number], rating=rating)
        if not all(math.isfinite(one.likelihood + one.rating) for one in told):
            return decoded
        if reorder:
            by_likelihood, by_rating = weights.likelihood or 0.0, weights.rating or 0.0

            def comes(number: int) -> tuple[bool, float]:
                one = told[number]
                said = by_likelihood * one.likelihood + by_rating * one.rating
                return number not in numbers, -one.rank - said

            told = [told[number] for number in sorted(range(len(told)), key=comes)]
        return replace(decoded, search=replace(decoded.search, finished=tuple(told)))

    def _likelihoods(self) -> Likelihood:
        with self._lock:
            if self._likelihood is None:
                from fastsql.reverse import open_likelihood  # for whoever asks

                core = native() if self._native else None
                self._likelihood = open_likelihood(
                    self._reverse, self._tokenizer, core=core, threads=self._threads
                )
            return self._likelihood

    def _ratings(self, path: Path) -> Rater:
        with self._lock:
            if self._rater is None:
                from fastsql.reranker import open_rater  # for whoever asks

                core = native() if self._native else None
                self._rater = open_rater(path, self._tokenizer, core=core, threads=self._threads)
            return self._rater


def bundled_models(tokenizer: Tokenizer) -> SecondModels | None:
    """Who comes with this fastsql to give a second opinion, and shares a tokenizer; None where there is no reverse model."""
    reverse = reverse_digest(bundled_reverse(), tokenizer)
    return None if reverse is None else SecondModels(reverse, reranker_digest(bundled_reranker(), tokenizer))


def second_lacking(reliability: Reliability, tokenizer: Tokenizer) -> str:
    """What a bundle's second opinion lacks and what follows from that, in two sentences; "" where nothing is missing."""
    second = None if reliability.elsewhere is None else reliability.elsewhere.second
    missing = "" if second is None else _missing(second.models, tokenizer)
    if not missing:
        return ""
    return (
        f"{missing} that its probabilities over schemas never seen were fitted with is missing, or is another."
        " It answers without a second opinion. Install fastsql again, or calibrate the bundle again."
    )


def _missing(models: SecondModels, tokenizer: Tokenizer) -> str:
    """Which of them does not come with this fastsql, or is another one; "" where none is missing."""
    if reverse_digest(bundled_reverse(), tokenizer) != models.reverse:
        return "the reverse model"
    if models.reranker is not None and reranker_digest(bundled_reranker(), tokenizer) != models.reranker:
        return "the reranker"
    return ""
