"""The training corpus: questions with their programs, the domains they are asked of, and what is held out."""

from __future__ import annotations

import logging
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from fastsql.grammar.program import Program
from fastsql.linking.lexicon import Lexicon
from fastsql.schema import Schema
from fastsql.synthesis.carried import held_out_names
from fastsql.synthesis.generate import Report
from fastsql.training.config import ConfigError, DataSettings, SourceSettings, expand_path
from fastsql.training.corpus.conversations import longer_conversations
from fastsql.training.corpus.conversion import ColumnLiterals, convert, query_key
from fastsql.training.corpus.files import check_files
from fastsql.training.corpus.lexicon import ColumnKey, PoolKey, collect_lexicon, collect_pools, pool_entries
from fastsql.training.corpus.made import made_sources
from fastsql.training.corpus.others import after_others
from fastsql.training.corpus.programs import parse_program, template
from fastsql.training.corpus.sample import Sample
from fastsql.training.corpus.sources import Domain, add_domains, read_domains, read_pairs
from fastsql.training.corpus.split import HeldOut, Pair, Split, draw_held_out, split_dev

logger = logging.getLogger(__name__)


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
    dev_conversations: tuple[
        Sample, ...
    ] = ()  # turns of conversations that are held out, as all of their interaction is
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
    check_files(settings)
    domains: dict[str, Domain] = {}
    parts: list[tuple[SourceSettings, list[Pair]]] = []
    literals: dict[str, ColumnLiterals] = {}
    programs: dict[str, Program] = {}
    left_out: Counter[str] = Counter()
    sources = list(settings.sources)
    if settings.made.schemas:
        sources += made_sources(settings, cache, report)
    for source in sources:
        here, schemas = _asked(source, settings, seed, cache, report)
        if not here:
            continue
        origin = "synthetic" if source.generate else f"in {Path(source.examples).name}"
        report(f"{len(here)} pairs of {len(schemas)} databases {origin}")
        converted, found = convert(_to_convert(here), schemas, cache, left_out, report)
        programs.update(converted)
        literals.update(found)
        parts.append((source, [pair for pair in here if query_key(pair) in converted]))
        add_domains(domains, read_domains(source, schemas, found, settings), source)
    split, held_out = _split(parts, programs, settings, seed)
    longer = {
        pair: source
        for source, pairs in parts
        if source.longer
        for pair in longer_conversations(source, pairs, split.train, seed, cache, report)
    }
    programs |= {query_key(pair): parse_program(pair.program) for pair in longer}
    source_of = {pair.key: source for source, pairs in parts for pair in pairs}
    source_of |= {pair.key: source for pair, source in longer.items()}

    lexicon: dict[ColumnKey, list[str]] = {}
    pools: dict[str, dict[PoolKey, list[str]]] = {}
    asked: defaultdict[str, list[Pair]] = defaultdict(list)
    for pair in split.train:
        if not pair.interaction:  # what a turn does not say, a turn before it said
            asked[pair.db_id].append(pair)
    for db_id, domain in domains.items():
        single = asked[db_id]
        known = {pair.sql: literals[query_key(pair)] for pair in single}
        teaching = [pair for pair in single if source_of[pair.key].lexicon]
        taught = collect_lexicon(teaching, domain.schema, settings.lexicon_count, known)
        pools[db_id] = collect_pools(single, known)
        for key, values in taught.items():
            lexicon[key] = sorted({*lexicon.get(key, ()), *values})
    # A lexicon is known by table and column name, so that it serves every schema that has them, trained on or not.
    known_values = Lexicon(lexicon)
    domains = {
        db_id: replace(domain, schema=known_values.apply(domain.schema)) for db_id, domain in domains.items()
    }

    def samples(chosen: Iterable[Pair]) -> tuple[Sample, ...]:
        return tuple(
            Sample(
                pair,
                programs[query_key(pair)],
                () if pair.interaction else tuple(pool_entries(pair.question, literals[query_key(pair)])),
                source_of[pair.key].weight,
                tuple((turn.question, parse_program(turn.program)) for turn in pair.earlier),
            )
            for pair in chosen
        )

    corpus = Corpus(
        domains=domains,
        train=after_others(samples((*split.train, *longer)), settings.after_others, seed),
        dev_templates=samples(pair for pair in split.dev_templates if source_of[pair.key].dev),
        dev_examples=samples(pair for pair in split.dev_examples if source_of[pair.key].dev),
        dev_databases=samples(pair for pair in split.dev_databases if source_of[pair.key].dev),
        lexicon=lexicon,
        pools=pools,
        held_out=held_out,
        dev_conversations=samples(
            pair
            for pair in (*split.dev_templates, *split.dev_examples, *split.dev_databases)
            if pair.interaction
        ),
        left_out=dict(left_out),
    )
    report(
        f"train {len(corpus.train)}, dev {len(corpus.dev_templates)} of unseen templates, {len(corpus.dev_examples)} of "
        f"seen ones and {len(corpus.dev_databases)} of unseen databases, left out {sum(left_out.values())}"
    )
    return corpus


def prepare_source(
    source: SourceSettings, settings: DataSettings, seed: int, cache: Path, report: Report
) -> None:
    """Makes what `load_corpus` keeps of a source in the cache."""
    pairs, schemas = _asked(source, settings, seed, cache, report)
    if pairs:
        convert(_to_convert(pairs), schemas, cache, Counter(), report)


def _asked(
    source: SourceSettings, settings: DataSettings, seed: int, cache: Path, report: Report
) -> tuple[list[Pair], dict[str, Schema]]:
    """The pairs of a source, and the schemas of their databases, but for those that `settings` is without."""
    pairs, schemas = read_pairs(source, seed, cache, report)
    pairs = [pair for pair in pairs if pair.db_id not in settings.without]
    return pairs, {db_id: schema for db_id, schema in schemas.items() if db_id not in settings.without}


def _to_convert(pairs: Sequence[Pair]) -> list[Pair]:
    """The pairs and the goals of their conversations.

    The templates of conversations are those of their last answers, so that no single question teaches a held-out one.
    """
    return [*pairs, *(_goal(pair) for pair in pairs if not pair.earlier and pair.interaction)]


def _split(
    parts: Sequence[tuple[SourceSettings, list[Pair]]],
    programs: dict[str, Program],
    settings: DataSettings,
    seed: int,
) -> tuple[Split, HeldOut]:
    """Every source is drawn from by itself, so that another source beside it changes nothing."""
    everything = [pair for _, pairs in parts for pair in pairs]
    template_of = {pair.key: _template(pair, programs) for pair in everything}
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
    held_out |= HeldOut(databases=held_out_names(settings.written.held_out, settings.written.variants))
    return split_dev(everything, template_of, held_out), held_out


def _goal(pair: Pair) -> Pair:
    """The last answer of a turn's conversation as a pair of its own."""
    return Pair(f"{pair.interaction} as one question", "", pair.goal, pair.db_id)


def _template(pair: Pair, programs: Mapping[str, Program]) -> str:
    """The template that a pair is held out by."""
    key = query_key(_goal(pair)) if pair.interaction else query_key(pair)
    return f"{pair.db_id} {template(programs.get(key, programs[query_key(pair)]))}"
