"""The rows that a query is about, in words: conditions, tables that are joined, groups that pass, order and limit."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Sequence

from sqlglot import exp

from fastsql.synthesis.phrases import expand
from fastsql.synthesis.schema.clauses import counts_rows, is_column, joins_of, limit_of, tables_of
from fastsql.synthesis.schema.conditions import Conditions, Said
from fastsql.synthesis.schema.items import Items
from fastsql.synthesis.schema.words import UnsayableError, Words

_COUNTED: dict[type[exp.Expr], tuple[str, str]] = {
    exp.GT: ("more than|over", "more than"),
    exp.GTE: ("at least|no fewer than", "at least"),
    exp.LT: ("fewer than|less than", "less than"),
    exp.LTE: ("at most|no more than", "at most"),
    exp.EQ: ("exactly|just", "exactly"),
}


class Rows:
    """Puts what restricts and sorts rows into words."""

    def __init__(self, words: Words, items: Items, rng: random.Random) -> None:
        self._words = words
        self._items = items
        self._rng = rng
        self._conditions = Conditions(words, rng, self.say)

    def subject(self, select: exp.Select) -> int:
        """The table whose rows are asked about: that of the first column, otherwise FROM's."""
        for item in select.expressions:
            for column in item.find_all(exp.Column):
                if not isinstance(column.this, exp.Star):
                    return self._words.owner(column)
        return self._words.source(tables_of(select)[0])

    def say(self, select: exp.Select, subject: int | None = None) -> str:
        """As "singers whose country is France and that have a concert". Raises UnsayableError."""
        if subject is None:
            subject = self.subject(select)
        if select.args.get("offset") is not None:
            raise UnsayableError("OFFSET")
        parts = [*self.where(select, subject), *self.passing(select, subject)]
        count = limit_of(select)
        noun = self._words.one(subject, self._rng) if count == "1" else self._words.many(subject, self._rng)
        return " ".join(filter(None, ["" if count == "1" else count, noun, *parts]))

    def where(self, select: exp.Select, subject: int) -> list[str]:
        """WHERE, and what joins alone demand."""
        where = select.args.get("where")
        conditions = (
            []
            if where is None
            else list(where.this.flatten())
            if isinstance(where.this, exp.And)
            else [where.this]
        )
        by_table: defaultdict[int, list[Said]] = defaultdict(list)
        for said in map(self._conditions.say, conditions):
            by_table[said.table].append(said)
        parts = [self._about(table, found, subject) for table, found in by_table.items()]
        parts += [f"that have {self._a(table)}" for table in self._unsaid(select, {subject, *by_table})]
        return [" and ".join(parts)] if parts else []

    def passing(self, select: exp.Select, subject: int) -> list[str]:
        """HAVING, ORDER BY and LIMIT."""
        return [*self._having(select, subject), *self._order(select, subject)]

    def _about(self, table: int, found: Sequence[Said], subject: int) -> str:
        whose = " and ".join(one.text for one in found if not one.having and not one.either)
        parts = [f"whose {whose}"] if whose else []
        parts += [f"whose {one.text}" for one in found if one.either and not one.having]
        that = " and ".join(one.text for one in found if one.having)
        parts += [f"that {that}"] if that else []
        said = " and ".join(parts)
        return said if table == subject else f"{self._any('with|that have|having')} {self._a(table)} {said}"

    def _unsaid(self, select: exp.Select, said: set[int]) -> list[int]:
        """Joined tables that restrict the rows without being mentioned: those at the ends of ways."""
        joins, tables = joins_of(select), [self._words.source(node) for node in tables_of(select)]
        if any(join.side or join.args.get("on") is None for join in joins):
            raise UnsayableError("outer join")
        if len(set(tables)) < len(tables):
            raise UnsayableError("self join")
        if not all(map(self._is_only_way, joins)):
            raise UnsayableError("one of several keys")
        named = (
            column
            for column in select.find_all(exp.Column)
            if column.find_ancestor(exp.Join, exp.Select) is select
        )
        said = said | {self._words.owner(column) for column in named if not isinstance(column.this, exp.Star)}
        if any(map(counts_rows, select.find_all(exp.Count))):
            said.add(self._items.counted(select))
        joined: Counter[int] = Counter()
        for join in joins:
            joined.update({self._words.owner(side) for side in join.args["on"].find_all(exp.Column)})
        return [table for table in tables if table not in said and joined[table] == 1]

    def _is_only_way(self, join: exp.Join) -> bool:
        """Whether no other column of the two tables holds the same keys; a question would have to say which is meant."""
        schema = self._words.schema
        for side in join.args["on"].find_all(exp.Column):
            group = schema.key_groups[self._words.number(side)]
            columns = schema.tables[self._words.owner(side)].columns
            if group < 0 or sum(schema.key_groups[column] == group for column in columns) > 1:
                return False
        return True

    def _having(self, select: exp.Select, subject: int) -> list[str]:
        having = select.args.get("having")
        if having is None:
            return []
        node = having.this
        if type(node) not in _COUNTED or not isinstance(node.expression, exp.Literal):
            raise UnsayableError("HAVING")
        number, (sign, than) = node.expression.name, _COUNTED[type(node)]
        if counts_rows(node.this):
            counted = self._words.many(self._items.counted(select), self._rng)
            return [f"{self._any('with|that have|having')} {self._any(sign)} {number} {counted}"]
        return [f"whose {self._items.say(node.this, select, subject, many=False)} is {than} {number}"]

    def _order(self, select: exp.Select, subject: int) -> list[str]:
        order, limited = select.args.get("order"), bool(limit_of(select))
        if order is None:
            if limited:
                raise UnsayableError("LIMIT without an order")
            return []
        if not limited:
            keys = " and then ".join(self._key(key, select, subject) for key in order.expressions)
            return [f"{self._any('ordered by|sorted by|in order of')} {keys}"]
        if len(order.expressions) > 1:
            raise UnsayableError("two orders")
        return [f"with the {self._most(order.expressions[0], select, subject)}"]

    def _key(self, key: exp.Ordered, select: exp.Select, subject: int) -> str:
        down = "in descending order|from highest to lowest"
        way = down if key.args.get("desc") else "|in ascending order|from lowest to highest"
        return f"{self._items.say(key.this, select, subject, many=False)} {self._any(way)}".strip()

    def _most(self, key: exp.Ordered, select: exp.Select, subject: int) -> str:
        """What the rows that come first have: "highest weight", "most visits". Raises UnsayableError for texts."""
        down, by = bool(key.args.get("desc")), key.this
        said = self._items.say(by, select, subject, many=False)
        if isinstance(by, exp.Count):
            most = self._any("most|largest number of" if down else "fewest|smallest number of")
            return f"{most} {said.removeprefix('number of ')}"
        of = self._words.schema.columns[self._words.number(by)].type if is_column(by) else "number"
        if of == "number":
            return f"{self._any('highest|largest|greatest' if down else 'lowest|smallest|least')} {said}"
        if of == "time":
            return f"{self._any('latest|most recent' if down else 'earliest|first')} {said}"
        raise UnsayableError("order of texts")

    def _a(self, table: int) -> str:
        one = self._words.one(table, self._rng)
        return f"{'an' if one[:1] in tuple('aeio') else 'a'} {one}"

    def _any(self, pattern: str) -> str:
        return expand(pattern, self._rng)
