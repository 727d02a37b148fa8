"""Hospital-like schemas of our own making: designs, and the many schemas that each becomes under other names.

files/*.design --read_design--> Design --draw_variant--> Variant: schema, what its things are called, what fills it
"""

from __future__ import annotations

from fastsql.synthesis.designs.model import Design, DesignError
from fastsql.synthesis.designs.reading import designs, read_design
from fastsql.synthesis.designs.variant import Variant, as_designed, draw_variant

__all__ = ["Design", "DesignError", "Variant", "as_designed", "designs", "draw_variant", "read_design"]
