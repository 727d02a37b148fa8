"""Types of the native module; the C++ sources are in ``csrc/``."""

import numpy as np
from numpy.typing import NDArray

__version__: str
compiler: str

def instruction_sets() -> tuple[str, ...]:
    """Kernels that this build and this processor can run, slowest first; the last one is used."""

def relation_attention(
    query: NDArray[np.float32],
    key: NDArray[np.float32],
    value: NDArray[np.float32],
    relation_key: NDArray[np.float32],
    relation_value: NDArray[np.float32],
    relations: NDArray[np.uint8],
) -> NDArray[np.float32]:
    """Relation-aware multi-head attention in factored form (RAT-SQL, section 4.2).

    Arrays that are not contiguous are copied. Runs on the calling thread without holding the interpreter's lock.

    Args:
        query: float32[heads, rows, head size], not yet scaled by 1 / sqrt(head size).
        key: float32[heads, columns, head size].
        value: float32[heads, columns, head size].
        relation_key: float32[relations, head size], shared by the heads; at most 256 relations.
        relation_value: float32[relations, head size].
        relations: uint8[rows, columns], each below the number of relations.

    Returns:
        float32[heads, rows, head size].

    Raises:
        ModelError: shapes disagree, or a relation is out of range.
        TypeError: an array has another element type.
    """
