"""The training corpus: questions with their programs, the domains they are asked of, and what is held out."""

from __future__ import annotations

import hashlib
import json
import logging
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

import fastsql.grammar as grammar_package
from fastsql.datasets import (
    ColumnValues,
    DatabaseFiles,
    Example,
    gold_values,
    read_examples,
    read_schemas,
    read_values,
    with_known_values,
)
from fastsql.grammar import ConversionError, sql_to_program
from fastsql.grammar.program import Program
from fastsql.linking import column_literals, gold
from fastsql.linking.dictionary import ValueDictionary
from fastsql.schema import Schema
from fastsql.training.config import GOLD, ConfigError, DataSettings, SourceSettings, expand_path
from fastsql.training.corpus.lexicon import (
    ColumnKey,
    PoolKey,
    collect_lexicon,
    collect_pools,
    pool_entries,
)
from fastsql.training.corpus.programs import dump_program, mask, parse_program
from fastsql.training.corpus.split import HeldOut, Pair, Split, draw_held_out, remove_reported, split_dev
from fastsql.training.corpus.synthetic import synthetic_examples

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
    weight: float = 1.0  # how often an epoch shows it, on average


@dataclass(frozen=True)
class Corpus:
    """Everything that is trained on and held out, and what was learnt from the training part alone."""

    domains: dict[str, Domain]
    train: tuple[Sample, ...]
    dev_templates: tuple[Sample, ...]
    dev_examples: tuple[Sample, ...]
    dev_databases: tuple[Sample, ...]
    lexicon: dict[ColumnKey, list[str]]  # of all domains; columns are known by name
    pools: dict[str, dict[PoolKey, list[str]]]  # by database: replacement values for augmentation
    held_out: HeldOut = field(default_factory=HeldOut)
    left_out: dict[str, int] = field(default_factory=dict)  # reason -> pairs

    @property
    def dev(self) -> dict[str, tuple[Sample, ...]]:
        """What is held out, by the names of `dev.PARTS`."""
        return {
            "templates": self.dev_templates,
            "examples": self.dev_examples,
            "databases": self.dev_databases,
        }


def load_corpus(settings: DataSettings, seed: int, cache: Path, report: Report = logger.info) -> Corpus:
    """Reads, converts, splits. Converted programs are kept under `cache`, so that a second run starts at once."""
    domains: dict[str, Domain] = {}
    parts: list[tuple[SourceSettings, list[Pair]]] = []
    literals: dict[str, ColumnLiterals] = {}
    programs: dict[str, Program] = {}
    left_out: Counter[str] = Counter()
    for source in settings.sources:
        here, schemas = _read_pairs(source, seed, cache, report)
        origin = "synthetic" if source.generate else f"in {Path(source.examples).name}"
        report(f"{len(here)} pairs of {len(schemas)} databases {origin}")
        converted, found = _convert(here, schemas, cache, left_out, report)
        programs.update(converted)
        literals.update(found)
        parts.append((source, [pair for pair in here if _key(pair) in converted]))
        _add_domains(domains, _read_domains(source, schemas, found, settings), source)
    split, held_out = _split(parts, programs, settings, seed)
    source_of = {pair.key: source for source, pairs in parts for pair in pairs}

    lexicon: dict[ColumnKey, list[str]] = {}
    pools: dict[str, dict[PoolKey, list[str]]] = {}
    for db_id, domain in domains.items():
        own = [pair for pair in split.train if pair.db_id == db_id]
        known = {pair.sql: literals[_key(pair)] for pair in own}
        teaching = [pair for pair in own if source_of[pair.key].lexicon]
        taught = collect_lexicon(teaching, domain.schema, settings.lexicon_count, known)
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
            Sample(
                pair,
                programs[_key(pair)],
                tuple(pool_entries(pair.question, literals[_key(pair)])),
                source_of[pair.key].weight,
            )
            for pair in chosen
        )

    corpus = Corpus(
        domains=domains,
        train=samples(split.train),
        dev_templates=samples(pair for pair in split.dev_templates if source_of[pair.key].dev),
        dev_examples=samples(pair for pair in split.dev_examples if source_of[pair.key].dev),
        dev_databases=samples(pair for pair in split.dev_databases if source_of[pair.key].dev),
        lexicon=lexicon,
        pools=pools,
        held_out=held_out,
        left_out=dict(left_out),
    )
    report(
        f"train {len(corpus.train)}, dev {len(corpus.dev_templates)} of unseen templates, {len(corpus.dev_examples)} of "
        f"seen ones and {len(corpus.dev_databases)} of unseen databases, left out {sum(left_out.values())}"
    )
    return corpus


def _split(
    parts: Sequence[tuple[SourceSettings, list[Pair]]],
    programs: dict[str, Program],
    settings: DataSettings,
    seed: int,
) -> tuple[Split, HeldOut]:
    """Every source is drawn from by itself, so that another source beside it changes nothing."""
    everything = [pair for _, pairs in parts for pair in pairs]
    template_of = {
        pair.key: f"{pair.db_id} {dump_program(mask(programs[_key(pair)]))}" for pair in everything
    }
    if len(template_of) < len(everything):
        raise ConfigError("two examples of one database have the same id", where="data.sources")
    if settings.held_out:
        held_out = HeldOut.load(expand_path(settings.held_out))
    else:
        held_out = HeldOut()
        for source, pairs in parts:
            if source.carve:
                several = len({pair.db_id for pair in pairs}) > 1
                held_out |= draw_held_out(
                    pairs,
                    template_of,
                    settings.dev_templates,
                    settings.dev_examples,
                    seed,
                    settings.dev_databases if several else 0.0,
                )
    return split_dev(everything, template_of, held_out), held_out


def with_lexicon(schema: Schema, lexicon: dict[ColumnKey, list[str]]) -> Schema:
    """The schema with the lexicon's values added to its columns of the same table and column name."""
    values: dict[ColumnKey, list[str | int | float]] = {}
    for (table, column), texts in lexicon.items():
        index = schema.find_column(table, column)
        if index is not None:
            # Data sets spell the same column in small and in capital letters.
            known = schema.columns[index]
            name = (schema.tables[known.table].name, known.name)
            present = values.setdefault(name, list(known.values))
            present += [text for text in texts if text not in present]
    values = {name: texts for name, texts in values.items() if len(texts) > len(_values_of(schema, name))}
    return schema.with_values(values) if values else schema


def _values_of(schema: Schema, name: ColumnKey) -> tuple[str | int | float, ...]:
    return schema.columns[schema.column_index(*name)].values


def _read_pairs(
    source: SourceSettings, seed: int, cache: Path, report: Report
) -> tuple[list[Pair], dict[str, Schema]]:
    if source.generate:
        examples = synthetic_examples(source, seed, cache, report)
    else:
        examples = read_examples(expand_path(source.examples))
    pairs = [
        Pair(item.id, _asked(item, source.hints), item.sql, item.db_id)
        for item in examples
        if item.sql and item.runs
    ]
    reported = [item.question for path in source.report for item in read_examples(expand_path(path))]
    pairs = remove_reported(pairs, reported)
    schemas = read_schemas(expand_path(source.schemas), databases={pair.db_id for pair in pairs})
    return pairs, schemas


def _asked(example: Example, hints: bool) -> str:
    hint = example.extra.get("evidence") if hints else None
    return f"{example.question} ({hint})" if hint else example.question


def _read_domains(
    source: SourceSettings,
    schemas: dict[str, Schema],
    literals: dict[str, ColumnLiterals],
    settings: DataSettings,
) -> dict[str, Domain]:
    """The domains of a source; `literals` are those of its queries, by `_key`."""
    known: dict[str, ColumnValues] = {}
    if source.values == GOLD:
        for db_id in schemas:
            own = (found for key, found in literals.items() if key.partition("\n")[0] == db_id)
            known[db_id] = gold_values(chain.from_iterable(own))
    elif source.values:
        known = read_values(expand_path(source.values))
    domains: dict[str, Domain] = {}
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
            domains[db_id] = Domain(schema, dictionary)
    return domains


def _add_domains(domains: dict[str, Domain], found: dict[str, Domain], source: SourceSettings) -> None:
    """Adds a source's domains. Of one that several sources ask of, the first that comes with values is kept.

    Raises ConfigError where two sources have different schemas under one id: programs name columns by their place.
    """
    for db_id, domain in found.items():
        known = domains.get(db_id)
        if known is not None and _columns(known.schema) != _columns(domain.schema):
            raise ConfigError(
                f"database {db_id!r} has other columns than in an earlier source",
                where=source.schemas,
                remedy="Give the same schemas file, or another id.",
            )
        if known is None or known.dictionary is None:
            domains[db_id] = domain


def _columns(schema: Schema) -> list[str]:
    return [schema.qualified_name(column) for column in range(len(schema.columns))]


def _key(pair: Pair) -> str:
    return f"{pair.db_id}\n{pair.sql}"


def _convert(
    pairs: Sequence[Pair], schemas: dict[str, Schema], cache: Path, left_out: Counter[str], report: Report
) -> tuple[dict[str, Program], dict[str, ColumnLiterals]]:
    """Programs and column literals by `_key`, from the cache where they are known."""
    # Any change of the grammar, the converter or the reading of literals makes new programs.
    folder = Path(grammar_package.__file__).parent
    files = [
        *(path for path in sorted(folder.rglob("*")) if path.suffix in {".py", ".grammar"}),
        Path(gold.__file__),
    ]
    grammar = b"".join(path.read_bytes() for path in files)
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
        # Other sources of the same databases have theirs in the same file.
        _write_cache(file, known)
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
