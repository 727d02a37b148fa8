"""Expressions in words: noun phrases without an article, such as "number of days from the admission time to now"."""

from __future__ import annotations

from abc import abstractmethod

from fastsql.grammar.clauses import child, some
from fastsql.grammar.program import ColumnRef, DerivedRef, Literal, Node, TurnRef
from fastsql.synthesis.interactions.words.names import Names, Scope, plural_of
from fastsql.synthesis.schema.kinds import TIME, YEAR
from fastsql.synthesis.schema.words import UnsayableError

_SIGNS = {"plus": "plus", "minus": "minus", "times": "times", "divide": "divided by", "modulo": "modulo"}
_BETWEEN = {
    "days_between": "days",
    "hours_between": "hours",
    "seconds_between": "seconds",
    "years_between": "complete years",
}
_PART_OF = {
    "year_of": "year",
    "month_of": "month",
    "day_of": "day of the month",
    "year_month_of": "year and month",
    "date_of": "date",
    "hour_of": "hour",
    "weekday_of": "weekday",
    "month_day_of": "month and day",
}
_TIMES = frozenset(("min", "max", "date_of"))
"""What of a time is a time again."""
_SUM = {"sum": "total|sum of the", "sum_distinct": "total of the different"}
_MEAN = {"avg": "average|mean", "avg_distinct": "average of the different"}
RANKS = {
    "dense_rank": "rank",
    "rank": "competition rank",
    "row_number": "row number",
    "percent_rank": "percent rank",
}
DESCENDING = ("desc", "desc_nulls_first", "desc_then")


class Expressions(Names):
    """Puts expressions into words. Raises UnsayableError where there are none for a construct."""

    @abstractmethod
    def _described(self, query: Node, *, value: bool = False) -> str:
        """A query inside another: "item ids of the labitems whose label is 'x'", in the singular as one `value`."""

    @abstractmethod
    def _clause(self, condition: Node, scope: Scope) -> str:
        """A condition: "age is above 60"."""

    def _noun(self, node: Node, scope: Scope) -> str:
        terminal = node.terminal
        if isinstance(terminal, (ColumnRef, DerivedRef)):
            return self._label(node, scope)
        if isinstance(terminal, Literal):
            return self._literal(terminal)
        name = node.name
        first = node.children[0] if node.children else None
        if name in _SIGNS:
            left, right = child(node, 0), child(node, 1)
            return f"{self._side(left, scope)} {_SIGNS[name]} {self._side(right, scope)}"
        if name in _BETWEEN:
            end, begin = child(node, 0), child(node, 1)
            span = f"from {self._moment(begin, scope)} to {self._moment(end, scope)}"
            return f"number of {_BETWEEN[name]} {span}"
        if name in _PART_OF:
            return f"{_PART_OF[name]} of the {self._noun(some(first), scope)}"
        match name:
            case "as_real" | "as_text":
                return self._noun(some(first), scope)
            case "as_integer":
                return f"{self._noun(some(first), scope)} without decimals"
            case "round":
                return f"{self._noun(some(first), scope)} rounded to {self._noun(child(node, 1), scope)} decimals"
            case "abs":
                return f"absolute value of the {self._noun(some(first), scope)}"
            case "upper" | "lower":
                return f"{self._noun(some(first), scope)} in {name} case"
            case "length":
                return f"length of the {self._noun(some(first), scope)}"
            case "count_all":
                return f"number of {self._rows_of(scope)}"
            case "count":
                return f"number of {self._several(some(first), scope)}"
            case "count_distinct":
                return f"number of different {self._several(some(first), scope)}"
            case "sum" | "sum_distinct":
                summed = self._noun(some(first), scope)
                total = "sum of the" if summed.startswith("total") else self._any(_SUM[name])
                return f"{total} {summed}"
            case "months_as_days":
                months = self._small(some(first))
                return f"{months} month{'' if months == '1' else 's'}"
            case "avg" | "avg_distinct":
                return f"{self._any(_MEAN[name])} {self._noun(some(first), scope)}"
            case "min":
                return f"{self._extreme(some(first), scope, most=False)} {self._noun(some(first), scope)}"
            case "max":
                return f"{self._extreme(some(first), scope, most=True)} {self._noun(some(first), scope)}"
            case "previous_value":
                return self._value_of(node)
            case "scalar":
                return self._described(some(first), value=True)
            case "test" | "holds":
                return f"whether the {self._clause(some(first), scope)}"
            case "case":
                condition, yes, no = (some(one) for one in node.children[:3])
                clause = self._clause(condition, scope)
                return (
                    f"indicator ({self._noun(yes, scope)} if the {clause}, otherwise {self._noun(no, scope)})"
                )
            case "over":
                return self._noun(some(first), scope)
        if name in RANKS:
            return f"{RANKS[name]} by {self._window_keys(some(first), scope)}"
        raise UnsayableError(name or "expression")

    def _the(self, node: Node, scope: Scope) -> str:
        """An expression as what something is compared with."""
        said = self._noun(node, scope)
        bare = isinstance(node.terminal, Literal) or node.name in (
            "previous_value",
            "on_date",
            "months_as_days",
        )
        return said if bare or node.name in ("now", "this_year") else f"the {said}"

    def _side(self, node: Node, scope: Scope) -> str:
        said = self._the(node, scope)
        return f"({said})" if node.name in _SIGNS else said

    def _value_of(self, node: Node) -> str:
        """The value that a turn returned."""
        turn = child(node, 0).terminal
        assert isinstance(turn, TurnRef)
        return self._mention(turn.turn, value=True)

    def _rows_of(self, scope: Scope) -> str:
        """What the rows of FROM are called."""
        return self._many(scope[0].table) if scope[0].table >= 0 else "rows"

    def _several(self, node: Node, scope: Scope) -> str:
        """An expression in the plural, if it is a column."""
        said = self._noun(node, scope)
        if not isinstance(node.terminal, (ColumnRef, DerivedRef)):
            return said
        return plural_of(said)

    def _moment(self, node: Node, scope: Scope) -> str:
        if node.name == "now":
            return "now"
        if node.name == "on_date":
            return self._noun(child(node, 0), scope)
        return f"the {self._noun(node, scope)}"

    def _is_time(self, node: Node, scope: Scope) -> bool:
        """Whether an expression is a moment rather than an amount."""
        match node.terminal:
            case ColumnRef(column, _):
                return self._kinds[column] in (TIME, YEAR)
            case DerivedRef(source, item):
                times = scope[source].times
                return bool(times) and times[item]
        return node.name in _TIMES and self._is_time(child(node, 0), scope)

    def _extreme(self, node: Node, scope: Scope, *, most: bool, counted: bool = False) -> str:
        """What tells the row that comes first; behind "second" or the like where it is `counted`."""
        if self._is_time(node, scope):
            if counted:
                return "latest" if most else "earliest"
            return self._any("latest|last" if most else "earliest|first")
        return self._any("highest|maximum|largest" if most else "lowest|minimum|smallest")

    def _window_keys(self, node: Node, scope: Scope) -> str:
        if node.name == "partition":
            inner = self._window_keys(child(node, 1), scope)
            return f"{inner}, within each {self._noun(child(node, 0), scope)}"
        if node.name not in ("asc", "desc"):
            raise UnsayableError("keys of a window")
        return self._sort_key(node, scope)

    def _sort_key(self, key: Node, scope: Scope) -> str:
        """A key of an order: "cost (highest first)"."""
        most, what = key.name in DESCENDING, child(key, 0)
        ends = ("earliest", "latest") if self._is_time(what, scope) else ("lowest", "highest")
        return f"{self._noun(what, scope)} ({ends[most]} first)"

    def _small(self, node: Node) -> str:
        """A number of rows, days or the like."""
        if not isinstance(node.terminal, Literal):
            raise UnsayableError("number")
        return str(node.terminal.value)

    def _literal(self, literal: Literal) -> str:
        """A literal as people write it."""
        if literal.name:
            raise UnsayableError("named constant")
        if literal.format:
            return self._date(str(literal.value), literal.format)
        if not isinstance(literal.value, str):
            return str(literal.value)
        mark = (
            self._rng.choice(("'", '"'))
            if not literal.value[-1:].isalnum() or self._rng.random() < 0.2
            else ""
        )
        return f"{mark}{literal.value}{mark}"

    def _date(self, text: str, form: str) -> str:
        """A date as it is written in SQL, or as American hospitals write it."""
        parts = text.split("-")
        if self._rng.random() < 0.5:
            if form == "%Y-%m-%d" and len(parts) == 3:
                return f"{parts[1]}/{parts[2]}/{parts[0]}"
            if form == "%Y-%m" and len(parts) == 2:
                return f"{parts[1]}/{parts[0]}"
        return text
