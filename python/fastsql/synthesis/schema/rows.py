"""The rows that a query is about, in words: conditions, tables that are joined, groups that pass, order and limit."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from fastsql.synthesis.phrases import expand
from fastsql.synthesis.schema.clauses import (
    columns_in,
    conditions_of,
    counts_rows,
    has_aggregate,
    is_column,
    keys_of,
    limit_of,
    tables_of,
)
from fastsql.synthesis.schema.conditions import Conditions, Said
from fastsql.synthesis.schema.items import Items
from fastsql.synthesis.schema.join_tree import End, JoinTree
from fastsql.synthesis.schema.kinds import AMOUNT, ORDERED
from fastsql.synthesis.schema.words import UnsayableError, Words

_COUNTED: dict[type[exp.Expr], tuple[str, str]] = {
    exp.GT: ("more than|over", "more than"),
    exp.GTE: ("at least|no fewer than", "at least"),
    exp.LT: ("fewer than|less than", "less than"),
    exp.LTE: ("at most|no more than", "at most"),
    exp.EQ: ("exactly|just", "exactly"),
}


@dataclass(frozen=True)
class Verbs:
    """How rows are joined to what they have, and to what they belong to.

    Where more than one thing is said, the verb's number tells of which rows: "patients of a ward whose name is north and
    that have a visit", not the ward.
    """

    have: str
    belong: str
    have_any: str


ROWS = Verbs("with|that have|having", "with|of", "that have")
THOSE_ROWS = Verbs("that have", "that are of", "that have")
ROW = Verbs("with|that has|having", "with|of", "that has")
THAT_ROW = Verbs("that has", "that is of", "that has")


class Rows:
    """Puts what restricts and sorts rows into words."""

    def __init__(self, words: Words, rng: random.Random) -> None:
        self._words = words
        self._rng = rng
        self._conditions = self._make_conditions()
        self._items = self.items = self._make_items()

    def _make_conditions(self) -> Conditions:
        return Conditions(self._words, self._rng, self.say)

    def _make_items(self) -> Items:
        return Items(self._words, self._rng, self._conditions)

    def subject(self, select: exp.Select) -> int:
        """The table whose rows are asked about: that of the first column, otherwise FROM's.

        What comes first by a column of the rows that a join repeats is one of those rows: "the visit with the highest cost".
        """
        order = select.args.get("order")
        if order is not None and limit_of(select) and is_column(order.expressions[0].this):
            owner = self._words.owner(order.expressions[0].this)
            if len(tables_of(select)) > 1 and owner == self._items.counted(select):
                return owner
        for item in select.expressions:
            for column in columns_in(item):
                return self._words.owner(column)
        return self._words.source(tables_of(select)[0])

    def say(self, select: exp.Select, subject: int | None = None, *, one: bool = False) -> str:
        """As "singers whose country is France and that have a concert". Raises UnsayableError."""
        if subject is None:
            subject = self.subject(select)
        if select.args.get("offset") is not None:
            raise UnsayableError("OFFSET")
        count, where, passing = limit_of(select), self.where(select, subject), self.passing(select, subject)
        one = one or count == "1"
        noun = self._words.one(subject, self._rng) if one else self._words.many(subject, self._rng)
        parts = ["" if count == "1" else count, noun]
        # What comes first comes first among those that meet the conditions.
        parts += [*passing, "among those", where] if count and where else [where, *passing]
        return " ".join(filter(None, parts))

    def where(self, select: exp.Select, subject: int) -> str:
        """WHERE, and what joins alone demand: as "whose sex is F and with a visit whose cost is above 5"."""
        tree = JoinTree(select, self._words)
        by_table, used = self._told(select, subject, tree)
        met = [self._conditions.met(by_table[subject], subject)]
        if any(one.open and not one.either for one in by_table[subject]) and tree.ends[subject]:
            raise UnsayableError("a join behind conditions on other rows")
        plain = [*filter(None, met), *self._having_any(select, subject, tree, by_table, used)]
        joined = self._all_joined(tree, subject, by_table, used, ROWS)
        if len(joined) + len(plain) > 1:
            joined = self._all_joined(tree, subject, by_table, used, THOSE_ROWS)
        if keys_of(select) and any(end.many and one for end, one in joined.items() if not end.outer):
            raise UnsayableError("what is put together is restricted by a join")
        inner = " and ".join([*plain, *(one for end, one in joined.items() if not end.outer)])
        return ", ".join(filter(None, [inner, *(one for end, one in joined.items() if end.outer)]))

    def _told(
        self, select: exp.Select, subject: int, tree: JoinTree
    ) -> tuple[defaultdict[int, list[Said]], set[int]]:
        """Conditions by table, and tables of which something is shown, counted or put together."""
        by_table: defaultdict[int, list[Said]] = defaultdict(list)
        used = {self._words.owner(column) for column in _named(select)}
        for condition in conditions_of(select):
            said = self._lacking(condition, subject, tree) or self._either(select, subject, tree, used)
            said = said or self._conditions.say(condition)
            by_table[said.table].append(said)
        counts = (count for clause in _shown(select) for count in clause.find_all(exp.Count))
        if any(isinstance(count.this, (exp.Star, exp.Column)) for count in counts):
            used.add(self._items.counted(select))
        return by_table, used

    def _all_joined(
        self, tree: JoinTree, subject: int, by_table: Mapping[int, list[Said]], used: set[int], verbs: Verbs
    ) -> dict[End, str]:
        """What is said of each table that is joined to the subject, where something has to be said."""
        said = {end: self._joined(end, subject, tree, by_table, used, verbs) for end in tree.ends[subject]}
        return {end: one for end, one in said.items() if one}

    def _either(self, select: exp.Select, subject: int, tree: JoinTree, used: set[int]) -> Said | None:
        """One condition, on the subject or on what it belongs to: "sex is F or that are of a ward whose name is north".

        None for other conditions. The other table is `used` then.
        """
        condition = conditions_of(select)[0]
        choice = condition.this if isinstance(condition, exp.Paren) else condition
        if not isinstance(choice, exp.Or):
            return None
        own, other = sorted(
            (self._conditions.say(one, alone=False) for one in (choice.left, choice.right)),
            key=lambda one: one.table != subject,
        )
        if own.table == other.table or own.table != subject:
            return None
        ends = [
            end for end in tree.ends[subject] if end.table == other.table and not end.many and not end.outer
        ]
        alone = len(conditions_of(select)) == 1
        if not ends or not alone or any(one.having or one.either or one.open for one in (own, other)):
            raise UnsayableError("OR of two tables")
        used.add(other.table)
        text = f"{own.text} or that are of {self._a(other.table)} whose {other.text}"
        return Said(subject, text, either=True, open=True)

    def _lacking(self, condition: exp.Expr, subject: int, tree: JoinTree) -> Said | None:
        """That there is none of what an outer join adds: "have no visits"; None for another condition."""
        match condition:
            case exp.Is(this=exp.Column() as column, expression=exp.Null()):
                table = self._words.owner(column)
                outer = [end for end in tree.ends[subject] if end.table == table and end.outer]
                if outer and self._words.stands_for(column) in (table, subject):
                    return Said(subject, self._without(table, subject), having=True)
        return None

    def _without(self, table: int, subject: int) -> str:
        return f"{self._any('have no|do not have any')} {self._words.many(table, self._rng)}"

    def _with_any(self, table: int, subject: int) -> str:
        return f"that have {self._any('any|some')} {self._words.many(table, self._rng)}"

    def _having_any(
        self,
        select: exp.Select,
        subject: int,
        tree: JoinTree,
        by_table: Mapping[int, list[Said]],
        used: set[int],
    ) -> list[str]:
        """That rows without any of those which a join adds do not count, where neither a condition nor a number says so."""
        order, having = select.args.get("order"), select.args.get("having")
        if having is not None and isinstance(having.this, (exp.GT, exp.GTE, exp.EQ)):
            return []
        first = None if order is None or not limit_of(select) else order.expressions[0]
        if first is not None and first.args.get("desc") and has_aggregate(first.this):
            return []
        many = [
            end.table
            for end in tree.ends[subject]
            if end.many and not end.outer and end.table in used and not by_table.get(end.table)
        ]
        return [self._with_any(table, subject) for table in many]

    def _joined(
        self,
        end: End,
        before: int,
        tree: JoinTree,
        by_table: Mapping[int, list[Said]],
        used: set[int],
        verbs: Verbs,
    ) -> str:
        """What is said of a table that is joined, and of those beyond it; empty where nothing has to be said.

        Raises UnsayableError for a join that no condition, item or count has a use for.
        """
        table = end.table
        if end.outer:
            return self._joined_if_there(end, tree, by_table, used)
        own = self._conditions.met(by_table.get(table, ()), table)
        further = THAT_ROW if own else ROW
        beyond = [
            self._joined(one, table, tree, by_table, used, further)
            for one in tree.ends[table]
            if one.table != before
        ]
        beyond = [said for said in beyond if said]
        if len(beyond) > 1:
            raise UnsayableError("a fork beyond a join")
        if not own and not beyond:
            if table in used:
                return ""
            if not end.many:
                raise UnsayableError("a join without use")
            return f"{verbs.have_any} {self._a(table)}"
        if beyond and not own and self._words.is_link(table):
            return beyond[0]
        said = " and ".join(filter(None, [own, *beyond]))
        return f"{self._any(verbs.have if end.many else verbs.belong)} {self._a(table)} {said}"

    def _joined_if_there(
        self, end: End, tree: JoinTree, by_table: Mapping[int, list[Said]], used: set[int]
    ) -> str:
        """That rows without any of those which an outer join adds count, too."""
        if by_table.get(end.table) or len(tree.ends[end.table]) > 1:
            raise UnsayableError("conditions on what may not be there")
        if end.table not in used:
            return ""
        without = self._words.many(end.table, self._rng)
        return f"including those {self._any('without any|that have no')} {without}"

    def passing(self, select: exp.Select, subject: int) -> list[str]:
        """HAVING, ORDER BY and LIMIT."""
        return [*self._having(select, subject), *self._order(select, subject)]

    def _having(self, select: exp.Select, subject: int) -> list[str]:
        having = select.args.get("having")
        if having is None:
            return []
        node = having.this
        if type(node) not in _COUNTED or not isinstance(node.expression, exp.Literal):
            raise UnsayableError("HAVING")
        number = node.expression.name
        if counts_rows(node.this):
            return [self._so_many(type(node), number, self._items.counted(select), subject)]
        said = self._items.say(node.this, select, subject, many=False)
        return [self._so_much(type(node), number, said)]

    def _so_many(self, sign: type[exp.Expr], number: str, counted: int, subject: int) -> str:
        rows = self._words.many(counted, self._rng)
        return f"{self._any('with|that have|having')} {self._any(_COUNTED[sign][0])} {number} {rows}"

    def _so_much(self, sign: type[exp.Expr], number: str, said: str) -> str:
        return f"whose {said} is {_COUNTED[sign][1]} {number}"

    def _order(self, select: exp.Select, subject: int) -> list[str]:
        order, limited = select.args.get("order"), bool(limit_of(select))
        if order is None:
            if limited:
                raise UnsayableError("LIMIT without an order")
            return []
        if not limited:
            return [self._sorted([self._key(key, select, subject) for key in order.expressions])]
        if len(order.expressions) > 1:
            raise UnsayableError("two orders")
        return [self._first(self.most(order.expressions[0], select, subject))]

    def _sorted(self, keys: Sequence[str]) -> str:
        return f"{self._any('ordered by|sorted by|in order of')} {' and then '.join(keys)}"

    def _first(self, most: str) -> str:
        return f"with the {most}"

    def _key(self, key: exp.Ordered, select: exp.Select, subject: int) -> str:
        if (
            is_column(key.this)
            and self._words.kind(key.this) not in ORDERED
            and key.this not in select.expressions
        ):
            raise UnsayableError("an order that is not seen")
        said = self._items.say(key.this, select, subject, many=False)
        return self._in_order(said, key.this, down=bool(key.args.get("desc")))

    def _in_order(self, said: str, by: exp.Expr, *, down: bool) -> str:
        """What is sorted by, and in which direction."""
        falling = "in descending order|from highest to lowest"
        return (
            f"{said} {self._any(falling if down else '|in ascending order|from lowest to highest')}".strip()
        )

    def most(self, key: exp.Ordered, select: exp.Select, subject: int) -> str:
        """What the rows that come first have: "highest weight", "most visits". Raises UnsayableError for texts."""
        down, by = bool(key.args.get("desc")), key.this
        if is_column(by) and self._words.owner(by) != subject:
            raise UnsayableError("order by rows of another table")
        said = self._items.say(by, select, subject, many=False)
        if isinstance(by, exp.Count):
            return self._most_counted(said, down=down)
        kind = self._words.kind(by) if is_column(by) else AMOUNT
        if kind not in ORDERED:
            raise UnsayableError(f"order of {kind}s")
        return self._most(said, down=down, is_time=kind != AMOUNT)

    def _most_counted(self, said: str, *, down: bool) -> str:
        most = self._any("most|largest number of" if down else "fewest|smallest number of")
        return f"{most} {said.removeprefix('number of ')}"

    def _most(self, said: str, *, down: bool, is_time: bool) -> str:
        if is_time:
            return f"{self._any('latest|most recent' if down else 'earliest')} {said}"
        return f"{self._any('highest|largest|greatest' if down else 'lowest|smallest|least')} {said}"

    def _a(self, table: int) -> str:
        one = self._words.one(table, self._rng)
        return f"{'an' if one[:1] in tuple('aeio') else 'a'} {one}"

    def _any(self, pattern: str) -> str:
        return expand(pattern, self._rng)


def _shown(select: exp.Select) -> Iterator[exp.Expr]:
    """What is selected, grouped by, sorted by, and what groups have to be like."""
    yield from (item for item in select.expressions if not is_column(item))
    for name in ("group", "having", "order"):
        clause = select.args.get(name)
        if clause is not None:
            yield clause


def _named(select: exp.Select) -> Iterator[exp.Column]:
    """Columns that are selected, grouped by or sorted by."""
    yield from filter(is_column, select.expressions)
    for clause in _shown(select):
        yield from columns_in(clause)
