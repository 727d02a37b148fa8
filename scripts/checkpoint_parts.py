"""A checkpoint in parts that travel: what `fastsql export` needs of it, in half precision and without what no run changes.

    python scripts/checkpoint_parts.py split runs/wide/best.pt parts/ --mib 15
    python scripts/checkpoint_parts.py join parts/ runs/wide/best.pt --words ehr-en

A run on a machine that is only lent leaves some hundred megabytes, of which a fifth has to come back. Averaged
weights in float16 are off by 0.0005 of their size at most, a tenth of what int8 takes from them in a bundle. The words of
the encoder, a third of all weights, stay behind where they are frozen: they are the bundle's that the run started from.
"""

from __future__ import annotations

import argparse
import io
import sys
from pathlib import Path

from fastsql.model.weights import WORD
from fastsql.parser.bundles import open_model

_PART = "part"


def split(checkpoint: Path, folder: Path, mib: int) -> list[Path]:
    """Writes the parts, in place of earlier ones, and returns them."""
    import torch

    from fastsql.training.runs.checkpoint import exportable, load_checkpoint

    state = exportable(load_checkpoint(checkpoint))
    model = state["config"]["model"]
    frozen = {WORD} if model["freeze_words"] or model["frozen_layers"] else set()
    state["ema"] = {name: weight.half() for name, weight in state["ema"].items() if name not in frozen}
    buffer = io.BytesIO()
    torch.save(state, buffer)
    content = buffer.getvalue()
    folder.mkdir(parents=True, exist_ok=True)
    for earlier in _parts(folder):
        earlier.unlink()
    size = mib * 2**20
    parts = []
    for number, start in enumerate(range(0, len(content), size)):
        part = folder / f"{_PART}{number:03}"
        part.write_bytes(content[start : start + size])
        parts.append(part)
    return parts


def join(folder: Path, checkpoint: Path, words: str) -> None:
    """Puts the parts together; words that stayed behind are those of a bundled model or of a bundle's folder.

    Raises CheckpointError where a part is missing or the bundle has other words, and ModelError.
    """
    import torch

    from fastsql.training.bundles.weights import bundle_weights
    from fastsql.training.runs.checkpoint import CheckpointError, save_checkpoint

    content = b"".join(part.read_bytes() for part in _parts(folder))
    try:
        state = torch.load(io.BytesIO(content), map_location="cpu", weights_only=True)
    except Exception as error:  # torch raises many kinds for what is not whole
        raise CheckpointError(
            f"its parts make no checkpoint ({type(error).__name__})",
            where=str(folder),
            remedy="Fetch all parts.",
        ) from error
    weights = {name: weight.float() for name, weight in state["ema"].items()}
    if WORD not in weights:
        bundle = open_model(words)
        if bundle.tokenizer().json_text != state["tokenizer"]:
            raise CheckpointError(
                "has other words than the run",
                where=str(bundle.path),
                remedy="Give what the run started from.",
            )
        weights[WORD] = bundle_weights(bundle.path)[WORD]
    state["ema"] = weights
    checkpoint.parent.mkdir(parents=True, exist_ok=True)
    save_checkpoint(checkpoint, state)


def _parts(folder: Path) -> list[Path]:
    return sorted(folder.glob(f"{_PART}[0-9]*"))


def main(arguments: list[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    parts = commands.add_parser("split", help="write parts")
    parts.add_argument("checkpoint", type=Path)
    parts.add_argument("folder", type=Path)
    parts.add_argument("--mib", type=int, default=15, help="of each part (default: %(default)s)")
    whole = commands.add_parser("join", help="put parts together")
    whole.add_argument("folder", type=Path)
    whole.add_argument("checkpoint", type=Path)
    whole.add_argument("--words", default="ehr-en", help="whose words they are (default: %(default)s)")
    options = parser.parse_args(arguments)
    if options.command == "split":
        for part in split(options.checkpoint, options.folder, options.mib):
            sys.stdout.write(f"{part}  {part.stat().st_size / 2**20:.1f} MiB\n")
    else:
        join(options.folder, options.checkpoint, options.words)
    return 0


if __name__ == "__main__":
    sys.exit(main())
