"""One question of an evaluation with everything that is known about it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from fastsql.datasets import Example
from fastsql.evaluation.judge import Verdict
from fastsql.evaluation.predictions import Prediction
from fastsql.evaluation.skeleton import skeleton


@dataclass(frozen=True)
class Judged:
    """A question's prediction with its verdict.

    `seen` is None where no training set was named; `kinds` is what the parser took a turn of a conversation for, of
    `fastsql.grammar.turn_kinds.KINDS`, and empty where it is not known.
    """

    example: Example
    prediction: Prediction
    verdict: Verdict
    seen: bool | None = None
    latency_ms: float | None = None
    kinds: tuple[str, ...] = ()

    @property
    def answerable(self) -> bool:
        """Whether SQL, and not a refusal, is the right response."""
        return self.example.answerable

    @property
    def has_answer(self) -> bool:
        """Whether a gold result could be compared with."""
        return self.answerable and self.verdict.correct is not None

    @property
    def right(self) -> bool:
        """Whether the best hypothesis is right, refused or not: by its result or, without a database, by its form."""
        correct = self.verdict.correct
        return self.answerable and (self.verdict.em_values if correct is None else correct)

    @cached_property
    def skeleton(self) -> str | None:
        """The skeleton of gold SQL; None where there is none."""
        return None if self.example.sql is None else skeleton(self.example.sql)
