"""An interaction that was made: its turns, and what kinds of questions they are (EHR-SeqSQL, section 3.3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fastsql.grammar.clauses import child
from fastsql.grammar.compile import load_grammar
from fastsql.grammar.inlining import turns_of
from fastsql.grammar.program import Production, Program, TurnRef
from fastsql.grammar.tree import read_tree
from fastsql.synthesis.interactions.selects import EXTENSIONS

KINDS = ("independent", "referential", "filtering", "modifying")
_RESULTS = ("previous", "in_previous", "not_in_previous", "previous_value")
_SORTS = ("sort_rows", "sort_groups")


@dataclass(frozen=True)
class Turn:
    """A question with its query.

    Attributes:
        program: its query, which may refer to turns before it.
        sql: the same, standing alone.
        kinds: of KINDS; a turn may be of several.
    """

    question: str
    program: Program
    sql: str
    kinds: tuple[str, ...]


@dataclass(frozen=True)
class Interaction:
    """Turns whose last answers a single question.

    `id`: that of the single question's example; `goal`: the question, empty where several interactions were put together;
    `composition` and `components`: its query and its finest steps, masked (`splits.py`).
    """

    id: str
    db_id: str
    turns: tuple[Turn, ...]
    goal: str = ""
    composition: str = ""
    components: frozenset[str] = frozenset()


def kinds_of(program: Program, earlier: Sequence[Program]) -> tuple[str, ...]:
    """The kinds of a turn. `earlier`: the programs of the turns before it, with their references.

    Independent turns refer to none. Others refer to what a turn returned, or to its rows to ask something else of them; or
    they filter a turn's rows; or they modify it: say what takes the place of a part of it, and keep the rest.
    """
    if not turns_of(program):
        return ("independent",)
    names = [one.name for one in program if isinstance(one, Production)]
    kinds = ["referential"] if any(name in _RESULTS for name in names) else []
    if names[0] == "extend_from":
        kinds.append("modifying")
    elif names[0] == "extend":
        extended = program[1]
        assert isinstance(extended, TurnRef)
        if any(name in _SORTS for name in names) and _is_ordered(earlier[extended.turn], earlier):
            kinds.append("modifying")
        elif any(name in ("keep", "and_having", *_SORTS) for name in names):
            kinds.append("filtering")
        elif not kinds:
            kinds.append("referential")
    return tuple(kind for kind in KINDS if kind in kinds)


def _is_ordered(program: Program, earlier: Sequence[Program]) -> bool:
    """Whether a turn that another extends has ORDER BY or LIMIT."""
    tree = read_tree(program, load_grammar())
    change = child(tree, -1)
    extended = tree.children[0]
    if tree.name in EXTENSIONS and change.name in ("keep", "and_having") and extended is not None:
        assert isinstance(extended.terminal, TurnRef)
        return _is_ordered(earlier[extended.terminal.turn], earlier)
    return child(change, -1).name != "end"
