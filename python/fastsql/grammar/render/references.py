"""SQL that shows what it takes from earlier turns, by the tokens of EHR-SeqSQL (section 3.2): to be read, not to be run.

`PREV_RESULT2` stands for what turn 2 returned, `PREV_QUERY2` for its query, which goes on:

    PREV_QUERY2 WHERE admissions.insurance = 'medicare'     its query with one condition more
    SELECT COUNT(*) FROM PREV_QUERY2                        its query with another select list
    PREV_QUERY2 REPLACING WHERE admissions.age > 70         its query with these conditions in place of its own
    PREV_QUERY2 WITHOUT LIMIT                               its query without a clause

Everything is read off the trees of which the SQL itself is written.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from fastsql.grammar.compile import load_grammar
from fastsql.grammar.inlining import with_results
from fastsql.grammar.program import Node, Production, Program, Terminal, TurnRef
from fastsql.grammar.render import text_of, tree_of
from fastsql.grammar.tree import read_tree
from fastsql.grammar.turn_kinds import EXTENSIONS

if TYPE_CHECKING:
    from fastsql.schema import Schema

QUERY, RESULT = "PREV_QUERY", "PREV_RESULT"
_CLAUSES = {
    "group": "GROUP BY",
    "having": "HAVING",
    "order": "ORDER BY",
    "limit": "LIMIT",
    "offset": "OFFSET",
}


def render_references(
    own: Program,
    program: Program,
    turns: Sequence[Program],
    numbers: Sequence[int],
    schema: Schema,
    *,
    dialect: str = "sqlite",
    now: str | None = None,
) -> str:
    """The SQL of a question with tokens where it takes something from earlier turns.

    Args:
        own: what the question says itself, with references to `turns` by their places.
        program: the same written out.
        turns: the queries of earlier turns, each written out.
        numbers: what the turns are called.
        schema: that of the queries.
        dialect: as for `render`.
        now: as for `render`.

    Raises DialectError as `render` does.
    """
    grammar = load_grammar()
    tree, results = with_results(own, dict(enumerate(turns)), schema, grammar)
    tree, results = _with_terminals(tree, iter(program), results)
    query = tree_of(tree, schema, dialect, now, results=results)
    for part in list(query.find_all(exp.Query)):
        if "turn" in part.meta:
            part.replace(exp.Var(this=f"{RESULT}{numbers[part.meta['turn']]}"))
    source = own[1] if isinstance(own[0], Production) and own[0].name in EXTENSIONS else None
    if isinstance(source, TurnRef):
        before = tree_of(read_tree(turns[source.turn], grammar), schema, dialect, now)
        changed = _changes(before, query, f"{QUERY}{numbers[source.turn]}", dialect)
        if changed is not None:
            return changed
    return text_of(query, dialect)


def _with_terminals(
    tree: Node, terminals: Iterator[Terminal], results: Mapping[int, int]
) -> tuple[Node, dict[int, int]]:
    """The tree with other terminals, in the order of its program, and where the results are now."""
    places: dict[int, int] = {}

    def rebuilt(node: Node) -> Node:
        terminal = next(terminals)
        new = Node(terminal, tuple(None if one is None else rebuilt(one) for one in node.children))
        if id(node) in results:
            places[id(new)] = results[id(node)]
        return new

    return rebuilt(tree), places


def _changes(before: exp.Query, after: exp.Query, token: str, dialect: str) -> str | None:
    """What a query says that an earlier one does not; None where their FROM differs, as by other aliases."""

    def texts(found: Sequence[Any]) -> list[str]:
        return [text_of(one, dialect) for one in found]

    def clause(query: exp.Query, name: str) -> str:
        found = query.args.get(name)
        return "" if found is None else text_of(found, dialect).strip()

    if not isinstance(before, exp.Select) or not isinstance(after, exp.Select):
        return None
    joins, old_joins = texts(after.args.get("joins") or ()), texts(before.args.get("joins") or ())
    if clause(before, "from_") != clause(after, "from_") or joins[: len(old_joins)] != old_joins:
        return None
    said = [token]
    items, old_items = texts(after.expressions), texts(before.expressions)
    distinct = "DISTINCT " if after.args.get("distinct") else ""
    if items != old_items or bool(distinct) != bool(before.args.get("distinct")):
        said = [f"SELECT {distinct}{', '.join(items)} FROM", token]
    said += [join.strip() for join in joins[len(old_joins) :]]
    conditions, old_conditions = texts(_conjuncts(after)), texts(_conjuncts(before))
    if not set(old_conditions) <= set(conditions):
        kept = " AND ".join(conditions)
        said.append(f"REPLACING WHERE {kept}" if kept else "WITHOUT WHERE")
    elif added := [one for one in conditions if one not in old_conditions]:
        said.append(f"WHERE {' AND '.join(added)}")
    for name, keyword in _CLAUSES.items():
        if clause(before, name) != clause(after, name):
            said.append(clause(after, name) or f"WITHOUT {keyword}")
    return " ".join(said)


def _conjuncts(query: exp.Select) -> list[exp.Expr]:
    where = query.args.get("where")
    if where is None:
        return []
    return list(where.this.flatten()) if isinstance(where.this, exp.And) else [where.this]
