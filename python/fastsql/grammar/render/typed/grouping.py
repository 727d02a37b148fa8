"""What a query that groups may select: keys, aggregates, and columns that SQLite takes from one row of the group.

SQLite lets any column stand beside aggregates. With one MIN or MAX among them it comes from the row that has it, otherwise
from some row of the group (sqlite.org/lang_select.html, Bare columns in an aggregate query).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fastsql.grammar.program import Node
from fastsql.grammar.render.values import AGGREGATES

_QUERIES = ("in", "not_in", "not_exists", "scalar")
"""Productions whose last child is a query of its own."""


@dataclass(frozen=True)
class Grouping:
    """The keys of a query that groups, and the one MIN or MAX that it takes."""

    keys: tuple[Node, ...]
    extreme: Node | None

    def is_key(self, node: Node) -> bool:
        """Whether a value is a key."""
        return node in self.keys


def grouping_with(keys: list[Node], parts: list[Node]) -> Grouping | None:
    """How a query groups whose select list, HAVING and ORDER BY consist of `parts`; None where it does not."""
    found = list(dict.fromkeys(aggregate for part in parts for aggregate in aggregates(part)))
    if not keys and not found:
        return None
    extremes = [node for node in found if node.name in ("min", "max")]
    return Grouping(tuple(keys), extremes[0] if len(extremes) == 1 else None)


def aggregates(node: Node) -> Iterator[Node]:
    """The aggregates of a value or condition, without those of queries inside it."""
    if node.name in AGGREGATES or node.name == "count_all":
        yield node
        return
    children = node.children[:-1] if node.name in _QUERIES else node.children
    for part in children:
        if part is not None:
            yield from aggregates(part)
