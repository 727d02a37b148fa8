"""FROM: sources, and the equalities of columns that join them, wherever the SQL writes them."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from fastsql.grammar.convert.conditions import Conditions, conjunct_rank
from fastsql.grammar.convert.errors import ConversionError
from fastsql.grammar.convert.names import Source
from fastsql.grammar.convert.nodes import check_sayable, conjuncts, unparen
from fastsql.grammar.convert.routes import Joined, joins_along_keys, joins_as_written
from fastsql.grammar.program import ColumnRef, DerivedRef, Production, TableRef, Terminal

_JOINS = {("", ""), ("", "INNER"), ("", "CROSS"), ("LEFT", ""), ("LEFT", "OUTER")}

_Reference = ColumnRef | DerivedRef


@dataclass(frozen=True, eq=False)
class _Pair:
    """An equality of columns of two sources, as nodes and by the sources' places in the text."""

    columns: tuple[exp.Column, exp.Column]
    places: tuple[int, int]
    condition: exp.Expr | None
    """The conjunct of WHERE that says it, None for one of ON."""

    def links(self, place: int, earlier: list[int]) -> bool:
        """Whether it joins a source to some that are there already."""
        one, other = self.places
        return (one == place and other in earlier) or (other == place and one in earlier)


class Sources(Conditions):
    """Writes the terminals of FROM."""

    def from_clause(self, node: exp.Select, where: list[exp.Expr]) -> tuple[list[Terminal], list[exp.Expr]]:
        """FROM's terminals, and the conditions that WHERE has to hold: its own (`where`) and ON's that join nothing.

        Inner joins are put into an order in which each source is linked with an earlier one: the text's, where it is
        one. Equalities of WHERE are taken where ON has none for a source.
        """
        joins = node.args.get("joins") or []
        for join in joins:
            check_sayable(join)
            if (join.side, join.kind) not in _JOINS:
                raise ConversionError(" ".join(filter(None, (join.side, join.kind, "JOIN"))))
        entries = [self._source(n) for n in (node.args["from_"].this, *(join.this for join in joins))]
        self.scope.sources = [source for source, _ in entries]
        if all(join.side == "" for join in joins):
            # The columns of `*` come in the order of the sources.
            return self._inner_joins(entries, joins, where, starred=node.is_star)
        return self._joins_as_written(entries, joins, where)

    def width(self, source: Source) -> int:
        """Columns that a source has."""
        return len(source.outputs) if source.table is None else len(self.schema.tables[source.table].columns)

    def names(self, source: Source) -> list[str]:
        """Names of the columns that a source has."""
        if source.table is None:
            return source.outputs
        return [self.schema.columns[column].name for column in self.schema.tables[source.table].columns]

    def _source(self, node: exp.Expr) -> tuple[Source, list[Terminal]]:
        check_sayable(node)
        if isinstance(node, exp.Table) and not node.db and node.name.lower() in self.ctes:
            inner = self._of_cte(node.name.lower())
            outputs = [name.lower() for name in self.outputs]
            return Source((node.alias or node.name).lower(), None, outputs), [Production("derived"), *inner]
        if isinstance(node, exp.Table):
            table = self.table(node.name, node.db)
            return Source((node.alias or node.name).lower(), table), [TableRef(table)]
        if isinstance(node, exp.Subquery):
            inner = self.query(node.this)
            outputs = [name.lower() for name in self.outputs]
            return Source(node.alias.lower(), None, outputs), [Production("derived"), *inner]
        raise ConversionError(f"{type(node).__name__} in FROM")

    def _of_cte(self, name: str) -> list[Terminal]:
        """The query of a CTE, which sees those before it."""
        ctes = self.ctes
        earlier = list(ctes)[: list(ctes).index(name)]
        self.ctes = {other: ctes[other] for other in earlier}
        try:
            return self.query(ctes[name].copy())
        finally:
            self.ctes = ctes

    def _inner_joins(
        self,
        entries: list[tuple[Source, list[Terminal]]],
        joins: list[exp.Join],
        where: list[exp.Expr],
        *,
        starred: bool,
    ) -> tuple[list[Terminal], list[exp.Expr]]:
        linked: list[_Pair] = []
        conditions: list[exp.Expr] = []
        for place, join in enumerate(joins, 1):
            linked += self._using(join, place)
            for conjunct in conjuncts(join.args.get("on") or exp.true()):
                pair = self._pair(conjunct, None)
                if pair is None:
                    conditions.append(conjunct)
                else:
                    linked.append(pair)
        spare = [pair for conjunct in where if (pair := self._pair(conjunct, conjunct)) is not None]
        order, pairs = _linked_order(len(entries), linked, spare, as_written=starred)
        used = {id(pair.condition) for group in pairs for pair in group}
        self.scope.sources = [entries[place][0] for place in order]
        joined = [
            Joined(self.scope.sources[place].table, entries[order[place]][1], self._on(group, place))
            for place, group in enumerate(pairs, 1)
        ]
        written = list(entries[0][1])
        written += joins_as_written(joined) if starred else self._along_keys(joined)
        return written, conditions + [conjunct for conjunct in where if id(conjunct) not in used]

    def _along_keys(self, joined: list[Joined]) -> list[Terminal]:
        return joins_along_keys(self.schema, self.scope.sources[0].table, joined)

    def _joins_as_written(
        self, entries: list[tuple[Source, list[Terminal]]], joins: list[exp.Join], where: list[exp.Expr]
    ) -> tuple[list[Terminal], list[exp.Expr]]:
        written = list(entries[0][1])
        conditions = list(where)
        for place, join in enumerate(joins, 1):
            group = self._using(join, place)
            others: list[exp.Expr] = []
            for conjunct in conjuncts(join.args.get("on") or exp.true()):
                pair = self._pair(conjunct, None)
                if pair is not None and pair.links(place, list(range(place))):
                    group.append(pair)
                elif join.side == "":
                    # What an inner join demands of its sources, WHERE may demand as well.
                    conditions.append(conjunct)
                else:
                    others.append(conjunct)
            if join.side and not group:
                raise ConversionError("a LEFT JOIN without an equality of columns")
            written += [Production("left_join" if join.side else "join" if group else "cross_join")]
            written += [*entries[place][1], *self._on(group, place)]
            for condition in sorted((self.condition(c) for c in others), key=conjunct_rank):
                written += [Production("on_cond"), *condition]
        return written, conditions

    def _on(self, group: list[_Pair], newest: int) -> list[Terminal]:
        compared: list[tuple[_Reference, _Reference]] = []
        for pair in group:
            one, other = (self.column(column) for column in pair.columns)
            compared.append((other, one) if one.source == newest else (one, other))
        written: list[Terminal] = []
        for number, sides in enumerate(self._told(compared)):
            if number:
                written.append(Production("on"))
            written += sides
        return written

    def _told(self, compared: list[tuple[_Reference, _Reference]]) -> list[tuple[_Reference, _Reference]]:
        """Comparisons that join a source, those of a whole key by the one that tells it; that one alone is said twice."""
        if len({(one.source, other.source) for one, other in compared}) != 1:
            return compared
        pairs = [
            (one.column, other.column)
            for one, other in compared
            if isinstance(one, ColumnRef) and isinstance(other, ColumnRef)
        ]
        for sides, pair in zip(compared, pairs, strict=False):
            whole = self.schema.whole_keys.get(pair)
            if whole is not None and len(pairs) == len(compared):
                if set(pairs) == set(whole):
                    return [sides]
                if set(pairs) == {pair}:
                    return [sides, sides]
        return compared

    def _pair(self, node: exp.Expr, condition: exp.Expr | None) -> _Pair | None:
        """An equality of columns of two sources, or None for any other condition."""
        node = unparen(node)
        if not isinstance(node, exp.EQ):
            return None
        left, right = unparen(node.this), unparen(node.expression)
        if not isinstance(left, exp.Column) or not isinstance(right, exp.Column):
            return None
        one, other = self.find(left), self.find(right)
        if one is None or other is None or one.source == other.source:
            return None
        return _Pair((left, right), (one.source, other.source), condition)

    def _using(self, join: exp.Join, place: int) -> list[_Pair]:
        """The equalities that USING stands for."""
        pairs = []
        for name in join.args.get("using") or []:
            sides = [(k, self.offers(k, name.name)) for k in range(place + 1)]
            earlier = next((k for k, found in sides[:place] if found is not None), None)
            if earlier is None or sides[place][1] is None:
                raise ConversionError("USING of a column that not both sides have")
            columns = [exp.column(name.name, self.scope.sources[k].name) for k in (earlier, place)]
            pairs.append(_Pair((columns[0], columns[1]), (earlier, place), None))
        return pairs


def _linked_order(
    count: int, linked: list[_Pair], spare: list[_Pair], *, as_written: bool
) -> tuple[list[int], list[list[_Pair]]]:
    """An order of sources, given by their places in the text, and the pairs that join each but the first.

    A source that nothing links comes where the others end, without pairs.
    """
    order: list[int] = [0]
    groups: list[list[_Pair]] = []
    while len(order) < count:
        left = sorted(set(range(count)).difference(order))
        for place in left[:1] if as_written else left:
            group = [pair for pair in linked if pair.links(place, order)]
            group = group or [pair for pair in spare if pair.links(place, order)]
            if group:
                order.append(place)
                groups.append(group)
                break
        else:
            order.append(left[0])
            groups.append([])
    return order, groups
