"""The reverse model: a program to questions, and how likely a question is where a program is meant.

It makes wordings for synthetic pairs (ScienceBenchmark, Zhang et al., VLDB 2023, section 3.3.3) and evidence for a parse.
This room is NumPy, and `csrc/reverse/` the same likelihood in C++; `fastsql.training.reverse` trains it.
"""

from __future__ import annotations

from fastsql.reverse.likelihood import Likelihood, open_likelihood
from fastsql.reverse.model import ReverseModel, SchemaReverse
from fastsql.reverse.weights import bundled_reverse, count_weights, load_reverse, reverse_digest

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
