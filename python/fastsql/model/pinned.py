"""SHA-256 of the manifest of every bundled model; the manifest in turn holds that of every other file.

A manifest proves that a bundle is whole, not where it comes from: whoever changes a file can write a new one. What this
version ships is known in advance, so that another bundle under one of these names is refused.

`scripts/pin_models.py` writes the table anew after a bundled model has changed.
"""

from __future__ import annotations

from collections.abc import Mapping

MANIFESTS: Mapping[str, str] = {
    "css-zh": "504731469f1b6a88644b934aa9e556651db273b78280b15ba087c7019f9183f5",
    "ehr-en": "17bf8f0d5576e6597d9e5bc7dfc299c32624bfcc23a9e0221c6df249c62b8440",
    "reranker-en": "f705be3134399017038f9541588091f8fe8af965f4edff0432645e047ed7db12",
    "reverse-en": "8362c0b07d12ae0022f92d333f8604e89faea739cdd9145dbb8072ac48c9c66a",
}
