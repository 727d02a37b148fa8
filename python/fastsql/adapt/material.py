"""What is learnt from: pairs made over the database, conversations made of them, and the seeds.

All of it lies in the working folder as data sets in the uniform form, as `fastsql train` reads them. They hold values of the
database and are their owner's alone to read.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from fastsql.adapt.seeds import Seed, Seeds
from fastsql.datasets import Example, read_examples
from fastsql.errors import FastSQLError
from fastsql.execution import Executor
from fastsql.profile.model import Profile
from fastsql.schema import Schema
from fastsql.synthesis import generate_varied
from fastsql.synthesis.generate import Report
from fastsql.synthesis.interactions import Checker, Goal, construct, write_interactions
from fastsql.synthesis.many import MadeSet, excerpt, set_files, write_set
from fastsql.synthesis.schema import SchemaSource, known_templates
from fastsql.synthesis.schema.library import read_seeds as read_templates
from fastsql.training.corpus.programs import template

OWN, SEEDS = "own", "seeds"
"""Names of the data sets over the database: pairs that were made, and the seeds that are trained on."""
TURNS = "own.turns.json.gz"
"""The file of the conversations."""
CONTRAST, REFUSED = 0.2, 0.1
"""Shares of the pairs that come in couples which differ in one thing, and of questions that no query answers."""
SEED_TEMPLATES = 100
"""How often the form of a seed's query is drawn for once that others are, by how often these were found."""
KEPT_SHARE, LEAST_SEEDS = 0.25, 20
"""Share of the seeds that is kept apart to judge by, where there are so many at least. Fewer are all trained on."""


class AdaptError(FastSQLError):
    """A bundle cannot be adapted; ``where`` names the step or the file."""


@dataclass(frozen=True)
class Amounts:
    """How much is made: pairs over the database, how many of them become conversations, and what is replayed."""

    pairs: int = 6_000
    conversations: int = 800
    replayed_schemas: int = 400
    replayed_pairs: int = 5_000
    replayed_demo: int = 500


@dataclass(frozen=True)
class Material:
    """What was made, and how the seeds were parted.

    Attributes:
        schema: as the data sets have it.
        kept: seeds that are not trained on.
        trained: seeds that are.
        pairs: pairs over the database, those without an answer among them.
    """

    schema: Schema
    kept: tuple[Seed, ...]
    trained: tuple[Seed, ...]
    pairs: tuple[Example, ...]


def split_seeds(seeds: Sequence[Seed], seed: int) -> tuple[tuple[Seed, ...], tuple[Seed, ...]]:
    """The seeds to keep apart and those to train on. Seeds whose queries differ in literals alone stay together."""
    if len(seeds) < LEAST_SEEDS:
        return (), tuple(seeds)
    groups: dict[str, list[Seed]] = {}
    for one in seeds:
        form = one.question if one.program is None else template(one.program)
        groups.setdefault(form, []).append(one)
    order = list(groups.values())
    random.Random(f"{seed}/seeds").shuffle(order)
    kept: list[Seed] = []
    for group in order:
        if len(kept) + len(group) <= KEPT_SHARE * len(seeds):
            kept += group
    chosen = set(map(id, kept))
    return tuple(kept), tuple(one for one in seeds if id(one) not in chosen)


def make_material(
    schema: Schema,
    executor: Executor,
    profile: Profile | None,
    seeds: Seeds,
    folder: Path,
    seed: int,
    report: Report,
    amounts: Amounts,
) -> Material:
    """Makes the data sets, or takes those that lie in `folder`. Raises SynthesisError where nothing can be asked."""
    kept, trained = split_seeds(seeds.usable, seed)
    named = replace(schema, name=OWN)
    pairs_file = set_files(folder, OWN)[0]
    if not pairs_file.is_file():
        _make(named, executor, profile, kept, trained, folder, seed, report, amounts)
    return Material(named, kept, trained, read_examples(pairs_file))


def _make(
    schema: Schema,
    executor: Executor,
    profile: Profile | None,
    kept: Sequence[Seed],
    trained: Sequence[Seed],
    folder: Path,
    seed: int,
    report: Report,
    amounts: Amounts,
) -> None:
    """Writes the data sets, that of the pairs last: where it is, the others are, too."""
    forms, _ = read_templates((Example("", OWN, one.question, one.sql), schema) for one in trained)
    source = SchemaSource(
        schema,
        executor,
        (*known_templates(), *(replace(one, count=one.count * SEED_TEMPLATES) for one in forms)),
        db_id=OWN,
        profile=profile,
    )
    made = generate_varied(
        source, amounts.pairs, seed, contrast=CONTRAST, unanswerable=REFUSED, report=report
    )
    for column in source.unread:
        report(f"column {column}: it could not be read, and is asked nothing about")
    asked = {same_words(one.question) for one in kept}
    own = tuple(one for one in made if same_words(one.question) not in asked)
    values = {OWN: excerpt(schema, executor)}
    if any(one.sql for one in trained):
        write_set(MadeSet(Seeds(tuple(trained)).examples(OWN), (schema,), values), folder, SEEDS)
    goals = [Goal(one.id, one.question, one.sql) for one in own if one.sql and "contrast" not in one.extra]
    talks = construct(
        goals[: amounts.conversations],
        Checker(schema, executor),
        db_id=OWN,
        seed=seed,
        profile=profile,
        report=report,
    )
    write_interactions(talks.interactions, {OWN: schema}, folder / TURNS)
    write_set(MadeSet(own, (schema,), values), folder, OWN)


def same_words(question: str) -> str:
    """Equal for questions that differ in letter case and blanks only."""
    return " ".join(question.casefold().split())
