"""Starting weights for the encoder: a BERT checkpoint in safetensors, such as MiniLM-L6."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors.torch import load_file

from fastsql.grammar.compile import load_grammar
from fastsql.model.bundle import open_bundle
from fastsql.model.config import EncoderConfig, ModelConfig
from fastsql.model.tokenizer import Tokenizer
from fastsql.training.bundles.weights import bundle_weights
from fastsql.training.config import TrainConfig
from fastsql.training.network.starting_encoder import (
    DEFAULT,
    TOKENIZER,
    WEIGHTS,
    encoder_sizes,
    find_encoder,
    is_bundle,
)


@dataclass(frozen=True, eq=False)
class Pretrained:
    """An encoder to start from; `weights` carry the names that `network.encoder.Encoder` uses."""

    config: EncoderConfig
    weights: dict[str, torch.Tensor]
    tokenizer: Tokenizer


def load_pretrained(source: str | Path = DEFAULT) -> Pretrained:
    """Read an encoder from an installed package's `model` folder, from a folder, or from a bundle's.

    The folder holds `config.json`, `model.safetensors` and `tokenizer.json` of a Hugging Face BERT model, or a bundle, whose
    weights come as they are once they have been rounded.
    """
    folder = find_encoder(source)
    config = encoder_sizes(folder)
    if is_bundle(folder):
        prefix = "encoder."
        weights = {
            name.removeprefix(prefix): weight
            for name, weight in bundle_weights(folder).items()
            if name.startswith(prefix)
        }
        return Pretrained(config, weights, open_bundle(folder).tokenizer())
    weights = _rename(load_file(folder / WEIGHTS), config.layers)
    return Pretrained(config, weights, Tokenizer.from_file(folder / TOKENIZER, config.positions - 2))


def model_config(config: TrainConfig, pretrained: Pretrained) -> ModelConfig:
    """The model's sizes: from the settings, the grammar, and the encoder that it starts from."""
    grammar, model = load_grammar(), config.model
    sizes = ModelConfig(
        n_productions=len(grammar.productions),
        n_symbols=len(grammar.symbols),
        d=model.d,
        heads=model.heads,
        ffn=model.ffn,
        cached_layers=model.cached_layers,
        joint_layers=model.joint_layers,
        decoder_layers=model.decoder_layers,
        dropout=model.dropout,
        encoder_dropout=model.encoder_dropout,
        turn_values=model.turns and model.turn_values,
        spelled_names=model.spelled_names,
        whole_keys=True,
        graph=model.graph,
        edge_d=model.edge_d,
        encoder=pretrained.config,
    )
    return sizes.with_turns() if model.turns else sizes


def _rename(source: dict[str, torch.Tensor], layers: int) -> dict[str, torch.Tensor]:
    """BERT's names to ours: query, key and value become one matrix, the token type joins the position."""
    weights = {
        "word.weight": source["embeddings.word_embeddings.weight"],
        "position.weight": source["embeddings.position_embeddings.weight"]
        + source["embeddings.token_type_embeddings.weight"][0],
        "norm.weight": source["embeddings.LayerNorm.weight"],
        "norm.bias": source["embeddings.LayerNorm.bias"],
    }
    parts = {
        "out": "attention.output.dense",
        "attention_norm": "attention.output.LayerNorm",
        "ffn_in": "intermediate.dense",
        "ffn_out": "output.dense",
        "ffn_norm": "output.LayerNorm",
    }
    for layer in range(layers):
        theirs, ours = f"encoder.layer.{layer}.", f"layers.{layer}."
        for kind in ("weight", "bias"):
            weights[f"{ours}qkv.{kind}"] = torch.cat(
                [source[f"{theirs}attention.self.{part}.{kind}"] for part in ("query", "key", "value")]
            )
            for own_name, their_name in parts.items():
                weights[f"{ours}{own_name}.{kind}"] = source[f"{theirs}{their_name}.{kind}"]
    return {name: tensor.float() for name, tensor in weights.items()}
