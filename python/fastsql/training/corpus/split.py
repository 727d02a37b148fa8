"""Which examples are trained on, and which are held out.

The dev set is carved from train in three parts: whole databases (how well the parser does on schemas that it never saw),
whole templates, and single examples of the remaining templates. Questions that equal one that is reported on, letter for
letter, are left out of all.
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
class Said:
    """A turn of a conversation: its question, and its program as text (`dump_program`), which may refer to earlier turns."""

    question: str
    program: str


@dataclass(frozen=True)
class Pair:
    """A question with the SQL that answers it, on database `db_id`.

    A turn of a conversation also has its `interaction`, its `program` as text, the turns before it, and the SQL of the last.
    """

    id: str
    question: str
    sql: str
    db_id: str
    interaction: str = ""
    program: str = ""
    earlier: tuple[Said, ...] = ()
    goal: str = ""

    @property
    def key(self) -> PairKey:
        """What tells it from the pairs of other data sets, too."""
        return self.db_id, self.id

    @property
    def group(self) -> PairKey:
        """What is held out together: a conversation, which is named after the single question that it was made of."""
        return self.db_id, self.interaction or self.id

    @property
    def asked(self) -> str:
        """The question with those before it."""
        return " ".join((*(turn.question for turn in self.earlier), self.question))


@dataclass(frozen=True)
class Split:
    """A data set in parts without a common question."""

    train: tuple[Pair, ...]
    dev_templates: tuple[Pair, ...]  # templates that train lacks
    dev_examples: tuple[Pair, ...]  # templates that train has
    dev_databases: tuple[Pair, ...] = ()  # databases that train lacks


def letters_only(text: str) -> str:
    """The question's letters, lower case: equal for questions that differ in ids, dates and punctuation only."""
    return _NO_LETTER.sub("", text).lower()


def remove_reported(pairs: Iterable[Pair], reported: Iterable[str]) -> list[Pair]:
    """The pairs whose question equals none of the `reported` questions, letters only."""
    taken = {letters_only(question) for question in reported}
    return [pair for pair in pairs if letters_only(pair.asked) not in taken]


@dataclass(frozen=True)
class HeldOut:
    """What is held out: pairs of unseen templates, single pairs of seen templates, and whole databases."""

    templates: frozenset[PairKey] = frozenset()
    examples: frozenset[PairKey] = frozenset()
    databases: frozenset[str] = frozenset()

    @classmethod
    def of(cls, split: Split) -> HeldOut:
        """Those of a split."""
        return cls(
            frozenset(pair.group for pair in split.dev_templates),
            frozenset(pair.group for pair in split.dev_examples),
            frozenset(pair.db_id for pair in split.dev_databases),
        )

    def __or__(self, other: HeldOut) -> HeldOut:
        return HeldOut(
            self.templates | other.templates,
            self.examples | other.examples,
            self.databases | other.databases,
        )

    def save(self, path: Path) -> None:
        """Writes `{"templates": [[db_id, id], ...], "examples": [...], "databases": [db_id, ...]}`."""
        parts = {name: sorted(getattr(self, name)) for name in ("templates", "examples", "databases")}
        path.write_text(json.dumps(parts, ensure_ascii=False) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: Path) -> HeldOut:
        """Reads what `save` wrote. Raises ConfigError for anything else."""
        try:
            raw = json.loads(path.read_text(encoding="utf-8"))
            templates, examples = (
                frozenset((str(db_id), str(number)) for db_id, number in raw[name])
                for name in ("templates", "examples")
            )
            databases = frozenset(str(db_id) for db_id in raw.get("databases", ()))
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise ConfigError(
                "is not a list of held-out examples",
                where=str(path),
                remedy="Name the held_out.json of an earlier run, or leave the setting out.",
            ) from error
        return cls(templates, examples, databases)


def draw_held_out(
    pairs: Sequence[Pair],
    template_of: Mapping[PairKey, str],
    templates: float,
    examples: float,
    seed: int,
    databases: float = 0.0,
) -> HeldOut:
    """Draws the share `databases` of the databases, then of the rest the share `templates` of the templates, whole, and
    `examples` of what is left; the same seed, the same draw.
    """
    rng = random.Random(seed)
    held_databases = frozenset(
        _draw_share({pair.db_id for pair in pairs}, databases, rng) if databases else ()
    )
    pairs = [pair for pair in pairs if pair.db_id not in held_databases]
    held = set(_draw_share({template_of[pair.key] for pair in pairs}, templates, rng))
    rest = list(dict.fromkeys(pair.group for pair in pairs if template_of[pair.key] not in held))
    order = list(range(len(rest)))
    rng.shuffle(order)
    return HeldOut(
        frozenset(pair.group for pair in pairs if template_of[pair.key] in held),
        frozenset(rest[position] for position in order[: round(examples * len(rest))]),
        held_databases,
    )


def _draw_share(names: Iterable[str], share: float, rng: random.Random) -> list[str]:
    order = sorted(names)
    rng.shuffle(order)
    return order[: round(share * len(order))]


def split_dev(pairs: Sequence[Pair], template_of: Mapping[PairKey, str], held_out: HeldOut) -> Split:
    """Trains on what is not held out. `template_of` gives each pair's template.

    Pairs of a held-out template leave train, wherever they come from, and so do questions that are letter for letter a
    held-out one, so that no dev question is a train question with another patient's number. A pair that is held out by
    itself is one of an unseen template where nothing that is left has its template.
    """
    dev_databases = tuple(pair for pair in pairs if pair.db_id in held_out.databases)
    pairs = [pair for pair in pairs if pair.db_id not in held_out.databases]
    dev_templates = tuple(pair for pair in pairs if pair.group in held_out.templates)
    dev_examples = [pair for pair in pairs if pair.group in held_out.examples]
    unseen = {template_of[pair.key] for pair in dev_templates}
    rest = [
        pair
        for pair in pairs
        if template_of[pair.key] not in unseen and pair.group not in held_out.examples | held_out.templates
    ]
    train = remove_reported(rest, (pair.asked for pair in (*dev_templates, *dev_examples, *dev_databases)))
    left = {template_of[pair.key] for pair in train}
    seen = tuple(pair for pair in dev_examples if template_of[pair.key] in left)
    new = tuple(pair for pair in dev_examples if template_of[pair.key] not in left)
    return Split(tuple(train), (*dev_templates, *new), seen, dev_databases)
