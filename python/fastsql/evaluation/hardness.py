"""The hardness of a query after Spider (Yu et al., EMNLP 2018, and the evaluation script published with it).

Three counts over the outermost SELECT decide. Components: WHERE, GROUP BY, ORDER BY, LIMIT, every table beyond the first,
every OR, every LIKE. Nested: subqueries in conditions, and one for a set operation. Others: more than one aggregate, more
than one selected item, condition of WHERE, or grouping key. As in the script, NOT in a condition and AND/OR in HAVING
count as aggregates, aggregates within HAVING do not, and what is nested is counted but not looked into.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

BEYOND = "beyond"
LEVELS = ("easy", "medium", "hard", "extra", BEYOND)
"""From easy to extra hard, and what Spider's grammar cannot write: CASE, casts, date functions, windows, NULL tests, outer
joins, EXISTS, WITH, UNION ALL, OFFSET, queries without FROM, subqueries and conditions in SELECT."""

_COMPARISONS = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE)
_NEVER_SELECTED = (exp.Query, exp.Predicate, exp.Connector, exp.Not)
_AGGREGATES = (exp.Count, exp.Sum, exp.Avg, exp.Min, exp.Max)
_GRAMMAR = frozenset(
    {
        *(exp.Select, exp.Union, exp.Intersect, exp.Except, exp.Subquery, exp.Paren),
        *(exp.From, exp.Join, exp.Where, exp.Group, exp.Having, exp.Order, exp.Ordered, exp.Limit),
        *(exp.Table, exp.TableAlias, exp.Alias, exp.Column, exp.Identifier, exp.Star, exp.Literal, exp.Neg),
        *(exp.And, exp.Or, exp.Not, exp.Like, exp.In, exp.Between, exp.Distinct),
        *(exp.Add, exp.Sub, exp.Mul, exp.Div),
        *_COMPARISONS,
        *_AGGREGATES,
    }
)


def hardness(query: exp.Query) -> str:
    """One of `LEVELS` for a parsed query."""
    if not all(map(_in_grammar, query.walk())):
        return BEYOND
    outer: exp.Expr = query
    operations = 0
    while not isinstance(outer, exp.Select):
        operations += isinstance(outer, exp.SetOperation)
        outer = outer.this
    return _level(_components(outer), _nested(outer) + bool(operations), _others(outer))


def _level(components: int, nested: int, others: int) -> str:
    if nested == 0:
        if components <= 1 and others == 0:
            return "easy"
        if (components <= 1 and others <= 2) or (components <= 2 and others < 2):
            return "medium"
        if components <= 2 or (components <= 3 and others <= 2):
            return "hard"
    if nested == 1 and components <= 1 and others == 0:
        return "hard"
    return "extra"


def _components(select: exp.Select) -> int:
    clauses = sum(select.args.get(name) is not None for name in ("where", "group", "order", "limit"))
    tables = 1 + len(select.args.get("joins") or ())
    connectors = sum(isinstance(node, exp.Or) for node in _connectors(select, "on", "where", "having"))
    likes = sum(
        isinstance(_affirmed(node), exp.Like) for node in _conditions(select, "on", "where", "having")
    )
    return clauses + tables - 1 + connectors + likes


def _nested(select: exp.Select) -> int:
    return sum(
        isinstance(value, exp.Query)
        for condition in _conditions(select, "on", "where", "having")
        for value in _values(_affirmed(condition))
    )


def _others(select: exp.Select) -> int:
    keys = [key for name in ("group", "order") for key in _keys(select, name)]
    aggregates = sum(_starts_with_aggregate(item) for item in select.expressions)
    aggregates += sum(len(list(key.find_all(*_AGGREGATES))) for key in keys)
    aggregates += sum(_negated(condition) for condition in _conditions(select, "where", "having"))
    aggregates += len(list(_connectors(select, "having")))
    return sum(
        (
            aggregates > 1,
            len(select.expressions) > 1,
            len(list(_conditions(select, "where"))) > 1,
            len(_keys(select, "group")) > 1,
        )
    )


def _in_grammar(node: exp.Expr) -> bool:
    if isinstance(node, exp.Boolean):
        # sqlglot writes ON TRUE for the joins before one final ON.
        return isinstance(node.parent, exp.Join)
    if type(node) not in _GRAMMAR:
        return False
    if isinstance(node, exp.Select):
        return node.args.get("from_") is not None and not any(
            isinstance(part, _NEVER_SELECTED) for item in node.expressions for part in item.walk()
        )
    if isinstance(node, exp.Join):
        return not node.side and not node.args.get("using")
    if isinstance(node, exp.SetOperation):
        return bool(node.args.get("distinct"))
    # A condition's left side is a column or an aggregate, never a query.
    return not (isinstance(node, _COMPARISONS) and isinstance(node.this.unnest(), exp.Query))


def _roots(select: exp.Select, names: tuple[str, ...]) -> Iterator[exp.Expr]:
    for name in names:
        if name == "on":
            joined = [join.args.get("on") for join in select.args.get("joins") or ()]
            yield from (on for on in joined if on is not None and not isinstance(on, exp.Boolean))
        elif select.args.get(name) is not None:
            yield select.args[name].this


def _conditions(select: exp.Select, *names: str) -> Iterator[exp.Expr]:
    """The conditions that AND and OR join in these clauses; "on" means those of all joins."""
    stack = list(_roots(select, names))
    while stack:
        node = stack.pop().unnest()
        if isinstance(node, exp.Connector):
            stack += [node.left, node.right]
        else:
            yield node


def _connectors(select: exp.Select, *names: str) -> Iterator[exp.Expr]:
    """The ANDs and ORs themselves."""
    stack = list(_roots(select, names))
    while stack:
        node = stack.pop().unnest()
        if isinstance(node, exp.Connector):
            yield node
            stack += [node.left, node.right]


def _negated(condition: exp.Expr) -> bool:
    return isinstance(condition, exp.Not) or bool(condition.args.get("negate"))


def _affirmed(condition: exp.Expr) -> exp.Expr:
    return condition.this.unnest() if isinstance(condition, exp.Not) else condition


def _values(condition: exp.Expr) -> Iterator[exp.Expr]:
    """What a condition compares its left side with."""
    for name in ("expression", "query", "low", "high"):
        value = condition.args.get(name)
        if isinstance(value, exp.Expr):
            yield value.unnest()


def _keys(select: exp.Select, name: str) -> list[exp.Expr]:
    clause = select.args.get(name)
    return [] if clause is None else list(clause.expressions)


def _starts_with_aggregate(item: exp.Expr) -> bool:
    node = item.unalias()
    while isinstance(node, exp.Binary | exp.Paren):
        node = node.this
    return isinstance(node, _AGGREGATES)
