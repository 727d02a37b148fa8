"""Between decoding and writing, over a schema that the model never saw: hypotheses weighed by a second opinion.

The parser's model says how likely a program is for a question; a reverse model, how likely the question is where a program
is meant. They err in different places, so what both find likely is right oftener than what one does: a noisy channel (Yu et
al., The Neural Noisy Channel, ICLR 2017) over the few hypotheses of a beam.
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
from fastsql.parser.link import Linked
from fastsql.parser.write import program_of
from fastsql.reverse import bundled_reverse, reverse_digest

if TYPE_CHECKING:
    from fastsql.model.tokenizer import Tokenizer
    from fastsql.reliability.assess import Reliability
    from fastsql.reverse import Likelihood

OUT_OF_QUESTION = 3.0
"""How much less rank than the first a hypothesis must have for the reverse model not to be asked about it: a
twentieth. Over what is held out as many answers are right as where all are asked about."""


class SecondOpinion:
    """A reverse model, opened when it is first asked: a parser of known schemas never needs it. Thread-safe."""

    def __init__(self, path: Path, tokenizer: Tokenizer, *, native: bool, threads: int) -> None:
        self._path = path
        self._tokenizer = tokenizer
        self._native = native
        self._threads = threads
        self._opened: Likelihood | None = None
        self.renew_after_fork()
        renew_in_child(self)

    def renew_after_fork(self) -> None:
        """Wait for no thread that was opening in the other process."""
        self._lock = threading.Lock()

    @classmethod
    def bundled(cls, engine: Engine, digest: str | None = None) -> SecondOpinion | None:
        """The reverse model that comes with fastsql, for an engine whose tokenizer it shares.

        None where there is none, or not that of a `digest`.
        """
        path = bundled_reverse()
        found = reverse_digest(path, engine.tokenizer)
        if found is None or digest not in (None, found):
            return None
        # The engine of a GPU counts questions, not threads.
        threads = min(engine.threads, MOST_THREADS) if engine.device == "cuda" else engine.threads
        return cls(path, engine.tokenizer, native=engine.device != "python", threads=threads)

    def weighed(self, linked: Linked, decoded: Decoded, weight: float, *, reorder: bool = True) -> Decoded:
        """The hypotheses that come into question, each with its log P(question | program), before the others.

        They are ordered by that times `weight` and their own rank, unless they are not to be reordered. All are
        as they were where the reverse model cannot read one of them.

        Raises ModelError where its file is damaged.
        """
        finished = decoded.search.finished
        least = max(one.rank for one in finished) - OUT_OF_QUESTION
        numbers = [number for number, one in enumerate(finished) if one.rank >= least]
        programs = [program_of(linked, decoded, number) for number in numbers]
        found = self._likelihood()(linked.prepared.question, programs, linked.space.schema).tolist()
        if not all(map(math.isfinite, found)):
            return decoded
        said = dict(zip(numbers, found, strict=True))
        told = [replace(one, likelihood=said.get(number, 0.0)) for number, one in enumerate(finished)]
        if reorder:
            told.sort(key=lambda one: (not one.likelihood, -one.rank - weight * one.likelihood))
        return replace(decoded, search=replace(decoded.search, finished=tuple(told)))

    def _likelihood(self) -> Likelihood:
        with self._lock:
            if self._opened is None:
                from fastsql.reverse import open_likelihood  # for schemas never seen

                core = native() if self._native else None
                self._opened = open_likelihood(self._path, self._tokenizer, core=core, threads=self._threads)
            return self._opened


def second_lacking(reliability: Reliability, tokenizer: Tokenizer) -> str:
    """What a bundle's second opinion lacks and what follows from that, in two sentences; "" where nothing is missing."""
    second = None if reliability.elsewhere is None else reliability.elsewhere.second
    if second is None or reverse_digest(bundled_reverse(), tokenizer) == second.reverse:
        return ""
    return (
        "the reverse model that its probabilities over schemas never seen were fitted with is missing, or is another."
        " It answers without a second opinion. Install fastsql again, or calibrate the bundle again."
    )
