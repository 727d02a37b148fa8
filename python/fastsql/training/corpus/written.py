"""Written questions over many variants of their designs, made once and kept in the run's cache as data sets of their own."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

from fastsql.synthesis.carried import carry_held_out, carry_over, turns_file, write_carried
from fastsql.synthesis.generate import Report
from fastsql.synthesis.hospital.everyday import everyday_set
from fastsql.synthesis.many import set_files
from fastsql.synthesis.schema.words import ENGLISH
from fastsql.synthesis.source import SynthesisError
from fastsql.training.config import DataSettings, SourceSettings, TrainConfig, WrittenSettings
from fastsql.training.corpus.conversations import GIVEN
from fastsql.training.corpus.files import synthesis_code

HELD_OUT = "written-held-out"


def with_written(config: TrainConfig, cache: Path, report: Report) -> TrainConfig:
    """The configuration with sources of what `data.written` asks for: questions and conversations, to train on and held out.

    Raises SynthesisError where nobody wrote any in that language, or a design that is to be held out is not there.
    """
    sources = written_sources(config.data, cache, report)
    if not sources:
        return config
    return replace(config, data=replace(config.data, sources=(*config.data.sources, *sources)))


def written_sources(data: DataSettings, cache: Path, report: Report) -> list[SourceSettings]:
    """See `with_written`."""
    settings, language = data.written, data.made.language
    found: list[SourceSettings] = []
    if settings.pairs:
        name = carried_set(settings, language, cache, report)
        plain = _source(cache, name, settings.weight)
        talks = replace(plain, examples=str(turns_file(cache, name)), conversations=GIVEN)
        found += [plain, replace(talks, weight=settings.conversations_weight)]
    if settings.hospital_weight:
        if language != ENGLISH:
            raise SynthesisError(
                "nobody wrote questions over the demo hospital", where=f"language {language!r}"
            )
        name = f"everyday-{_identity(settings, language)}"
        if not set_files(cache, name)[0].is_file():
            write_carried(everyday_set(cache / name), cache, name)
        plain = _over_databases(_source(cache, name, settings.hospital_weight), cache / name)
        found += [plain, replace(plain, examples=str(turns_file(cache, name)), conversations=GIVEN)]
    if settings.held_out:
        name = f"{HELD_OUT}-{_identity(settings, language)}"
        databases = cache / name
        if not set_files(cache, name)[0].is_file():
            made = carry_held_out(settings.held_out, settings.variants, report, databases, language=language)
            write_carried(made, cache, name)
        held = _over_databases(_source(cache, name, 1.0), databases)
        found += [held, replace(held, examples=str(turns_file(cache, name)), conversations=GIVEN)]
    return found


def carried_set(settings: WrittenSettings, language: str, cache: Path, report: Report) -> str:
    """The name of the data set in the cache that holds what is to be trained on; made where it is not there.

    Raises SynthesisError where nobody wrote any questions.
    """
    name = f"written-{_identity(settings, language)}"
    if not set_files(cache, name)[0].is_file():
        report(f"carrying {settings.pairs} written questions over, which are kept in {cache}")
        made = carry_over(settings.pairs, settings.seed, report, language=language, without=settings.held_out)
        write_carried(made, cache, name)
    return name


def _identity(settings: WrittenSettings, language: str) -> str:
    settings = replace(settings, weight=0.0, conversations_weight=0.0, hospital_weight=0.0)
    return hashlib.sha256(f"{settings} {language}".encode() + synthesis_code()).hexdigest()[:16]


def _over_databases(source: SourceSettings, folder: Path) -> SourceSettings:
    """The source with the databases of a folder in place of the values kept of them; a part may be held out."""
    return replace(source, values="", database=str(folder), dev=True)


def _source(cache: Path, name: str, weight: float) -> SourceSettings:
    examples, schemas, values = map(str, set_files(cache, name))
    return SourceSettings(
        examples, schemas, values=values, weight=weight, lexicon=False, carve=False, dev=False
    )
