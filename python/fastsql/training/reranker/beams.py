"""What a reranker learns from: questions with all that a parser finds for them, each right or wrong by its answer.

Of a conversation every question is parsed as if those before it had been answered rightly, by itself and with them: what
either reading finds is one list of hypotheses. Hypotheses are sources (`fastsql.reverse.source`), so that a file of beams is
read without schemas.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import logging
import multiprocessing
import random
from collections.abc import Collection, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from fastsql.datasets import DatabaseFiles, Example, read_examples, read_schemas
from fastsql.datasets.interactions import as_interactions, is_conversational
from fastsql.engine import Decoded
from fastsql.errors import ExecutionError, FastSQLError
from fastsql.evaluation.answers import AnswerRows, answer_rows
from fastsql.execution import ReadOnlyExecutor
from fastsql.grammar import ConversionError, Program, sql_to_program
from fastsql.model.bundle import Bundle, manifest_digest
from fastsql.model.header import tokenizer_digest
from fastsql.parser import Parser
from fastsql.parser.bundles import open_model
from fastsql.parser.link import Linked
from fastsql.parser.write import write
from fastsql.reliability.judges import Weights
from fastsql.reranker.config import RerankerConfig
from fastsql.result import Result
from fastsql.reverse.source import Source, SourceReader, SourceReaders
from fastsql.schema import Schema
from fastsql.session.turn import Turn
from fastsql.synthesis.carried import VARIANTS, carry_held_out, turns_file, write_carried
from fastsql.synthesis.generate import Report
from fastsql.synthesis.hospital.everyday import everyday_set
from fastsql.synthesis.many import set_files
from fastsql.synthesis.schema.words import ENGLISH
from fastsql.training.batches.conversations import answered, earlier_turns
from fastsql.training.config import ConfigError, expand_path
from fastsql.training.corpus.split import HeldOut, PairKey
from fastsql.training.reranker.settings import BeamSettings, BeamSource

logger = logging.getLogger(__name__)
_SECONDS = 2.0
"""What one query may take."""
_DATABASES = "databases"
"""The folder of the databases that written questions are asked over, beside these."""
_PARTS = 4
"""Parts of the questions that a process gets, one after the other: they take unequally long."""


@dataclass(frozen=True, eq=False)
class Judged:
    """A hypothesis: its program as it is read, its rank in the search, and whether its answer is right."""

    source: Source
    rank: float
    right: bool


@dataclass(frozen=True, eq=False)
class Beam:
    """A question over a schema with what was found for it; `earlier` are those before it in its conversation."""

    schema: str
    question: str
    earlier: tuple[str, ...]
    weight: float
    hypotheses: tuple[Judged, ...]


@dataclass(frozen=True)
class Beams:
    """What is learnt from, and what is held out."""

    train: tuple[Beam, ...]
    dev: tuple[Beam, ...]


def gather_beams(
    settings: BeamSettings,
    parser: str,
    config: RerankerConfig,
    folder: Path,
    *,
    processes: int = 1,
    report: Report = logger.info,
) -> Beams:
    """Parses what the settings name, with the model called `parser` and those of before, and keeps what is found.

    Raises DatasetError, SchemaError, ConfigError, SynthesisError, ModelError.
    """
    # No process is started before there is something to parse, and each parses parts of one data set after the other.
    with ProcessPoolExecutor(processes, multiprocessing.get_context("spawn")) as pool:
        return _gathered(settings, parser, config, folder, pool if processes > 1 else None, processes, report)


def _gathered(
    settings: BeamSettings,
    parser: str,
    config: RerankerConfig,
    folder: Path,
    pool: ProcessPoolExecutor | None,
    processes: int,
    report: Report,
) -> Beams:
    bundle = open_model(parser)
    held_out = HeldOut.load(expand_path(settings.held_out))
    find = partial(
        _beams_of,
        config=config,
        settings=settings,
        held_out=held_out,
        folder=folder,
        pool=pool,
        processes=processes,
        report=report,
    )
    train: list[Beam] = []
    dev: list[Beam] = []
    for source in settings.sources:
        for beam in find(source, bundle=bundle):
            (dev if beam.schema in held_out.databases else train).append(beam)
    written = settings.written
    for designs, weight in ((written.designs, written.weight), (written.new, written.new_weight)):
        for source in _written(designs, weight, settings.language, folder, report):
            train += find(source, bundle=bundle)
    for source in _everyday(written.hospital_weight, folder):
        train += find(source, bundle=bundle)
    for one in settings.earlier:
        earlier = _read_alike(one.parser, bundle)
        for source in (
            *_written(one.designs, one.weight, settings.language, folder, report),
            *_everyday(one.hospital_weight, folder),
        ):
            train += find(source, bundle=earlier)
    for source in _written(settings.held_out_designs, 1.0, settings.language, folder, report):
        dev += find(source, bundle=bundle)
    return Beams(tuple(train), tuple(dev))


def _read_alike(parser: str, bundle: Bundle) -> Bundle:
    """Another bundle, whose pieces must be those of `bundle`: programs are read by them. Raises ModelError, ConfigError."""
    other = open_model(expand_path(parser))
    if tokenizer_digest(other.tokenizer()) != tokenizer_digest(bundle.tokenizer()):
        raise ConfigError(
            "its tokenizer is another", where=str(other.path), remedy="Name a bundle of the same encoder."
        )
    return other


def _written(
    designs: Sequence[str], weight: float, language: str, folder: Path, report: Report
) -> list[BeamSource]:
    """Questions and conversations over designs, made once."""
    if not designs:
        return []
    told = " ".join(designs if language == ENGLISH else (*designs, f"in {language}"))
    made = folder / f"written-{hashlib.sha256(told.encode()).hexdigest()[:12]}"
    if not set_files(made)[0].is_file():
        write_carried(carry_held_out(designs, VARIANTS, report, made / _DATABASES, language=language), made)
    return _carried(made, weight)


def _everyday(weight: float, folder: Path) -> list[BeamSource]:
    """Questions and conversations over the demo hospital, made once; none where they weigh nothing."""
    if not weight:
        return []
    made = folder / "everyday"
    if not set_files(made)[0].is_file():
        write_carried(everyday_set(made / _DATABASES), made)
    return _carried(made, weight)


def _carried(made: Path, weight: float) -> list[BeamSource]:
    """The questions and the conversations of a set that was written to a folder with its databases."""
    pairs, schemas, _ = set_files(made)
    return [
        BeamSource(str(examples), str(schemas), str(made / _DATABASES), weight)
        for examples in (pairs, turns_file(made))
    ]


def _beams_of(
    source: BeamSource,
    *,
    bundle: Bundle,
    config: RerankerConfig,
    settings: BeamSettings,
    held_out: HeldOut,
    folder: Path,
    pool: ProcessPoolExecutor | None,
    processes: int,
    report: Report,
) -> list[Beam]:
    """The beams of one data set, from the file that keeps them where there is one."""
    left_out = held_out.templates | held_out.examples
    told = f"{replace(source, weight=1.0)} {settings.beam} {settings.turns} {manifest_digest(bundle.path)} {config.symbols}"
    told += f" {sorted(left_out)}"
    file = folder / f"beams-{hashlib.sha256(told.encode()).hexdigest()[:16]}.jsonl.gz"
    if not file.is_file():
        talks = list(_talks(source, settings.turns, left_out))
        ends = [len(talks) * number // (_PARTS * processes) for number in range(_PARTS * processes + 1)]
        parts = [talks[start:end] for start, end in pairwise(ends) if start < end]
        parse = partial(_parse, source=source, bundle=bundle, config=config, beam=settings.beam)
        found: list[Beam] = []
        for number, some in enumerate((map if pool is None else pool.map)(parse, parts), 1):
            found += some
            report(f"{Path(source.examples).parent.name}: {number} of {len(parts)} parts parsed")
        _keep(found, file)
    return [replace(one, weight=source.weight) for one in _read(file)]


def _talks(source: BeamSource, turns: int, held_out: Collection[PairKey]) -> Iterator[tuple[Example, ...]]:
    """A data set's conversations but for those `held_out`, a single question being one of one turn, by database."""
    examples = read_examples(expand_path(source.examples))
    if source.databases:
        examples = tuple(one for one in examples if one.db_id in source.databases)
    if is_conversational(examples):
        talks = [one.turns[:turns] for one in as_interactions(examples, source.examples)]
    else:
        talks = [(one,) for one in examples]
    rng = random.Random(0)
    talks = [talk for talk in talks if rng.random() < source.share and _group(talk[0]) not in held_out]
    yield from sorted(talks, key=lambda talk: talk[0].db_id)


def _group(example: Example) -> PairKey:
    """What the parser's training calls a question, or its conversation (`fastsql.training.corpus.split.Pair.group`)."""
    return example.db_id, str(example.extra.get("interaction") or example.id)


# ---------------------------------------------------------------- parsing


class _Gathering(Parser):
    """A parser that keeps what the search finds, marked down as it is where a second opinion is asked for, and asks none."""

    found: list[tuple[Linked, Decoded]]

    def _second_weights(self, linked: Linked, *, doubted: bool) -> Weights:
        return Weights(None, None)

    def _weighed(self, linked: Linked, decoded: Decoded, weights: Weights, *, confirmed: bool) -> Decoded:
        self.found.append((linked, decoded))
        return decoded

    def look(
        self, question: str, schema: Schema, database: Path, beam: int, history: tuple[Turn, ...] | None
    ) -> Result:
        """What becomes of a question; `found` is what its readings came to."""
        self.found = []
        return self.parse(question, schema, values=database, beam=beam, history=history)


def _parse(
    talks: Sequence[tuple[Example, ...]],
    *,
    source: BeamSource,
    bundle: Bundle,
    config: RerankerConfig,
    beam: int,
) -> list[Beam]:
    """The beams of conversations, one after the other, on one thread."""
    parser = _Gathering(bundle, penalty=0, threads=1, suggest=False)
    readers = SourceReaders(parser.engine.tokenizer, config.numbers)
    db_ids = {talk[0].db_id for talk in talks}
    schemas = read_schemas(expand_path(source.schemas), databases=db_ids)
    found: list[Beam] = []
    with DatabaseFiles(expand_path(source.database), db_ids) as files:
        for talk in talks:
            database = files.path(talk[0].db_id)
            if database is not None:
                schema = schemas[talk[0].db_id]
                with ReadOnlyExecutor(database, time_limit=_SECONDS) as executor:
                    found += _turns(talk, schema, database, parser, executor, readers.over(schema), beam)
    return found


def _turns(
    talk: Sequence[Example],
    schema: Schema,
    database: Path,
    parser: _Gathering,
    executor: ReadOnlyExecutor,
    reader: SourceReader,
    beam: int,
) -> Iterator[Beam]:
    """The beams of a conversation, as far as its queries run and can be said."""
    history: tuple[Turn, ...] | None = () if len(talk) > 1 else None
    programs: list[Program] = []
    for number, example in enumerate(talk):
        gold = _answer(executor, example.sql)
        if example.sql is not None and gold is None:
            return
        try:
            turn = parser.look(example.question, schema, database, beam, history)
        except FastSQLError:
            return
        hypotheses = tuple(_judged(parser.found, gold, executor, reader))
        if hypotheses:
            earlier = tuple(one.question for one in talk[:number])
            yield Beam(schema.name, example.question, earlier, 1.0, hypotheses)
        if history is None or example.sql is None:
            return
        assert isinstance(turn, Turn)  # as it was given a history
        try:
            programs.append(sql_to_program(example.sql, schema))
            latest = earlier_turns(programs, schema)[-1]
        except (ConversionError, FastSQLError):
            return
        history = (*history, answered(turn.light, latest, programs[-1], number + 1, schema, parser.bundle))


def _judged(
    found: Sequence[tuple[Linked, Decoded]],
    gold: AnswerRows | None,
    executor: ReadOnlyExecutor,
    reader: SourceReader,
) -> Iterator[Judged]:
    """The hypotheses of all readings that were `found`, each source once; without `gold` all are wrong."""
    known: dict[tuple[bool, bytes], Judged] = {}
    for linked, decoded in found:
        for number, one in enumerate(decoded.search.finished):
            with suppress(FastSQLError):  # what cannot be written, or is too long to be read
                written = write(linked, decoded, number)
                source = reader.read(written.program)
                right = gold is not None and _answer(executor, written.sql) == gold
                key = bool(linked.space.turns), source.ids.tobytes()
                before = known.get(key)
                known[key] = (
                    Judged(source, one.rank, right)
                    if before is None
                    else replace(before, right=before.right or right)
                )
    yield from known.values()


def _answer(executor: ReadOnlyExecutor, sql: str | None) -> AnswerRows | None:
    try:
        return None if sql is None else answer_rows(executor.run(sql))
    except ExecutionError:
        return None


# ---------------------------------------------------------------- the file


def _keep(beams: Iterable[Beam], file: Path) -> None:
    """Writes beams, a line each; the file is there once it is whole."""
    file.parent.mkdir(parents=True, exist_ok=True)
    temporary = file.with_suffix(".tmp")
    with gzip.open(temporary, "wt", encoding="utf-8", compresslevel=3) as out:
        for beam in beams:
            hypotheses = [
                [
                    *(getattr(one.source, name).tolist() for name in ("ids", "kinds", "tables")),
                    one.rank,
                    one.right,
                ]
                for one in beam.hypotheses
            ]
            row = [beam.schema, beam.question, beam.earlier, hypotheses]
            out.write(json.dumps(row, ensure_ascii=False) + "\n")
    temporary.replace(file)


def _read(file: Path) -> Iterator[Beam]:
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        for line in lines:
            schema, question, earlier, hypotheses = json.loads(line)
            yield Beam(schema, question, tuple(earlier), 1.0, tuple(map(_hypothesis, hypotheses)))


def _hypothesis(row: Sequence[Any]) -> Judged:
    *arrays, rank, right = row
    ids, kinds, tables = (np.array(one, dtype=np.int32) for one in arrays)
    return Judged(Source(ids, kinds, tables), rank, right)
