"""Draws the pictures of docs/how-it-works.md from one real parse of the bundled model.

    python docs/images/make.py [FOLDER]

Run it after a change to the bundled model, the grammar or the linking; `tests/test_pictures.py` says when that is due.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from drawings import PICTURES
from parses import parse

from fastsql.parser import BUNDLED

HERE = Path(__file__).parent


def weights() -> str:
    """The beginning of the SHA-256 of the bundled model's weights."""
    manifest = json.loads((BUNDLED / "ehr-en" / "manifest.json").read_text(encoding="utf-8"))
    return str(manifest["files"]["weights.safetensors"]["sha256"])[:12]


def main(folder: Path) -> None:
    """Write every picture into `folder`."""
    stamp = f"<!-- python docs/images/make.py; ehr-en, weights {weights()} -->\n"
    with tempfile.TemporaryDirectory(prefix="fastsql-") as place:
        found = parse(Path(place))
        for name, draw in PICTURES.items():
            (folder / f"{name}.svg").write_text(draw(found) + stamp, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)
