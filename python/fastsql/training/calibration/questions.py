"""The questions that a bundle is calibrated on: none of them was trained on, and some have no answer."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain

from fastsql.datasets import read_examples
from fastsql.linking.relations import split_words
from fastsql.schema import Schema
from fastsql.synthesis.carried import held_out_names
from fastsql.synthesis.hospital.everyday import HOSPITAL
from fastsql.training.calibration.unanswerable.families import families
from fastsql.training.calibration.unanswerable.made import (
    Refusal,
    general_wordings,
    language_of,
    numbers,
    remove_needed,
    with_numbers_of,
    write_refusals,
)
from fastsql.training.calibration.unanswerable.misplaced import (
    ANOTHER,
    LACKING,
    Asking,
    ask_elsewhere,
    ask_for_others,
    column_labels,
    table_labels,
    unrelated,
)
from fastsql.training.calibration.unanswerable.unheard import name_unheard
from fastsql.training.config import SourceSettings, TrainConfig, WrittenSettings, expand_path
from fastsql.training.corpus.corpus import Corpus
from fastsql.training.corpus.programs import template
from fastsql.training.corpus.sample import Sample
from fastsql.training.corpus.schemas import source_schemas
from fastsql.training.corpus.sources import Domain
from fastsql.training.corpus.split import Pair, letters_only, remove_reported
from fastsql.training.corpus.synthetic import make_examples

SEEN, UNSEEN, UNANSWERABLE, AS_WRITTEN, MADE = "seen", "unseen", "unanswerable", "as written", "made"
"""Parts of the questions: of a template that was trained on, of one that was not; unanswerable ones of the data set, with
numbers as answerable ones have them; those of these whose numbers were changed, as they were (to report, not to fit); and
unanswerable ones that were made (`fastsql.training.calibration.unanswerable.made`)."""
PLAIN = "plain"
"""Answerable ones that were made, of the kinds that synthetic sources train on: short ones of no patient. The data set
has hardly any, so that its short questions are those without an answer."""
EVERYDAY = "everyday"
"""Answerable ones that were written over the demo hospital, in everyday words, and held out."""
FOREIGN, FOREIGN_MADE = "foreign", "foreign made"
"""Over databases that were held out whole: answerable questions, and unanswerable ones that were made."""

WRITTEN = "written"
"""The kind of unanswerable questions over such databases that were written by hand."""

BY_PEOPLE = (SEEN, UNSEEN, EVERYDAY)
"""Answerable questions of people over databases that were trained on."""
ANSWERABLE = (*BY_PEOPLE, PLAIN, FOREIGN)

MADE_QUESTIONS = 240
"""How many are made for a source, half of them by taking from the schema what a question needs. A quarter as many again
name what its databases do not hold, and as many are of each kind of misplaced ones (`unanswerable.misplaced`), where
questions of other published sets are trained on."""
PLAIN_QUESTIONS = 120
"""How many plain ones are asked over each source of synthetic questions."""
MADE_FOR_FOREIGN = 48
"""How many are made for a database that was held out, a quarter of each: over a schema that lacks what is needed, asked of
the wrong database, asked for a column of another one, and what no database answers."""
MOST_OF_ONE = 200
"""Answerable questions over a database that was held out, at most: one with thousands says nothing of others."""
_SCHEMAS = 12
_DRAWN_PLAIN, _PLAIN_WORDS = 1_200, 12
_DRAWN_FROM = 800


@dataclass(frozen=True)
class Question:
    """A question that was not trained on; `sql` is None where it is to be refused.

    Questions of one `group` are not parted by folds. `removed` are the columns that the schema is to lack. `values` tells
    whether the parser is given the values of the database, `kind` how a question was made.
    """

    pair: Pair
    part: str
    group: str
    sql: str | None
    removed: frozenset[int] = frozenset()
    values: bool = True
    kind: str = ""


def held_out(
    config: TrainConfig, corpus: Corpus, limit: int | None = None, seed: int = 0, made: int = MADE_QUESTIONS
) -> tuple[Question, ...]:
    """The questions to fit on; with `limit`, at most so many of each part, drawn by `seed`.

    Where no data set has a question without an answer, such ones are made over the databases that are asked about: `made` in
    all, from wordings that fit any database.
    """
    rng = random.Random(seed)
    parts: list[list[Question]] = [
        [_of_trained(sample, SEEN) for sample in corpus.dev_examples],
        [_of_trained(sample, UNSEEN) for sample in corpus.dev_templates],
    ]
    for source in config.data.sources:
        if source.generate and made:
            parts.append(_plain(source, corpus, seed))
        if not source.dev:
            continue
        own = [one for one in _unanswerable(source) if one.pair.db_id not in corpus.held_out.databases]
        pool = sorted({number for sample in corpus.train for number in numbers(sample.pair.question)})
        changed = [_renumbered(question, pool, rng) for question in own]
        written = [
            replace(old, part=AS_WRITTEN)
            for old, new in zip(own, changed, strict=True)
            if old.pair.question != new.pair.question
        ]
        parts += [changed, written]
        if own and made:
            # A data set whose questions all have answers, beside others, says that its users ask nothing else.
            here = {question.pair.db_id for question in own}
            parts.append(_make(corpus, here, _published(config, corpus), made, rng))
    if made and not any(question.sql is None for part in parts for question in part):
        parts.append(
            _make_anywhere(corpus, {question.pair.db_id for part in parts for question in part}, made, rng)
        )
    if made:
        refused = chain.from_iterable(_unanswerable(source) for source in config.data.sources if source.dev)
        groups = _schema_groups(corpus, config.data.written)
        parts += [*_foreign(corpus, groups, seed), _refused_elsewhere(corpus, groups, refused)]
    return tuple(
        question
        for part in parts
        for question in (part if limit is None or len(part) <= limit else rng.sample(part, limit))
    )


def with_first_turns(corpus: Corpus, conversations: Corpus) -> Corpus:
    """A corpus whose databases that were held out whole are also those of conversations, asked their first questions."""
    first = tuple(sample for sample in conversations.dev_databases if not sample.earlier)
    return replace(
        corpus,
        domains={**conversations.domains, **corpus.domains},
        dev_databases=(*corpus.dev_databases, *first),
    )


def _plain(source: SourceSettings, corpus: Corpus, seed: int) -> list[Question]:
    """Short answerable questions of a synthetic source that are not trained on, those of one template in one group."""
    asked = {letters_only(sample.pair.question) for sample in corpus.train}
    found: list[Question] = []
    for item in make_examples(source, _DRAWN_PLAIN, seed + 1):
        words = item.question.split()
        if (
            len(words) <= _PLAIN_WORDS
            and not numbers(item.question)
            and letters_only(item.question) not in asked
        ):
            assert item.sql is not None
            pair = Pair(f"{PLAIN}-{len(found)}", item.question, item.sql, item.db_id)
            found.append(Question(pair, PLAIN, f"{PLAIN} {item.template}", item.sql))
    return found[:PLAIN_QUESTIONS]


def _of_trained(sample: Sample, part: str) -> Question:
    """A question over a database that was trained on: of the part, or an everyday one."""
    return _answerable(sample, EVERYDAY if sample.pair.db_id == HOSPITAL else part)


def _answerable(sample: Sample, part: str) -> Question:
    return Question(sample.pair, part, template(sample.program), sample.pair.sql)


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


def _make(
    corpus: Corpus, databases: set[str], published: Mapping[str, Schema], count: int, rng: random.Random
) -> list[Question]:
    """Questions with no answer over these databases; what `published` ones are asked is asked of them, too."""
    made = []
    for db_id in sorted(databases & set(corpus.domains)):
        schema = corpus.domains[db_id].schema
        samples = [sample for sample in corpus.train if sample.pair.db_id == db_id and sample.weight >= 1]
        samples = rng.sample(samples, min(_DRAWN_FROM, len(samples)))
        asked = [sample.pair.question for sample in samples]
        names = sorted({text for sample in samples for _, text in sample.entries})
        pairs = [(sample.pair.question, sample.program) for sample in samples]
        removed = remove_needed(pairs, schema, count // 2, _SCHEMAS, rng)
        written = write_refusals(asked, names, count - len(removed), rng)
        mentioned = [(sample.pair.question, [text for _, text in sample.entries]) for sample in samples]
        unheard = name_unheard(mentioned, names, count // 4, rng, partial(_holds, corpus.domains[db_id]))
        own = [Asking(question, program, schema) for question, program in pairs]
        misplaced = _misplaced(corpus, own, unrelated(schema, published), count // 4, rng)
        for number, one in enumerate((*removed, *written, *unheard, *misplaced)):
            pair = Pair(f"made-{number}", one.question, "", db_id)
            made.append(Question(pair, MADE, one.group, None, one.removed, kind=one.kind))
    return made


def _published(config: TrainConfig, corpus: Corpus) -> dict[str, Schema]:
    """The schemas of published sets (whose sources report on a part) that are trained on: people asked each in its words."""
    trained = {sample.pair.db_id for sample in corpus.train}
    published = {db_id for source in config.data.sources if source.report for db_id in source_schemas(source)}
    return {db_id: corpus.domains[db_id].schema for db_id in sorted(published & trained)}


def _misplaced(
    corpus: Corpus, own: Sequence[Asking], others: Mapping[str, Schema], each: int, rng: random.Random
) -> list[Refusal]:
    """At most `each` of each kind: questions of `others`, and `own` ones, of one schema, that ask for what only these hold.

    A word that the own questions hold is not taken for one of others: "medicine" is as good as "drug".
    """
    if not own:
        return []
    said = frozenset(word for one in own for word, _, _ in split_words(one.question))
    elsewhere = [
        Asking(sample.pair.question, sample.program, others[sample.pair.db_id])
        for sample in corpus.train
        if sample.pair.db_id in others and not sample.pair.interaction
    ]
    return [
        *ask_elsewhere(elsewhere, own[0].schema, each, rng, said),
        *ask_for_others(LACKING, own, column_labels(others), each, rng, said),
        *ask_for_others(ANOTHER, own, table_labels(elsewhere), each, rng, said),
    ]


def _holds(domain: Domain, name: str) -> bool:
    """Whether the dictionary of a database has a name, but for letter case."""
    held = () if domain.dictionary is None else domain.dictionary.written(name)
    return any((start, end) == (0, len(name)) for start, end, _ in held)


def _make_anywhere(corpus: Corpus, databases: set[str], count: int, rng: random.Random) -> list[Question]:
    """Questions with no answer over these databases, whatever they are about; about as many for each."""
    made: list[Question] = []
    for place, db_id in enumerate(sorted(databases)):
        share = (count - len(made)) // (len(databases) - place)
        samples = [sample for sample in corpus.train if sample.pair.db_id == db_id]
        samples = rng.sample(samples, min(_DRAWN_FROM, len(samples)))
        schema = corpus.domains[db_id].schema
        pairs = [(sample.pair.question, sample.program) for sample in samples]
        removed = remove_needed(pairs, schema, share // 2, _SCHEMAS, rng)
        written = _write_anywhere(samples, schema, share - len(removed), 0, 1, rng)
        for number, one in enumerate((*removed, *written)):
            pair = Pair(f"made-{number}", one.question, "", db_id)
            made.append(Question(pair, MADE, one.group, None, one.removed, kind=one.kind))
    return made


def _write_anywhere(
    samples: Sequence[Sample], schema: Schema, count: int, part: int, parts: int, rng: random.Random
) -> tuple[Refusal, ...]:
    """What no database answers, in one of `parts` shares of the wordings and in the words of a schema and its questions."""
    texts = [sample.pair.question for sample in samples]
    names = sorted({text for sample in samples for _, text in sample.entries})
    labels = {
        "item": [table.label for table in schema.tables],
        "part": [column.label for column in schema.columns],
    }
    wordings = general_wordings(language_of(texts), part, parts)
    return write_refusals(texts, names or labels["item"], count, rng, wordings, labels)


# ---------------------------------------------------------------- databases that were held out


def _schema_groups(corpus: Corpus, written: WrittenSettings) -> dict[str, str]:
    """The group of each database that was held out whole. A design's variants, which are asked the same, have one."""
    design_of = {
        name: design for design in written.held_out for name in held_out_names([design], written.variants)
    }
    return {db_id: f"database {design_of.get(db_id, db_id)}" for db_id in corpus.domains}


def _foreign(corpus: Corpus, groups: Mapping[str, str], seed: int) -> list[list[Question]]:
    """Answerable and made questions over the databases that were held out whole, `groups` being theirs.

    No wording of a made question is met over two databases. Answerable questions are asked with the values of the database
    and without, as those ask who have only a schema; of the made ones, every second comes without.
    """
    rng = random.Random(seed)
    databases = sorted({sample.pair.db_id for sample in corpus.dev_databases})
    answerable, made = [], []
    for place, db_id in enumerate(databases):
        own = [sample for sample in corpus.dev_databases if sample.pair.db_id == db_id]
        for sample in own if len(own) <= MOST_OF_ONE else rng.sample(own, MOST_OF_ONE):
            answerable += [
                Question(sample.pair, FOREIGN, groups[db_id], sample.pair.sql, values=values)
                for values in (True, False)
            ]
        for number, one in enumerate(_misasked(corpus, db_id, place, len(databases), rng)):
            pair = Pair(f"{one.kind}-{number}", one.question, "", db_id)
            values = number % 2 == 0
            made.append(Question(pair, FOREIGN_MADE, groups[db_id], None, one.removed, values, one.kind))
    return [answerable, made]


def _refused_elsewhere(
    corpus: Corpus, groups: Mapping[str, str], refused: Iterable[Question]
) -> list[Question]:
    """Questions of data sets that are to be refused, over databases that were held out; every second without values."""
    own = [one for one in refused if one.pair.db_id in corpus.held_out.databases]
    return [
        replace(
            one,
            part=FOREIGN_MADE,
            group=groups[one.pair.db_id],
            values=number % 2 == 0,
            kind=WRITTEN,
        )
        for number, one in enumerate(own)
    ]


def _misasked(corpus: Corpus, db_id: str, part: int, parts: int, rng: random.Random) -> list[Refusal]:
    """`MADE_FOR_FOREIGN` questions at most that have no answer over a database."""
    each = MADE_FOR_FOREIGN // 4
    schema = corpus.domains[db_id].schema
    asked = [
        Asking(sample.pair.question, sample.program, corpus.domains[sample.pair.db_id].schema)
        for sample in corpus.dev_databases
    ]
    own = [one for one in asked if one.schema is schema]
    others = [one for one in asked if one.schema is not schema]
    samples = [sample for sample in corpus.dev_databases if sample.pair.db_id == db_id]
    return [
        *remove_needed([(one.question, one.program) for one in own], schema, each, _SCHEMAS, rng),
        *ask_elsewhere(others, schema, each, rng),
        *ask_for_others(
            LACKING, own, column_labels({one.schema.name: one.schema for one in others}), each, rng
        ),
        *_write_anywhere(samples, schema, each, part, parts, rng),
    ]
