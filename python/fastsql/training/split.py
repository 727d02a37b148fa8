"""Which examples are trained on, and which are held out.

The dev set is carved from train in two parts: whole templates (how well the parser does on templates that it
never saw) and single examples of the remaining templates. Questions that equal one that is reported on, letter for
letter, are left out of both.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

_STRING = re.compile(r"'(?:[^']|'')*'")
_NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?![\w.])")
_SPACE = re.compile(r"\s+")
_NO_LETTER = re.compile(r"[\W\d_]+")


@dataclass(frozen=True)
class Pair:
    """A question with the SQL that answers it, on database `db_id`."""

    id: str
    question: str
    sql: str
    db_id: str


@dataclass(frozen=True)
class Split:
    """A data set in three parts without a common question."""

    train: tuple[Pair, ...]
    dev_templates: tuple[Pair, ...]  # templates that train lacks
    dev_examples: tuple[Pair, ...]  # templates that train has


def skeleton(sql: str) -> str:
    """SQL without its literals: what the data sets' authors call a template."""
    text = _STRING.sub("'V'", sql)
    text = _NUMBER.sub("N", text)
    text = re.sub(r"\s*([(),=<>*/+])\s*", r"\1", _SPACE.sub(" ", text))
    return text.strip(" ;").lower()


def letters_only(text: str) -> str:
    """The question's letters, lower case: equal for questions that differ in ids, dates and punctuation only."""
    return _NO_LETTER.sub("", text).lower()


def remove_reported(pairs: Iterable[Pair], reported: Iterable[str]) -> list[Pair]:
    """The pairs whose question equals none of the `reported` questions, letters only."""
    taken = {letters_only(question) for question in reported}
    return [pair for pair in pairs if letters_only(pair.question) not in taken]


def split_dev(
    pairs: Sequence[Pair], template_of: Mapping[str, str], templates: float, examples: float, seed: int
) -> Split:
    """Holds out the share `templates` of the templates whole and `examples` of the rest; the same seed, the same split.

    `template_of` gives each pair's template by the pair's id.

    Questions that are letter for letter a held-out one leave train too, so that no dev question is a train question
    with another patient's number.
    """
    rng = random.Random(seed)
    names = sorted({template_of[pair.id] for pair in pairs})
    rng.shuffle(names)
    held = set(names[: round(templates * len(names))])
    dev_templates = [pair for pair in pairs if template_of[pair.id] in held]
    rest = [pair for pair in pairs if template_of[pair.id] not in held]
    order = list(range(len(rest)))
    rng.shuffle(order)
    drawn = set(order[: round(examples * len(rest))])
    dev_examples = [pair for position, pair in enumerate(rest) if position in drawn]
    train = [pair for position, pair in enumerate(rest) if position not in drawn]
    train = remove_reported(train, (pair.question for pair in (*dev_templates, *dev_examples)))
    left = {template_of[pair.id] for pair in train}
    dev_examples = [pair for pair in dev_examples if template_of[pair.id] in left]
    return Split(tuple(train), tuple(dev_templates), tuple(dev_examples))
