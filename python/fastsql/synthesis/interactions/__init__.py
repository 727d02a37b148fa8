"""Conversations: of single questions, as EHR-SeqSQL was made (Ryu et al., 2024); recorded ones in the language of turns.

A question's way: `decompose`, `merge_frequent`, `modify`, `Conversation.ask`, then the checks.
"""

from __future__ import annotations

from fastsql.grammar.turn_kinds import KINDS
from fastsql.synthesis.interactions.checks import Checker
from fastsql.synthesis.interactions.construction import Constructed, Goal, construct
from fastsql.synthesis.interactions.conversational import Converted, convert_conversations
from fastsql.synthesis.interactions.data_sets import construct_all
from fastsql.synthesis.interactions.interaction import Interaction, Turn
from fastsql.synthesis.interactions.longer import put_together
from fastsql.synthesis.interactions.referring import WAYS
from fastsql.synthesis.interactions.splits import SPLITS, split_compositional, split_random
from fastsql.synthesis.interactions.write import write_interactions

__all__ = [
    "KINDS",
    "SPLITS",
    "WAYS",
    "Checker",
    "Constructed",
    "Converted",
    "Goal",
    "Interaction",
    "Turn",
    "construct",
    "construct_all",
    "convert_conversations",
    "put_together",
    "split_compositional",
    "split_random",
    "write_interactions",
]
