"""Linking: what in a question stands for a value, a table or a column."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fastsql.linking.candidate import Candidate
    from fastsql.linking.candidates import CANDIDATE_LIMIT, find_candidates
    from fastsql.linking.dictionary import ValueDictionary
    from fastsql.linking.gold import GoldItems, GoldLiteral, column_literals, gold_items, gold_literals
    from fastsql.linking.near import Near
    from fastsql.linking.recall import LiteralRecall, explain_literal, literal_recall
    from fastsql.linking.selection import SchemaSelector, Selection
    from fastsql.linking.standing import standing_values

__all__ = [
    "CANDIDATE_LIMIT",
    "Candidate",
    "GoldItems",
    "GoldLiteral",
    "LiteralRecall",
    "Near",
    "SchemaSelector",
    "Selection",
    "ValueDictionary",
    "column_literals",
    "explain_literal",
    "find_candidates",
    "gold_items",
    "gold_literals",
    "literal_recall",
    "standing_values",
]

# A cold process has half a second, and who wants one file of this room does not want all: each is imported when asked for.
_LAZY = {
    "Candidate": "candidate",
    **dict.fromkeys(("CANDIDATE_LIMIT", "find_candidates"), "candidates"),
    "ValueDictionary": "dictionary",
    "Near": "near",
    **dict.fromkeys(("GoldItems", "GoldLiteral", "column_literals", "gold_items", "gold_literals"), "gold"),
    **dict.fromkeys(("LiteralRecall", "explain_literal", "literal_recall"), "recall"),
    **dict.fromkeys(("SchemaSelector", "Selection"), "selection"),
    "standing_values": "standing",
}


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(importlib.import_module(f"fastsql.linking.{_LAZY[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
