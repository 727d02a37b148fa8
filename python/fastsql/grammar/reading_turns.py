"""Makes a turn of a conversation out of a finished program."""

from __future__ import annotations

from fastsql.grammar.inlining import SET_OPERATIONS, inline, say_groups, spell_out
from fastsql.grammar.program import Literal, Production, Program
from fastsql.grammar.space import ActionSpace
from fastsql.grammar.state import Item, Key, Offered, Scope, Source
from fastsql.grammar.turns import Turn
from fastsql.grammar.walking import open_space, walk
from fastsql.limits import DEFAULT

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
        scratch = open_space(
            space.schema,
            space.grammar,
            actions=_MOST * len(program) + DEFAULT.actions,
            strict_grouping=True,  # it keeps account of what groups
        )
        self.scope, self.nesting, spans = Scope(), 0, 0
        for before, terminal, after in walk(program, scratch):
            if before.in_query and before.scope.outer is None:
                self.scope = before.scope
            if after.stack is not None:
                self.nesting = max(self.nesting, after.stack.depth)
            spans += isinstance(terminal, Literal) and isinstance(terminal.value, str)
        self.items = after.closed
        self.used = after.used + spans
