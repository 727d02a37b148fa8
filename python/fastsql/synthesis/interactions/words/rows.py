"""FROM, select lists and order in words: "the 3 value numbers of the labevents with the latest chart time"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fastsql.grammar.clauses import chain, child, joined, own, some
from fastsql.grammar.grouping import AGGREGATES
from fastsql.grammar.inlining import SET_OPERATIONS
from fastsql.grammar.program import ColumnRef, DerivedRef, Node, TableRef, TurnRef
from fastsql.synthesis.interactions.selects import is_select, item_nodes
from fastsql.synthesis.interactions.words.conditions import Conditions
from fastsql.synthesis.interactions.words.expressions import DESCENDING, RANKS
from fastsql.synthesis.interactions.words.names import Scope, Source, plural_of
from fastsql.synthesis.schema.kinds import TIME, YEAR
from fastsql.synthesis.schema.words import UnsayableError

_RESULT = "rows of "
_PAIRED = " with the "
MOST_ITEMS = 6
"""Things that one question asks for."""
_SHORT = {**RANKS, "case": "indicator", "test": "answer"}
"""What later turns call a column that takes many words."""
_ORDINALS = {"1": "second", "2": "third", "3": "fourth"}
"""The row behind so many."""
_ORDERS = ("asc", "desc", "asc_nulls_last", "desc_nulls_first")


@dataclass(frozen=True)
class Tail:
    """ORDER BY and LIMIT: its keys with their direction, and the numbers of rows that are shown and passed over, if any."""

    keys: tuple[Node, ...]
    limit: str
    offset: str = ""


@dataclass(frozen=True)
class Things:
    """What a query selects: `labels` as they are asked for, `names` as later turns call them.

    `plain`: whether each is a column; `single`: whether it is one row for certain; `times`: which are moments.
    """

    labels: tuple[str, ...]
    names: tuple[str, ...]
    plain: tuple[bool, ...]
    single: bool
    times: tuple[bool, ...]


class Rows(Conditions):
    """Puts what a query is about into words. Raises UnsayableError where there are none for a construct."""

    def _from(self, query: Node) -> tuple[str, Scope]:
        """FROM in words, in the plural, and its scope."""
        *first, joins, _, _ = query.children
        text, source = self._source(query, first[0] if first else None)
        scope: Scope = (source,)
        for join in joined(joins):
            if join.name not in ("join", "left_join"):
                raise UnsayableError(join.name)
            entry = child(join, 0)
            inner = entry.children[0] if entry.children else None
            other, added = self._source(entry, inner)
            scope = (*scope, added)
            earlier, newest, *ons = join.children[1:]
            if any(one is not None for one in ons[:-1]):
                raise UnsayableError("ON of several conditions")
            left, right = self._bare(some(earlier), scope), self._bare(some(newest), scope)
            by = right if left == right else f"{left} and {right}"
            either = ", if there are any," if join.name == "left_join" else ""
            text = f"{text} {self._any('paired with|matched with')} the {other}{either} by {by}"
        return text, scope

    def _bare(self, key: Node, scope: Scope) -> str:
        """A side of ON without its table."""
        match key.terminal:
            case ColumnRef(column, _):
                return " ".join(self._profile.columns[column].called.lower().split())
            case DerivedRef(source, item):
                return scope[source].names[item]
        raise UnsayableError("ON")

    def _source(self, entry: Node, inner: Node | None) -> tuple[str, Source]:
        if isinstance(entry.terminal, TableRef):
            return self._many(entry.terminal.table), Source(entry.terminal.table)
        if entry.name == "previous":
            assert inner is not None
            assert isinstance(inner.terminal, TurnRef)
            said = self._said[inner.terminal.turn]
            mention = self._any("A|answer |result ") + str(inner.terminal.turn + 1)
            return f"rows of {mention}", Source(-1, said.names, mention, said.times)
        query = some(inner)
        things = self._things_of(query)
        return f"rows of the list of {self._described(query)}", Source(-1, things.names, "", things.times)

    # ------------------------------------------------------------ select lists

    def _things_of(self, query: Node) -> Things:
        if query.name in SET_OPERATIONS:
            return self._things_of(child(query, 0))
        if not is_select(query):
            raise UnsayableError("query without FROM")
        return self._things(query, self._from(query)[1])

    def _things(self, query: Node, scope: Scope, *, value: bool = False) -> Things:
        """The select list of a query; `query` may be an extension whose last child says it anew."""
        items, distinct = item_nodes(query)
        if len(items) > MOST_ITEMS:
            raise UnsayableError("too many items")
        if items[0].name == "all_columns":
            names = tuple(self._all_names(scope))
            many = (True,) * len(names)
            return Things(
                (), names, many, self._tail(child(query, -1)).limit == "1", tuple(self._all_times(scope))
            )
        grouped = child(query, -1).name in ("group", "gather")
        computed = not grouped and all(item.name in (*AGGREGATES, "test") for item in items)
        single = value or computed or self._tail(child(query, -1)).limit == "1"
        plain = tuple(isinstance(item.terminal, (ColumnRef, DerivedRef)) for item in items)
        different = f"{self._any('different|distinct')} " if distinct and not single else ""
        nouns = tuple(self._noun(item, scope) for item in items)
        if distinct and any(item.name in AGGREGATES for item in items):
            raise UnsayableError("different aggregates")
        labels = tuple(
            different * (n == 0) + (plural_of(name) if is_plain and not single else name)
            for n, (name, is_plain) in enumerate(zip(nouns, plain, strict=True))
        )
        names = tuple(_SHORT.get(item.name, noun) for item, noun in zip(items, nouns, strict=True))
        return Things(labels, names, plain, single, tuple(self._is_time(item, scope) for item in items))

    def _all_names(self, scope: Scope) -> list[str]:
        for source in scope:
            if source.table < 0:
                return list(source.names)
        return [
            " ".join(self._profile.columns[column].called.lower().split())
            for source in scope
            for column in self._schema.tables[source.table].columns
        ]

    def _all_times(self, scope: Scope) -> list[bool]:
        for source in scope:
            if source.table < 0:
                return list(source.times)
        columns = (column for source in scope for column in self._schema.tables[source.table].columns)
        return [self._kinds[column] in (TIME, YEAR) for column in columns]

    # ------------------------------------------------------------ order

    def _tail(self, body: Node) -> Tail:
        """The order of a body, or of a tail itself."""
        node = body if body.name in (*_ORDERS, "limit", "end") else body.children[-1]
        keys: list[Node] = []
        while node is not None and node.name in _ORDERS:
            keys.append(Node(node.terminal, (node.children[0],)))
            node = node.children[-1]
        limit = ""
        if node is not None and node.name == "limit":
            limit = self._small(child(node, 0))
            behind = child(node, 1)
            if behind.name == "offset":
                return Tail(tuple(keys), limit, self._small(child(behind, 0)))
        return Tail(tuple(keys), limit)

    def _ordered(self, tail: Tail, scope: Scope) -> str:
        """Order in words that follow rows: "with the latest chart time", "sorted by age, highest first"; empty without."""
        if not tail.keys:
            if tail.limit:
                raise UnsayableError("LIMIT without order")
            return ""
        if tail.offset and (tail.limit != "1" or tail.offset not in _ORDINALS or len(tail.keys) > 1):
            raise UnsayableError("OFFSET")
        if tail.limit and len(tail.keys) == 1:
            (key,) = tail.keys
            extreme = self._extreme(
                child(key, 0), scope, most=key.name in DESCENDING, counted=bool(tail.offset)
            )
            nth = f"{_ORDINALS[tail.offset]} " if tail.offset else ""
            return f"with the {nth}{extreme} {self._noun(child(key, 0), scope)}"
        keys = (self._sort_key(key, scope) for key in tail.keys)
        return f"sorted by {' then by '.join(keys)}"

    # ------------------------------------------------------------ queries

    def _described(self, query: Node, *, value: bool = False) -> str:
        if query.name in SET_OPERATIONS:
            raise UnsayableError("set operation inside a query")
        if not is_select(query):
            raise UnsayableError("query without FROM")
        return self._request(query, value=value)[0]

    def _request(self, query: Node, *, value: bool = False) -> tuple[str, Things, Scope, str]:
        """A SELECT without "the": "ages of the patients whose gender is f", what it selects, its scope and its rows."""
        rows, scope = self._from(query)
        things = self._things(query, scope, value=value)
        body = child(query, -1)
        whose = self._whose([own(one, 1) for one in chain(query.children[-2])], scope)
        # What stands behind a list might be a part of it.
        about = (
            f"{rows}, only those {whose}" if whose and query.name == "derived" else f"{rows} {whose}".strip()
        )
        return self._asked(query, body, things, scope, about), things, scope, about

    def _asked(self, query: Node, body: Node, things: Things, scope: Scope, about: str) -> str:
        """What is selected of the rows that `about` names."""
        tail = self._tail(body)
        order = self._ordered(tail, scope)
        if body.name in ("group", "gather"):
            return self._grouped(query, body, scope, about, tail, order)
        first = item_nodes(query)[0][0]
        if first.name == "count_all" and len(things.labels) == 1:
            return f"number of {about}"
        if tail.limit:
            about = self._first(tail, about, order)
        elif order:
            about = f"{about}, {order}"
        if not things.labels:
            return f"{self._any('details|whole records|full records')} {self._of(about)}"
        return f"{self._listed(things.labels)} {self._of(about)}"

    def _of(self, about: str) -> str:
        """Rows behind what is selected of them: "of the admissions", "in A2 whose rank is 1"."""
        if about.startswith(_RESULT) and _PAIRED not in about:
            return f"in {about.removeprefix(_RESULT)}"
        return f"of the {about}"

    def _first(self, tail: Tail, about: str, order: str) -> str:
        """The rows that come first of those that `about` names."""
        number = "one" if tail.limit == "1" else tail.limit
        come = "comes" if tail.limit == "1" else "come"
        by = order if order.startswith("with") else f"that {come} first when {order}"
        return f"{number} {by} among the {about}"

    def _grouped(self, query: Node, body: Node, scope: Scope, about: str, tail: Tail, order: str) -> str:
        """Groups: "number of visits for each ward of the admissions whose ..."."""
        items, _ = item_nodes(query)
        said = self._keys(body, items)
        keys = [self._noun(key, scope) for key in said]
        asked = [item for item in items if item not in said]
        labels = [self._noun(item, scope) for item in asked]
        chosen = [plural_of(self._noun(item, scope)) for item in items if item in said]
        one = f"one for each {self._listed(keys)}"
        passing = self._passing(body, scope)
        if not labels:
            text = f"different {self._listed(chosen)} {self._of(about)}{passing}"
        elif not chosen:
            text = f"{self._listed(labels)} alone, {one}, {self._of(about)}{passing}"
        elif len(chosen) < len(keys):
            text = (
                f"{self._listed(chosen)} with the {self._listed(labels)}, {one}, {self._of(about)}{passing}"
            )
        else:
            its = "each with its" if len(keys) == 1 else "each combination with its"
            text = f"{self._listed(chosen)}, {its} {self._listed(labels)}, {self._of(about)}{passing}"
        if tail.limit:
            number = "group" if tail.limit == "1" else f"{tail.limit} groups"
            by = order if order.startswith("with") else f"first when {order}"
            return f"{text}, only for the {number} {by}"
        return f"{text}, {order}" if order else text

    def _passing(self, body: Node, scope: Scope) -> str:
        having = chain(body.children[2]) if body.name == "group" else iter(())
        clauses = [self._clause(child(one, 0), scope) for one in having]
        return f", only for groups whose {' and whose '.join(clauses)}" if clauses else ""

    def _keys(self, body: Node, items: Sequence[Node]) -> list[Node]:
        if body.name == "gather":
            return [item for item in items if item.name not in AGGREGATES]
        return [child(body, 0), *(child(group, 0) for group in chain(body.children[1]))]
