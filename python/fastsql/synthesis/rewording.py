"""A source whose questions are chosen among many wordings: its own, and those of the reverse model."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from fastsql.errors import LimitError
from fastsql.grammar import ConversionError, sql_to_program
from fastsql.schema import Schema
from fastsql.synthesis.choice import Points, nearest_to_median
from fastsql.synthesis.source import Draft, Source, Trial

if TYPE_CHECKING:
    from fastsql.reverse import SchemaReverse

Embed = Callable[[Sequence[str]], Points]
"""Embeddings [n, d] of sentences."""
CANDIDATES = 8
"""Wordings of each kind, as many as ScienceBenchmark asks GPT-3 for."""
_UNSAID = 1
"""Names that a wording of the reverse model may lack: a table between two others, or a plural."""
_OFFERED = 6
"""Of all, those that are asked one after the other."""


class RewordedSource:
    """Another source's queries. A question is the wording nearest to the geometric median of all, asked again the next.

    The other source's contents and checks stay as they are; so do its queries and their seeds.
    """

    def __init__(
        self, source: Source, embed: Embed, reverse: SchemaReverse | None, candidates: int = CANDIDATES
    ) -> None:
        """`reverse`: the model over the source's schema; None to choose among the source's own wordings."""
        self._source = source
        self._embed = embed
        self._reverse = reverse
        self._candidates = candidates

    @property
    def db_id(self) -> str:
        """See `Source.db_id`."""
        return self._source.db_id

    @property
    def schema(self) -> Schema:
        """See `Source.schema`."""
        return self._source.schema

    def trials(self, draft: Draft) -> Iterator[Trial]:
        """See `Source.trials`."""
        return self._source.trials(draft)

    def draw(self, seed: str) -> Draft:
        """See `Source.draw`."""
        draft = self._source.draw(seed)
        ordered: list[str] = []
        asked = 0

        def ask(rng: random.Random) -> str:
            nonlocal asked
            if not ordered:
                ordered.extend(self._ordered(draft, rng))
            asked += 1
            return ordered[(asked - 1) % len(ordered)]

        return replace(draft, ask=ask)

    def _ordered(self, draft: Draft, rng: random.Random) -> list[str]:
        """The wordings of a draft that are nearest to the median of all, nearest first."""
        own = [draft.ask(random.Random(f"{draft.seed}/{rng.random()}")) for _ in range(self._candidates)]
        wordings = list(dict.fromkeys([*own, *self._reworded(draft, rng)]))
        return [wordings[number] for number in nearest_to_median(self._embed(wordings), _OFFERED)]

    def _reworded(self, draft: Draft, rng: random.Random) -> list[str]:
        """The reverse model's wordings that say all values and all names but one; none where it cannot read the query."""
        if self._reverse is None:
            return []
        try:
            program = sql_to_program(draft.sql, self.schema)
            (found,) = self._reverse.questions(
                [program], self._candidates, seed=rng.getrandbits(32), style=None
            )
        except (ConversionError, LimitError):
            return []
        lacking = {question: self._reverse.left_out(question, program) for question in found if question}
        return [question for question, (values, names) in lacking.items() if values == 0 and names <= _UNSAID]
