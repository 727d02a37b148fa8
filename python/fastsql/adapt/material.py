"""What is learnt from: pairs made over the database, conversations made of them, the seeds, and pairs in other words.

All of it lies in the working folder as data sets in the uniform form, as `fastsql train` reads them. They hold values of the
database and are their owner's alone to read.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastsql.adapt.seeds import Seed, Seeds
from fastsql.datasets import Example, read_examples
from fastsql.errors import FastSQLError
from fastsql.execution import Executor
from fastsql.memory.example import asked_as
from fastsql.profile.model import Profile
from fastsql.schema import Schema
from fastsql.synthesis.generate import Report, generate_drawn
from fastsql.synthesis.interactions import Checker, Goal, construct, write_interactions
from fastsql.synthesis.many import Excerpt, MadeSet, excerpt, set_files, write_set
from fastsql.synthesis.rewording import Embed, RewordedSource
from fastsql.synthesis.schema import SchemaSource, known_templates
from fastsql.synthesis.schema.library import read_seeds as read_templates
from fastsql.synthesis.varied import generate_varied
from fastsql.training.corpus.programs import template
from fastsql.whole_file import write_whole

if TYPE_CHECKING:
    from fastsql.synthesis.worded import Wordings

OWN, SEEDS, WORDED = "own", "seeds", "worded"
"""Names of the data sets over the database: pairs that were made, the seeds that are trained on, and further pairs whose
questions are in the words of a language model."""
ANSWERS, WORDED_COUNTS = "answers.jsonl", "worded.counts.json"
"""The files of what a language model answered, and of what was asked and found."""
TURNS = "own.turns.json.gz"
"""The file of the conversations."""
CONTRAST, REFUSED = 0.2, 0.1
"""Shares of the pairs that come in couples which differ in one thing, and of questions that no query answers."""
SEED_TEMPLATES = 100
"""How often the form of a seed's query is drawn for once that others are, by how often these were found."""
KEPT_SHARE, LEAST_SEEDS = 0.25, 20
"""Share of the seeds that is kept apart to judge by, where there are so many at least. Fewer are all trained on."""
WORDINGS_KEPT = 2
"""Questions of each query that a language model words: ScienceBenchmark keeps one or two of eight."""
VOTES = 4
"""The grammar's questions that have a say in which of these are nearest to what most say."""


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
        worded: further pairs, whose questions are in the words of a language model; nothing is judged by them.
        worded_counts: its name, and what it was asked; empty if none was.
    """

    schema: Schema
    kept: tuple[Seed, ...]
    trained: tuple[Seed, ...]
    pairs: tuple[Example, ...]
    worded: tuple[Example, ...] = ()
    worded_counts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Worder:
    """A language model that words questions.

    Attributes:
        open: what words them, given the file of its answers and the schema.
        embed: tells which wordings are alike.
        queries: how many it is asked about at most.
    """

    open: Callable[[Path, Schema], Wordings]
    embed: Embed
    queries: int


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
    worder: Worder | None = None,
) -> Material:
    """Makes the data sets, or takes those that lie in `folder`.

    Raises SynthesisError where nothing can be asked, DatabaseGoneError where the database goes away, EndpointError where the
    server of a `worder` fails; what it answered before is kept.
    """
    kept, trained = split_seeds(seeds.usable, seed)
    named = replace(schema, name=OWN)
    pairs_file = set_files(folder, OWN)[0]
    if not pairs_file.is_file():
        _make(named, executor, profile, kept, trained, folder, seed, report, amounts, worder)
    worded, counts = set_files(folder, WORDED)[0], folder / WORDED_COUNTS
    return Material(
        named,
        kept,
        trained,
        read_examples(pairs_file),
        read_examples(worded) if worded.is_file() else (),
        json.loads(counts.read_bytes()) if counts.is_file() else {},
    )


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
    worder: Worder | None,
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
    asked = {asked_as(one.question) for one in kept}
    own = tuple(one for one in made if asked_as(one.question) not in asked)
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
    if worder is not None:
        known = asked | {asked_as(one.question) for one in own} | {str(one.sql) for one in made}
        _word(source, worder, known, values, folder, seed, report)
    write_set(MadeSet(own, (schema,), values), folder, OWN)


def _word(
    source: SchemaSource,
    worder: Worder,
    known: set[str],
    values: dict[str, Excerpt],
    folder: Path,
    seed: int,
    report: Report,
) -> None:
    """Writes further pairs whose questions a language model worded, and what it was asked.

    `known`: questions and queries that none of them may have: a made query is held out in no other words, either.
    """
    wordings = worder.open(folder / ANSWERS, source.schema)
    report(f"{wordings.model} words the questions of {worder.queries:,} queries; it is shown no value")
    reworded = RewordedSource(source, worder.embed, None, VOTES, worded=wordings, only_worded=True)
    drawn = generate_drawn(
        reworded,
        worder.queries * WORDINGS_KEPT,
        random.Random(f"{seed}/{WORDED}").getrandbits(31),
        wordings=WORDINGS_KEPT,
        report=lambda _: None,
    )
    pairs = tuple(one for one in drawn if known.isdisjoint((asked_as(one.question), str(one.sql))))
    counts = {"model": _last_part(wordings.model), **wordings.counts(), "pairs": len(pairs)}
    report(
        f"{counts['queries']:,} queries worded: {counts['wordings']:,} wordings, of which {len(pairs):,} become pairs"
    )
    for why, count in wordings.dropped.most_common():
        report(f"{count:,} lines dropped: {why}")
    write_whole(folder / WORDED_COUNTS, json.dumps(counts).encode(), private=True)
    if pairs:
        write_set(MadeSet(pairs, (source.schema,), values), folder, WORDED)


def _last_part(model: str) -> str:
    """A model's name without the folders that it lies in, which some servers say."""
    return re.split(r"[/\\]", model)[-1] if re.match(r"[/\\~.]|[A-Za-z]:", model) else model
