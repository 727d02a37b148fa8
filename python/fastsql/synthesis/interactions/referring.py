"""Says a query by what it shares with earlier turns: for conversations whose turns come as queries that stand alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from fastsql.grammar.clauses import chain
from fastsql.grammar.compile import Grammar
from fastsql.grammar.inlining import IN_PREVIOUS, SET_OPERATIONS, program_of, say_groups
from fastsql.grammar.program import Node, Production, Program, TurnRef
from fastsql.grammar.tree import read_tree
from fastsql.grammar.turn_kinds import EXTENSIONS
from fastsql.synthesis.interactions.canonical import canonical, canonical_tree
from fastsql.synthesis.interactions.decompose import all_of, arity
from fastsql.synthesis.interactions.selects import Select, is_select, joined, read_select

INDEPENDENT, EXTEND, EXTEND_FROM, RESULT = "independent", "extend", "extend_from", "result"
WAYS = (INDEPENDENT, EXTEND, EXTEND_FROM, RESULT)
"""How a turn is said: alone; by a turn's query with more, or with other conditions; by what a turn returned."""


@dataclass(frozen=True)
class _Known:
    """An earlier turn: its clauses where it can be extended, and its query to be found inside another."""

    select: Select | None
    query: Program


class Referrer:
    """Says the queries of one conversation, turn after turn."""

    def __init__(self, grammar: Grammar) -> None:
        self._grammar = grammar
        self._turns: list[_Known] = []

    def add(self, program: Program) -> None:
        """Adds a turn, by its query standing alone."""
        said = say_groups(program, self._grammar)
        tree = read_tree(said, self._grammar)
        select = read_select(tree) if is_select(tree) else None
        self._turns.append(
            _Known(select if select and select.of_table else None, canonical(program, self._grammar))
        )

    def ways(self, program: Program) -> list[tuple[str, Program]]:
        """The ways to say the next turn's query, the shortest first; the last is the query alone.

        Of two as short, the one that refers is meant: what a question leaves out, it cannot say.
        """
        found = [*self._extensions(program), *self._by_results(program)]
        shorter = [one for one in found if len(one[1]) <= len(program)]
        return [*sorted(shorter, key=lambda one: len(one[1])), (INDEPENDENT, program)]

    # ------------------------------------------------------------ the query of a turn, changed

    def _extensions(self, program: Program) -> Iterator[tuple[str, Program]]:
        tree = read_tree(program, self._grammar)
        if not is_select(tree):
            return
        plain = read_select(tree)
        select = read_select(read_tree(say_groups(program, self._grammar), self._grammar))
        # Of turns that serve as well, the one just before is meant.
        for turn in range(len(self._turns) - 1, -1, -1):
            before = self._turns[turn].select
            if before is None or not select.of_table or select.source != before.source:
                continue
            if select.joins[: len(before.joins)] != before.joins or not self._is_prefix(tree, before.joins):
                continue
            joins = select.joins[len(before.joins) :]
            change = _change(select, before, plain)
            whole = set(before.conditions) <= set(select.conditions)
            added = [one for one in select.conditions if not (whole and one in before.conditions)]
            name = EXTEND if whole else EXTEND_FROM
            yield name, (Production(name), TurnRef(turn), *joins, *joined(added), *change)

    def _is_prefix(self, tree: Node, joins: Program) -> bool:
        """Whether these are whole joins, the first of a query's."""
        length = 0
        lengths = {0}
        for join in chain(tree.children[-3]):
            length += len(program_of(join)) - len(program_of(join.children[-1]) if join.children[-1] else ())
            lengths.add(length)
        return len(joins) in lengths

    # ------------------------------------------------------------ what a turn returned

    def _by_results(self, program: Program) -> Iterator[tuple[str, Program]]:
        known = {turn.query: number for number, turn in enumerate(self._turns)}
        tree = read_tree(program, self._grammar)
        said = _referring(tree, known, any_condition=False)
        if said != tree:
            yield RESULT, program_of(said)


def _change(select: Select, before: Select, plain: Select) -> Program:
    """What an extension says of select list, groups and order. `plain`: the query before its groups were said."""
    same = (select.grouping, select.keys, select.items) == (before.grouping, before.keys, before.items)
    kept = len(before.having)
    if not same or select.having[:kept] != before.having:
        return plain.body
    sort = "sort_groups" if select.grouping else "sort_rows"
    tail = (Production("keep"),) if select.tail == before.tail else (Production(sort), *select.tail)
    added = [(Production("and_having"), *one) for one in select.having[kept:]]
    return (*joined(added), *tail)


def _referring(node: Node, known: Mapping[Program, int], *, any_condition: bool) -> Node:
    """A tree with references in place of the queries inside it that are earlier turns."""
    children = node.children
    first = children[0] if children else None
    match node.name:
        case "in" | "not_in" | "scalar":
            place = 0 if node.name == "scalar" else 1
            inner, rest = children[place], children[place + 1 :]
            turn = _turn_of(inner, known)
            if turn is not None and inner is not None:
                others = tuple(_maybe(one, known, any_condition) for one in rest)
                reference = Node(TurnRef(turn), ())
                if node.name == "scalar":
                    return Node(Production("previous_value"), (reference, *others))
                left = _maybe(first, known, any_condition)
                if any_condition:
                    return Node(node.terminal, (left, all_of(turn, arity(inner)), *others))
                return Node(Production(IN_PREVIOUS[node.name]), (reference, left, *others))
        case "derived":
            turn = _turn_of(first, known)
            if turn is not None:
                others = tuple(_maybe(one, known, any_condition) for one in children[1:])
                return Node(Production("previous"), (Node(TurnRef(turn), ()), *others))
        case name if name in SET_OPERATIONS:
            sides = []
            for side in children:
                turn = _turn_of(side, known)
                replaced = all_of(turn, arity(side)) if turn is not None and side is not None else None
                sides.append(replaced or _maybe(side, known, any_condition))
            return Node(node.terminal, tuple(sides))
    any_condition = node.name in ("group", "gather", "test", "having") or (
        any_condition and node.name not in ("case", "when")
    )
    return Node(node.terminal, tuple(_maybe(one, known, any_condition) for one in children))


def _maybe(node: Node | None, known: Mapping[Program, int], any_condition: bool) -> Node | None:
    return None if node is None else _referring(node, known, any_condition=any_condition)


def _turn_of(query: Node | None, known: Mapping[Program, int]) -> int | None:
    """The turn that a query inside another is."""
    if query is None or query.name in EXTENSIONS:
        return None
    return known.get(program_of(canonical_tree(query)))
