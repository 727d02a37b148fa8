"""Sources of a corpus as a run names them: pairs of a question and SQL, and the databases that they are asked of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate, chain
from pathlib import Path

from fastsql.datasets import (
    ColumnValues,
    DatabaseFiles,
    Example,
    gold_values,
    read_examples,
    read_split_ids,
    read_values,
    with_known_values,
)
from fastsql.datasets.interactions import as_interactions, is_conversational
from fastsql.linking.dictionary import ValueDictionary
from fastsql.schema import Schema
from fastsql.synthesis.generate import Report
from fastsql.training.config import GOLD, ConfigError, DataSettings, SourceSettings, expand_path
from fastsql.training.corpus.conversations import read_conversations
from fastsql.training.corpus.conversion import ColumnLiterals
from fastsql.training.corpus.schemas import source_profiles, source_schemas
from fastsql.training.corpus.split import Pair, remove_reported
from fastsql.training.corpus.synthetic import synthetic_examples


@dataclass(frozen=True)
class Domain:
    """A database as the parser will see it: schema with values, lexicon and constants, and a value dictionary.

    `profile`: the file of what people wrote about it, where there is one.
    """

    schema: Schema
    dictionary: ValueDictionary | None = None
    profile: Path | None = None


def read_pairs(
    source: SourceSettings, seed: int, cache: Path, report: Report
) -> tuple[list[Pair], dict[str, Schema]]:
    """The pairs of a source that may be trained on, and the schemas of their databases."""
    examples = synthetic_examples(source, seed, cache, report) if source.generate else read_source(source)
    reported = list(_reported(source))
    if source.conversations:
        pairs, schemas = read_conversations(source, examples, seed, cache, report)
        return remove_reported(pairs, reported), schemas
    pairs = [
        Pair(item.id, _asked(item, source.hints), item.sql, item.db_id)
        for item in examples
        if item.sql and item.runs
    ]
    pairs = remove_reported(pairs, reported)
    return pairs, source_schemas(source, {pair.db_id for pair in pairs})


def read_source(source: SourceSettings) -> tuple[Example, ...]:
    """The examples of a source's file that may be trained on: those of its split, but none of one that is reported on."""
    path = expand_path(source.examples)
    examples = read_examples(path, ids=read_split_ids(expand_path(source.ids)) if source.ids else None)
    if not source.reported_ids:
        return examples
    reported = frozenset(_reported(source))
    return tuple(one for one in examples if one.question not in reported)


def _reported(source: SourceSettings) -> Iterator[str]:
    """The questions that are only reported on; of conversations with the questions before them."""
    if source.reported_ids:
        ids = read_split_ids(expand_path(source.reported_ids))
        yield from (one.question for one in read_examples(expand_path(source.examples), ids=ids))
    for path in map(expand_path, source.report):
        examples = read_examples(path)
        if not is_conversational(examples):
            yield from (one.question for one in examples)
            continue
        for interaction in as_interactions(examples, str(path)):
            yield from accumulate((turn.question for turn in interaction.turns), "{} {}".format)


def _asked(example: Example, hints: bool) -> str:
    hint = example.extra.get("evidence") if hints else None
    return f"{example.question} ({hint})" if hint else example.question


def read_domains(
    source: SourceSettings,
    schemas: dict[str, Schema],
    literals: Mapping[str, ColumnLiterals],
    settings: DataSettings,
) -> dict[str, Domain]:
    """The domains of a source; `literals` are those of its queries, by `query_key`."""
    known: dict[str, ColumnValues] = {}
    if source.values == GOLD:
        for db_id in schemas:
            own = (found for key, found in literals.items() if key.partition("\n")[0] == db_id)
            known[db_id] = gold_values(chain.from_iterable(own))
    elif source.values:
        known = read_values(expand_path(source.values))
    domains: dict[str, Domain] = {}
    profiles = source_profiles(source)
    database = expand_path(source.database) if source.database else None
    with DatabaseFiles(database, list(schemas)) as files:
        for db_id, plain in schemas.items():
            schema, dictionary = with_known_values(
                plain,
                files.path(db_id),
                known.get(db_id),
                max_values=settings.max_values,
                dictionary=settings.dictionary,
            )
            domains[db_id] = Domain(schema, dictionary, profiles.get(db_id))
    return domains


def add_domains(domains: dict[str, Domain], found: dict[str, Domain], source: SourceSettings) -> None:
    """Adds a source's domains. Of one that several sources ask of, the first that comes with values is kept.

    Raises ConfigError as `check_columns` and `check_profile` do.
    """
    for db_id, domain in found.items():
        known = domains.get(db_id)
        if known is not None:
            check_columns(db_id, known.schema, domain.schema, source.schemas)
            check_profile(db_id, known.profile, domain.profile, source.profile or source.schemas)
        if known is None or known.dictionary is None:
            domains[db_id] = domain


def check_columns(db_id: str, earlier: Schema, schema: Schema, where: str) -> None:
    """Raises ConfigError where two sources have different schemas under one id: programs name columns by their place."""
    if _columns(earlier) != _columns(schema):
        raise ConfigError(
            f"database {db_id!r} has other columns than in an earlier source",
            where=where,
            remedy="Give the same schemas file, or another id.",
        )


def check_profile(db_id: str, earlier: Path | None, profile: Path | None, where: str) -> None:
    """Raises ConfigError where two sources name different profiles of a database, of which only one could count."""
    if earlier != profile:
        raise ConfigError(
            f"database {db_id!r} has another profile than in an earlier source",
            where=where,
            remedy="Give the same `profile` in every source of this database.",
        )


def _columns(schema: Schema) -> list[str]:
    return [schema.qualified_name(column) for column in range(len(schema.columns))]
