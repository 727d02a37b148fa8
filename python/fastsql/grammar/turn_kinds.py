"""What kind of question a turn of a conversation is (EHR-SeqSQL, section 3.3)."""

from __future__ import annotations

from collections.abc import Sequence

from fastsql.grammar.clauses import child
from fastsql.grammar.compile import load_grammar
from fastsql.grammar.inlining import turns_of
from fastsql.grammar.program import Production, Program, TurnRef
from fastsql.grammar.tree import read_tree

KINDS = ("independent", "referential", "filtering", "modifying")
"""Not exclusive, but for the first."""
EXTENSIONS = ("extend", "extend_from")
"""Productions of a turn that goes on from another's query."""
_RESULTS = ("previous", "in_previous", "not_in_previous", "previous_value")
_SORTS = ("sort_rows", "sort_groups")


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
