"""Which examples are trained on, and which are held out.

The dev set is carved from train in two parts: whole templates (how well the parser does on templates that it
never saw) and single examples of the remaining templates. Questions that equal one that is reported on, letter for
letter, are left out of both.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fastsql.training.config import ConfigError

_NO_LETTER = re.compile(r"[\W\d_]+")


PairKey = tuple[str, str]  # database, id


@dataclass(frozen=True)
class Pair:
    """A question with the SQL that answers it, on database `db_id`."""

    id: str
    question: str
    sql: str
    db_id: str

    @property
    def key(self) -> PairKey:
        """What tells it from the pairs of other data sets, too."""
        return self.db_id, self.id


@dataclass(frozen=True)
class Split:
    """A data set in three parts without a common question."""

    train: tuple[Pair, ...]
    dev_templates: tuple[Pair, ...]  # templates that train lacks
    dev_examples: tuple[Pair, ...]  # templates that train has


def letters_only(text: str) -> str:
    """The question's letters, lower case: equal for questions that differ in ids, dates and punctuation only."""
    return _NO_LETTER.sub("", text).lower()


def remove_reported(pairs: Iterable[Pair], reported: Iterable[str]) -> list[Pair]:
    """The pairs whose question equals none of the `reported` questions, letters only."""
    taken = {letters_only(question) for question in reported}
    return [pair for pair in pairs if letters_only(pair.question) not in taken]


@dataclass(frozen=True)
class HeldOut:
    """Which pairs are held out: of unseen templates, and single ones of seen templates."""

    templates: frozenset[PairKey] = frozenset()
    examples: frozenset[PairKey] = frozenset()

    @classmethod
    def of(cls, split: Split) -> HeldOut:
        """Those of a split."""
        return cls(
            frozenset(pair.key for pair in split.dev_templates),
            frozenset(pair.key for pair in split.dev_examples),
        )

    def __or__(self, other: HeldOut) -> HeldOut:
        return HeldOut(self.templates | other.templates, self.examples | other.examples)

    def save(self, path: Path) -> None:
        """Writes `{"templates": [[db_id, id], ...], "examples": [...]}`."""
        parts = {"templates": sorted(self.templates), "examples": sorted(self.examples)}
        path.write_text(json.dumps(parts, ensure_ascii=False) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: Path) -> HeldOut:
        """Reads what `save` wrote. Raises ConfigError for anything else."""
        try:
            raw = json.loads(path.read_text(encoding="utf-8"))
            parts = [
                frozenset((str(db_id), str(number)) for db_id, number in raw[name])
                for name in ("templates", "examples")
            ]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ConfigError(
                "is no list of held-out examples",
                where=str(path),
                remedy="Name the held_out.json of an earlier run, or leave the setting out.",
            ) from error
        return cls(*parts)


def draw_held_out(
    pairs: Sequence[Pair], template_of: Mapping[PairKey, str], templates: float, examples: float, seed: int
) -> HeldOut:
    """Draws the share `templates` of the templates, whole, and `examples` of the rest; the same seed, the same draw."""
    rng = random.Random(seed)
    names = sorted({template_of[pair.key] for pair in pairs})
    rng.shuffle(names)
    held = set(names[: round(templates * len(names))])
    rest = [pair for pair in pairs if template_of[pair.key] not in held]
    order = list(range(len(rest)))
    rng.shuffle(order)
    return HeldOut(
        frozenset(pair.key for pair in pairs if template_of[pair.key] in held),
        frozenset(rest[position].key for position in order[: round(examples * len(rest))]),
    )


def split_dev(pairs: Sequence[Pair], template_of: Mapping[PairKey, str], held_out: HeldOut) -> Split:
    """Trains on what is not held out. `template_of` gives each pair's template.

    Pairs of a held-out template leave train, wherever they come from, and so do questions that are letter for letter a
    held-out one, so that no dev question is a train question with another patient's number.
    """
    dev_templates = tuple(pair for pair in pairs if pair.key in held_out.templates)
    dev_examples = [pair for pair in pairs if pair.key in held_out.examples]
    unseen = {template_of[pair.key] for pair in dev_templates}
    rest = [
        pair
        for pair in pairs
        if template_of[pair.key] not in unseen and pair.key not in held_out.examples | held_out.templates
    ]
    train = remove_reported(rest, (pair.question for pair in (*dev_templates, *dev_examples)))
    left = {template_of[pair.key] for pair in train}
    dev_examples = [pair for pair in dev_examples if template_of[pair.key] in left]
    return Split(tuple(train), dev_templates, tuple(dev_examples))
