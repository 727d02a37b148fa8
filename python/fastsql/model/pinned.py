"""SHA-256 of the manifest of every bundled model; the manifest in turn holds that of every other file.

A manifest proves that a bundle is whole, not where it comes from: whoever changes a file can write a new one. What this
version ships is known in advance, so that another bundle under one of these names is refused.

`scripts/pin_models.py` writes the table anew after a bundled model has changed.
"""

from __future__ import annotations

from collections.abc import Mapping

MANIFESTS: Mapping[str, str] = {
    "css-zh": "7468d61d85066bc0d52ac24bc27d1ce6f99e89fa4f0fe9f66909a67fd51f38f3",
    "ehr-en": "8cceb20003e01fcea090039a33b1a9a6664f1ff03ac08f3d719dd4edfe127ba9",
    "reranker-en": "f705be3134399017038f9541588091f8fe8af965f4edff0432645e047ed7db12",
    "reverse-en": "8362c0b07d12ae0022f92d333f8604e89faea739cdd9145dbb8072ac48c9c66a",
}
