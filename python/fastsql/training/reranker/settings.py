"""The configuration of a reranker's training, read from TOML."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from fastsql.synthesis.schema.words import ENGLISH
from fastsql.training.config import ConfigError, build, expand_path, read_toml


@dataclass(frozen=True)
class BeamSource:
    """One data set whose questions are parsed: questions or conversations with SQL, schemas, and databases to run it on.

    `weight`: how often an epoch shows each question, on average. `databases`: some of them, where not all are meant.
    `share`: of their conversations, or questions, so many, drawn by chance.
    """

    examples: str
    schemas: str
    database: str
    weight: float = 1.0
    databases: tuple[str, ...] = ()
    share: float = 1.0


@dataclass(frozen=True)
class WrittenBeams:
    """Questions and conversations written by hand over designs, each asked once, over one of three variants of its design.

    `designs` that the parser was trained on count `weight` a question, those it was not, `new`, `new_weight`: over these it
    errs as it does over a schema never seen. Either may be empty. Those over the demo hospital count `hospital_weight`, none
    at 0; what the parser's training held out of them stays out.
    """

    designs: tuple[str, ...] = ()
    new: tuple[str, ...] = ()
    weight: float = 1.0
    new_weight: float = 2.0
    hospital_weight: float = 0.0


@dataclass(frozen=True)
class EarlierBeams:
    """Questions and conversations written by hand that another parser, which was not trained on them, reads.

    `parser` is the folder of a bundle with the same tokenizer, one of before, say; it errs over these `designs` as over
    schemas never seen, which a parser that was trained on them does no more. `hospital_weight` as in `WrittenBeams`.
    """

    parser: str
    designs: tuple[str, ...] = ()
    weight: float = 1.0
    hospital_weight: float = 0.0


@dataclass(frozen=True)
class BeamSettings:
    """What is parsed to learn from, and what is held out: what `held_out` names, and designs called `held_out_designs`.

    `language` is that of all that is written by hand. `beam`: hypotheses of a question; of `most` of them, at least 4, is
    learnt: two right ones at most, and wrong ones.
    """

    held_out: str
    sources: tuple[BeamSource, ...] = ()
    written: WrittenBeams = field(default_factory=WrittenBeams)
    earlier: tuple[EarlierBeams, ...] = ()
    held_out_designs: tuple[str, ...] = ()
    language: str = ENGLISH
    beam: int = 8
    most: int = 6
    turns: int = 15  # of a conversation, at most


@dataclass(frozen=True)
class StepSettings:
    """Batches, rates and averaging. Rates rise to `rate`, then fall along a cosine over the run's minutes."""

    questions: int = 16  # of a batch
    rate: float = 4e-4  # of what is new
    encoder_rate: float = 8e-5  # of the encoder's layers
    final_rate: float = 0.02  # share of the peak
    warmup: float = 0.03  # share of the run
    weight_decay: float = 0.01
    clip: float = 1.0
    ema: float = 0.998
    dropout: float = 0.1
    wrong: float = 0.5  # what a question counts of whose hypotheses none is right
    after_others: float = 0.12  # how often unrelated questions stand before one
    bf16: bool = True


@dataclass(frozen=True)
class RunSettings:
    """How long the run is, and what happens how often, in minutes."""

    minutes: float = 60.0
    checkpoint: float = 2.0
    dev: float = 6.0


@dataclass(frozen=True)
class RerankerSettings:
    """A whole run. `parser` is the bundled model that parses; the reranker starts from the first `layers` of its encoder."""

    name: str
    data: BeamSettings
    parser: str = "ehr-en"
    layers: int = 4
    seed: int = 7
    optim: StepSettings = field(default_factory=StepSettings)
    run: RunSettings = field(default_factory=RunSettings)


def load_settings(path: str | Path) -> RerankerSettings:
    """Read a TOML configuration; `held_out` is looked for beside it. Raises ConfigError."""
    file = Path(path)
    settings = settings_from_dict(read_toml(file), str(file))
    held_out = str(file.parent / expand_path(settings.data.held_out))
    return replace(settings, data=replace(settings.data, held_out=held_out))


def settings_from_dict(raw: dict[str, Any], where: str = "configuration") -> RerankerSettings:
    """Settings from plain data; raises ConfigError."""
    settings = build(RerankerSettings, raw, where)
    written = settings.data.written
    learnt = {*written.designs, *written.new}.union(*(one.designs for one in settings.data.earlier))
    hospital = written.hospital_weight or any(one.hospital_weight for one in settings.data.earlier)
    if not settings.data.sources and not learnt and not hospital:
        raise ConfigError(
            "there is nothing to learn from",
            where=where,
            remedy="Name a data set in data.sources, or designs in data.written or data.earlier.",
        )
    if hospital and settings.data.language != ENGLISH:
        raise ConfigError(
            "what is written over the demo hospital is English",
            where=where,
            remedy="Set hospital_weight = 0.",
        )
    if settings.data.most < 4:
        raise ConfigError(
            f"data.most = {settings.data.most} is too few",
            where=where,
            remedy="Two right ones and two wrong are 4.",
        )
    if learnt & set(settings.data.held_out_designs):
        raise ConfigError("a design is learnt from and held out", where=where, remedy="Name it once.")
    return settings
