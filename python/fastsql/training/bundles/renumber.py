"""A bundle for a grammar that has grown since.

Rows follow the names of their productions and symbols. What the model never learned it never writes: a new production scores
far below every known one, so that old questions are answered as before. Train on from the result to teach it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import torch

from fastsql.grammar.compile import load_grammar
from fastsql.model.bundle import CARD, open_bundle
from fastsql.parser.bundles import open_model
from fastsql.training.bundles.export import export_bundle
from fastsql.training.bundles.weights import bundle_weights
from fastsql.training.network.model import Model

UNLEARNED = -30.0
"""Score of a production that the model never learned. Finite: where nothing else is legal, one of them has to do."""

_BY_PRODUCTION: tuple[str, ...] = (
    "decoder.production.weight",
    "decoder.parent.weight",
    "decoder.production_scores.weight",
    "decoder.production_scores.bias",
)
_BY_SYMBOL: tuple[str, ...] = ("decoder.symbol.weight",)


def renumbered(path: str | Path, own: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """A bundle's weights in the numbering of the grammar of today: rows follow their production's or symbol's name.

    `own` are the weights of a new model, which rows of names that the bundle lacks are taken from; so are the relations of
    earlier turns, which come last, for a model that reads turns where the bundle does not. Rows behind the last production
    (none, start) keep their distance from the end.
    """
    config = open_bundle(path).config
    grammar = load_grammar()
    weights = bundle_weights(path)
    for tensors, before, now in (
        (_BY_PRODUCTION, config.productions, grammar.productions),
        (_BY_SYMBOL, config.symbols, grammar.symbols),
    ):
        old = {name: row for row, name in enumerate(before)}
        pairs = [(row, old[name]) for row, name in enumerate(now) if name in old]
        for name in tensors:
            extra = len(own[name]) - len(now)
            here = [row for row, _ in pairs] + [len(now) + row for row in range(extra)]
            there = [row for _, row in pairs] + [len(before) + row for row in range(extra)]
            moved = own[name].detach().clone().cpu()
            if moved.shape[1:] == weights[name].shape[1:]:
                moved[here] = weights[name][there]
                weights[name] = moved
    for name, known in weights.items():
        if ".relation_" in name and name in own and known.shape[1:] == own[name].shape[1:]:
            weights[name] = torch.cat([known, own[name].detach().cpu()[len(known) :]])[: len(own[name])]
    return with_callings(weights, own)


def with_callings(
    weights: dict[str, torch.Tensor], own: Mapping[str, torch.Tensor]
) -> dict[str, torch.Tensor]:
    """The weights with a row for turns that are called by their numbers, where `own` has one.

    Until it is learnt, such a turn is like any that may be pointed at.
    """
    name = "turn.usable.weight"
    if name in weights and name in own and len(weights[name]) < len(own[name]):
        weights[name] = torch.cat([weights[name], weights[name][-1:]])
    return weights


def renumber(bundle: str | Path, output: str | Path) -> Path:
    """Writes a bundled model, or the bundle in a folder, for the grammar of today and returns the new folder.

    Raises ModelError.
    """
    opened = open_model(bundle)
    grammar = load_grammar()
    config = replace(
        opened.config.model, n_productions=len(grammar.productions), n_symbols=len(grammar.symbols)
    )
    model = Model(config)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name.startswith(("decoder.production.", "decoder.parent.", "decoder.symbol.")):
                parameter.zero_()
        model.decoder.production_scores.weight.zero_()
        model.decoder.production_scores.bias.fill_(UNLEARNED)
    model.load_state_dict(renumbered(opened.path, model.state_dict()))
    weights = opened.weights()
    return export_bundle(
        model.eval(),
        opened.tokenizer(),
        output,
        name=opened.config.name,
        productions=grammar.productions,
        symbols=grammar.symbols,
        settings=opened.config.settings,
        card=(opened.path / CARD).read_text(encoding="utf-8"),
        exact=weights.shapes.keys() - weights.quantised,  # what has grown is not rounded for it
    )
