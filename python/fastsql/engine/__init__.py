"""The model's part of a parse, one behaviour at several speeds: `reference` in NumPy, `native` in C++, `cuda` on a GPU.

`gathering` makes one batch of what concurrent callers ask of the GPU.
"""

from __future__ import annotations

from fastsql.engine.base import Decoded, Encoded, Engine
from fastsql.engine.open import open_engine

__all__ = ["Decoded", "Encoded", "Engine", "open_engine"]
