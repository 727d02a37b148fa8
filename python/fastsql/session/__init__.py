"""Conversations: a question may stand on what was asked before (EHR-SeqSQL, Ryu et al., 2024).

`turn.py` is a question of a conversation with its answer, `session.py` keeps the turns of one conversation, and `record.py`
writes them down and reads them again.
"""

from fastsql.session.session import Session
from fastsql.session.turn import Turn

__all__ = ["Session", "Turn"]
