"""SHA-256 of the manifest of every bundled model; the manifest in turn holds that of every other file.

A manifest proves that a bundle is whole, not where it comes from: whoever changes a file can write a new one. What this
version ships is known in advance, so that another bundle under one of these names is refused.

`scripts/pin_models.py` writes the table anew after a bundled model has changed.
"""

from __future__ import annotations

from collections.abc import Mapping

MANIFESTS: Mapping[str, str] = {
    "css-zh": "4f353900e50b6533fb21f2db8ad5a03d4175c52c9760117f1a149f01e530ddeb",
    "ehr-en": "5b7cedc4c24e37d093f103d9dc06849c0c5e29fb255ff90c593626989e25d439",
}
