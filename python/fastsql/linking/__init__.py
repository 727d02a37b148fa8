"""Linking: what in a question stands for a value, a table or a column."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastsql.lazily import lazily

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
__getattr__ = lazily(__name__, _LAZY)
