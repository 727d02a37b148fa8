"""The folder of a starting encoder that reads Chinese: an English one's layers, and words placed by their glosses."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import resources
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer as Backend
from tokenizers import models, normalizers, pre_tokenizers

from fastsql.errors import ModelError
from fastsql.model.tokenizer import Tokenizer
from fastsql.schema import Schema
from fastsql.training.network.pretrained import load_pretrained
from fastsql.training.network.starting_encoder import CONFIG, DEFAULT, TOKENIZER, WEIGHTS, find_encoder
from fastsql.training.words.glosses import read_glosses
from fastsql.training.words.placing import Placed, first_rows, place
from fastsql.training.words.vocabulary import SPECIAL, choose_tokens

logger = logging.getLogger(__name__)

_WORDS = "embeddings.word_embeddings.weight"
_LONGEST_PAIR = 10
"""Characters of a word that the word space is trained on."""


def write_chinese_encoder(
    folder: str | Path,
    texts: Iterable[str],
    bilingual: Sequence[tuple[str, str]] = (),
    *,
    english: str | Path = DEFAULT,
    size: int = 8500,
    steps: int = 3000,
    note: Callable[[str], None] = logger.info,
) -> Placed:
    """Write `config.json`, `model.safetensors` and `tokenizer.json`, as `fastsql.training.network.pretrained` reads them.

    Args:
        folder: made if need be.
        texts: what the vocabulary is chosen by: questions and labels.
        bilingual: further pairs of a text and its English, such as labels of schemas in both languages.
        english: the encoder whose layers and word space are taken.
        size: tokens at most.
        steps: of 256 pairs each.
        note: told of what was done.
    """
    pretrained = load_pretrained(english)
    glosses = {**read_glosses(), **_own_glosses()}
    frequencies = _frequencies()
    latin = _latin_pieces(pretrained.tokenizer)
    texts = list(texts)
    tokens = choose_tokens(texts, glosses.keys(), frequencies, latin, size)
    tokenizer = Tokenizer(_tokenizer_json(tokens), pretrained.tokenizer.max_tokens)
    rows = first_rows(tokens, glosses, pretrained)
    pairs = [
        (word, meanings[0])
        for word, meanings in glosses.items()
        if len(word) <= _LONGEST_PAIR and word in frequencies
    ]
    note(f"{len(tokens)} tokens; {len(pairs)} glosses and {len(bilingual)} pairs of labels to place them by")
    placed = place(rows, tokenizer, pretrained, [*pairs, *bilingual], steps=steps)
    note(f"pairs kept apart: mean cosine {placed.before:.3f} -> {placed.after:.3f}")
    _write(Path(folder), tokens, tokenizer, placed.rows, find_encoder(english))
    return placed


def label_pairs(foreign: Mapping[str, Schema], english: Mapping[str, Schema]) -> list[tuple[str, str]]:
    """Labels of tables and columns with their English, of databases that both have in one shape."""
    pairs = []
    for db_id, schema in foreign.items():
        other = english.get(db_id)
        if other is None or _shape(schema) != _shape(other):
            continue
        pairs += [(a.label, b.label) for a, b in zip(schema.tables, other.tables, strict=True)]
        pairs += [(a.label, b.label) for a, b in zip(schema.columns, other.columns, strict=True)]
    return [(one, other) for one, other in dict.fromkeys(pairs) if not one.isascii() and other.isascii()]


def _shape(schema: Schema) -> list[int]:
    return [column.table for column in schema.columns]


def _own_glosses() -> dict[str, tuple[str, ...]]:
    text = resources.files(__package__).joinpath("own_glosses.txt").read_text(encoding="utf-8")
    lines = (line.split("\t") for line in text.splitlines() if line and not line.startswith("#"))
    return {word: (gloss,) for word, gloss in lines}


def _frequencies() -> dict[str, int]:
    """How often Chinese text has a word, by the list of the package `jieba` (MIT)."""
    try:
        import jieba
    except ImportError as error:
        raise ModelError(
            "the list of words by frequency is not installed",
            where="jieba",
            remedy="pip install 'fastsql[chinese]'",
        ) from error
    with jieba.get_dict_file() as file:
        lines = file.read().decode("utf-8").splitlines()
    return {parts[0]: int(parts[1]) for parts in map(str.split, lines)}


def _latin_pieces(tokenizer: Tokenizer) -> list[str]:
    """Words in Latin letters and digits, as the vocabulary lists them: the more frequent ones first."""
    vocabulary: dict[str, int] = json.loads(tokenizer.json_text)["model"]["vocab"]
    return [
        word for word in sorted(vocabulary, key=vocabulary.__getitem__) if word.isascii() and word.isalnum()
    ]


def _tokenizer_json(tokens: Sequence[str]) -> str:
    backend = Backend(
        models.WordPiece(
            {token: number for number, token in enumerate(tokens)},
            unk_token="[UNK]",  # noqa: S106
            continuing_subword_prefix="",
        )
    )
    backend.normalizer = normalizers.BertNormalizer(handle_chinese_chars=False)
    backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    backend.add_special_tokens(list(SPECIAL))
    return backend.to_str()


def _write(
    folder: Path, tokens: Sequence[str], tokenizer: Tokenizer, rows: torch.Tensor, english: Path
) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    settings = json.loads((english / CONFIG).read_text(encoding="utf-8"))
    settings["vocab_size"] = len(tokens)
    (folder / CONFIG).write_text(json.dumps(settings, indent=1) + "\n", encoding="utf-8")
    (folder / TOKENIZER).write_text(tokenizer.json_text, encoding="utf-8")
    save_file({**load_file(english / WEIGHTS), _WORDS: rows.contiguous()}, folder / WEIGHTS)
