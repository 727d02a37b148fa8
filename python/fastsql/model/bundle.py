"""A model bundle: the folder that a trained model is shipped in.

    config.json          sizes, names of productions, symbols and relations, settings
    encoder.onnx         the encoder's graph; its weights lie in weights.safetensors
    weights.safetensors  all weights, once
    tokenizer.json
    manifest.json        size and SHA-256 of every other file
    README.md            model card

Nothing is executed, and nothing is allocated before sizes are checked. A file that is missing, damaged or of another
version is a ModelError that names it.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastsql.errors import ModelError
from fastsql.linking.relations import PLAIN_RELATIONS, RELATIONS
from fastsql.model.config import ModelConfig
from fastsql.model.tokenizer import Tokenizer
from fastsql.model.weights import REMEDY, WeightFile

if TYPE_CHECKING:
    from fastsql.model.encoder import Encoder
    from fastsql.model.model import Model

FORMAT_VERSION = 1
CONFIG, ENCODER, WEIGHTS, TOKENIZER, MANIFEST, CARD = (
    "config.json",
    "encoder.onnx",
    "weights.safetensors",
    "tokenizer.json",
    "manifest.json",
    "README.md",
)
LISTED = (CONFIG, ENCODER, WEIGHTS, TOKENIZER, CARD)
LARGEST = {
    CONFIG: 4 * 2**20,
    ENCODER: 2**30,
    WEIGHTS: 2**30,
    TOKENIZER: 64 * 2**20,
    MANIFEST: 2**20,
    CARD: 2**20,
}
"""Bytes that a file of a bundle may have; a larger one is not read."""


def _relations(config: ModelConfig) -> tuple[str, ...]:
    """The names of the relations that a model's graph tells apart."""
    return RELATIONS if config.turns else PLAIN_RELATIONS


@dataclass(frozen=True)
class BundleConfig:
    """What `config.json` says. `settings` is free for what a parser needs beside the weights, such as thresholds."""

    name: str
    model: ModelConfig
    productions: tuple[str, ...]
    symbols: tuple[str, ...]
    settings: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """The content of `config.json`."""
        return {
            "format_version": FORMAT_VERSION,
            "name": self.name,
            "model": self.model.to_dict(),
            "productions": list(self.productions),
            "symbols": list(self.symbols),
            "relations": list(_relations(self.model)),
            "settings": dict(self.settings),
        }


@dataclass(frozen=True)
class Bundle:
    """A folder whose files are all there and as the manifest says."""

    path: Path
    config: BundleConfig

    def tokenizer(self) -> Tokenizer:
        """The tokenizer, sure to stay within the encoder's vocabulary and positions."""
        encoder = self.config.model.encoder
        tokenizer = Tokenizer.from_file(self.path / TOKENIZER, encoder.positions - 2, encoder.vocabulary)
        if tokenizer.vocabulary > encoder.vocabulary:
            raise ModelError(
                f"it has {tokenizer.vocabulary:,} tokens, the encoder {encoder.vocabulary:,}",
                where=str(self.path / TOKENIZER),
                remedy=REMEDY,
            )
        return tokenizer

    def weights(self) -> WeightFile:
        """The weights, with names and shapes checked."""
        return WeightFile(self.path / WEIGHTS, self.config.model)

    def model(self, encoder: str = "auto", threads: int = 0) -> Model:
        """Build the model.

        Args:
            encoder: ``"onnx"`` for ONNX Runtime, ``"numpy"`` for the reference, ``"auto"`` for ONNX Runtime where it
                is installed.
            threads: of ONNX Runtime; 0 leaves it the choice.

        Raises ModelError where a file is damaged or ONNX Runtime is asked for but missing.
        """
        # The native core needs none of these.
        from fastsql.model.attention import Part
        from fastsql.model.encoder import NumpyEncoder, WordTable
        from fastsql.model.model import Model
        from fastsql.model.onnx_encoder import OnnxEncoder

        onnx = _wants_onnx(encoder)
        config, file = self.config.model, self.weights()
        weights = Part(file.read(encoder=not onnx))
        used: Encoder
        if onnx:
            used = OnnxEncoder(self.path / ENCODER, threads, config.encoder.hidden)
        else:
            used = NumpyEncoder(config.encoder, weights.at("encoder"), WordTable(*file.words()))
        return Model(config, weights, used, self.tokenizer())


def load_bundle(path: str | Path, encoder: str = "auto", threads: int = 0) -> Model:
    """Open a bundle and build its model; see `Bundle.model`."""
    return open_bundle(path).model(encoder, threads)


def open_bundle(path: str | Path, manifest_sha256: str | None = None) -> Bundle:
    """Check a bundle's files against its manifest, that against a digest if one is given, and read the configuration.

    Raises ModelError naming the file that is missing, damaged or not the expected one.
    """
    folder = Path(path)
    if not folder.is_dir():
        raise ModelError(
            "there is no such model bundle", where=str(folder), remedy="Give the folder of a bundle."
        )
    check_files(folder, LISTED, manifest_sha256)
    return Bundle(folder, _read_config(folder / CONFIG))


def check_files(folder: Path, names: Sequence[str], manifest_sha256: str | None = None) -> None:
    """Check files of a folder against its manifest, and that against a digest if one is given.

    Raises ModelError naming the file that is missing, damaged or not the expected one.
    """
    content = _read(folder / MANIFEST)
    if manifest_sha256 is not None and hashlib.sha256(content).hexdigest() != manifest_sha256:
        raise ModelError(
            f"it is not the model {folder.name!r} of this fastsql",
            where=str(folder / MANIFEST),
            remedy="Reinstall fastsql. A model of your own is loaded by the path of its folder.",
        )
    manifest = _json_object(content, folder / MANIFEST)
    _check_version(manifest, folder / MANIFEST)
    files = manifest.get("files")
    if not isinstance(files, dict):
        raise _damaged(folder / MANIFEST, "it lists no files")
    for name in names:
        _check_file(folder / name, files.get(name))


def manifest_digest(path: str | Path) -> str:
    """SHA-256 of a bundle's manifest, by which `fastsql.model.pinned` knows the bundled models."""
    return hashlib.sha256(_read(Path(path) / MANIFEST)).hexdigest()


def write_manifest(folder: Path) -> None:
    """List the bundle's other files, with size and SHA-256; the last thing to be written."""
    files = {
        name: {"bytes": (folder / name).stat().st_size, "sha256": _sha256(folder / name)} for name in LISTED
    }
    write_json(folder / MANIFEST, {"format_version": FORMAT_VERSION, "files": files})


def write_json(path: Path, content: dict[str, Any]) -> None:
    """Write JSON for people and machines."""
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _wants_onnx(encoder: str) -> bool:
    if encoder not in ("auto", "onnx", "numpy"):
        raise ModelError(f"there is no encoder {encoder!r}", remedy="Use 'auto', 'onnx' or 'numpy'.")
    installed = importlib.util.find_spec("onnxruntime") is not None
    if encoder == "onnx" and not installed:
        raise ModelError("ONNX Runtime is not installed", remedy="pip install 'fastsql[cpu]'")
    return installed and encoder != "numpy"


def _shown(value: object) -> str:
    """A value of a file that may hold anything, short enough for a message."""
    return repr(value)[:40]


def _damaged(path: Path, what: str) -> ModelError:
    return ModelError(what, where=str(path), remedy=REMEDY)


def _check_version(content: dict[str, Any], path: Path) -> None:
    version = content.get("format_version")
    if version != FORMAT_VERSION:
        raise ModelError(
            f"format version {_shown(version)} is not the {FORMAT_VERSION} that this fastsql reads",
            where=str(path),
            remedy="Install the fastsql version that the bundle was made for, or train it again.",
        )


def _check_file(path: Path, listed: object) -> None:
    if not isinstance(listed, dict):
        raise _damaged(path.parent / MANIFEST, f"{path.name} is not listed")
    size = _size(path)
    if size != listed.get("bytes"):
        raise _damaged(path, f"it has {size:,} bytes, not the {_shown(listed.get('bytes'))} of the manifest")
    if _sha256(path) != listed.get("sha256"):
        raise _damaged(path, "its SHA-256 is not that of the manifest")


def _size(path: Path) -> int:
    """Bytes of a file that is there and not larger than a bundle's may be."""
    if not path.is_file():
        raise _damaged(path, "the file is missing")
    size = path.stat().st_size
    if size > LARGEST[path.name]:
        raise _damaged(path, f"its {size:,} bytes are more than a bundle's {LARGEST[path.name]:,}")
    return size


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(2**20):
            digest.update(block)
    return digest.hexdigest()


def _read(path: Path) -> bytes:
    _size(path)
    try:
        return path.read_bytes()
    except OSError as error:
        raise _damaged(path, "it cannot be read") from error


def _json_object(content: bytes, path: Path) -> dict[str, Any]:
    try:
        found = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise _damaged(path, "it is not JSON") from error
    if not isinstance(found, dict):
        raise _damaged(path, "it is not a JSON object")
    return found


def _read_config(path: Path) -> BundleConfig:
    content = _json_object(_read(path), path)
    _check_version(content, path)
    model, name = content.get("model"), content.get("name")
    productions, symbols = _names(content, "productions", path), _names(content, "symbols", path)
    settings = content.get("settings")
    if not isinstance(model, dict) or not isinstance(name, str) or not isinstance(settings, dict):
        raise _damaged(path, "'name', 'model' or 'settings' is missing")
    try:
        config = ModelConfig.from_dict(model)
    except ModelError as error:
        raise _damaged(path, error.what) from error
    if content.get("relations") != list(_relations(config)):
        raise ModelError(
            "its relations are not those of this fastsql",
            where=str(path),
            remedy="Install the fastsql version that the bundle was made for, or train it again.",
        )
    if (len(productions), len(symbols), len(_relations(config))) != (
        config.n_productions,
        config.n_symbols,
        config.relations,
    ):
        raise _damaged(path, "the counts of productions, symbols and relations contradict their names")
    return BundleConfig(name, config, productions, symbols, settings)


def _names(content: dict[str, Any], key: str, path: Path) -> tuple[str, ...]:
    names = content.get(key)
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise _damaged(path, f"'{key}' is not a list of names")
    return tuple(names)
