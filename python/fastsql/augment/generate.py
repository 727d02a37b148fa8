"""Synthetic pairs: meanings drawn, realised twice, checked, and balanced over SQL skeletons."""

from __future__ import annotations

import hashlib
import logging
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

from fastsql.augment import draw_course, draw_patient, draw_population
from fastsql.augment.checks import Checker
from fastsql.augment.meaning import Meaning
from fastsql.augment.sql import write_sql
from fastsql.augment.values import Values, Vocabulary
from fastsql.augment.ward import Ward
from fastsql.augment.wording import write_question
from fastsql.datasets import Example
from fastsql.evaluation.skeleton import skeleton

DATABASE = "mimic_iv"
_DRAWN_PER_EXAMPLE = 3
_REALISATIONS = 4
"""How often a meaning is put into words until its question is new and its literals can be found."""
_SHARE_OF_KNOWN = 0.5
"""Weight of a skeleton that the training set has, against one that it lacks."""

Report = Callable[[str], None]
logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Drawn:
    """A meaning with its query and the seed that draws its structure again."""

    meaning: Meaning
    sql: str
    seed: str


def generate(
    examples: int,
    seed: int = 1,
    *,
    vocabulary: Vocabulary | None = None,
    known: Iterable[str] = (),
    report: Report = logger.info,
) -> list[Example]:
    """At most `examples` pairs over MIMIC-IV's tables, each question once; the same arguments give the same pairs.

    Args:
        examples: how many pairs are asked for.
        seed: of everything random.
        vocabulary: where names come from; without it, the words of the demo hospital.
        known: gold SQL of a training set; its skeletons get less weight than those that it lacks.
        report: called with lines on progress.
    """
    words = vocabulary or Vocabulary.of_demo()
    rng = random.Random(f"{seed}/order")
    with Ward() as ward:
        checker = Checker(ward)
        known_skeletons = _canonical(known, checker)
        by_skeleton = _draw_all(examples * _DRAWN_PER_EXAMPLE, seed, words, checker)
        report(f"{len(by_skeleton)} skeletons, {len(set(by_skeleton) - known_skeletons)} of them unknown")
        quotas = share_out(
            {key: len(found) for key, found in by_skeleton.items()},
            examples,
            dict.fromkeys(known_skeletons, _SHARE_OF_KNOWN),
        )
        pairs: list[Example] = []
        seen: set[str] = set()
        for key in sorted(by_skeleton):
            pairs += _realise(key, by_skeleton[key], quotas[key], seen, checker)
    rng.shuffle(pairs)
    report(f"{len(pairs)} pairs over {len({pair.template for pair in pairs})} skeletons")
    return pairs


def draw_meaning(seed: str, values: Values) -> Meaning:
    """One meaning: its structure by `seed` alone, its values by `values`."""
    rng = random.Random(f"{seed}/structure")
    drawers = (*draw_patient.DRAWERS, *draw_course.DRAWERS, *draw_population.DRAWERS)
    drawer = rng.choices([drawer for _, drawer in drawers], [weight for weight, _ in drawers])[0]
    return drawer(rng, values)


def share_out(counts: dict[str, int], total: int, weights: dict[str, float]) -> dict[str, int]:
    """How many of each key to take: in proportion to the weighted square root of its count, at most that many."""
    shares = {key: weights.get(key, 1.0) * count**0.5 for key, count in counts.items()}
    taken = dict.fromkeys(counts, 0)
    rest = sorted(counts)  # in one order everywhere: sums of floats depend on it
    left = total
    while left > 0 and rest:
        unit = left / sum(shares[key] for key in rest)
        full = {key for key in rest if unit * shares[key] >= counts[key]}
        if not full:
            for key in rest:
                taken[key] = int(unit * shares[key])
            missing = total - sum(taken.values())
            for key in sorted(rest, key=lambda key: (-(unit * shares[key] % 1), key))[:missing]:
                taken[key] += 1
            break
        for key in full:
            taken[key] = counts[key]
        rest = [key for key in rest if key not in full]
        left = total - sum(taken.values())
    return taken


def _draw_all(number: int, seed: int, words: Vocabulary, checker: Checker) -> dict[str, list[Drawn]]:
    """Checked meanings by canonical skeleton."""
    found: defaultdict[str, list[Drawn]] = defaultdict(list)
    for position in range(number):
        own = f"{seed}/{position}"
        meaning = draw_meaning(own, Values(words, random.Random(f"{own}/values")))
        sql = write_sql(meaning)
        key = checker.accept_query(sql, partial(draw_meaning, own), own)
        if key is not None:
            found[key].append(Drawn(meaning, sql, own))
    return dict(found)


def _realise(key: str, drawn: list[Drawn], quota: int, seen: set[str], checker: Checker) -> list[Example]:
    pairs: list[Example] = []
    name = hashlib.sha256(key.encode()).hexdigest()[:12]
    for one in drawn:
        if len(pairs) == quota:
            break
        rng = random.Random(f"{one.seed}/words")
        for _ in range(_REALISATIONS):
            question = write_question(one.meaning, rng)
            if question.lower() not in seen and checker.accept_literals(question, one.sql):
                seen.add(question.lower())
                number = hashlib.sha256(question.encode()).hexdigest()[:20]
                template = f"{type(one.meaning).__name__} {name}"
                pairs.append(Example(f"synthetic-{number}", DATABASE, question, one.sql, template=template))
                break
    return pairs


def _canonical(queries: Iterable[str], checker: Checker) -> frozenset[str]:
    """The canonical skeletons of gold queries; one query a skeleton is converted."""
    forms = {skeleton(sql): sql for sql in queries}
    found = Counter(checker.canonical_skeleton(sql) for sql in forms.values())
    return frozenset(key for key in found if key is not None)
