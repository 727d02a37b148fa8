"""In which parts of a query a question's words stand: the 16 syntactic roles of CSS (Zhang et al., ACL 2023 Findings).

After section 5.2 and Appendix B: a token stands in a part where it, or a schema item linked to it, does. The paper names the
parts and no algorithm; ours, over the query's tree:

- What stands in a query of its own, at whatever depth, has the role of its clause there: of SELECT and ORDER BY, another one
  below an aggregate function. The columns that tables are joined on have none.
- A query that stands in another one's SELECT, FROM or WHERE gives all in it that clause's nested role, too.
- The second operand of a set operation gives all in it the operation's role, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fastsql.explanation.trail import Span, WordRoles
from fastsql.grammar.program import Literal
from fastsql.grammar.render import render_tree
from fastsql.linking.gold import resolve_column
from fastsql.linking.nodes import NodeLayout
from fastsql.linking.relations import RELATIONS

if TYPE_CHECKING:
    from sqlglot import exp

    from fastsql.grammar.program import Program
    from fastsql.linking.prepare import Prepared
    from fastsql.schema import Schema

ROLES = (
    "NONE",
    *("SELECT", "SELECT_AGG", "SELECT_NEST"),
    *("FROM", "FROM_NEST"),
    *("WHERE", "WHERE_NEST"),
    *("GROUP", "HAVING", "ORDER", "ORDER_AGG", "LIMIT"),
    *("INTERSECT", "UNION", "EXCEPT"),
)
"""The parts of a query (CSS, Table 7); NONE: not used in it."""

_NUMBER = {name: number for number, name in enumerate(ROLES)}
_LINKED = tuple(
    RELATIONS.index(name)
    for name in (
        *("token-table-part", "token-table-name"),
        *("token-column-part", "token-column-name", "token-column-value"),
    )
)


@dataclass(frozen=True)
class QueryRoles:
    """The parts that a query's items stand in: tables and columns by their place in the schema, literals by their text."""

    tables: dict[int, frozenset[str]]
    columns: dict[int, frozenset[str]]
    literals: dict[str, frozenset[str]]


def query_roles(program: Program, schema: Schema) -> QueryRoles:
    """The roles in a complete program of one turn."""
    from sqlglot import exp

    tree = render_tree(program, schema)
    tables: dict[int, set[str]] = {}
    columns: dict[int, set[str]] = {}
    literals: dict[str, set[str]] = {}
    for node in tree.find_all(exp.Table, exp.Column, exp.Literal):
        roles = frozenset(_roles_of(node))
        if isinstance(node, exp.Table):
            table = schema.find_table(node.name)
            if table is not None:
                tables.setdefault(table, set()).update(roles)
        elif isinstance(node, exp.Literal):
            literals.setdefault(str(node.this), set()).update(roles)
        elif isinstance(node, exp.Column):
            column = resolve_column(node, schema)
            if column is not None:
                columns.setdefault(column, set()).update(roles)
    return QueryRoles(_frozen(tables), _frozen(columns), {k: frozenset(v) for k, v in literals.items()})


def token_roles(found: QueryRoles, prepared: Prepared, schema: Schema) -> NDArray[np.bool_]:
    """The roles of a question's tokens, bool[Q, 16]: NONE where a token has no other."""
    n_tokens = len(prepared.token_ids)
    labels = np.zeros((n_tokens, len(ROLES)), dtype=np.bool_)
    nodes = NodeLayout.of_schema(schema).with_question(
        n_tokens, len(prepared.candidates), len(prepared.turns)
    )
    items = {nodes.table(table): roles for table, roles in found.tables.items()}
    items |= {nodes.column(column): roles for column, roles in found.columns.items()}
    linked = np.isin(prepared.relations[:n_tokens], _LINKED)
    for node, roles in items.items():
        for role in roles:
            labels[linked[:, node], _NUMBER[role]] = True
    for candidate in prepared.candidates:
        roles = found.literals.get(str(candidate.value), frozenset())
        for role in roles:
            labels[_inside(candidate.span, prepared), _NUMBER[role]] = True
    labels[:, _NUMBER["NONE"]] = ~labels.any(axis=1)
    return labels


def _inside(span: Span, prepared: Prepared) -> NDArray[np.bool_]:
    """The tokens that a span of the question touches, bool[Q]."""
    start, end = span
    touched: NDArray[np.bool_] = (prepared.offsets[:, 0] < end) & (prepared.offsets[:, 1] > start)
    return touched


def word_roles(program: Program, prepared: Prepared, schema: Schema) -> tuple[WordRoles, ...]:
    """The words of a question that stand in a part of its query; neighbours that stand in the same parts are one."""
    stands = query_roles(program, schema)
    labels = token_roles(stands, prepared, schema)
    for literal in program:
        # Words that were taken as written are no candidate. Those of an earlier question stand at no place of this one.
        if isinstance(literal, Literal) and literal.span is not None:
            start, end = literal.span
            if prepared.text[start:end].casefold() == str(literal.value).casefold():
                inside = _inside(literal.span, prepared)
                for role in stands.literals.get(str(literal.value), ()):
                    labels[inside, _NUMBER[role]] = True
                    labels[inside, _NUMBER["NONE"]] = False
    found: list[WordRoles] = []
    before: NDArray[np.bool_] | None = None
    own = prepared.question_tokens
    for (start, end), row in zip(prepared.offsets[:own].tolist(), labels[:own], strict=True):
        if row[_NUMBER["NONE"]]:
            before = None
            continue
        if before is not None and np.array_equal(before, row):
            start = found.pop().span[0]
        roles = tuple(name for name, has in zip(ROLES, row, strict=True) if has)
        found.append(WordRoles(roles, (start, end), prepared.text[start:end]))
        before = row
    return tuple(found)


def _frozen(found: dict[int, set[str]]) -> dict[int, frozenset[str]]:
    return {place: frozenset(roles) for place, roles in found.items()}


def _roles_of(node: exp.Expr) -> Iterator[str]:
    """The roles of a table, a column or a literal, from the innermost query outwards."""
    from sqlglot import exp

    clauses: dict[type[exp.Expr], str] = {
        exp.From: "FROM",
        exp.Where: "WHERE",
        exp.Group: "GROUP",
        exp.Having: "HAVING",
        exp.Order: "ORDER",
        exp.Limit: "LIMIT",
    }
    clause, aggregated, nested = "SELECT", False, False
    below: exp.Expr = node
    above = node.parent
    while above is not None:
        if isinstance(above, exp.AggFunc):
            aggregated = True
        elif isinstance(above, exp.Join):
            clause = "FROM" if above.this is below else "ON"
        elif isinstance(above, exp.Order) and not isinstance(above.parent, exp.Select):
            pass  # of a window
        elif type(above) in clauses:
            clause = clauses[type(above)]
        elif isinstance(above, exp.Select):
            yield from _role(clause, aggregated, nested)
            clause, aggregated, nested = "SELECT", False, True
        elif isinstance(above, exp.SetOperation) and above.args.get("expression") is below:
            yield {exp.Intersect: "INTERSECT", exp.Union: "UNION", exp.Except: "EXCEPT"}[type(above)]
        below, above = above, above.parent


def _role(clause: str, aggregated: bool, nested: bool) -> Iterator[str]:
    """The role of what stands in a clause: itself, or in a query that stands there."""
    if clause == "ON":
        return
    if nested:
        yield f"{clause}_NEST" if f"{clause}_NEST" in _NUMBER else clause
    else:
        yield f"{clause}_AGG" if aggregated and f"{clause}_AGG" in _NUMBER else clause
