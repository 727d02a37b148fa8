"""The pairs that a reverse model learns from, with what is held out."""

from __future__ import annotations

import logging
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from fastsql.datasets import read_examples
from fastsql.grammar.program import Program
from fastsql.schema import Schema
from fastsql.synthesis.generate import Report
from fastsql.synthesis.many import set_files
from fastsql.training.config import WrittenSettings, expand_path
from fastsql.training.corpus.conversion import convert, query_key
from fastsql.training.corpus.programs import template
from fastsql.training.corpus.schemas import source_profiles, source_schemas
from fastsql.training.corpus.sources import check_columns, check_profile
from fastsql.training.corpus.split import HeldOut, Pair, remove_reported, split_dev
from fastsql.training.corpus.written import carried_set
from fastsql.training.reverse.settings import PairSettings, PairSource

logger = logging.getLogger(__name__)
ASKED = "asked"
"""The style of questions that were written by hand."""


@dataclass(frozen=True)
class AskedProgram:
    """A program over `schemas[schema]` with a question that asks for it."""

    program: Program
    schema: str
    question: str
    style: str
    weight: float


@dataclass(frozen=True)
class ReverseCorpus:
    """What is trained on and held out. Schemas carry the names that their profiles derive, as synonyms."""

    schemas: dict[str, Schema]
    train: tuple[AskedProgram, ...]
    dev: tuple[AskedProgram, ...]


def load_pairs(settings: PairSettings, cache: Path, report: Report = logger.info) -> ReverseCorpus:
    """Read, convert and split. Converted programs are kept under `cache`.

    Raises DatasetError, SchemaError, ConfigError.
    """
    reported = [item for path in settings.report for item in read_examples(expand_path(path))]
    databases = {item.db_id for item in reported}
    schemas: dict[str, Schema] = {}
    profiles: dict[str, Path | None] = {}
    source_of: dict[tuple[str, str], PairSource] = {}
    pairs: list[Pair] = []
    programs: dict[str, Program] = {}
    for source in (*settings.sources, *_written(settings.written, cache, report)):
        here = [pair for pair in _read(source) if pair.key not in source_of]
        if len({pair.db_id for pair in here}) > 1:
            # Where a set has one schema, what is reported on is of the same.
            here = [pair for pair in here if pair.db_id not in databases]
        here = remove_reported(here, (item.question for item in reported))
        known, files = source_schemas(source, {pair.db_id for pair in here}), source_profiles(source)
        left_out: Counter[str] = Counter()
        converted, _ = convert(here, known, cache, left_out, report)
        here = [pair for pair in here if query_key(pair) in converted]
        report(
            f"{len(here)} pairs of {Path(source.examples).parent.name}, {left_out.total()} not convertible"
        )
        programs |= converted
        pairs += here
        source_of |= {pair.key: source for pair in here}
        for name, schema in known.items():
            if name in schemas:
                check_columns(name, schemas[name], schema, source.schemas)
                check_profile(name, profiles[name], files.get(name), source.profile or source.schemas)
            profiles.setdefault(name, files.get(name))
            schemas.setdefault(name, schema.with_profile(schema.profile))
    template_of = {pair.key: f"{pair.db_id} {template(programs[query_key(pair)])}" for pair in pairs}
    split = split_dev(pairs, template_of, HeldOut.load(expand_path(settings.held_out)))

    def asked(chosen: tuple[Pair, ...]) -> tuple[AskedProgram, ...]:
        return tuple(
            AskedProgram(
                programs[query_key(pair)],
                pair.db_id,
                pair.question,
                source_of[pair.key].style,
                source_of[pair.key].weight,
            )
            for pair in chosen
        )

    corpus = ReverseCorpus(schemas, asked(split.train), asked(split.dev_templates + split.dev_databases))
    report(f"train {len(corpus.train)}, dev {len(corpus.dev)}")
    return corpus


def _written(settings: WrittenSettings, cache: Path, report: Report) -> list[PairSource]:
    """Questions written by hand, carried over to variants of their designs; conversations are not read."""
    if not settings.pairs:
        return []
    examples, schemas, _ = set_files(cache, carried_set(settings, "en", cache, report))
    return [PairSource(str(examples), str(schemas), ASKED, settings.weight)]


def _read(source: PairSource) -> list[Pair]:
    return [
        Pair(item.id, item.question, item.sql, item.db_id)
        for item in read_examples(expand_path(source.examples))
        if item.sql and item.runs and not item.extra.get("turn")
    ]
