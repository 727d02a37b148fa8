#!/usr/bin/env python3
"""Write the digests of the bundled models' manifests into python/fastsql/model/pinned.py.

    python scripts/pin_models.py             # after a bundled model was trained, calibrated or described anew
    python scripts/pin_models.py --check     # fails where a digest is not that of the manifest

Needs no package. The manifests of the reverse model and the reranker are written first. Every file of a model is compared
with its manifest: one that its own files contradict is not pinned.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MODELS = ROOT / "python" / "fastsql" / "models"
TABLE = ROOT / "python" / "fastsql" / "model" / "pinned.py"
_ENTRIES = re.compile(r"(MANIFESTS: Mapping\[str, str\] = \{\n).*?(\})", re.DOTALL)


def manifest_digests(models: Path) -> dict[str, str]:
    """SHA-256 of every bundle's manifest, by name; SystemExit names a file that its manifest contradicts."""
    digests = {}
    for manifest in sorted(models.glob("*/manifest.json")):
        content = manifest.read_bytes()
        for name, listed in json.loads(content)["files"].items():
            if _sha256((manifest.parent / name).read_bytes()) != listed["sha256"]:
                raise SystemExit(f"{manifest.parent / name} is not what its manifest says")
        digests[manifest.parent.name] = _sha256(content)
    return digests


def sign_single(folder: Path) -> None:
    """Write the manifest of a model in one file, which is no bundle: nothing else does."""
    files = {}
    for name in ("weights.safetensors", "README.md"):
        content = (folder / name).read_bytes()
        files[name] = {"bytes": len(content), "sha256": _sha256(content)}
    text = json.dumps({"format_version": 1, "files": files}, indent=1)
    (folder / "manifest.json").write_text(f"{text}\n", encoding="utf-8")


def with_digests(source: str, digests: dict[str, str]) -> str:
    """The text of pinned.py with these digests in its table."""
    entries = "".join(f'    "{name}": "{digest}",\n' for name, digest in digests.items())
    changed, count = _ENTRIES.subn(lambda found: found[1] + entries + found[2], source)
    if count != 1:
        raise SystemExit(f"{TABLE} has no table MANIFESTS")
    return changed


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def main() -> int:
    """Write or check the table."""
    parser = argparse.ArgumentParser(description="Pin the bundled models by the SHA-256 of their manifests.")
    parser.add_argument(
        "--check", action="store_true", help="change nothing; fail where the table is not of today"
    )
    options = parser.parse_args()
    if not options.check:
        for weights in MODELS.glob("*/weights.safetensors"):
            if not (weights.parent / "config.json").exists():  # no bundle, which exporting signs
                sign_single(weights.parent)
    before = TABLE.read_text(encoding="utf-8")
    after = with_digests(before, manifest_digests(MODELS))
    if before == after:
        return 0
    if options.check:
        sys.stderr.write("The pinned digests are stale. Run: python scripts/pin_models.py\n")
        return 1
    TABLE.write_text(after, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
