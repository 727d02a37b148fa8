"""A version of an example, drawn at random: all changes of this room, each with the probability that its setting gives."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from fastsql.grammar.program import Program
from fastsql.schema import Schema
from fastsql.training.config import AugmentSettings
from fastsql.training.corpus.corpus import Corpus
from fastsql.training.corpus.sample import Sample
from fastsql.training.variation.comparisons import exchange_comparison
from fastsql.training.variation.edits import (
    Draft,
    change_dates,
    change_numbers,
    change_values,
    change_writing,
    exchange_literals,
    literal_values,
)
from fastsql.training.variation.opposites import turn
from fastsql.training.variation.transplant import Transplants


@dataclass(frozen=True)
class Version:
    """A question as it is shown in one epoch, with its program."""

    question: str
    program: Program


@dataclass(frozen=True)
class _Database:
    """What versions of a database's questions are drawn from."""

    time_columns: frozenset[int]
    amounts: frozenset[int]
    transplants: Transplants


class Augmenter:
    """Draws a version of a sample. Holds what replacements are drawn from."""

    def __init__(self, corpus: Corpus, settings: AugmentSettings) -> None:
        self.settings = settings
        self.pools = corpus.pools
        self._schemas = {db_id: domain.schema for db_id, domain in corpus.domains.items()}
        self._known = _by_database(sample for sample in corpus.train if not sample.pair.interaction)
        self._held_out = _by_database(corpus.dev_templates)
        self._databases: dict[str, _Database] = {}

    def draw(self, sample: Sample, rng: random.Random) -> Version:
        """A version of `sample`; its question and program say the same."""
        settings = self.settings
        question, program = sample.pair.question, sample.program
        database = self._database(sample.pair.db_id)
        transplants = database.transplants
        if rng.random() < settings.opposites:
            turned = turn(question, program, database.time_columns, rng)
            if not transplants.is_held_out(turned[1]):
                question, program = turned
        if rng.random() < settings.comparisons:
            other = exchange_comparison(question, program, database.amounts, rng)
            if other is not None and not transplants.is_held_out(other[1]):
                question, program = other
        if rng.random() < settings.times:
            question, program = transplants.exchange(question, program, rng) or (question, program)
        draft = Draft(question)
        literals = literal_values(program)
        if rng.random() < settings.dates:
            change_dates(draft, literals, rng)
        if rng.random() < settings.values:
            change_values(draft, sample.entries, self.pools.get(sample.pair.db_id, {}), rng)
        if rng.random() < settings.numbers:
            change_numbers(draft, literals, rng)
        return Version(
            change_writing(draft.text(), settings, rng),
            exchange_literals(program, draft.literals),
        )

    def _database(self, db_id: str) -> _Database:
        """What is learnt of a database when one of its questions is first drawn: of thousands it takes a while."""
        if db_id not in self._databases:
            schema = self._schemas[db_id]
            held_out = [sample.program for sample in self._held_out.get(db_id, ())]
            self._databases[db_id] = _Database(
                frozenset(i for i, column in enumerate(schema.columns) if column.type == "time"),
                _amounts(schema),
                Transplants.collect(self._known.get(db_id, ()), held_out),
            )
        return self._databases[db_id]


def _amounts(schema: Schema) -> frozenset[int]:
    """Columns of which more and less can be asked: numbers and times that join nothing and are nobody's key."""
    return frozenset(
        number
        for number, column in enumerate(schema.columns)
        if column.type in ("number", "time")
        and schema.key_groups[number] < 0
        and number not in schema.unique_columns
    )


def _by_database(samples: Iterable[Sample]) -> defaultdict[str, list[Sample]]:
    found: defaultdict[str, list[Sample]] = defaultdict(list)
    for sample in samples:
        found[sample.pair.db_id].append(sample)
    return found
