"""The reranker: reads a question and a program together, and says whether the one asks for the other.

A cross-encoder (Nogueira and Cho, Passage Re-ranking with BERT, 2019) over the few hypotheses of a beam, and evidence for a
parse. This room is NumPy, and `csrc/reranker/` the same in C++; `fastsql.training.reranker` trains it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastsql.lazily import lazily
from fastsql.model.header import bundled_reranker, reranker_digest

if TYPE_CHECKING:
    from fastsql.reranker.rating import Rater, open_rater

__all__ = ["Rater", "bundled_reranker", "open_rater", "reranker_digest"]

# A parser asks it over schemas never seen, and in doubt.
__getattr__ = lazily(__name__, dict.fromkeys(("Rater", "open_rater"), "rating"))
