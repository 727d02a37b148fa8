"""Conversations: a question may stand on what was asked before (EHR-SeqSQL, Ryu et al., 2024).

`turn.py` is a question of a conversation with its answer, `session.py` keeps the turns of one conversation, and `record.py`
writes them down and reads them again. A parse needs the first alone, so `Session` is imported when it is asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastsql.session.turn import Turn

if TYPE_CHECKING:
    from fastsql.session.session import Session

__all__ = ["Session", "Turn"]


def __getattr__(name: str) -> object:
    if name != "Session":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from fastsql.session.session import Session

    return Session
