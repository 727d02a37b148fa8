"""The clauses of a derivation tree: what FROM joins, what a query selects and groups by, what is implied written out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from fastsql.grammar.grouping import AGGREGATES
from fastsql.grammar.program import Node, Production


def some(node: Node | None) -> Node:
    """A child that the grammar requires."""
    assert node is not None, "the grammar requires this child"
    return node


def child(node: Node, index: int) -> Node:
    """A child of a node."""
    return some(node.children[index])


def own(node: Node, rest: int) -> Node:
    """The node without the last `rest` children, which belong to the symbol that inlined it."""
    return Node(node.terminal, node.children[: len(node.children) - rest])


def chain(node: Node | None) -> Iterator[Node]:
    """The elements of a list symbol: each element's last child is the rest of the list."""
    while node is not None:
        yield node
        node = node.children[-1]


def joined(joins: Node | None) -> Iterator[Node]:
    """The joins of FROM, those of ways along keys written out."""
    for join in chain(joins):
        if join.name != "along":
            yield join
            continue
        further = (child(hop, 0) for hop in chain(join.children[2]))
        for hop in (child(join, 1), *further):
            yield Node(Production("join"), (Node(hop.terminal, ()), *hop.children, None))


def items_of(select_list: Node) -> list[Node]:
    """The items of a select list; the last child of its first node is the rest of it."""
    first = child(select_list, 0) if select_list.name == "distinct" else own(select_list, 1)
    return [first, *(own(one, 1) for one in chain(select_list.children[-1]))]


def grouping_of(body: Node) -> tuple[list[Node], list[Node], Node]:
    """The keys of GROUP BY, the conditions of HAVING, and the select list of a query's body."""
    if body.name == "group":
        keys = [child(body, 0), *(child(group, 0) for group in chain(body.children[1]))]
        return keys, [child(clause, 0) for clause in chain(body.children[2])], child(body, 3)
    if body.name == "gather":
        select_list = child(body, 0)
        return [item for item in items_of(select_list) if item.name not in AGGREGATES], [], select_list
    return [], [], own(body, 1)


def distinct(conditions: Iterable[Node]) -> list[Node]:
    """Conditions that AND puts together, each once."""
    return list(dict.fromkeys(conditions))
