"""Turns in words: a grammar over the clauses of a turn's program, with many ways to say each.

Labels come from the schema and its profile. What a turn takes of an earlier one is named by that one's number ("A2", "answer
2") or, of the turn just before, by what it returned ("those item ids", "them"). A class a concern, each the base of the
next: names, expressions, conditions, rows, turns.
"""

from __future__ import annotations

from fastsql.synthesis.interactions.words.turns import Conversation

__all__ = ["Conversation"]
