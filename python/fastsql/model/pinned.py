"""SHA-256 of the manifest of every bundled model; the manifest in turn holds that of every other file.

A manifest proves that a bundle is whole, not where it comes from: whoever changes a file can write a new one. What this
version ships is known in advance, so that another bundle under one of these names is refused.

`scripts/pin_models.py` writes the table anew after a bundled model has changed.
"""

from __future__ import annotations

from collections.abc import Mapping

MANIFESTS: Mapping[str, str] = {
    "ehr-en": "bcc02c642fa98d703219c0601bd27658963da2a164783a4b9e2d38cf6fc67bd1",
}
