"""What can be wrong with a run is found before anything takes long: before PyTorch is imported and data are read."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastsql.errors import FastSQLError, ModelError
from fastsql.model import Bundle
from fastsql.model.bundle import TOKENIZER
from fastsql.model.weights import WORD
from fastsql.parser.bundles import open_model
from fastsql.training.config import ConfigError, TrainConfig
from fastsql.training.corpus.conversations import GIVEN, MADE
from fastsql.training.corpus.files import check_files
from fastsql.training.network.starting_encoder import encoder_sizes, find_encoder

if TYPE_CHECKING:
    from fastsql.training.corpus.corpus import Corpus

_SIZES = ("d", "heads", "ffn")
"""Sizes that every layer has; how many layers there are may differ, and there may be more heads of the same size."""
_SHOWN = 3


class TrainingError(FastSQLError):
    """A run cannot begin, or cannot go on."""


def check_ready(
    config: TrainConfig,
    warm_start: str | Path | None = None,
    fresh: Sequence[str] = (),
    *,
    files: bool = True,
) -> Bundle | None:
    """The bundle to start warm from, a bundled model's name or a folder; None without one. `files`: whether data are read.

    Raises ConfigError for a data file that is not there and for weights that nothing teaches, ModelError where the starting
    encoder or the bundle is not there or damaged, and TrainingError where the bundle's sizes or tokens are not those of the
    run: its weights would mean nothing.
    """
    if files:
        check_files(config.data)
    _check_turns(config)
    encoder = find_encoder(config.model.encoder)
    sizes = encoder_sizes(encoder)
    if not 0 <= config.model.frozen_layers <= sizes.layers:
        raise ConfigError(
            f"is {config.model.frozen_layers}; the encoder has {sizes.layers} layers",
            where="model.frozen_layers",
        )
    if warm_start is None:
        return None
    bundle = open_model(warm_start)
    found = bundle.config.model
    wanted = {name: getattr(config.model, name) for name in _SIZES}
    for name in () if found.grows_to(**wanted) else _SIZES:
        _check_size(warm_start, f"model.{name}", wanted[name], getattr(found, name))
    other_words = WORD.startswith(tuple(fresh))
    for name, size in vars(sizes).items():
        if name != "vocabulary" or not other_words:
            _check_size(warm_start, f"{name} of the encoder", size, getattr(found.encoder, name))
    if not other_words and _vocabulary(encoder / TOKENIZER) != _vocabulary(bundle.path / TOKENIZER):
        raise TrainingError(
            f"its tokens are not those of the encoder {config.model.encoder!r}",
            where=f"warm start from {str(warm_start)!r}",
            remedy="Start from the encoder that the bundle was trained from (model.encoder), or, where the words of another "
            f"language lie in the same space, with --fresh {WORD}.",
        )
    return bundle


def _check_turns(config: TrainConfig) -> None:
    """Weights for turns and sources of conversations need each other."""
    for source in config.data.sources:
        if source.conversations not in ("", GIVEN, MADE):
            raise ConfigError(
                f"must be {GIVEN!r} or {MADE!r}, not {source.conversations!r}",
                where="conversations",
                remedy="Leave it out for single questions.",
            )
        if source.longer and source.conversations != MADE:
            raise ConfigError(
                f"longer interactions are put together of conversations that are {MADE!r}",
                where="longer",
                remedy="Leave it out.",
            )
    named = any(source.conversations for source in config.data.sources)
    if config.model.turns and not named:
        raise ConfigError(
            "no source has conversations, so weights for turns would stay as they were drawn",
            where="model.turns",
            remedy="Leave it out, or name a source with `conversations`.",
        )
    if named and not config.model.turns:
        raise ConfigError(
            "a source has conversations, whose turns the model could not point at",
            where="model.turns",
            remedy="Set model.turns = true.",
        )


def check_corpus(corpus: Corpus) -> None:
    """Raises TrainingError, which says why, where there is nothing to train on."""
    if corpus.train:
        return
    held = sum(map(len, corpus.dev.values()))
    if held:
        what = f"all {held} examples that the grammar can express are held out"
        remedy = "Give more examples, or hold out less (data.dev_templates, data.dev_examples)."
    elif corpus.left_out:
        counts = Counter(corpus.left_out)
        reasons = "; ".join(f"{reason} ({count})" for reason, count in counts.most_common(_SHOWN))
        what = f"none of {counts.total()} examples can be trained on: {reasons}"
        remedy = "Check that the SQL is SQLite's and that its tables and columns are in the schemas file."
    else:
        what = "the sources hold no example with SQL that is not only reported on"
        remedy = "Check data.sources of the configuration."
    raise TrainingError(what, where="data", remedy=remedy)


def _check_size(warm_start: str | Path, name: str, own: int, found: int) -> None:
    if own != found:
        raise TrainingError(
            f"{name} is {own} in this run and {found} in the bundle",
            where=f"warm start from {str(warm_start)!r}",
            remedy="Take the bundle's sizes and encoder, such as --set model.d=256, or start without it.",
        )


def _vocabulary(path: Path) -> dict[str, Any]:
    """Tokens and their ids. Raises ModelError."""
    try:
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))["model"]["vocab"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ModelError(
            "it describes no tokenizer", where=str(path), remedy="Give another encoder."
        ) from error
    return found
