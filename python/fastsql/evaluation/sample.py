"""A sample that stands for a data set: drawn at random, with its kinds of questions in their shares.

Examples are put in the order of their strata, at random within each, and every N/n-th is taken from a random start
(systematic sampling; Cochran, 1977, chapter 8). So each example is as likely as any other, figures need no weights, and the
part of each stratum is its share, to within one.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from fastsql.datasets import Example
from fastsql.datasets.interactions import as_interactions

STATED = ("kind", "category", "query_type", "question_type", "type", "difficulty", "level")
"""Fields by which a data set may tell its kinds of questions apart."""


def draw_sample(examples: Sequence[Example], size: int, seed: int = 0) -> tuple[Example, ...]:
    """`size` of the examples in their order, or all if there are no more.

    Strata are whether a question has an answer, then the fields of `STATED` that the data have, then databases. Equal seeds
    draw equal samples from equal data.
    """
    count = len(examples)
    if size >= count:
        return tuple(examples)
    random = Random(seed)  # of `random()` alone, Python promises the same numbers in every version
    start = int(random.random() * count)
    order = sorted(range(count), key=lambda index: (_stratum(examples[index]), random.random()))
    taken = sorted(order[(number * count + start) // size] for number in range(size))
    return tuple(examples[index] for index in taken)


def draw_interactions(examples: Sequence[Example], size: int, seed: int = 0) -> tuple[Example, ...]:
    """All turns of `size` conversations, in their order; strata are those of first turns.

    Raises DatasetError where the examples are no conversations.
    """
    talks = as_interactions(examples, "the examples")
    taken = {
        str(one.extra["interaction"]) for one in draw_sample([talk.turns[0] for talk in talks], size, seed)
    }
    return tuple(example for example in examples if str(example.extra["interaction"]) in taken)


def _stratum(example: Example) -> tuple[str, ...]:
    stated = (example.extra.get(name) for name in STATED)
    return (
        str(example.answerable),
        *(str(value) if isinstance(value, str | int | float) else "" for value in stated),
        example.db_id,
    )
