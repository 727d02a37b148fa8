"""What a family of questions is."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Protocol

from fastsql.synthesis.hospital.phrases import when_phrase
from fastsql.synthesis.hospital.scope import Scope
from fastsql.synthesis.hospital.values import Values
from fastsql.synthesis.phrases import finish


class Family(Protocol):
    """A question of a family as it was drawn: a frozen dataclass of what is asked.

    Its words and its SQL see the same object, so they cannot disagree about what is asked.
    """

    def sql(self) -> str:
        """The query that answers it, over the MIMIC-IV tables of EHRSQL 2024 and in the style of its gold."""

    def words(self, rng: random.Random) -> str:
        """One of the many questions that ask it; ``{when}`` stands for the visit or the filter on time of its `scope`."""


Draw = Callable[[random.Random, Values], Family]
"""Draws a question: its structure by the random numbers alone, its values by the values."""


def ask(family: Family, rng: random.Random) -> str:
    """The question as a whole sentence."""
    text = family.words(rng)
    scope = getattr(family, "scope", None)
    when = when_phrase(scope, rng) if isinstance(scope, Scope) and "{when}" in text else ""
    return finish(text, when, rng)
