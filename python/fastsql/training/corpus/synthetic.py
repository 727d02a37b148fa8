"""Synthetic examples of a training source, made once and kept in the run's cache."""

from __future__ import annotations

import hashlib
from pathlib import Path

from fastsql.datasets import DatabaseFiles, Example, read_examples
from fastsql.synthesis.generate import Report, generate
from fastsql.synthesis.hospital import DATABASE, Hospital, Vocabulary
from fastsql.synthesis.write import write_pairs
from fastsql.training.config import SourceSettings, expand_path
from fastsql.training.corpus.files import stamp, synthesis_code


def synthetic_examples(source: SourceSettings, seed: int, cache: Path, report: Report) -> tuple[Example, ...]:
    """`source.generate` pairs, with names from the source's gold SQL and from the terminology of its database.

    What the gold SQL of `source.examples` lacks gets more weight (`fastsql.synthesis.generate`). Raises DatasetError.
    """
    database = expand_path(source.database) if source.database else None
    place = stamp(database) if database else ""
    identity = f"{source.generate} {seed} {place}".encode() + expand_path(source.examples).read_bytes()
    identity += synthesis_code()
    file = cache / f"synthetic-{hashlib.sha256(identity).hexdigest()[:16]}.json.gz"
    if not file.is_file():
        pairs = make_examples(source, source.generate, seed, report)
        cache.mkdir(parents=True, exist_ok=True)
        write_pairs(pairs, file)
    return read_examples(file)


def make_examples(
    source: SourceSettings, number: int, seed: int, report: Report = lambda _: None
) -> list[Example]:
    """So many pairs as `synthetic_examples` keeps, made anew."""
    gold = [item.sql for item in read_examples(expand_path(source.examples)) if item.sql]
    database = expand_path(source.database) if source.database else None
    with DatabaseFiles(database, [DATABASE]) as files:
        vocabulary = Vocabulary.collect(gold, files.path(DATABASE))
    with Hospital(vocabulary) as hospital:
        return generate(hospital, number, seed, known=gold, report=report)
