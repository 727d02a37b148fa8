"""The training corpus: questions with their programs, the domains they are asked of, and what is held out."""

from __future__ import annotations

import hashlib
import json
import logging
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import fastsql.grammar as grammar_package
from fastsql.datasets import DatabaseFiles, read_examples, read_schemas, with_database_values
from fastsql.grammar import ConversionError, sql_to_program
from fastsql.grammar.program import Program
from fastsql.linking.dictionary import ValueDictionary
from fastsql.schema import Schema
from fastsql.training.config import DataSettings, SourceSettings, expand_path
from fastsql.training.lexicon import (
    ColumnKey,
    PoolKey,
    collect_lexicon,
    collect_pools,
    column_literals,
    pool_entries,
)
from fastsql.training.programs import dump_program, mask, parse_program
from fastsql.training.split import Pair, remove_reported, split_dev

logger = logging.getLogger(__name__)

ColumnLiterals = list[tuple[ColumnKey, str]]
Report = Callable[[str], None]


@dataclass(frozen=True)
class Domain:
    """A database as the parser will see it: schema with values, lexicon and constants, and a value dictionary."""

    schema: Schema
    dictionary: ValueDictionary | None = None


@dataclass(frozen=True)
class Sample:
    """A pair whose SQL the grammar can express. `entries`: its literals that augmentation may exchange, by pool."""

    pair: Pair
    program: Program
    entries: tuple[tuple[PoolKey, str], ...] = ()


@dataclass(frozen=True)
class Corpus:
    """Everything that is trained on and held out, and what was learnt from the training part alone."""

    domains: dict[str, Domain]
    train: tuple[Sample, ...]
    dev_templates: tuple[Sample, ...]
    dev_examples: tuple[Sample, ...]
    lexicon: dict[ColumnKey, list[str]]  # of all domains; columns are known by name
    pools: dict[str, dict[PoolKey, list[str]]]  # by database: replacement values for augmentation
    left_out: dict[str, int] = field(default_factory=dict)  # reason -> pairs


def load_corpus(settings: DataSettings, seed: int, cache: Path, report: Report = logger.info) -> Corpus:
    """Reads, converts, splits. Converted programs are kept under `cache`, so that a second run starts at once."""
    domains: dict[str, Domain] = {}
    pairs: list[Pair] = []
    literals: dict[str, ColumnLiterals] = {}
    programs: dict[str, Program] = {}
    left_out: Counter[str] = Counter()
    for source in settings.sources:
        here, schemas = _read_pairs(source)
        report(f"{len(here)} pairs of {len(schemas)} databases in {Path(source.examples).name}")
        converted, found = _convert(here, schemas, cache, left_out, report)
        programs.update(converted)
        literals.update(found)
        pairs += [pair for pair in here if _key(pair) in converted]
        domains.update(_read_domains(source, schemas, settings))
    templates = {pair.id: dump_program(mask(programs[_key(pair)])) for pair in pairs}
    split = split_dev(pairs, templates, settings.dev_templates, settings.dev_examples, seed)

    lexicon: dict[ColumnKey, list[str]] = {}
    pools: dict[str, dict[PoolKey, list[str]]] = {}
    for db_id, domain in domains.items():
        own = [pair for pair in split.train if pair.db_id == db_id]
        known = {pair.sql: literals[_key(pair)] for pair in own}
        taught = collect_lexicon(own, domain.schema, settings.lexicon_count, known)
        pools[db_id] = collect_pools(own, known)
        for key, values in taught.items():
            lexicon[key] = sorted({*lexicon.get(key, ()), *values})
    # A lexicon is known by table and column name, so that it serves every schema that has them, trained on or not.
    domains = {
        db_id: Domain(with_lexicon(domain.schema, lexicon), domain.dictionary)
        for db_id, domain in domains.items()
    }

    def samples(chosen: Iterable[Pair]) -> tuple[Sample, ...]:
        return tuple(
            Sample(pair, programs[_key(pair)], tuple(pool_entries(pair.question, literals[_key(pair)])))
            for pair in chosen
        )

    corpus = Corpus(
        domains=domains,
        train=samples(split.train),
        dev_templates=samples(split.dev_templates),
        dev_examples=samples(split.dev_examples),
        lexicon=lexicon,
        pools=pools,
        left_out=dict(left_out),
    )
    report(
        f"train {len(corpus.train)}, dev {len(corpus.dev_templates)} of unseen templates and "
        f"{len(corpus.dev_examples)} of seen ones, left out {sum(left_out.values())}"
    )
    return corpus


def with_lexicon(schema: Schema, lexicon: dict[ColumnKey, list[str]]) -> Schema:
    """The schema with the lexicon's values added to its columns of the same table and column name."""
    values: dict[ColumnKey, list[str | int | float]] = {}
    for (table, column), texts in lexicon.items():
        index = schema.find_column(table, column)
        if index is not None:
            present = schema.columns[index].values
            new = [text for text in texts if text not in present]
            if new:
                values[table, column] = [*present, *new]
    return schema.with_values(values) if values else schema


def _read_pairs(source: SourceSettings) -> tuple[list[Pair], dict[str, Schema]]:
    examples = read_examples(expand_path(source.examples))
    pairs = [
        Pair(item.id, item.question, item.sql, item.db_id) for item in examples if item.sql and item.runs
    ]
    reported = [item.question for path in source.report for item in read_examples(expand_path(path))]
    pairs = remove_reported(pairs, reported)
    schemas = read_schemas(expand_path(source.schemas), databases={pair.db_id for pair in pairs})
    return pairs, schemas


def _read_domains(
    source: SourceSettings, schemas: dict[str, Schema], settings: DataSettings
) -> dict[str, Domain]:
    domains: dict[str, Domain] = {}
    database = expand_path(source.database) if source.database else None
    with DatabaseFiles(database, list(schemas)) as files:
        for db_id, plain in schemas.items():
            path = files.path(db_id)
            schema, dictionary = plain, None
            if path is not None:
                if settings.max_values:
                    schema = with_database_values(plain, path, max_values=settings.max_values)
                if settings.dictionary:
                    dictionary = ValueDictionary.from_database(path, schema)
            domains[db_id] = Domain(schema, dictionary)
    return domains


def _key(pair: Pair) -> str:
    return f"{pair.db_id}\n{pair.sql}"


def _convert(
    pairs: Sequence[Pair], schemas: dict[str, Schema], cache: Path, left_out: Counter[str], report: Report
) -> tuple[dict[str, Program], dict[str, ColumnLiterals]]:
    """Programs and column literals by `_key`, from the cache where they are known."""
    # Any change of the grammar or the converter makes new programs.
    folder = Path(grammar_package.__file__).parent
    grammar = b"".join(path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file())
    identity = b"".join(schemas[db_id].fingerprint.encode() for db_id in sorted(schemas))
    file = cache / f"programs-{hashlib.sha256(grammar + identity).hexdigest()[:16]}.jsonl"
    known = _read_cache(file)
    programs: dict[str, Program] = {}
    literals: dict[str, ColumnLiterals] = {}
    reasons: dict[str, str] = {}
    fresh = 0
    for pair in pairs:
        key = _key(pair)
        if key in programs:
            continue
        if key not in known and key not in reasons:
            try:
                program = sql_to_program(pair.sql, schemas[pair.db_id])
            except ConversionError as error:
                reasons[key] = str(error).partition(":")[0]
            else:
                known[key] = (dump_program(program), column_literals(pair.sql, schemas[pair.db_id]))
                fresh += 1
                if fresh % 1000 == 0:
                    report(f"{fresh} queries converted")
        if key in known:
            text, found = known[key]
            programs[key], literals[key] = parse_program(text), found
        else:
            left_out[f"not convertible: {reasons[key]}"] += 1
    if fresh:
        _write_cache(file, {key: known[key] for key in programs})
    return programs, literals


def _read_cache(file: Path) -> dict[str, tuple[str, ColumnLiterals]]:
    known: dict[str, tuple[str, ColumnLiterals]] = {}
    if file.is_file():
        for line in file.read_text(encoding="utf-8").splitlines():
            key, program, literals = json.loads(line)
            known[key] = (program, [((table, column), text) for table, column, text in literals])
    return known


def _write_cache(file: Path, known: dict[str, tuple[str, ColumnLiterals]]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    temporary = file.with_suffix(".tmp")
    with temporary.open("w", encoding="utf-8") as out:
        for key, (program, literals) in known.items():
            rows = [[table, column, text] for (table, column), text in literals]
            out.write(json.dumps([key, program, rows], ensure_ascii=False) + "\n")
    temporary.replace(file)
