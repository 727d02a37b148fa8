"""Synthetic pairs of a source: queries drawn, checked, balanced over their skeletons, and put into words."""

from __future__ import annotations

import hashlib
import logging
import random
from collections import defaultdict
from collections.abc import Callable, Iterable

from fastsql.datasets import Example
from fastsql.evaluation.skeleton import skeleton
from fastsql.synthesis.balance import share_out
from fastsql.synthesis.checks import Checker
from fastsql.synthesis.source import Draft, Source, SynthesisError

_DRAWN_PER_EXAMPLE = 3
_REALISATIONS = 4
"""How often a query is put into words until its question is new and its literals can be found."""
_SHARE_OF_KNOWN = 0.5
"""Weight of a skeleton that the training set has, against one that it lacks."""
_FAILURES = 3
"""Drafts in a row that are not found, before a source counts as exhausted."""
_NOTES = 10
"""Lines on the progress of drawing."""

Report = Callable[[str], None]
logger = logging.getLogger(__name__)


def generate(
    source: Source, examples: int, seed: int = 1, *, known: Iterable[str] = (), report: Report = logger.info
) -> list[Example]:
    """At most `examples` pairs, each question once; the same arguments give the same pairs.

    Args:
        source: where queries and their wordings come from.
        examples: how many pairs are asked for.
        seed: of everything random.
        known: gold SQL of a training set; its skeletons get less weight than those that it lacks.
        report: called with lines on progress.
    """
    checker = Checker(source)
    known_skeletons = _canonical(known, checker)
    by_skeleton = _draw_all(source, examples * _DRAWN_PER_EXAMPLE, seed, checker, report)
    report(f"{len(by_skeleton)} skeletons, {len(set(by_skeleton) - known_skeletons)} of them unknown")
    counts = {key: len(found) for key, found in by_skeleton.items()}
    quotas = share_out(counts, examples, dict.fromkeys(known_skeletons, _SHARE_OF_KNOWN))
    pairs: list[Example] = []
    seen: set[str] = set()
    for key in sorted(by_skeleton):
        pairs += _realise(source.db_id, key, by_skeleton[key], quotas[key], seen, checker)
    random.Random(f"{seed}/order").shuffle(pairs)
    report(f"{len(pairs)} pairs over {len({pair.template for pair in pairs})} skeletons")
    return pairs


def generate_drawn(
    source: Source, examples: int, seed: int = 1, *, wordings: int = 1, report: Report = logger.info
) -> list[Example]:
    """At most `examples` pairs of a source whose drafts are checked and in the right mix as they are drawn, in their order.

    Each question comes once, each query with `wordings` questions at most; fewer come where the source repeats itself. The
    same arguments give the same.
    Raises SynthesisError where no draft is found at all, DatabaseGoneError where the source's database goes away.
    """
    checker = Checker(source)
    pairs: list[Example] = []
    seen: set[str] = set()
    queries: set[str] = set()
    failures = 0
    step = -(-examples // _NOTES)
    for position in range(examples * _DRAWN_PER_EXAMPLE):
        if len(pairs) == examples:
            break
        try:
            draft = source.draw(f"{seed}/{position}")
        except SynthesisError:
            failures += 1
            if failures == _FAILURES and not pairs:
                raise
            if failures == _FAILURES:
                break
            continue
        failures = 0
        if draft.sql in queries:
            continue
        queries.add(draft.sql)
        quota = min(wordings, examples - len(pairs))
        pairs += _realise(source.db_id, draft.sql, [draft] * quota, quota, seen, checker)
        if (position + 1) % step == 0:
            report(f"{len(pairs)} pairs of {position + 1} queries")
    report(f"{len(pairs)} pairs")
    return pairs


def _draw_all(
    source: Source, number: int, seed: int, checker: Checker, report: Report
) -> dict[str, list[Draft]]:
    """Checked drafts by canonical skeleton."""
    found: defaultdict[str, list[Draft]] = defaultdict(list)
    step = -(-number // _NOTES)
    for position in range(number):
        draft = source.draw(f"{seed}/{position}")
        key = checker.accept_query(draft)
        if key is not None:
            found[key].append(draft)
        if (position + 1) % step == 0:
            report(f"{position + 1} of {number} queries drawn, {len(found)} skeletons")
    return dict(found)


def _realise(
    db_id: str, key: str, drafts: list[Draft], quota: int, seen: set[str], checker: Checker
) -> list[Example]:
    pairs: list[Example] = []
    name = hashlib.sha256(key.encode()).hexdigest()[:12]
    for draft in drafts:
        if len(pairs) == quota:
            break
        rng = random.Random(f"{draft.seed}/words")
        for _ in range(_REALISATIONS):
            try:
                question = draft.ask(rng)
            except SynthesisError:
                break
            if question.lower() not in seen and checker.accept_literals(question, draft):
                seen.add(question.lower())
                number = hashlib.sha256(question.encode()).hexdigest()[:20]
                template = f"{draft.family} {name}"
                pairs.append(Example(f"synthetic-{number}", db_id, question, draft.sql, template=template))
                break
    return pairs


def _canonical(queries: Iterable[str], checker: Checker) -> frozenset[str]:
    """The canonical skeletons of gold queries; one query a skeleton is converted."""
    forms = {skeleton(sql): sql for sql in queries}
    return frozenset(key for sql in forms.values() if (key := checker.canonical_skeleton(sql)) is not None)
