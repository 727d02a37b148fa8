"""Linking: what in a question stands for a value, a table or a column."""

from __future__ import annotations

from fastsql.linking.candidate import Candidate
from fastsql.linking.candidates import CANDIDATE_LIMIT, find_candidates
from fastsql.linking.dictionary import ValueDictionary
from fastsql.linking.gold import GoldItems, GoldLiteral, column_literals, gold_items, gold_literals
from fastsql.linking.recall import LiteralRecall, explain_literal, literal_recall
from fastsql.linking.selection import SchemaSelector, Selection
from fastsql.linking.standing import standing_values

__all__ = [
    "CANDIDATE_LIMIT",
    "Candidate",
    "GoldItems",
    "GoldLiteral",
    "LiteralRecall",
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
