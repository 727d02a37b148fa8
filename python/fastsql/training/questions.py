"""The questions that a bundle is calibrated on: none of them was trained on, and some have no answer."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from fastsql.datasets import read_examples
from fastsql.training.config import SourceSettings, TrainConfig, expand_path
from fastsql.training.data import Corpus, Sample
from fastsql.training.families import families
from fastsql.training.programs import dump_program, mask
from fastsql.training.split import Pair, letters_only, remove_reported
from fastsql.training.unanswerable import numbers, remove_needed, with_numbers_of, write_refusals

SEEN, UNSEEN, UNANSWERABLE, AS_WRITTEN, MADE = "seen", "unseen", "unanswerable", "as written", "made"
"""Parts of the questions: of a template that was trained on, of one that was not; unanswerable ones of the data set, with
numbers as answerable ones have them; those of these whose numbers were changed, as they were (to report, not to fit); and
unanswerable ones that were made (`fastsql.training.unanswerable`)."""

MADE_QUESTIONS = 240
"""How many are made for a source, half of them by taking from the schema what a question needs."""
_SCHEMAS = 12
_DRAWN_FROM = 800


@dataclass(frozen=True)
class Question:
    """A question that was not trained on; `sql` is None where it is to be refused.

    Questions of one `group` are not parted by folds. `removed` are the columns that the schema is to lack.
    """

    pair: Pair
    part: str
    group: str
    sql: str | None
    removed: frozenset[int] = frozenset()


def held_out(
    config: TrainConfig, corpus: Corpus, limit: int | None = None, seed: int = 0, made: int = MADE_QUESTIONS
) -> tuple[Question, ...]:
    """The questions to fit on; with `limit`, at most so many of each part, drawn by `seed`."""
    rng = random.Random(seed)
    parts: list[list[Question]] = [
        [_answerable(sample, SEEN) for sample in corpus.dev_examples],
        [_answerable(sample, UNSEEN) for sample in corpus.dev_templates],
    ]
    for source in config.data.sources:
        if not source.dev:
            continue
        own = list(_unanswerable(source))
        pool = sorted({number for sample in corpus.train for number in numbers(sample.pair.question)})
        changed = [_renumbered(question, pool, rng) for question in own]
        written = [
            replace(old, part=AS_WRITTEN)
            for old, new in zip(own, changed, strict=True)
            if old.pair.question != new.pair.question
        ]
        parts += [changed, written]
        if own and made:
            # A data set whose questions all have answers says that its users ask nothing else.
            parts.append(_make(corpus, {question.pair.db_id for question in own}, made, rng))
    return tuple(
        question
        for part in parts
        for question in (part if limit is None or len(part) <= limit else rng.sample(part, limit))
    )


def _answerable(sample: Sample, part: str) -> Question:
    return Question(sample.pair, part, dump_program(mask(sample.program)), sample.pair.sql)


def _renumbered(question: Question, pool: Sequence[str], rng: random.Random) -> Question:
    text = with_numbers_of(question.pair.question, pool, rng)
    return replace(question, pair=replace(question.pair, question=text))


def _unanswerable(source: SourceSettings) -> Iterator[Question]:
    """Those of a source's training questions that are to be refused and are not reported on, each wording once."""
    wordings = {
        letters_only(item.question): Pair(item.id, item.question, "", item.db_id)
        for item in read_examples(expand_path(source.examples))
        if item.sql is None and item.runs
    }
    reported = [item.question for path in source.report for item in read_examples(expand_path(path))]
    pairs = remove_reported(wordings.values(), reported)
    for pair, family in zip(pairs, families([pair.question for pair in pairs]), strict=True):
        yield Question(pair, UNANSWERABLE, f"{UNANSWERABLE} {family}", None)


def _make(corpus: Corpus, databases: set[str], count: int, rng: random.Random) -> list[Question]:
    """Questions with no answer over these databases."""
    made = []
    for db_id in sorted(databases & set(corpus.domains)):
        samples = [sample for sample in corpus.train if sample.pair.db_id == db_id and sample.weight >= 1]
        samples = rng.sample(samples, min(_DRAWN_FROM, len(samples)))
        asked = [sample.pair.question for sample in samples]
        names = sorted({text for sample in samples for _, text in sample.entries})
        pairs = [(sample.pair.question, sample.program) for sample in samples]
        removed = remove_needed(pairs, corpus.domains[db_id].schema, count // 2, _SCHEMAS, rng)
        for number, one in enumerate((*removed, *write_refusals(asked, names, count - len(removed), rng))):
            pair = Pair(f"made-{number}", one.question, "", db_id)
            made.append(Question(pair, MADE, one.group, None, one.removed))
    return made
