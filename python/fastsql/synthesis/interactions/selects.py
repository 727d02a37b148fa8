"""A SELECT as its clauses, each as the terminals that say it, so that clauses can be put together anew."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from fastsql.grammar.clauses import chain, child, items_of, own, some
from fastsql.grammar.grouping import AGGREGATES
from fastsql.grammar.inlining import SET_OPERATIONS, program_of
from fastsql.grammar.program import Literal, Node, Production, Program, TableRef
from fastsql.grammar.turn_kinds import EXTENSIONS

END: Program = (Production("end"),)
_WINDOWS = frozenset(
    (
        *("dense_rank", "rank", "row_number", "percent_rank", "over", "lag", "lead"),
        *("sum_over", "avg_over", "count_over", "count_rows_over", "min_over", "max_over"),
    )
)


@dataclass(frozen=True)
class Select:
    """A query with a FROM.

    Attributes:
        source: what FROM begins with, a table, a derived table or an earlier turn's result; or `extend @turn`.
        joins: what it joins.
        conditions: those of WHERE.
        grouping: `group`, `gather` or nothing.
        keys: of GROUP BY, where they are said.
        having: its conditions.
        items: the select list as it is said.
        tail: ORDER BY and LIMIT, or `end`.
    """

    source: Program
    joins: Program
    conditions: tuple[Program, ...]
    grouping: str
    keys: tuple[Program, ...]
    having: tuple[Program, ...]
    items: Program
    tail: Program

    @property
    def program(self) -> Program:
        """The whole query."""
        return (*self.source, *self.joins, *joined(self.conditions), *self.body)

    @property
    def body(self) -> Program:
        """What follows WHERE."""
        if not self.grouping:
            return (*self.items, *self.tail)
        head = (Production(self.grouping),)
        if self.grouping == "gather":
            return (*head, *self.items, *self.tail)
        first, *others = self.keys
        further = (terminal for key in others for terminal in (Production("group"), *key))
        passing = (terminal for one in self.having for terminal in (Production("having"), *one))
        return (*head, *first, *further, *passing, *self.items, *self.tail)

    @property
    def of_table(self) -> bool:
        """Whether FROM begins with a table, so that it can be extended."""
        return isinstance(self.source[0], TableRef)

    def without(self, **clauses: object) -> Select:
        """The same with other clauses."""
        return replace(self, **clauses)  # type: ignore[arg-type]


def read_select(query: Node) -> Select:
    """The clauses of a query with a FROM, as `is_select` tells."""
    *first, joins, where, body = query.children
    source = (query.terminal, *(terminal for one in first for terminal in program_of(some(one))))
    conditions = tuple(program_of(own(one, 1)) for one in chain(where))
    tail = program_of(child(some(body), -1))
    grouping = ""
    keys: tuple[Program, ...] = ()
    having: tuple[Program, ...] = ()
    match some(body):
        case Node(Production("group"), (key, groups, passing, select_list, _)):
            grouping = "group"
            keys = (program_of(some(key)), *(program_of(child(group, 0)) for group in chain(groups)))
            having = tuple(program_of(child(one, 0)) for one in chain(passing))
            items = program_of(some(select_list))
        case Node(Production("gather"), (select_list, _)):
            grouping, items = "gather", program_of(some(select_list))
        case plain:
            items = program_of(own(plain, 1))
    return Select(source, program_of(joins) if joins else (), conditions, grouping, keys, having, items, tail)


def item_nodes(query: Node) -> tuple[list[Node], bool]:
    """The select items of a query, and whether they are DISTINCT; `*` is an item of that name."""
    body = child(query, -1)
    lists = {"group": 3, "gather": 0}
    select_list = child(body, lists[body.name]) if body.name in lists else own(body, 1)
    if select_list.name == "all_columns":
        return [select_list], False
    return items_of(select_list), select_list.name == "distinct"


def is_select(node: Node) -> bool:
    """Whether a query has a FROM of its own, and neither is a set operation nor extends a turn."""
    return node.name not in (*SET_OPERATIONS, *EXTENSIONS, "bare")


def joined(parts: Iterable[Program]) -> Program:
    """Terminals one after the other."""
    return tuple(terminal for part in parts for terminal in part)


def reckons(node: Node) -> bool:
    """Whether an expression holds an aggregate or a window of its own query."""
    if node.name in AGGREGATES or node.name in _WINDOWS:
        return True
    if node.name in ("scalar", "in", "not_in"):
        return any(reckons(one) for one in node.children[:-1] if one is not None)
    return any(reckons(one) for one in node.children if one is not None)


def as_read(program: Program) -> Program:
    """The program as it is read from SQL, wherever its literals were said."""
    return tuple(
        replace(one, provenance="", span=None) if isinstance(one, Literal) else one for one in program
    )
