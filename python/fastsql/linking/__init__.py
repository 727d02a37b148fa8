"""Linking: what in a question stands for a value, a table or a column."""

from __future__ import annotations

from fastsql.linking.candidate import Candidate
from fastsql.linking.candidates import CANDIDATE_LIMIT, find_candidates
from fastsql.linking.dictionary import ValueDictionary
from fastsql.linking.recall import GoldLiteral, LiteralRecall, explain_literal, gold_literals, literal_recall
from fastsql.linking.standing import standing_values

__all__ = [
    "CANDIDATE_LIMIT",
    "Candidate",
    "GoldLiteral",
    "LiteralRecall",
    "ValueDictionary",
    "explain_literal",
    "find_candidates",
    "gold_literals",
    "literal_recall",
    "standing_values",
]
