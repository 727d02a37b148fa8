"""From a checkpoint to a bundle, also while a run goes on."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fastsql.errors import FastSQLError
from fastsql.model import ModelConfig, load_bundle
from fastsql.model.tokenizer import Tokenizer
from fastsql.training.batches.batch import Instance
from fastsql.training.bundles.export import Agreement, compare, export_bundle, load_trained
from fastsql.training.bundles.search_agreement import SearchAgreement, compare_searches
from fastsql.training.corpus.corpus import Domain
from fastsql.training.network.model import Model
from fastsql.training.runs.checkpoint import load_checkpoint


def export_checkpoint(checkpoint: str | Path, folder: str | Path, card: str = "") -> Path:
    """Writes the averaged weights of a checkpoint as a bundle, with lexicon and constants in its settings.

    Raises CheckpointError.
    """
    state = load_checkpoint(Path(checkpoint))
    model = Model(ModelConfig.from_dict(state["model_config"]))
    model.load_state_dict(state["ema"])
    return export_bundle(
        model.eval(),
        Tokenizer(state["tokenizer"]),
        folder,
        name=state["config"]["name"],
        productions=state["grammar"]["productions"],
        symbols=state["grammar"]["symbols"],
        settings=_settings(state),
        card=card,
    )


def _settings(state: dict[str, Any]) -> dict[str, Any]:
    position, best = state["position"], state["best"]
    return {
        "lexicon": state["lexicon"],  # [table, column, values]
        "constants": state["constants"],  # [name, value, label]
        "candidates": state["config"]["data"]["candidates"],
        "training": {
            "seed": state["config"]["seed"],
            "epochs": round(position["epoch"] + position["batch"] / position["batches"], 2),
            "steps": position["step"],
            "minutes": round(position["seconds"] / 60, 1),
            "dev": best,
        },
    }


def check_bundle(
    bundle: str | Path, domain: Domain, instances: Sequence[Instance], searches: int
) -> tuple[Agreement, SearchAgreement]:
    """Compares the reference pipeline, run from the bundle, with the torch model that has the bundle's weights.

    First decision by decision along gold, then by what their beam searches find on their own for the first `searches`.
    """
    reference, trained = load_bundle(bundle), load_trained(bundle)
    state = reference.encode_schema(domain.schema)
    questions = [instance.prepared for instance in instances[:searches]]
    return (
        compare(trained, reference, state, instances),
        compare_searches(trained, reference, domain.schema, state, questions),
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Exports the checkpoint that the command line names; 0, or 2 where that cannot be done."""
    parser = argparse.ArgumentParser(prog="python -m fastsql.training.runs.finish", description=__doc__)
    parser.add_argument("checkpoint", type=Path, help="last.pt or best.pt of a run")
    parser.add_argument("--output", type=Path, required=True, help="folder of the bundle")
    options = parser.parse_args(arguments)
    try:
        path = export_checkpoint(options.checkpoint, options.output)
    except FastSQLError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    sys.stdout.write(f"{path}\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
