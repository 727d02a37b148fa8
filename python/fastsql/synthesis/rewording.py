"""A source whose questions are chosen among many wordings: its own, the reverse model's, and a language model's."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from fastsql.errors import LimitError
from fastsql.grammar import ConversionError, sql_to_program
from fastsql.schema import Schema
from fastsql.synthesis.choice import Points, nearest_to_median
from fastsql.synthesis.guard import Guard
from fastsql.synthesis.source import Draft, Source, SynthesisError, Trial
from fastsql.verification.parse import parse_query

if TYPE_CHECKING:
    from fastsql.reverse import SchemaReverse
    from fastsql.synthesis.worded import Wordings

Embed = Callable[[Sequence[str]], Points]
"""Embeddings [n, d] of sentences."""
WORDINGS = 8
"""Wordings of each kind, as many as ScienceBenchmark asks GPT-3 for."""
_OFFERED = 6
"""Of all, those that are asked one after the other."""


class RewordedSource:
    """Another source's queries. A question is the wording nearest to the geometric median of all, asked again the next.

    The other source's contents and checks stay as they are; so do its queries and their seeds.
    """

    def __init__(
        self,
        source: Source,
        embed: Embed,
        reverse: SchemaReverse | None,
        wordings: int = WORDINGS,
        *,
        worded: Wordings | None = None,
        only_worded: bool = False,
        guard: Guard | None = None,
    ) -> None:
        """What there is to choose among: the source's own wordings, and others where they are named.

        Args:
            source: where queries come from.
            embed: what tells which wordings are alike.
            reverse: the model over the source's schema.
            wordings: how many of the source, and of the reverse model.
            worded: by a server's model.
            only_worded: take no others than these; the source's have a say in what most wordings say. Nothing is drawn when
                no more is asked.
            guard: what says which of the reverse model's are kept; without one, words alone do.
        """
        self._guard = guard or Guard(source.schema)
        self._source = source
        self._embed = embed
        self._reverse = reverse
        self._wordings = wordings
        self._worded = worded
        self._only_worded = only_worded

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
        if self._only_worded and (self._worded is None or self._worded.done):
            raise SynthesisError("no more queries are put into other words")
        draft = self._source.draw(seed)
        ordered: list[str] = []
        asked = 0

        def ask(rng: random.Random) -> str:
            nonlocal asked
            if not ordered:
                ordered.extend(self._ordered(draft, rng))
            if not ordered:
                raise SynthesisError("a query that no other words were found for")
            asked += 1
            return ordered[(asked - 1) % len(ordered)]

        return replace(draft, ask=ask)

    def _ordered(self, draft: Draft, rng: random.Random) -> list[str]:
        """The wordings of a draft that are nearest to the median of all, nearest first."""
        worded = [] if self._worded is None else self._worded.of(draft.tree or parse_query(draft.sql))
        if self._only_worded and not worded:
            return []
        own = [draft.ask(random.Random(f"{draft.seed}/{rng.random()}")) for _ in range(self._wordings)]
        wordings = list(dict.fromkeys([*own, *self._reworded(draft, own, rng), *worded]))
        most = len(wordings) if self._only_worded else _OFFERED
        chosen = [wordings[number] for number in nearest_to_median(self._embed(wordings), most)]
        return [one for one in chosen if not self._only_worded or one in worded][:_OFFERED]

    def _reworded(self, draft: Draft, own: Sequence[str], rng: random.Random) -> list[str]:
        """The reverse model's wordings that the guard keeps; none where the model cannot read the query."""
        if self._reverse is None:
            return []
        try:
            program = sql_to_program(draft.sql, self.schema)
            (found,) = self._reverse.questions(
                [program], self._wordings, seed=rng.getrandbits(32), style=None
            )
        except (ConversionError, LimitError):
            return []
        tree = draft.tree or parse_query(draft.sql)
        asked = dict.fromkeys(filter(None, found))
        return [one for one in asked if self._guard.fault(one, tree, program, own) is None]
