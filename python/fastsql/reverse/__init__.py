"""The reverse model: a program to questions, and how likely a question is where a program is meant.

It makes wordings for synthetic pairs (ScienceBenchmark, Zhang et al., VLDB 2023, section 3.3.3) and evidence for a parse.
This room is NumPy, and `csrc/reverse/` the same likelihood in C++; `fastsql.training.reverse` trains it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastsql.lazily import lazily
from fastsql.model.header import bundled_reverse, reverse_digest

if TYPE_CHECKING:
    from fastsql.reverse.likelihood import Likelihood, open_likelihood
    from fastsql.reverse.model import ReverseModel, SchemaReverse
    from fastsql.reverse.weights import count_weights, load_reverse

__all__ = [
    "Likelihood",
    "ReverseModel",
    "SchemaReverse",
    "bundled_reverse",
    "count_weights",
    "load_reverse",
    "open_likelihood",
    "reverse_digest",
]

# A parser asks it over schemas never seen, and in doubt, and then for likelihoods: the rest is imported when asked for.
_LAZY = {
    **dict.fromkeys(("Likelihood", "open_likelihood"), "likelihood"),
    **dict.fromkeys(("ReverseModel", "SchemaReverse"), "model"),
    **dict.fromkeys(("count_weights", "load_reverse"), "weights"),
}
__getattr__ = lazily(__name__, _LAZY)
