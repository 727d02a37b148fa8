"""Pairs over many schemas, and conversations of them, made once and kept in the run's cache as a data set of their own."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

from fastsql.datasets import read_examples, read_schemas
from fastsql.synthesis.generate import Report
from fastsql.synthesis.hospital.plain import plain_set
from fastsql.synthesis.interactions import Checker, Goal, construct, write_interactions
from fastsql.synthesis.interactions.interaction import Interaction
from fastsql.synthesis.many import make_set, set_files, write_set
from fastsql.synthesis.pool import DESIGNS, KINDS_OF, SchemaPool, pool_identity
from fastsql.training.config import DataSettings, SourceSettings, expand_path
from fastsql.training.corpus.conversations import GIVEN
from fastsql.training.corpus.files import synthesis_code
from fastsql.training.corpus.split import HeldOut

_NOTES = 10


def made_sources(data: DataSettings, cache: Path, report: Report) -> list[SourceSettings]:
    """The source of the pairs that `data.made` asks for, and that of the conversations.

    Databases that are held out, or that `data` is without, give none.

    Raises DatasetError where a data set is not there, SynthesisError where nothing can be made.
    """
    settings = data.made
    databases = HeldOut.load(expand_path(data.held_out)).databases if data.held_out else frozenset[str]()
    databases |= {*data.without, *data.written.held_out}
    kinds = settings.kinds or KINDS_OF[settings.language]
    folder = None if set(kinds) <= {DESIGNS} else expand_path(settings.folder)
    if folder is None:
        databases = frozenset(data.written.held_out)  # no design is another of them
    drawn = replace(settings, weight=0.0, conversations=0, conversations_weight=0.0)
    identity = f"{drawn} {sorted(databases)} {pool_identity(folder, kinds)}".encode()
    name = f"made-{hashlib.sha256(identity + synthesis_code()).hexdigest()[:16]}"
    files = set_files(cache, name)
    if not files[0].is_file():
        report(f"making {settings.pairs} pairs over {settings.schemas} schemas, which are kept in {cache}")
        with SchemaPool(
            settings.schemas,
            settings.seed,
            folder=folder,
            kinds=kinds,
            held_out=databases,
            language=settings.language,
        ) as pool:
            made = make_set(pool, settings.pairs, settings.seed, report)
        if settings.demo:
            made += plain_set(settings.demo, settings.seed)
        write_set(made, cache, name)
    examples, schemas, values = map(str, files)
    pairs = SourceSettings(
        examples, schemas, values=values, weight=settings.weight, lexicon=False, carve=False, dev=False
    )
    if not settings.conversations:
        return [pairs]
    turns = cache / f"{name}.{settings.conversations}.turns.json.gz"
    if not turns.is_file():
        report(f"taking {settings.conversations} of them apart")
        _talk(files[0], files[1], turns, settings.conversations, settings.seed, report)
    talks = replace(pairs, examples=str(turns), conversations=GIVEN, weight=settings.conversations_weight)
    return [pairs, talks]


def _talk(pairs: Path, schemas: Path, turns: Path, count: int, seed: int, report: Report) -> None:
    """Writes conversations of `count` pairs, about as many of each schema; those of one turn alone are left out."""
    goals: defaultdict[str, list[Goal]] = defaultdict(list)
    for one in read_examples(pairs):
        if one.sql and "contrast" not in one.extra:
            goals[one.db_id].append(Goal(one.id, one.question, one.sql))
    known = read_schemas(schemas, databases=set(goals))
    made: list[Interaction] = []
    left = count
    for place, (db_id, own) in enumerate(goals.items()):
        quota = min(len(own), -(-left // (len(goals) - place)))
        left -= quota
        # The longest can be taken apart.
        chosen = sorted(own, key=lambda goal: (-len(goal.sql), goal.id))[:quota]
        talks = construct(chosen, Checker(known[db_id]), db_id=db_id, seed=seed, report=lambda _: None)
        made += [one for one in talks.interactions if len(one.turns) > 1]
        if (place + 1) % -(-len(goals) // _NOTES) == 0:
            report(f"{place + 1} of {len(goals)} schemas, {len(made)} conversations")
    write_interactions(made, known, turns)
