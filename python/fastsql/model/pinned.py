"""SHA-256 of the manifest of every bundled model; the manifest in turn holds that of every other file.

A manifest proves that a bundle is whole, not where it comes from: whoever changes a file can write a new one. What this
version ships is known in advance, so that another bundle under one of these names is refused.

`scripts/pin_models.py` writes the table anew after a bundled model has changed.
"""

from __future__ import annotations

from collections.abc import Mapping

MANIFESTS: Mapping[str, str] = {
    "css-zh": "4f353900e50b6533fb21f2db8ad5a03d4175c52c9760117f1a149f01e530ddeb",
    "ehr-en": "46c6f82b0f0f6cee39e3cbf876e8ba437720153ac7fd5ac1117e11ea43fa2700",
    "reverse-en": "8362c0b07d12ae0022f92d333f8604e89faea739cdd9145dbb8072ac48c9c66a",
}
