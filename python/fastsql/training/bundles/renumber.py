"""A bundle for a grammar that has grown since: `python -m fastsql.training.bundles.renumber BUNDLE --output DIR`.

Rows follow the names of their productions and symbols. What the model never learned it never writes: a new production scores
far below every known one, so that old questions are answered as before. Train on from the result to teach it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import torch

from fastsql.errors import FastSQLError
from fastsql.grammar.compile import load_grammar
from fastsql.model.bundle import CARD, open_bundle
from fastsql.training.bundles.export import export_bundle, renumbered
from fastsql.training.network.model import Model

UNLEARNED = -30.0
"""Score of a production that the model never learned. Finite: where nothing else is legal, one of them has to do."""


def renumber(bundle: str | Path, output: str | Path) -> Path:
    """Writes the bundle for the grammar of today and returns its folder. Raises ModelError."""
    opened = open_bundle(Path(bundle))
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
    model.load_state_dict(renumbered(bundle, model.state_dict()))
    return export_bundle(
        model.eval(),
        opened.tokenizer(),
        output,
        name=opened.config.name,
        productions=grammar.productions,
        symbols=grammar.symbols,
        settings=opened.config.settings,
        card=(opened.path / CARD).read_text(encoding="utf-8"),
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Renumbers the bundle that the command line names; 0, or 2 where that cannot be done."""
    parser = argparse.ArgumentParser(prog="python -m fastsql.training.bundles.renumber", description=__doc__)
    parser.add_argument("bundle", type=Path, help="folder of a bundle")
    parser.add_argument("--output", type=Path, required=True, help="folder of the new one")
    options = parser.parse_args(arguments)
    try:
        path = renumber(options.bundle, options.output)
    except FastSQLError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    sys.stdout.write(f"{path}\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
