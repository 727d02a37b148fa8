"""Queries in words: a grammar over the clauses of a query, with many ways to say each.

It says what it can say exactly; for the rest it raises UnsayableError.

    questions --> items: "the names and ages"    rows: "of the singers whose country is France"    conditions    words
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from sqlglot import exp

from fastsql.synthesis.schema.asker import MOST_ITEMS, Asker
from fastsql.synthesis.schema.chinese.questions import ChineseAsker
from fastsql.synthesis.schema.clauses import (
    conditions_of,
    counts_rows,
    has_aggregate,
    is_column,
    is_for_each_group,
    joins_of,
    keys_of,
    limit_of,
)
from fastsql.synthesis.schema.derived import FirstOfEach, OverGroups, read_derived
from fastsql.synthesis.schema.words import CHINESE, UnsayableError, Words

_BOTH: dict[type[exp.Expr], str] = {
    exp.Intersect: "that are also among the",
    exp.Except: "that are not among the",
    exp.Union: "together with the",
}


ONE = 0.5
"""How often what is called so is said in the singular."""
NAMELESS = 0.6
"""How often rows are asked for as such where what names them is selected: "the patients" for their names."""


def ask(query: exp.Expr, words: Words, rng: random.Random) -> str:
    """A question for a query as the grammar renders it. Raises UnsayableError where there are no words for a construct."""
    return _asker(words, rng).ask(query)


def describe(select: exp.Select, words: Words, rng: random.Random, subject: int) -> str:
    """The rows of a table that a query is about: "singers whose country is France". Raises UnsayableError."""
    return _asker(words, rng).describe(select, subject)


def _asker(words: Words, rng: random.Random) -> Asker:
    return ChineseAsker(words, rng) if words.language == CHINESE else _Asker(words, rng)


class _Asker(Asker):
    def _ask_set(self, query: exp.SetOperation) -> str:
        return self._request(self._set_operation(query), single=False)

    def _ask_derived(self, select: exp.Select) -> str:
        match read_derived(select):
            case OverGroups() as derived:
                return self._request(self._over_groups(derived), single=True)
            case FirstOfEach() as derived:
                return self._request(self._first_of_each(derived), single=False)
        raise UnsayableError("derived table")

    def _ask_rows(self, select: exp.Select) -> str:
        first, *others = select.expressions
        one = self._is_one(select)
        single = not others and (one or limit_of(select) == "1" or has_aggregate(first))
        return self._request(self._things(select, one=one), single=single)

    def _is_one(self, select: exp.Select) -> bool:
        """Whether a row is said where no LIMIT says so: "the sex of patient 7", "the category of the allergy with code 5".

        People say so of what has a key, and of a thing by what it is called, however many rows hold it: each answer once.
        """
        if joins_of(select) or keys_of(select) or select.args.get("order") is not None or limit_of(select):
            return False
        if not all(map(is_column, select.expressions)):
            return False
        named = [
            condition.this
            for condition in conditions_of(select)
            if isinstance(condition, exp.EQ)
            and is_column(condition.this)
            and isinstance(condition.expression, exp.Literal)
        ]
        if select.args.get("distinct"):
            return any(map(self._names_one, named)) and self._rng.random() < ONE
        return any(map(self._words.is_unique, named)) and self._rng.random() < ONE

    def _names_one(self, column: exp.Column) -> bool:
        """Whether a column is a code, or what its rows are called: a name, and no home town."""
        number = self._words.number(column)
        return self._words.is_code(number) or number in self._words.naming(self._words.owner(column))

    def _ask_count(self, select: exp.Select) -> str:
        if select.args.get("order") is not None or limit_of(select):
            raise UnsayableError("order of a count")
        self._meaning.check_known(select)
        rows = self._rows.say(select, self._items.counted(select))
        return self._finished("how many @ are there|count the @|what is the number of @|number of @", rows)

    def _request(self, things: str, *, single: bool) -> str:
        be = "is" if single else "are"
        asked = f"what {be} @|show @|list @|give me @|find @|@|return @|tell me @"
        return self._finished(
            f"{asked}|please provide me @|can you tell me @|could you show me @|i need @", things
        )

    def _set_operation(self, query: exp.SetOperation) -> str:
        left, right = query.left, query.right
        if type(query) not in _BOTH or not (isinstance(left, exp.Select) and isinstance(right, exp.Select)):
            raise UnsayableError("set operation")
        if not all(map(self._meaning.are_alike, left.expressions, right.expressions)):
            raise UnsayableError("set operation of different things")
        # "Artists that are not among the names of artists" are none: both are said as rows, or neither.
        named = all(
            not keys_of(one) and self._names_rows(one, self._rows.subject(one)) for one in (left, right)
        )
        nameless = named and self._rng.random() < NAMELESS
        one, other = (self._things(operand, nameless=nameless) for operand in (left, right))
        return f"{one} {_BOTH[type(query)]} {other.removeprefix('all ').removeprefix('the ')}"

    def _things(self, select: exp.Select, *, one: bool = False, nameless: bool | None = None) -> str:
        """As "the names and ages of the singers whose country is France"; `nameless`: rows alone stand for their names."""
        self._meaning.check_groups(select)
        self._meaning.check_known(select)
        subject, single = self._rows.subject(select), one or limit_of(select) == "1"
        if select.is_star:
            every = self._any("all information on the|everything about the|all columns of the")
            return f"{every} {self._rows.say(select, subject)}"
        if keys_of(select):
            return (
                self._for_each(select, subject)
                if is_for_each_group(select)
                else self._groups(select, subject)
            )
        distinct = (
            f"{self._any('different|distinct|unique')} " if select.args.get("distinct") and not one else ""
        )
        labels = [
            self._items.say(item, select, subject, many=not single and not has_aggregate(item))
            for item in select.expressions
        ]
        the = "the" if limit_of(select) or single else self._any("the|all the")
        rows = self._rows.say(select, subject, one=one)
        if self._names_rows(select, subject) and (
            self._rng.random() < NAMELESS if nameless is None else nameless
        ):
            return f"{the} {rows}"
        if not any(item.find(exp.Case) for item in select.expressions):
            return f"the {distinct}{_listed(labels)} of {the} {rows}"
        # The labels say rows already: "the number of dogs whose gender is F".
        is_all = not conditions_of(select) and not joins_of(select)
        return f"the {_listed(labels)}" if is_all else f"the {_listed(labels)} among {the} {rows}"

    def _names_rows(self, select: exp.Select, subject: int) -> bool:
        """Whether what is selected names the rows, so that who asks for the rows gets it.

        Where each answer comes once, rows of one name would be one.
        """
        items = select.expressions
        named = {self._words.number(item) for item in items if is_column(item)}
        if len(named) < len(items) or named != set(self._words.naming(subject)):
            return False
        once = select.args.get("distinct") or select.find_ancestor(exp.SetOperation)
        return not once or self._words.is_named_once(subject)

    def _over_groups(self, derived: OverGroups) -> str:
        """As "the average number of visits whose reason is cough per patient with any"."""
        inner, (item,), (key,) = derived.inner, derived.inner.expressions, keys_of(derived.inner)
        if not is_column(key):
            raise UnsayableError("key")
        subject, table = self._rows.subject(inner), self._words.stands_for(key)
        counted = self._items.counted(inner)
        if table is None or table == counted:
            each = f"per {self._items.key(key)}"
        else:
            each = f"per {self._words.one(table, self._rng)} with any"
        where = self._rows.where(inner, counted)
        most = self._any(self._items.most(derived.aggregate))
        said = self._items.say(item, inner, subject, many=False)
        if not isinstance(item, (exp.Count, exp.Sum)):
            raise UnsayableError("a mean of means")
        if where and not counts_rows(item):
            raise UnsayableError("a mean of what meets conditions")
        return " ".join(filter(None, ["the", most, said, where, each]))

    def _first_of_each(self, derived: FirstOfEach) -> str:
        """As "the cost of the visit with the latest day for each patient"."""
        inner, subject = derived.inner, self._rows.subject(derived.inner)
        table = self._words.stands_for(derived.key)
        if table == subject:
            raise UnsayableError("the first of one row")
        key = self._items.key(derived.key) if table is None else self._words.one(table, self._rng)
        labels = _listed([self._items.say(item, inner, subject, many=False) for item in inner.expressions])
        most = self._rows.most(derived.order, inner, subject)
        where = self._rows.where(inner, subject)
        among = f" among those {where}" if where else ""
        return (
            f"the {labels} of the {self._words.one(subject, self._rng)} with the {most} for each {key}{among}"
        )

    def _for_each(self, select: exp.Select, subject: int) -> str:
        """As "the average ages for each country of the singers"."""
        keys = keys_of(select)
        labels = [
            self._items.say(item, select, subject, many=not has_aggregate(item))
            for item in select.expressions
            if item not in keys
        ]
        each = f"{self._any('for each|per')} {_listed([self._items.key(key) for key in keys])}"
        return f"the {_listed(labels)} {each} among the {self._rows.say(select, subject)}"

    def _groups(self, select: exp.Select, subject: int) -> str:
        """Groups that pass, or that come first: "the themes with at least 2 concerts among the concerts of 2014"."""
        keys, single, order = keys_of(select), limit_of(select) == "1", select.args.get("order")
        if not any(map(is_column, select.expressions)):
            raise UnsayableError("groups that are not named")
        if (
            limit_of(select)
            and order is not None
            and any(key.this in select.expressions for key in order.expressions)
        ):
            raise UnsayableError("what decides is asked for, too")
        unique = [key for key in keys if is_column(key) and self._words.is_unique(key)]
        about = (
            subject if unique else -1
        )  # groups of values have no noun of their own: columns are said with their table
        labels = _listed(
            [self._items.say(item, select, about, many=not single) for item in select.expressions]
        )
        if unique:
            if any(self._words.owner(key) != subject for key in unique):
                raise UnsayableError("groups of another table")
            return f"the {labels} of the {self._rows.say(select, subject)}"
        if not all(key in select.expressions for key in keys):
            raise UnsayableError("groups that are not named")
        where = self._rows.where(select, subject)
        among = [f"among the {self._words.many(subject, self._rng)}", where] if where else []
        count = "" if single else limit_of(select)
        return " ".join(filter(None, ["the", count, labels, *self._rows.passing(select, subject), *among]))

    def _finished(self, pattern: str, filling: str) -> str:
        text = self._any(pattern).replace("@", filling)
        asks = text.startswith(("what", "how", "can ", "could "))
        return text[:1].upper() + text[1:] + ("?" if asks else self._rng.choice((".", "")))


def _listed(items: Sequence[str]) -> str:
    if not 0 < len(items) <= MOST_ITEMS:
        raise UnsayableError("nothing but keys" if not items else "too many items")
    if len(set(items)) < len(items):
        raise UnsayableError("two items of one name")
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"
