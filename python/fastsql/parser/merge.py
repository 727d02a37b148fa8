"""Between decoding and all else: hypotheses that are one query are one hypothesis.

A model divides its belief among ways to write a query: tables in another order, `COUNT(*)` and a count of the key, and,
where it does not know the words between, `> 80`, `>= 80` and `< 80`, each of which is then the comparison that is said.
Together they are as likely as they were, and none is another's rival: the probability of an answer is the sum over its
derivations.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from fastsql.grammar.same_query import form
from fastsql.parser.write import own_program

if TYPE_CHECKING:
    from fastsql.decode import Hypothesis
    from fastsql.engine import Decoded
    from fastsql.parser.link import Linked


def merged(linked: Linked, decoded: Decoded) -> Decoded:
    """The hypotheses, of those that are one query the likeliest, with the probability of all; likeliest first."""
    finished, space = decoded.search.finished, linked.space
    alike: dict[Hashable, list[Hypothesis]] = {}
    for number, one in enumerate(finished):
        query = form(own_program(linked, decoded, number), space.schema, space.grammar)
        alike.setdefault(query, []).append(one)
    if len(alike) == len(finished):
        return decoded
    together = sorted(map(_together, alike.values()), key=lambda one: -one.score)
    return replace(decoded, search=replace(decoded.search, finished=tuple(together)))


def _together(alike: Sequence[Hypothesis]) -> Hypothesis:
    """The likeliest of some. What the others add is what its least certain decision was not sure of."""
    best, *others = sorted(alike, key=lambda one: -one.score)
    if not others:
        return best
    gained = math.log(sum(math.exp(one.score - best.score) for one in alike))
    told = list(best.log_probabilities)
    place = told.index(min(told))
    told[place] = min(told[place] + gained, 0.0)
    return replace(best, log_probabilities=tuple(told))
