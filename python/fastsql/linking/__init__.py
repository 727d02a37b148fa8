"""Linking: what in a question stands for a value, a table or a column."""

from __future__ import annotations

from fastsql.linking.candidate import Candidate
from fastsql.linking.candidates import CANDIDATE_LIMIT, find_candidates
from fastsql.linking.dictionary import ValueDictionary
from fastsql.linking.recall import explain_literal, literal_recall

__all__ = ["CANDIDATE_LIMIT", "Candidate", "ValueDictionary", "explain_literal", "find_candidates", "literal_recall"]
