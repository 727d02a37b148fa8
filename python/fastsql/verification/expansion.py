"""How large a query is once every name in it is replaced by what it stands for, bounded before a database reads it.

SQLite copies a CTE into every place that names it, and an expression of the select list into every place that names its
alias, before it looks at any clock: a text of a thousand characters in which each level names the one before it twice
grows to gigabytes while it is compiled. So the copies are counted here, each expression once, and few are allowed.
"""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp

from fastsql.verification.qualify import is_whole_key
from fastsql.verification.resolve import Resolution, UnresolvedError

MOST_NODES = 30_000
"""Nodes of an expanded query beside those of its own tree. SQLite compiles some 400,000 a second."""


def check_expansion(nodes: Iterable[exp.Expr], resolution: Resolution) -> None:
    """Return if a resolved query, given by its nodes, stays small when all of its names are replaced.

    Raises:
        UnresolvedError: it does not.
    """
    expansion = _Expansion(resolution)
    if sum(map(expansion.beside, nodes)) > MOST_NODES:
        raise UnresolvedError("its names stand for too much")


class _Expansion:
    def __init__(self, resolution: Resolution) -> None:
        self._resolution = resolution
        self._sizes: dict[int, int] = {}

    def beside(self, node: exp.Expr) -> int:
        """The nodes that a node stands for beside itself; at most just above the bound."""
        if isinstance(node, exp.Table):
            source = self._resolution.nodes.get(id(node))
            return 0 if source is None or source.query is None else self._size(source.query)
        if not isinstance(node, exp.Column) or is_whole_key(node):
            return 0
        item = self._resolution.aliases.get(id(node))
        return 0 if item is None else self._size(item)

    def _size(self, part: exp.Expr) -> int:
        if id(part) not in self._sizes:
            size = 0
            for node in part.walk():
                size += 1 + self.beside(node)
                if size > MOST_NODES:
                    break
            self._sizes[id(part)] = size
        return self._sizes[id(part)]
