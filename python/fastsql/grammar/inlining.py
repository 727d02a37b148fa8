"""Writes earlier turns out: a program that refers to them becomes one that stands by itself.

The result is a program of the same grammar without turns, within the same bounds: the automaton counts what a turn takes
when it is pointed at. So what holds for any query that it writes, that it prepares for one, holds in a conversation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from fastsql.grammar.clauses import chain, child, grouping_of, items_of, joined, some
from fastsql.grammar.compile import Grammar
from fastsql.grammar.program import (
    EARLIER,
    ColumnRef,
    DerivedRef,
    Literal,
    Node,
    Production,
    Program,
    TableRef,
    Terminal,
    TurnRef,
)
from fastsql.grammar.tree import ProgramError, read_tree

if TYPE_CHECKING:
    from fastsql.grammar.turns import Turn
    from fastsql.schema import Schema

SET_OPERATIONS = ("union", "union_all", "intersect", "except")
_REPLACED = {(tail, tail) for tail in ("sort_rows", "sort_groups")}
IN_PREVIOUS = {"in": "in_previous", "not_in": "not_in_previous"}
"""What tests whether a value is in a query's result, and what does so where an earlier turn returned it."""
_EXTEND, _COUNTED = (Production("extend"),), (Production("count_all"), Production("end"))
EXTENSIONS = (*_EXTEND, Production("extend_from"))
"""An earlier query with further conditions, and with others in place of its own."""
KEEP = Production("keep")
"""What shows what the earlier query shows."""
_LIMIT = Production("limit")
_GROUPING = frozenset({Production("group"), Production("gather")})
_WRITTEN_OUT = {previous: plain for plain, previous in IN_PREVIOUS.items()}


def inline(program: Program, turns: Sequence[Turn], schema: Schema, grammar: Grammar) -> Program:
    """The program with its earlier turns written out. Raises ProgramError where the grammar does not derive it."""
    pointed = turns_of(program)
    if pointed and max(pointed) >= len(turns):
        raise ProgramError(f"turn {max(pointed)} of {len(turns)}", 0)
    return write_out(program, {number: turns[number].program for number in pointed}, schema, grammar)


def turns_of(program: Program) -> frozenset[int]:
    """The turns that a program points at."""
    return frozenset(terminal.turn for terminal in program if isinstance(terminal, TurnRef))


def count_part(program: Program, turns: Sequence[Turn]) -> Program:
    """The program; where it lists a part of what an earlier answer lists, it counts that part.

    For "how many of them died?", of which a model may say the condition alone. Of the first so many, a condition added to
    their query would count others, too.
    """
    if program and program[0] in EXTENSIONS and program[-1] == KEEP and isinstance(program[1], TurnRef):
        earlier = turns[program[1].turn]
        if not (earlier.grouped or earlier.aggregated or _LIMIT in earlier.program):
            return (*program[:-1], *_COUNTED)
    return program


def count_shown(program: Program, turns: Sequence[Turn]) -> Program:
    """The program; where it counts an earlier answer without repeats, or a part of it, it counts these, not their rows.

    "Which drugs did he get?" lists each drug once. "How many?" behind it does not ask how often they were prescribed.
    """
    if program[:1] != _EXTEND or program[-2:] != _COUNTED or not isinstance(program[1], TurnRef):
        return program
    *_, distinct, item, end = turns[program[1].turn].program
    grouped = not _GROUPING.isdisjoint(program)
    if grouped or distinct != Production("distinct") or not isinstance(item, ColumnRef) or end != program[-1]:
        return program
    return (*program[:-2], Production("count_distinct"), item, end)


def renumbered(program: Program, numbers: Sequence[int]) -> Program:
    """The same program, turn k of which is turn `numbers[k]`."""
    return tuple(TurnRef(numbers[one.turn]) if isinstance(one, TurnRef) else one for one in program)


def write_out(program: Program, turns: Mapping[int, Program], schema: Schema, grammar: Grammar) -> Program:
    """The program with some of its turns written out, which may refer to turns themselves; the others stay references.

    Raises ProgramError where the grammar does not derive it.
    """
    if turns_of(program).isdisjoint(turns):
        return program
    return program_of(_inliner(turns, schema, grammar).written_out(read_tree(program, grammar)))


def with_results(
    program: Program, turns: Mapping[int, Program], schema: Schema, grammar: Grammar
) -> tuple[Node, dict[int, int]]:
    """The derivation tree of `write_out`, and where in it turns' results are: the turn by the `id` of the query's node."""
    inliner = _inliner(turns, schema, grammar)
    return inliner.written_out(read_tree(program, grammar)), inliner.results


def _inliner(turns: Mapping[int, Program], schema: Schema, grammar: Grammar) -> _Inliner:
    return _Inliner({number: read_tree(turns[number], grammar) for number in turns}, schema)


def say_groups(program: Program, grammar: Grammar) -> Program:
    """The program with GROUP BY said wherever the select list implies it, so that HAVING can be added."""
    if Production("gather") not in program:
        return program
    return program_of(_grouped(read_tree(program, grammar)))


def spell_out(program: Program, schema: Schema, grammar: Grammar) -> Program:
    """The program with the columns that `*` stands for."""
    return program_of(_spelled(read_tree(program, grammar), schema))


def program_of(tree: Node) -> Program:
    """The terminals of a derivation tree, in order: the inverse of `read_tree`."""
    found: list[Terminal] = []
    left: list[Node | None] = [tree]
    while left:
        node = left.pop()
        if node is not None:
            found.append(node.terminal)
            left += reversed(node.children)
    return tuple(found)


def _grouped(node: Node) -> Node:
    children = tuple(None if one is None else _grouped(one) for one in node.children)
    plain = Node(node.terminal, children)
    if node.name != "gather":
        return plain
    (first, *further), _, select_list = grouping_of(plain)
    groups: Node | None = None
    for key in reversed(further):
        groups = Node(Production("group"), (key, groups))
    return Node(Production("group"), (first, groups, None, select_list, children[-1]))


class _Inliner:
    def __init__(self, trees: Mapping[int, Node], schema: Schema) -> None:
        self._trees = trees
        self._schema = schema
        self.results: dict[int, int] = {}

    def written_out(self, node: Node) -> Node:
        """A derivation tree without references to turns."""
        children = tuple(None if child is None else self.written_out(child) for child in node.children)
        if not self._points(children):
            return Node(node.terminal, children)
        match node.name:
            case "previous":
                return Node(Production("derived"), (self._result(children[0]), *children[1:]))
            case "previous_value":
                return Node(Production("scalar"), (self._result(children[0]), *children[1:]))
            case "in_previous" | "not_in_previous":
                turn, row, *further = children
                return Node(Production(_WRITTEN_OUT[node.name]), (row, self._result(turn), *further))
            case "extend" | "extend_from":
                return self._extended(node.name == "extend", *children)
        return Node(node.terminal, children)

    def _points(self, children: tuple[Node | None, ...]) -> bool:
        """Whether the first child is a turn that is to be written out."""
        first = children[0].terminal if children and children[0] is not None else None
        return isinstance(first, TurnRef) and first.turn in self._trees

    def _turn(self, reference: Node | None) -> Node:
        assert reference is not None
        assert isinstance(reference.terminal, TurnRef)
        return said_before(self._trees[reference.terminal.turn])

    def _result(self, reference: Node | None) -> Node:
        result = _spelled(self._turn(reference), self._schema)
        assert reference is not None
        assert isinstance(reference.terminal, TurnRef)
        self.results[id(result)] = reference.terminal.turn
        return result

    def _extended(
        self,
        whole: bool,
        reference: Node | None,
        joins: Node | None,
        where: Node | None,
        change: Node | None,
    ) -> Node:
        """A turn's query with more joins and conditions, with its conditions only if it is kept `whole`."""
        turn = self._turn(reference)
        *first, before, conditions, body = turn.children
        assert body is not None
        assert change is not None
        kept = conditions if whole else None
        return Node(
            turn.terminal, (*first, _chained(before, joins), _chained(kept, where), _changed(body, change))
        )


def _changed(body: Node, change: Node) -> Node:
    """A body, or what an extension says in place of it. The body of a turn that extends another may be a change itself."""
    if change.name == "keep":
        return body
    if body.name == "keep" or (body.name, change.name) in _REPLACED:
        return change
    *clauses, tail = body.children
    if body.name == "and_having":
        return Node(body.terminal, (*clauses, _changed(some(tail), change)))
    match change.name:
        case "sort_rows" | "sort_groups":
            return Node(body.terminal, (*clauses, change.children[0]))
        case "and_having" if body.name == "group":
            condition, further = change.children
            assert further is not None
            key, groups, having, items = clauses
            more = Node(Production("having"), (condition, None))
            return _changed(Node(body.terminal, (key, groups, _chained(having, more), items, tail)), further)
    return change


def _chained(one: Node | None, other: Node | None) -> Node | None:
    """Two lists as one: the last child of each element is the rest of its list."""
    if one is None:
        return other
    return Node(one.terminal, (*one.children[:-1], _chained(one.children[-1], other)))


def said_before(node: Node) -> Node:
    """A tree whose literals were said in an earlier question, where nobody finds their words now."""
    terminal = node.terminal
    if isinstance(terminal, Literal):
        terminal = replace(terminal, provenance=EARLIER, span=None)
    return Node(terminal, tuple(None if child is None else said_before(child) for child in node.children))


# ---------------------------------------------------------------- `*`


def _spelled(query: Node, schema: Schema) -> Node:
    """A query that selects columns in place of `*`, which only an outermost query and its operands do."""
    if query.name in SET_OPERATIONS:
        return Node(query.terminal, tuple(_spelled(some(side), schema) for side in query.children))
    body = query.children[-1]
    if body is None or body.name != "all_columns":
        return query
    (end,) = body.children
    items: Node | None = None
    columns = list(_all_columns(query, schema))
    for column in reversed(columns[1:]):
        items = Node(column, (items,))
    return Node(query.terminal, (*query.children[:-1], Node(columns[0], (items, end))))


def _all_columns(query: Node, schema: Schema) -> Iterator[ColumnRef | DerivedRef]:
    """The columns of a query's sources."""
    for number, source in enumerate(_sources(query)):
        if isinstance(source.terminal, TableRef):
            for column in schema.tables[source.terminal.table].columns:
                yield ColumnRef(column, number)
        else:
            yield from (DerivedRef(number, item) for item in range(_arity(child(source, 0))))


def _sources(query: Node) -> Iterator[Node]:
    yield query
    yield from (child(join, 0) for join in joined(query.children[-3]))


def _arity(query: Node) -> int:
    """How many items a derived table selects; none selects `*`."""
    if query.name in SET_OPERATIONS:
        return _arity(child(query, 0))
    if query.name == "bare":
        return 1 + len(list(chain(query.children[1])))
    _, _, select_list = grouping_of(child(query, -1))
    return len(items_of(select_list))
