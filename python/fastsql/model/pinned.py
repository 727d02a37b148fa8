"""SHA-256 of the manifest of every bundled model; the manifest in turn holds that of every other file.

A manifest proves that a bundle is whole, not where it comes from: whoever changes a file can write a new one. What this
version ships is known in advance, so that another bundle under one of these names is refused.

`scripts/pin_models.py` writes the table anew after a bundled model has changed.
"""

from __future__ import annotations

from collections.abc import Mapping

MANIFESTS: Mapping[str, str] = {
    "css-zh": "6f991af456ce0075f706a615b384b687d375166f206dcaadd7928564295a9574",
    "ehr-en": "f7b157793c01d24dd8f39ec4ca7b3b59a2173f2e2fa997157cca21bd68d8448d",
}
