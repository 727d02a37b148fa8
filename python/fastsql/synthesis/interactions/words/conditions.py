"""Conditions in words: clauses without an article, such as "age is above 60", which "whose" goes before."""

from __future__ import annotations

from fastsql.grammar.clauses import chain, child, some
from fastsql.grammar.program import ColumnRef, Literal, Node, TurnRef
from fastsql.synthesis.interactions.words.expressions import Expressions
from fastsql.synthesis.interactions.words.names import Scope
from fastsql.synthesis.schema.kinds import KEY
from fastsql.synthesis.schema.words import UnsayableError

_SIGNS = {
    "gt": ("is [greater|higher|more] than|is above|exceeds", "is after|is later than"),
    "ge": ("is at least", "is on or after|is not before"),
    "lt": ("is [less|lower|smaller] than|is below", "is before|is earlier than"),
    "le": ("is at most", "is on or before|is not after"),
}
_DATED = {
    "date_gt": "is after",
    "date_lt": "is before",
    "date_ge": "is since|is not before|is on or after",
    "date_le": "is until|is not after|is on or before",
    "date_ne": "is not in",
}
_PATTERNS = {
    "contains": "contains",
    "begins": "starts with",
    "ends": "ends with",
    "like": "reads",
}
_NOW = {"year": "this year", "month": "this month", "day": "today"}
_MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
_WITHIN = {"%m": "in_year", "%m-%d": "in_year", "%d": "in_month"}
"""Periods that a part of a date is said with: "12/this year", "this month/23"."""
_LAST = {"year": "last year", "month": "last month", "day": "yesterday"}


class Conditions(Expressions):
    """Puts conditions into words. Raises UnsayableError where there are none for a construct."""

    def _clause(self, condition: Node, scope: Scope) -> str:
        name, children = condition.name, condition.children
        left = some(children[0])
        match name:
            case "eq":
                return f"{self._noun(left, scope)} is {self._the(child(condition, 1), scope)}"
            case "ne":
                return f"{self._noun(left, scope)} is not {self._the(child(condition, 1), scope)}"
            case "gt" | "ge" | "lt" | "le":
                sign = self._any(_SIGNS[name][self._is_time(left, scope)])
                return f"{self._noun(left, scope)} {sign} {self._the(child(condition, 1), scope)}"
            case "between" | "not_between":
                low, high = (self._the(child(condition, n), scope) for n in (1, 2))
                negation = "not " if name.startswith("not") else ""
                return f"{self._noun(left, scope)} is {negation}between {low} and {high}"
            case "in" | "not_in":
                negation = "not " if name == "not_in" else ""
                return (
                    f"{self._noun(left, scope)} is {negation}among the {self._described(child(condition, 1))}"
                )
            case "in_previous" | "not_in_previous":
                assert isinstance(left.terminal, TurnRef)
                negation = "not " if name.startswith("not") else ""
                return (
                    f"{self._noun(child(condition, 1), scope)} is {negation}{self._among(left.terminal.turn)}"
                )
            case "in_list" | "not_in_list":
                also = [child(one, 0) for one in chain(children[2])]
                values = [self._the(one, scope) for one in (child(condition, 1), *also)]
                either = f"{', '.join(values[:-1])} or {values[-1]}" if len(values) > 1 else values[0]
                return f"{self._noun(left, scope)} is {'neither ' if name.startswith('not') else ''}{either}"
            case "is_null":
                return f"{self._noun(left, scope)} is {self._any('missing|not recorded')}"
            case "not_null":
                return f"{self._noun(left, scope)} is {self._any('recorded|known|not missing')}"
            case "or":
                return self._either(condition, scope)
        pattern = name.removeprefix("not_")
        if pattern in _PATTERNS:
            verb = _PATTERNS[pattern]
            if name.startswith("not_"):
                first, _, rest = verb.partition(" ")
                verb = f"does not {first[:-1]} {rest}".strip()
            return f"{self._noun(left, scope)} {verb} {self._quoted(child(condition, 1))}"
        return self._in_time(condition, scope)

    def _either(self, condition: Node, scope: Scope) -> str:
        sides = [child(condition, 0), child(condition, 1)]
        if any(side.name in ("and", "or") for side in sides):
            raise UnsayableError("nested OR")
        left, right = (self._clause(side, scope) for side in sides)
        return f"{left} or {self._any('whose ')}{right}"

    def _whose(self, conditions: list[Node], scope: Scope) -> str:
        """Conditions behind what they are about; empty without any."""
        if any(one.name == "or" for one in conditions) and len(conditions) > 1:
            raise UnsayableError("OR beside others")
        said: list[str] = []
        left = list(conditions)
        while left:
            condition = left.pop(0)
            period = next((one for one in left if _dates_within(condition, one)), None)
            if period is None:
                said.append(self._relative(condition, scope))
            else:
                left.remove(period)
                said.append(f"whose {self._dated_within(condition, period, scope)}")
        # Behind "whose ..." a short "of answer 2" would belong to what stands there.
        return " and ".join(sorted(said, key=lambda text: text.startswith("whose")))

    def _dated_within(self, part: Node, period: Node, scope: Scope) -> str:
        """A part of a date in a period that is told from now."""
        literal = child(part, 1).terminal
        assert isinstance(literal, Literal)
        unit = period.name.removeprefix("in_")
        when = (_NOW if child(period, 1).terminal == Literal(0) else _LAST)[unit]
        text = str(literal.value).replace("-", "/")
        written = f"{when}/{text}" if unit == "month" else f"{text}/{when}"
        time = self._noun(child(part, 0), scope)
        return f"{time} is {'in' if literal.format == '%m' else 'on'} {written}"

    def _relative(self, condition: Node, scope: Scope) -> str:
        """A condition behind what it is about: "whose gender is f", "with gender f", "that belong to A1"."""
        left, other = some(condition.children[0]), condition.children[-1]
        short = len(scope) == 1 and self._rng.random() < 0.5
        match condition.name:
            case "eq" if (
                short and isinstance(left.terminal, ColumnRef) and isinstance(some(other).terminal, Literal)
            ):
                return f"with {self._noun(left, scope)} {self._the(some(other), scope)}"
            case "is_null" if short:
                return f"that have no {self._noun(left, scope)}"
            case "not_null" if short:
                return f"that have a known {self._noun(left, scope)}"
            case "in_previous" if short and isinstance(some(other).terminal, ColumnRef):
                assert isinstance(left.terminal, TurnRef)
                said = self._said[left.terminal.turn]
                if said.names == (self._noun(some(other), scope),):
                    verb = "that belong to" if self._keyed(some(other)) else "of"
                    return f"{verb} {self._mention(left.terminal.turn)}"
        return f"whose {self._clause(condition, scope)}"

    def _keyed(self, column: Node) -> bool:
        return isinstance(column.terminal, ColumnRef) and self._kinds[column.terminal.column] == KEY

    def _among(self, turn: int) -> str:
        """Membership in what a turn returned."""
        if self._said[turn].single:
            return self._mention(turn, value=True)
        chance = self._rng.random()
        if chance < 0.3:
            return f"in {self._plain_mention(turn)}"
        if chance < 0.5 and self._is_last(turn):
            return self._any("among those|one of those|one of these|among them")
        return f"{self._any('among|one of')} {self._mention(turn)}"

    def _quoted(self, node: Node) -> str:
        if not isinstance(node.terminal, Literal):
            raise UnsayableError("pattern")
        return f"'{node.terminal.value}'"

    # ------------------------------------------------------------ times

    def _in_time(self, condition: Node, scope: Scope) -> str:
        kind, _, unit = condition.name.rpartition("_")
        time = self._noun(some(condition.children[0]), scope)
        second = condition.children[1] if len(condition.children) > 1 else None
        match kind:
            case "in":
                return f"{time} is {self._period(some(second), unit)}"
            case "since":
                return (
                    f"{time} is {self._any('since|not before|at or after')} {self._ago(some(second), unit)}"
                )
            case "until":
                return (
                    f"{time} is {self._any('until|not after|at or before')} {self._ago(some(second), unit)}"
                )
            case "date" if isinstance(some(second).terminal, Literal):
                return f"{time} {self._dated(condition.name, some(second).terminal)}"  # type: ignore[arg-type]
            case "within":
                count = self._small(child(condition, 2))
                after = self._noun(some(second), scope)
                return f"{time} is within {count} {unit}{'' if count == '1' else 's'} after the {after}"
            case "same":
                same = "at the same time as" if unit == "time" else f"in the same {unit} as"
                if unit == "day":
                    same = "on the same day as"
                return f"{time} is {same} the {self._noun(some(second), scope)}"
        raise UnsayableError(condition.name or "condition")

    def _period(self, number: Node, unit: str) -> str:
        count = self._small(number)
        if count == "0":
            return _NOW[unit]
        if count == "1":
            return _LAST[unit] if unit == "day" else self._any(f"{_LAST[unit]}|in the {unit} before this one")
        return f"on the day {count} days ago" if unit == "day" else f"in the {unit} {count} {unit}s ago"

    def _ago(self, number: Node, unit: str) -> str:
        count = self._small(number)
        return "now" if count == "0" else f"{count} {unit}{'' if count == '1' else 's'} ago"

    def _dated(self, name: str, literal: Literal) -> str:
        form, text = literal.format, self._literal(literal)
        if form == "%m":
            of = f"{_MONTHS[int(text) - 1]} of any year"
        elif form == "%d":
            day = f"day {text} of the month"
            return f"is on {day}" if name == "date_eq" else self._dated_by(name, day)
        elif form in ("%Y", "%Y-%m"):
            of = text
        elif form == "%m-%d":
            day = f"{text.replace('-', '/')} of any year"
            return f"is on {day}" if name == "date_eq" else self._dated_by(name, day)
        elif form.startswith("%Y-%m-%d"):
            return (
                f"is {'at' if 'H' in form else 'on'} {text}"
                if name == "date_eq"
                else self._dated_by(name, text)
            )
        else:
            raise UnsayableError("form of a date")
        return f"is in {of}" if name == "date_eq" else self._dated_by(name, of)

    def _dated_by(self, name: str, of: str) -> str:
        return f"{self._any(_DATED[name])} {of}"


def _dates_within(part: Node, period: Node) -> bool:
    """Whether a part of a date and a period are of one time, and of this period or the one before it."""
    literal = part.children[1].terminal if part.name == "date_eq" and part.children[1] is not None else None
    return (
        isinstance(literal, Literal)
        and _WITHIN.get(literal.format) == period.name
        and part.children[0] == period.children[0]
        and child(period, 1).terminal in (Literal(0), Literal(1))
    )
