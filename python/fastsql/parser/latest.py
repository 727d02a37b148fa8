"""A turn that limits an answer limits what became of it: "under 2000 euros" behind "cementless models" and "prices too"
keeps the prices.

A model that has seen few conversations goes back to the question that names things, past what was added since.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from fastsql.grammar.compile import Grammar
from fastsql.grammar.inlining import EXTENSIONS, KEEP
from fastsql.grammar.program import Program, TurnRef
from fastsql.grammar.tree import read_tree

if TYPE_CHECKING:
    from fastsql.session.turn import Turn


def of_latest(own: Program, turns: Sequence[Turn], grammar: Grammar) -> Program:
    """The program; where it changes the conditions alone of a turn that the latest goes on from, it changes the latest's.

    `turns` are those that it may point at, in order.
    """
    if not own or own[0] not in EXTENSIONS or own[-1] != KEEP or not isinstance(own[1], TurnRef):
        return own
    _, joins, *_ = read_tree(own, grammar).children
    latest = max((place for place, turn in enumerate(turns) if turn.usable), default=own[1].turn)
    if joins is None and _goes_on(turns[latest], turns[own[1].turn], turns):
        return (own[0], TurnRef(latest), *own[2:])
    return own


def _goes_on(turn: Turn, earlier: Turn, turns: Sequence[Turn]) -> bool:
    """Whether a turn's query is another's with changes, or with changes of these."""
    by_number = {one.number: one for one in turns}
    while turn is not earlier:
        written: Program = () if turn.state is None else turn.state.written
        if not written or written[0] not in EXTENSIONS or not isinstance(written[1], TurnRef):
            return False
        before = by_number.get(written[1].turn)
        if before is None or before.number >= turn.number:
            return False
        turn = before
    return True
