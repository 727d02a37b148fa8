"""Schema extension (CSS, ACL 2023, section 3.5): relation tables, merged and split tables, with their rows and queries."""

from __future__ import annotations

from fastsql.synthesis.extension.extend import OPERATIONS, Extension, extend, extend_at, find_sites, variants
from fastsql.synthesis.extension.pairs import CarriedPair, DroppedPair

__all__ = [
    "OPERATIONS",
    "CarriedPair",
    "DroppedPair",
    "Extension",
    "extend",
    "extend_at",
    "find_sites",
    "variants",
]
