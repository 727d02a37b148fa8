"""An interaction that was made: its turns and what they are together (EHR-SeqSQL, section 3.3)."""

from __future__ import annotations

from dataclasses import dataclass

from fastsql.grammar.program import Program


@dataclass(frozen=True)
class Turn:
    """A question with its query.

    Attributes:
        program: its query, which may refer to turns before it.
        sql: the same, standing alone.
        kinds: of `turn_kinds.KINDS`; a turn may be of several.
    """

    question: str
    program: Program
    sql: str
    kinds: tuple[str, ...]


@dataclass(frozen=True)
class Interaction:
    """Turns, one of which answers a single question.

    `id`: that of the single question's example; `goal`: the question, empty where several interactions were put together;
    `composition` and `components`: its query and its finest steps, masked (`splits.py`); `answer`: the place of the turn
    that answers it, mostly the last.
    """

    id: str
    db_id: str
    turns: tuple[Turn, ...]
    goal: str = ""
    composition: str = ""
    components: frozenset[str] = frozenset()
    answer: int = -1
