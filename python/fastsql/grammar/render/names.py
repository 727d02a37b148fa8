"""Names in SQL: quoting, aliases, output names of derived tables."""

from __future__ import annotations

import re
from functools import lru_cache

from sqlglot import exp, tokens

from fastsql.grammar.sqlite_keywords import SQLITE_KEYWORDS

_NAMELESS = ("true", "false")
"""Names that SQLite does not give to a subquery's columns: it calls them column1 and so on."""
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def fresh_alias(taken: set[str]) -> str:
    """T and a number, as no folded name of `taken` has it."""
    number = 1
    while f"t{number}" in taken:
        number += 1
    return f"T{number}"


def named(items: list[exp.Expr], names: list[str] | None) -> list[exp.Expr]:
    """Items as they are, or (in a derived table) each under an output name of its own, which `names` receives."""
    if names is None:
        return items
    plain = [i.name.lower() if isinstance(i, exp.Column) else None for i in items]
    written = []
    for number, (item, name) in enumerate(zip(items, plain, strict=True), 1):
        if name is not None and plain.count(name) == 1 and name not in _NAMELESS:
            names.append(item.name)
            written.append(item)
            continue
        alias = f"C{number}"
        while alias.lower() in plain:
            alias += "_"
        names.append(alias)
        written.append(exp.alias_(item, alias))
    return written


def identifier(name: str) -> exp.Identifier:
    """A name, in quotes where it needs them."""
    return exp.to_identifier(name, quoted=not _PLAIN.fullmatch(name) or name.upper() in _reserved())


@lru_cache(maxsize=1)
def _reserved() -> frozenset[str]:
    """Every word that SQLite's tokenizer in sqlglot treats as a keyword: quoted where it is a name."""
    words = (w for w in tokens.Tokenizer.KEYWORDS if _PLAIN.fullmatch(w))
    return frozenset(words) | SQLITE_KEYWORDS


def column(name: str, table: str) -> exp.Column:
    """A qualified column."""
    return exp.Column(this=identifier(name), table=identifier(table))
