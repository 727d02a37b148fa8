"""The configuration of a reverse model's training, read from TOML."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fastsql.training.config import ConfigError, WrittenSettings, build, expand_path, read_toml


@dataclass(frozen=True)
class PairSource:
    """One data set: questions with SQL, and the schemas that they are asked of.

    `style`: the name of its way to ask, which the model is told. `weight`: how often an epoch shows each pair, on average.
    `profile`: what people have written about its schema, as in a parser's training.
    Of conversations, only first turns are read: later ones do not say what they mean by themselves.
    """

    examples: str
    schemas: str
    style: str
    weight: float = 1.0
    profile: str = ""


@dataclass(frozen=True)
class PairSettings:
    """What is learnt from, and what is held out: the pairs, templates and databases of `held_out`, equal questions of
    `report`, and all databases that are reported on. `written` are questions written by hand over designs, as in a parser's
    training, whose style is "asked".
    """

    sources: tuple[PairSource, ...]
    held_out: str
    report: tuple[str, ...] = ()
    written: WrittenSettings = field(default_factory=WrittenSettings)
    longest_source: int = 144  # tokens; longer pairs are left out
    longest_question: int = 56
    least: int = 3  # how often a piece must be asked with, uncopied, before it can be written without copying


@dataclass(frozen=True)
class SizeSettings:
    """Sizes of the network (`fastsql.reverse.config`)."""

    words: int = 192
    d: int = 256
    heads: int = 4
    ffn: int = 768
    encoder_layers: int = 3
    decoder_layers: int = 2
    dropout: float = 0.1


@dataclass(frozen=True)
class StepSettings:
    """Batches, rates and averaging. The rate rises to `rate`, then falls along a cosine over the run's minutes."""

    tokens: int = 1400  # of sources and questions in a batch, padding counted
    rate: float = 1e-3
    final_rate: float = 0.02  # share of the peak
    warmup: float = 0.04  # share of the run
    weight_decay: float = 0.01
    clip: float = 1.0
    ema: float = 0.998
    no_style: float = 0.25  # how often a pair's style is not told
    synonyms: float = 0.5  # how often names are drawn among labels and synonyms


@dataclass(frozen=True)
class RunSettings:
    """How long the run is, and what happens how often, in minutes."""

    minutes: float = 60.0
    checkpoint: float = 2.0
    dev: float = 6.0
    dev_pairs: int = 400


@dataclass(frozen=True)
class ReverseSettings:
    """A whole run; `words_from` is the bundled model whose tokenizer and word embeddings are taken."""

    name: str
    data: PairSettings
    words_from: str = "ehr-en"
    seed: int = 7
    model: SizeSettings = field(default_factory=SizeSettings)
    optim: StepSettings = field(default_factory=StepSettings)
    run: RunSettings = field(default_factory=RunSettings)


def load_settings(path: str | Path) -> ReverseSettings:
    """Read a TOML configuration; `held_out` is looked for beside it. Raises ConfigError."""
    file = Path(path)
    settings = settings_from_dict(read_toml(file), str(file))
    held_out = str(file.parent / expand_path(settings.data.held_out))
    return _replace_held_out(settings, held_out)


def settings_from_dict(raw: dict[str, Any], where: str = "configuration") -> ReverseSettings:
    """Settings from plain data; raises ConfigError."""
    settings = build(ReverseSettings, raw, where)
    if not settings.data.sources:
        raise ConfigError("data.sources is empty", where=where, remedy="Name at least one data set.")
    return settings


def _replace_held_out(settings: ReverseSettings, held_out: str) -> ReverseSettings:
    from dataclasses import replace

    return replace(settings, data=replace(settings.data, held_out=held_out))
