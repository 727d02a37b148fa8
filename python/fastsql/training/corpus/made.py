"""Pairs over many schemas, made once and kept in the run's cache as a data set of their own."""

from __future__ import annotations

import hashlib
from pathlib import Path

from fastsql.synthesis.generate import Report
from fastsql.synthesis.hospital.plain import plain_set
from fastsql.synthesis.many import make_set, set_files, write_set
from fastsql.synthesis.pool import DESIGNS, SchemaPool, pool_identity
from fastsql.training.config import DataSettings, SourceSettings, expand_path
from fastsql.training.corpus.files import synthesis_code
from fastsql.training.corpus.split import HeldOut


def made_source(data: DataSettings, cache: Path, report: Report) -> SourceSettings:
    """The source of the pairs that `data.made` asks for; databases that are held out, or that `data` is without, give none.

    Raises DatasetError where a data set is not there, SynthesisError where nothing can be made.
    """
    settings = data.made
    databases = HeldOut.load(expand_path(data.held_out)).databases if data.held_out else frozenset[str]()
    databases |= set(data.without)
    folder = None if set(settings.kinds) <= {DESIGNS} else expand_path(settings.folder)
    if folder is None:
        databases = frozenset()  # designs are none of them
    identity = f"{settings} {sorted(databases)} {pool_identity(folder, settings.kinds)}".encode()
    name = f"made-{hashlib.sha256(identity + synthesis_code()).hexdigest()[:16]}"
    files = set_files(cache, name)
    if not files[0].is_file():
        report(f"making {settings.pairs} pairs over {settings.schemas} schemas, which are kept in {cache}")
        with SchemaPool(
            settings.schemas, settings.seed, folder=folder, kinds=settings.kinds, held_out=databases
        ) as pool:
            made = make_set(pool, settings.pairs, settings.seed, report)
        if settings.demo:
            made += plain_set(settings.demo, settings.seed)
        write_set(made, cache, name)
    examples, schemas, values = map(str, files)
    return SourceSettings(
        examples, schemas, values=values, weight=settings.weight, lexicon=False, carve=False, dev=False
    )
