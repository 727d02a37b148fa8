"""SHA-256 of the manifest of every bundled model; the manifest in turn holds that of every other file.

A manifest proves that a bundle is whole, not where it comes from: whoever changes a file can write a new one. What this
version ships is known in advance, so that another bundle under one of these names is refused.

`scripts/pin_models.py` writes the table anew after a bundled model has changed.
"""

from __future__ import annotations

from collections.abc import Mapping

MANIFESTS: Mapping[str, str] = {
    "ehr-en": "e2efc7be7cb8210a8e10d5140eb33ffca0de58d14301a0b4ca41e1ac3b5fbe76",
}
