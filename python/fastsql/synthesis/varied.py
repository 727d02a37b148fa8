"""Pairs of a source with contrasts and unanswerable questions among them."""

from __future__ import annotations

import hashlib
import logging
import random
from collections.abc import Callable
from itertools import chain

from fastsql.datasets import Example
from fastsql.synthesis.generate import Report, generate_drawn
from fastsql.synthesis.source import Source, SynthesisError, VariedSource

CONTRAST = 0.2
"""The share of pairs that come in couples, if nothing else is said."""
UNANSWERABLE = 0.1
"""The share of unanswerable questions, if nothing else is said: somewhat less than the quarter of EHRSQL 2024's."""
_DRAWN_PER_ONE = 3
_FAILURES = 3
"""Seeds in a row for which nothing is found, before a source counts as exhausted."""
logger = logging.getLogger(__name__)


def generate_varied(
    source: VariedSource,
    examples: int,
    seed: int = 1,
    *,
    contrast: float = CONTRAST,
    unanswerable: float = UNANSWERABLE,
    singles: Source | None = None,
    wordings: int = 1,
    report: Report = logger.info,
) -> list[Example]:
    """At most `examples` questions, each once; the same arguments give the same.

    Both pairs of a contrast have one id in `extra["contrast"]`, and stand one after the other; `extra["differs"]` says in
    what. A question that is to be refused has no SQL, and in `extra["unanswerable"]` why.

    Args:
        source: where queries and their wordings come from, already checked and in the right mix (`generate_drawn`).
        examples: how many are asked for.
        seed: of everything random.
        contrast: share of pairs that come in contrasts.
        unanswerable: share of questions that are to be refused.
        singles: where the other pairs come from, if not from `source` itself: it, with questions worded otherwise.
        wordings: of each query of these, at most.
        report: called with lines on progress.

    Raises SynthesisError where nothing can be drawn at all, DatabaseGoneError where the source's database goes away.
    """
    refusals = round(examples * unanswerable)
    couples = min(round(examples * contrast / 2), (examples - refusals) // 2)
    alone = examples - refusals - 2 * couples
    pairs = generate_drawn(singles or source, alone, seed, wordings=wordings, report=report)
    seen = {text.lower() for pair in pairs for text in (pair.question, pair.sql or "")}
    groups = [[pair] for pair in pairs]
    groups += _collect(lambda number: _couple(source, f"{seed}/contrast/{number}"), couples, seen)
    report(f"{len(groups) - len(pairs)} contrasts of {couples}")
    refused = _collect(lambda number: _refusal(source, f"{seed}/refusal/{number}"), refusals, seen)
    report(f"{len(refused)} unanswerable questions of {refusals}")
    groups += refused
    random.Random(f"{seed}/order").shuffle(groups)
    return list(chain.from_iterable(groups))


def _collect(make: Callable[[int], list[Example]], wanted: int, seen: set[str]) -> list[list[Example]]:
    """At most so many groups of examples of which no question and no query was seen."""
    found: list[list[Example]] = []
    failures = 0
    for number in range(wanted * _DRAWN_PER_ONE):
        if len(found) == wanted or failures == _FAILURES:
            break
        try:
            group = make(number)
        except SynthesisError:  # the source has no more, or no such thing: fewer come, as is reported
            failures += 1
            continue
        failures = 0
        texts = {text.lower() for one in group for text in (one.question, one.sql) if text}
        if seen.isdisjoint(texts):
            seen |= texts
            found.append(group)
    return found


def _couple(source: VariedSource, seed: str) -> list[Example]:
    contrast = source.contrast(seed)
    name = _digest(*chain.from_iterable(contrast.pairs))
    extra = {"contrast": name, "differs": contrast.kind}
    return [
        Example(
            f"synthetic-{_digest(question)}",
            source.db_id,
            question,
            sql,
            template=f"{contrast.family} {_digest(sql)[:12]}",
            extra=extra,
        )
        for question, sql in contrast.pairs
    ]


def _refusal(source: VariedSource, seed: str) -> list[Example]:
    refusal = source.refusal(seed)
    return [
        Example(
            f"synthetic-{_digest(refusal.question)}",
            source.db_id,
            refusal.question,
            None,
            template=f"unanswerable {refusal.kind}",
            extra={"unanswerable": refusal.kind},
        )
    ]


def _digest(*texts: str) -> str:
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:20]
