"""Conversations that a source names: recorded ones, or single questions taken apart, and longer ones put together of these.

What is made is made once, and kept in the cache.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from fastsql.datasets import DatabaseFiles, DatasetError, Example
from fastsql.datasets.interactions import Interaction, as_interactions, read_interactions
from fastsql.datasets.profiles import read_profiles
from fastsql.datasets.programs import read_program_rows
from fastsql.grammar.inlining import turns_of
from fastsql.schema import Schema
from fastsql.synthesis.generate import Report
from fastsql.synthesis.interactions import Interaction as MadeInteraction
from fastsql.synthesis.interactions import Turn as MadeTurn
from fastsql.synthesis.interactions import (
    construct_all,
    convert_conversations,
    put_together,
    write_interactions,
)
from fastsql.training.config import SourceSettings, expand_path
from fastsql.training.corpus.files import stamp, synthesis_code
from fastsql.training.corpus.programs import dump_program, parse_program
from fastsql.training.corpus.schemas import source_profiles, source_schemas
from fastsql.training.corpus.split import Pair, Said

GIVEN, MADE = "given", "made"
"""What `SourceSettings.conversations` may be: the file holds conversations; they are made of its questions."""


def read_conversations(
    source: SourceSettings, examples: tuple[Example, ...], seed: int, cache: Path, report: Report
) -> tuple[list[Pair], dict[str, Schema]]:
    """The turns of a source's conversations, and the schemas of their databases.

    Raises DatasetError, which names the interaction and the turn, for a program that does not fit the schema.
    """
    where = str(expand_path(source.examples))
    schemas = source_schemas(source, {one.db_id for one in examples})
    if source.conversations == MADE:
        file = _cached(source, seed, cache)
        if not file.is_file():
            database = expand_path(source.database) if source.database else None
            with DatabaseFiles(database, sorted(schemas)) as files:
                paths = {name: files.path(name) for name in schemas}
                made = construct_all(
                    examples,
                    schemas,
                    paths,
                    profiles=read_profiles(schemas, source_profiles(source)),
                    seed=seed,
                    now=source.now or None,
                    report=report,
                )
            _keep(made.interactions, schemas, file)
        found = read_interactions(file)
    else:
        found = as_interactions(examples, where)
        if not all("program" in turn.extra for one in found for turn in one.turns):
            file = _cached(source, seed, cache)
            if not file.is_file():
                converted = convert_conversations(found, schemas, report=report)
                if not converted.interactions:
                    reasons = "; ".join(
                        f"{reason} ({count})" for reason, count in converted.skipped.most_common()
                    )
                    raise DatasetError(f"none of its turns can be learned: {reasons}", where=where)
                _keep(converted.interactions, schemas, file)
            found = read_interactions(file)
    return [pair for one in found for pair in _pairs(one, schemas[one.db_id], where)], schemas


def longer_conversations(
    source: SourceSettings,
    pairs: Sequence[Pair],
    train: Iterable[Pair],
    seed: int,
    cache: Path,
    report: Report,
) -> list[Pair]:
    """The turns of at most `source.longer` interactions over each database, of conversations that `train` has whole.

    `pairs`: all turns of the source. What is held out is in none of them, as no part of it is (EHR-SeqSQL, appendix C.1).
    """
    turns = Counter(pair.interaction for pair in pairs)
    own = {pair.key for pair in pairs}
    kept: defaultdict[str, list[Pair]] = defaultdict(list)
    for pair in train:
        if pair.key in own:
            kept[pair.interaction].append(pair)
    talks: defaultdict[str, list[MadeInteraction]] = defaultdict(list)
    for name, said in kept.items():
        if len(said) == turns[name]:
            made = tuple(MadeTurn(one.question, parse_program(one.program), one.sql, ()) for one in said)
            talks[said[0].db_id].append(MadeInteraction(name, said[0].db_id, made))
    schemas = source_schemas(source, set(talks))
    files = source_profiles(source)
    told = "".join(f"{pair.id} {pair.program}\n" for said in kept.values() for pair in said)
    identity = f"{source.longer} {seed}\n{told}".encode() + synthesis_code() + _contents(files.values())
    file = cache / f"longer-{hashlib.sha256(identity).hexdigest()[:16]}.json.gz"
    if not file.is_file():
        profiles = read_profiles(schemas, files)
        longer = [
            one
            for db_id in sorted(talks)
            for one in put_together(
                talks[db_id], schemas[db_id], seed=seed, count=source.longer, profile=profiles.get(db_id)
            )
        ]
        report(f"{len(longer)} longer interactions of {sum(map(len, talks.values()))} conversations")
        _keep(tuple(longer), schemas, file)
    where = f"longer ones of {expand_path(source.examples)}"
    return [pair for one in read_interactions(file) for pair in _pairs(one, schemas[one.db_id], where)]


def _keep(interactions: tuple[MadeInteraction, ...], schemas: Mapping[str, Schema], file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    write_interactions(interactions, schemas, file)


def _cached(source: SourceSettings, seed: int, cache: Path) -> Path:
    """The file of what is made of a source; another one where the data, the seed or what makes it has changed."""
    digest = hashlib.sha256(f"{source.conversations} {source.now} {seed}".encode())
    digest.update(_contents(map(expand_path, (source.examples, source.schemas))))
    digest.update(_contents(source_profiles(source).values()))
    if source.database and source.conversations == MADE:
        digest.update(stamp(expand_path(source.database)).encode())
    digest.update(synthesis_code())
    return cache / f"conversations-{digest.hexdigest()[:16]}.json.gz"


def _contents(files: Iterable[Path]) -> bytes:
    return b"".join(file.read_bytes() for file in files)


def _pairs(interaction: Interaction, schema: Schema, where: str) -> list[Pair]:
    pairs: list[Pair] = []
    earlier: tuple[Said, ...] = ()
    # What was made of a single question is held out where that is.
    goal = next((turn.sql for turn in interaction.turns if "goal" in turn.extra), interaction.turns[-1].sql)
    for number, turn in enumerate(interaction.turns):
        place = f"{where}, interaction {interaction.id!r}, turn {number}"
        if turn.sql is None or goal is None:
            raise DatasetError("has no SQL", where=place, remedy="Leave such turns out.")
        try:
            program = read_program_rows(turn.extra["program"], schema)
        except ValueError as error:
            raise DatasetError(
                f"has a program that cannot be read: {error}", where=place, remedy="Make the file anew."
            ) from error
        if any(pointed >= number for pointed in turns_of(program)):
            raise DatasetError("refers to a turn that does not come before it", where=place)
        said = Said(turn.question, dump_program(program))
        pairs.append(
            Pair(turn.id, turn.question, turn.sql, turn.db_id, interaction.id, said.program, earlier, goal)
        )
        earlier = (*earlier, said)
    return pairs
