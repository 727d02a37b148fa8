"""Makes a turn of a conversation out of a finished program."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fastsql.grammar.actions import CANDIDATE, COLUMN, PRODUCTION, STEP, TABLE
from fastsql.grammar.automaton import State
from fastsql.grammar.inlining import SET_OPERATIONS, inline, say_groups, spell_out
from fastsql.grammar.program import ColumnRef, DerivedRef, Literal, Production, Program, TableRef, Terminal
from fastsql.grammar.space import ActionSpace
from fastsql.grammar.state import Item, Key, Offered, Scope, Source
from fastsql.grammar.turns import Turn
from fastsql.limits import DEFAULT
from fastsql.linking.candidate import Candidate

_ANY_LITERAL = (Candidate(1, "number", (0, 1), "number"),)
_MOST = 3
"""Actions of one terminal, at most: a column and its source; a span's two ends."""


def read_turn(program: Program, space: ActionSpace, *, usable: bool = True) -> Turn:
    """The turn that a finished program of a question is to the questions after it.

    `space`: the question's, whose turns the program may refer to. Raises IllegalActionError or ProgramError where it is no
    program of the grammar.
    """
    schema, grammar = space.schema, space.grammar
    plain = say_groups(inline(program, space.turns, schema, grammar), grammar)
    walk = _Walk(plain, space)
    scope, items = walk.scope, walk.items
    sources = () if _is_put_together(plain) else scope.sources
    offered, entries = _numbered(items, sources, scope.keys)
    starred = any(isinstance(one, Production) and one.name == "all_columns" for one in plain)
    spelled = _Walk(spell_out(plain, schema, grammar), space).used if starred else walk.used
    return Turn(
        plain,
        offered,
        entries,
        walk.nesting,
        walk.used,
        spelled,
        starred,
        scope.grouped,
        scope.aggregated,
        scope.of_rows,
        usable,
    )


def _is_put_together(program: Program) -> bool:
    """Whether a query has no FROM of its own."""
    first = program[0]
    return isinstance(first, Production) and first.name in (*SET_OPERATIONS, "bare")


def _numbered(
    items: tuple[Item, ...], sources: tuple[Source, ...], keys: tuple[Key, ...]
) -> tuple[Offered, int]:
    """What a turn offers, each thing at a step of its own, and how many these are."""
    entries = len(items)
    numbered, steps = [], {}
    for source in sources:
        steps[source.step] = entries
        columns = tuple(Item(item.typed, entries + 1 + n) for n, item in enumerate(source.items))
        steps |= {item.step: own.step for item, own in zip(source.items, columns, strict=True)}
        numbered.append(source._replace(step=entries, items=columns))
        entries += 1 + len(columns)
    own_keys = tuple(key._replace(step=steps[key.step]) for key in keys) if sources else ()
    return Offered(
        tuple(Item(item.typed, n) for n, item in enumerate(items)), tuple(numbered), own_keys
    ), entries


class _Walk:
    """The automaton's way through a program that need not be legal where it is asked for: its question is another."""

    def __init__(self, program: Program, space: ActionSpace) -> None:
        scratch = ActionSpace.for_question(
            space.schema,
            "?",
            np.asarray([[0, 1]], dtype=np.int32),
            _ANY_LITERAL,
            grammar=space.grammar,
            limits=replace(DEFAULT, actions=_MOST * len(program) + DEFAULT.actions),
            strict_grouping=True,  # it keeps account of what groups
        )
        which = space.grammar.symbol("which")
        state = State.start(scratch)
        self.scope, self.nesting, spans = Scope(), 0, 0
        for terminal in program:
            state = self._taken(state, _action(terminal, state))
            spans += isinstance(terminal, Literal) and isinstance(terminal.value, str)
            if isinstance(terminal, ColumnRef) and not state.finished and state.symbol == which:
                state = self._taken(state, scratch.flat(STEP, state.scope.sources[terminal.source].step))
        self.items = state.closed
        self.used = state.used + spans

    def _taken(self, state: State, action: int) -> State:
        if state.in_query and state.scope.outer is None:
            self.scope = state.scope
        after = state.advance(action)
        if after.stack is not None:
            self.nesting = max(self.nesting, after.stack.depth)
        return after


def _action(terminal: Terminal, state: State) -> int:
    space = state.space
    match terminal:
        case Production(name):
            return space.flat(PRODUCTION, space.grammar.production(name))
        case TableRef(table):
            return space.flat(TABLE, table)
        case ColumnRef(column):
            return space.flat(COLUMN, column)
        case DerivedRef(source, item):
            return space.flat(STEP, state.scope.sources[source].items[item].step)
    return space.flat(CANDIDATE, 0)
