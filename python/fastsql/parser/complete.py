"""Between decoding and writing: a query that says all that the question names comes before one that leaves something out.

A model that learnt from short queries is content with one: "avg age of medicaid pts with diabetes" came out as that of all
with Medicaid, as each further condition is one more thing that might be wrong. So a hypothesis is marked down for each thing
that its question names and that it does not say (`Familiarity.left_out`), as translation does for words it leaves out
(the coverage penalty of Wu et al., Google's Neural Machine Translation System, 2016, section 7). Where one that was given up
might still come first by that, the search is made again and goes on for it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from fastsql.explanation.links import find_links
from fastsql.grammar.inlining import turns_of
from fastsql.grammar.program import Literal
from fastsql.linking.folding import has_han
from fastsql.parser.merge import merged
from fastsql.parser.write import own_program
from fastsql.reliability.assess import Asked, Reliability

if TYPE_CHECKING:
    from fastsql.decode import Hypothesis
    from fastsql.engine import Decoded, Engine
    from fastsql.grammar.program import Program
    from fastsql.parser.link import Linked
    from fastsql.reliability.familiarity import Familiarity
    from fastsql.result import Link

WIDER = 12
"""Hypotheses of the search that goes on: what is complete is longer, and must outlast what is likely."""
_FALLS = 1.0
"""Nats that what is unfinished will at least lose until it is finished, were it to come first."""
_MOST_PATIENT = 4
"""Nats. What is left out may be what no query can say."""
_STRANGE = 1.5
"""What a value counts that shares no letter with a Chinese question, as those that are meant do."""
_NO_ANSWER = 0.5
"""Probability of having no answer from which a question is not searched for again: every query leaves out what it asks."""


def complete(
    linked: Linked,
    decoded: Decoded,
    engine: Engine,
    beam: int,
    reliability: Reliability,
    *,
    within: float = 0.0,
) -> Decoded:
    """The hypotheses, marked down for each thing that they leave out, by rank; at most `beam`.

    Which comes first does not depend on `within`: all that may be up to so many nats behind it are marked, for whoever
    compares them next.
    """
    familiarity, weight = reliability.familiarity, reliability.left_out

    def marked(found: Decoded) -> Decoded:
        return _marked(found, within, lambda number: weight * _left_out(linked, found, number, familiarity))

    likeliest = decoded.search.finished[0].score
    decoded = marked(decoded)
    best = decoded.search.finished[0].rank
    if decoded.search.unfinished - _FALLS > best and not _has_no_answer(linked, decoded, reliability):
        patience = min(math.ceil(likeliest - best), _MOST_PATIENT)
        wider = max(beam, min(WIDER, linked.space.limits.beam))
        wide = engine.decode(linked.prepared, linked.schema, linked.space, wider, patience)
        decoded = marked(merged(linked, wide))
    return replace(decoded, search=replace(decoded.search, finished=decoded.search.finished[:beam]))


def _marked(decoded: Decoded, within: float, nats: Callable[[int], float]) -> Decoded:
    """The hypotheses by rank. Those that could not come `within` so many nats of the first if they left nothing out are
    not looked at.
    """
    search = decoded.search
    best = -math.inf
    told: list[Hypothesis] = []
    for number, one in enumerate(search.finished):
        looked = one if one.score <= best - within else replace(one, marked_down=nats(number))
        best = max(best, looked.rank)
        told.append(looked)
    ordered = sorted(told, key=lambda one: -one.rank)
    return replace(decoded, search=replace(search, finished=tuple(ordered)))


def _has_no_answer(linked: Linked, decoded: Decoded, reliability: Reliability) -> bool:
    """Whether the question probably has no answer in this schema, as far as the first hypothesis tells."""
    own, links = _read(linked, decoded, 0)
    asked = Asked(linked.question, linked.prepared, linked.schema.links, decoded.state)
    evidence = reliability.evidence(asked, decoded.search, 0, own, links)
    return reliability.assess(evidence, refers=bool(turns_of(own))).unanswerable > _NO_ANSWER


def _left_out(linked: Linked, decoded: Decoded, number: int, familiarity: Familiarity) -> float:
    own, links = _read(linked, decoded, number)
    found = familiarity.left_out(linked.question, [link.span for link in links])
    return found + _made_up(own, linked.question) if has_han(linked.question) else found


def _made_up(own: Program, question: str) -> float:
    """How much a query holds that a Chinese question does not say: values without any of its letters."""
    unsaid = (item.value for item in own if isinstance(item, Literal) and item.span is None)
    values = {value for value in unsaid if isinstance(value, str)}
    strange = sum(has_han(value) and not set(value) & set(question) for value in values)
    return _STRANGE * strange


def _read(linked: Linked, decoded: Decoded, number: int) -> tuple[Program, tuple[Link, ...]]:
    """A hypothesis as a program, and what of the question stands in it."""
    own = own_program(linked, decoded, number)
    return own, find_links(own, linked.prepared, linked.schema.links)
