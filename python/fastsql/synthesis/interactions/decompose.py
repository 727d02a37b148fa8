"""A question's query as steps that refer to earlier ones (EHR-SeqSQL, section 3.1 and appendix A.1).

Stage 1 takes nested queries apart, inner ones first. Stage 2 takes the clauses of each apart in the order of execution:
FROM, the conditions of WHERE, GROUP BY with the select list, HAVING, ORDER BY, and what is computed of the rows.

Kept together are, as in the paper: what stands in a query over a derived table, whose columns mean nothing apart from it;
tests for missing values, which clean data and are no question of their own; GROUP BY and what is selected of the groups.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from fastsql.grammar.clauses import child, some
from fastsql.grammar.compile import Grammar
from fastsql.grammar.grouping import AGGREGATES
from fastsql.grammar.inlining import IN_PREVIOUS, SET_OPERATIONS, program_of, turns_of
from fastsql.grammar.program import ColumnRef, DerivedRef, Node, Production, Program, TurnRef
from fastsql.grammar.tree import read_tree
from fastsql.synthesis.interactions.selects import END, Select, is_select, item_nodes, read_select, reckons

Steps = tuple[Program, ...]
"""The queries of an interaction in their order. Each may refer to those before it; the last answers the question."""
_EXTEND, _KEEP = Production("extend"), (Production("keep"),)
_ANY_CONDITION = ("group", "gather", "test", "having")
"""Productions inside of which a condition may not name a turn's result as a set: there it is a query over it."""


def decompose(program: Program, grammar: Grammar, *, clauses: bool) -> Steps:
    """The steps of a query that refers to no turn: by nesting alone, or by its `clauses`, too.

    Raises ProgramError where the grammar does not derive it.
    """
    taken = _Decomposition(clauses)
    taken.add(read_tree(program, grammar))
    return tuple(taken.steps)


class _Decomposition:
    def __init__(self, clauses: bool) -> None:
        self.steps: list[Program] = []
        self._clauses = clauses
        self._known: dict[Program, int] = {}

    def add(self, query: Node) -> int:
        """Adds the steps of a query, but for those that are there; the number of its last."""
        tree = self._referring(query)
        pieces = _pieces(tree) if self._clauses and is_select(tree) else (program_of(tree),)
        last = -1
        for piece in pieces:
            last = self._step(_continuing(piece, last))
        return last

    def _step(self, program: Program) -> int:
        if program not in self._known:
            self._known[program] = len(self.steps)
            self.steps.append(program)
        return self._known[program]

    # ------------------------------------------------------------ stage 1

    def _referring(self, query: Node) -> Node:
        """A query with references in place of those inside it."""
        if query.name in SET_OPERATIONS:
            return Node(query.terminal, tuple(self._operand(some(side)) for side in query.children))
        if not is_select(query):
            return self._inside(query, any_condition=False)
        *first, joins, where, body = query.children
        results: set[int] = set()
        if query.name == "derived":
            (inner,) = first
            number = self.add(some(inner))
            results.add(number)
            head, first = Production("previous"), [Node(TurnRef(number), ())]
        else:
            head = query.terminal  # type: ignore[assignment]
        return Node(
            head,
            (
                *first,
                None if joins is None else self._joined(joins, results),
                None if where is None else self._inside(where, any_condition=False),
                self._inside(some(body), any_condition=False),
            ),
        )

    def _operand(self, side: Node) -> Node:
        """A side of a set operation: all columns of what its query returned."""
        number = self.add(side)
        return all_of(number, arity(side))

    def _joined(self, join: Node, results: set[int]) -> Node:
        """The joins of FROM, in which a turn's result stands once at most."""
        children = list(join.children)
        for place, inner in enumerate(children):
            if inner is None:
                continue
            if inner.name == "derived":
                number = self.add(child(inner, 0))
                if number not in results:
                    results.add(number)
                    children[place] = Node(Production("previous"), (Node(TurnRef(number), ()),))
            elif place == len(children) - 1:
                children[place] = self._joined(inner, results)
            else:
                children[place] = self._inside(inner, any_condition=False)
        return Node(join.terminal, tuple(children))

    def _inside(self, node: Node, *, any_condition: bool) -> Node:
        """A clause with references in place of the queries inside it."""
        match node.name:
            case "in" | "not_in":
                row, inner, *rest = node.children
                number = self.add(some(inner))
                left = self._inside(some(row), any_condition=any_condition)
                further = tuple(
                    None if one is None else self._inside(one, any_condition=any_condition) for one in rest
                )
                if any_condition:
                    return Node(node.terminal, (left, all_of(number, 1), *further))
                return Node(Production(IN_PREVIOUS[node.name]), (Node(TurnRef(number), ()), left, *further))
            case "scalar":
                inner, *rest = node.children
                number = self.add(some(inner))
                further = tuple(
                    None if one is None else self._inside(one, any_condition=any_condition) for one in rest
                )
                return Node(Production("previous_value"), (Node(TurnRef(number), ()), *further))
            case "not_exists":
                field, inner, *rest = node.children
                further = tuple(
                    None if one is None else self._inside(one, any_condition=any_condition) for one in rest
                )
                return Node(node.terminal, (field, all_of(self.add(some(inner)), 1), *further))
        any_condition = node.name in _ANY_CONDITION or (any_condition and node.name not in ("case", "when"))
        return Node(
            node.terminal,
            tuple(
                None if one is None else self._inside(one, any_condition=any_condition)
                for one in node.children
            ),
        )


def all_of(number: int, items: int) -> Node:
    """A query for all columns of what a turn returned."""
    rest: Node | None = None
    for item in range(items - 1, 0, -1):
        rest = Node(DerivedRef(0, item), (rest,))
    body = Node(DerivedRef(0, 0), (rest, Node(END[0], ())))
    return Node(Production("previous"), (Node(TurnRef(number), ()), None, None, body))


def arity(query: Node) -> int:
    """How many columns a query returns."""
    while query.name in SET_OPERATIONS:
        query = child(query, 0)
    return len(item_nodes(query)[0])


# ---------------------------------------------------------------- stage 2


def _pieces(query: Node) -> Iterator[Program]:
    """The clauses of a SELECT as steps, in the order of execution. Each but the first extends the one before it."""
    select = read_select(query)
    if not select.of_table:
        yield select.program
        return
    kept = tuple(one for one in select.conditions if one[0] == Production("not_null"))
    single = [one for one in select.conditions if one not in kept]
    items, _ = item_nodes(query)
    computes = bool(select.grouping) or any(map(reckons, items))
    if computes and not single:
        yield from _computed(select)
        return
    plain = (
        select.without(conditions=kept, tail=END)
        if not computes
        else select.without(
            conditions=kept, tail=END, grouping="", keys=(), having=(), items=_rows_of(select, items)
        )
    )
    yield plain.program
    for condition in single:
        yield (_EXTEND, *condition, *_KEEP)
    if computes:
        first, *further = _computed(select.without(source=(_EXTEND,), joins=(), conditions=()))
        yield first
        yield from further
    elif select.tail != END:
        yield (_EXTEND, Production("sort_rows"), *select.tail)


def _computed(select: Select) -> Iterator[Program]:
    """Groups or aggregates; then HAVING, then ORDER BY of the groups."""
    if not select.grouping:
        yield select.program
        return
    yield select.without(having=(), tail=END).program
    for condition in select.having:
        yield (_EXTEND, Production("and_having"), *condition, *_KEEP)
    if select.tail != END:
        yield (_EXTEND, Production("sort_groups"), *select.tail)


def _rows_of(select: Select, items: list[Node]) -> Program:
    """The columns that a query computes with; `*` where it counts rows."""
    found: list[Program] = list(select.keys)
    for item in items:
        if not reckons(item):
            found.append(program_of(item))
        elif item.name in AGGREGATES:
            found += [program_of(some(one)) for one in item.children if one is not None]
    columns = [one for one in dict.fromkeys(found) if isinstance(one[0], ColumnRef)]
    return tuple(one[0] for one in columns) or (Production("all_columns"),)


def _continuing(piece: Program, last: int) -> Program:
    """A piece that extends the step before it; the first of a query refers to none that way."""
    if piece[0] != _EXTEND:
        return piece
    return (piece[0], TurnRef(last), *piece[1:])


def renumbered(program: Program, numbers: dict[int, int]) -> Program:
    """The program with references to other numbers."""
    return tuple(replace(one, turn=numbers[one.turn]) if isinstance(one, TurnRef) else one for one in program)


def references(steps: Steps) -> list[frozenset[int]]:
    """The steps that each step refers to."""
    return [turns_of(step) for step in steps]
