"""Conditions of a query in words."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from fastsql.synthesis.phrases import expand
from fastsql.synthesis.schema.clauses import is_column
from fastsql.synthesis.schema.kinds import AMOUNT, CODE, KEY, ORDERED, REFERENCE, TEXTS, TIME, YEAR
from fastsql.synthesis.schema.words import UnsayableError, Words

_SIGNS: dict[type[exp.Expr], str] = {
    exp.GT: "[greater|higher|more|larger] than|above|over",
    exp.GTE: "at least|no less than",
    exp.LT: "[less|lower|smaller] than|below|under",
    exp.LTE: "at most|no more than",
}
_TIME_SIGNS: dict[type[exp.Expr], str] = {
    exp.GT: "after|later than",
    exp.GTE: "on or after",
    exp.LT: "before|earlier than",
    exp.LTE: "on or before|until",
}
PARTS_OF_DATES = {"%Y": "year", "%m": "month", "%d": "day"}
_MOST: dict[type[exp.Expr], str] = {
    exp.Max: "highest|largest|greatest|maximum",
    exp.Min: "lowest|smallest|minimum",
}
_AGGREGATES: dict[type[exp.Expr], str] = {
    exp.Avg: "average|mean",
    exp.Max: "highest|maximum",
    exp.Min: "lowest|minimum",
}
_LAST: dict[type[exp.Expr], str] = {exp.Max: "latest|most recent", exp.Min: "earliest"}
_MIRRORED: dict[type[exp.Expr], type[exp.Expr]] = {
    exp.GT: exp.LT,
    exp.LT: exp.GT,
    exp.GTE: exp.LTE,
    exp.LTE: exp.GTE,
}


@dataclass(frozen=True)
class Said:
    """A condition in words that follow "whose": "age is above 60"; `table`: whose column it is on; `having`: it
    follows "that" instead, as in "have no visits"; `either`: it is one of two; `open`: it ends in conditions on other rows,
    so that what comes behind it would seem to be one of them; `alone`: it follows the noun itself, as in "with code 5".
    """

    table: int
    text: str
    having: bool = False
    either: bool = False
    open: bool = False
    alone: bool = False


class Conditions:
    """Puts conditions into words; `describe` says rows of a subquery: "visits whose year is 2014"."""

    def __init__(self, words: Words, rng: random.Random, describe: Callable[[exp.Select], str]) -> None:
        self._words = words
        self._rng = rng
        self._describe = describe

    def say(self, condition: exp.Expr, *, alone: bool = True) -> Said:
        """One condition; with `alone`, it may be said without "whose". Raises UnsayableError."""
        if condition.args.get("negate"):
            return self._negated(condition)
        match condition:
            case exp.Paren(this=inner):
                return self.say(inner, alone=alone)
            case exp.Or(left=left, right=right):
                return self._either(self.say(left, alone=False), self.say(right, alone=False))
            case exp.Not(this=inner):
                return self._negated(_bare(inner))
            case exp.EQ() | exp.NEQ() | exp.GT() | exp.GTE() | exp.LT() | exp.LTE():
                found = self._alone(condition) if alone else None
                return found or self._comparison(condition)
            case exp.Between(this=exp.Column() as column):
                return self._between(column, condition, negated=False)
            case exp.Like(this=exp.Column() as column, expression=exp.Literal() as pattern):
                return self._likeness(column, pattern.name, negated=False)
            case exp.In(this=exp.Column() as column):
                return self._membership(column, condition, negated=False)
            case exp.Is(this=exp.Column() as column, expression=exp.Null()):
                return self._missing(column, negated=False)
        raise UnsayableError(type(condition).__name__)

    def met(self, found: Sequence[Said], table: int) -> str:
        """Conditions on one table after its noun: "whose sex is F and that have no visits". Raises UnsayableError."""
        if any(one.table != table for one in found):
            raise UnsayableError("a condition on another table")
        plain = [one for one in found if not one.having and not one.either and not one.alone]
        plain.sort(key=lambda one: one.open)
        whose = " and ".join(one.text for one in plain)
        parts = [one.text for one in found if one.alone]
        parts += [f"whose {whose}"] if whose else []
        others = [one for one in found if one.either and not one.having]
        parts += [f"whose {one.text}" for one in others]
        last = sorted((one for one in found if one.having), key=lambda one: one.open)
        that = " and ".join(one.text for one in last)
        parts += [f"that {that}"] if that else []
        if any(one.open for one in [*plain, *others, *last][:-1]):
            raise UnsayableError("conditions behind those of other rows")
        return " and ".join(parts)

    def _alone(self, condition: exp.Expr) -> Said | None:
        """Rows by what tells them apart: "with code 5", "named Ada", "of patient 7". None for other conditions."""
        column, value = condition.this, condition.args.get("expression")
        if (
            not isinstance(condition, exp.EQ)
            or not isinstance(column, exp.Column)
            or self._rng.random() < 0.5
        ):
            return None
        if not isinstance(value, exp.Literal):
            return None
        kind, table = self._words.kind(column), self._words.owner(column)
        if kind == REFERENCE:
            other = self._words.stands_for(column)
            if other is None or other == table:
                return None
            return Said(table, f"of {self._words.one(other, self._rng)} {self._literal(value)}", alone=True)
        label = self._label(column)
        if kind in (KEY, CODE):
            return Said(table, f"{self._any('with|with the')} {label} {self._literal(value)}", alone=True)
        if label == "name":
            return Said(table, f"{self._any('named|called')} {self._literal(value)}", alone=True)
        return None

    def _literal(self, value: exp.Expr) -> str:
        """A literal as people write it. Raises UnsayableError for another expression."""
        match value:
            case exp.Literal(is_string=True):
                return self._text(value.name)
            case exp.Literal():
                return str(value.name)
            case exp.Neg(this=exp.Literal() as inner):
                return f"-{inner.name}"
        raise UnsayableError(type(value).__name__)

    def _negated(self, inner: exp.Expr) -> Said:
        match inner:
            case exp.Is(this=exp.Column() as column, expression=exp.Null()):
                return self._missing(column, negated=True)
            case exp.In(this=exp.Column() as column):
                return self._membership(column, inner, negated=True)
            case exp.Between(this=exp.Column() as column):
                return self._between(column, inner, negated=True)
            case exp.Like(this=exp.Column() as column, expression=exp.Literal() as pattern):
                return self._likeness(column, pattern.name, negated=True)
            case exp.EQ(this=exp.Column() as column, expression=value):
                return self._compared(column, exp.NEQ, self._literal(value))
        raise UnsayableError(f"NOT {type(inner).__name__}")

    def _comparison(self, node: exp.Binary) -> Said:
        left, right = node.left, node.right
        sign: type[exp.Expr] = type(node)
        if not isinstance(left, (exp.Column, exp.TimeToStr)) and isinstance(right, exp.Column):
            left, right, sign = right, left, _MIRRORED.get(sign, sign)
        match left, right:
            case exp.Column(), exp.Subquery(this=exp.Select() as inner):
                return self._to_subquery(left, sign, inner)
            case exp.Column(), exp.Column():
                if not self._are_comparable(left, right):
                    raise UnsayableError("columns that have nothing in common")
                return self._compared(left, sign, self._that(right))
            case exp.Column(), _:
                return self._compared(left, sign, self._literal(right))
            case exp.TimeToStr(this=time), exp.Literal() if isinstance(_bare(time), exp.Column):
                return self._of_date(_bare(time), left.text("format"), sign, right.name)
        raise UnsayableError(f"comparison of {type(left).__name__}")

    def _are_comparable(self, one: exp.Column, other: exp.Column) -> bool:
        """Whether one can be more than the other, or the same: hours and wages cannot."""
        kinds = {self._words.kind(one), self._words.kind(other)}
        if AMOUNT not in kinds:
            return len(kinds) == 1
        return len(kinds) == 1 and self._words.measured_in(one) == self._words.measured_in(other)

    def _of_date(self, column: exp.Expr, form: str, sign: type[exp.Expr], value: str) -> Said:
        assert isinstance(column, exp.Column)
        table = self._words.owner(column)
        if form in PARTS_OF_DATES:
            return Said(
                table, f"{PARTS_OF_DATES[form]} of the {self._label(column)} {self._sign(None, sign)} {value}"
            )
        return self._whose(
            column,
            f"is {'in' if len(value) <= 7 else 'on'} {value}"
            if sign is exp.EQ
            else f"{self._sign(column, sign)} {value}",
        )

    def _to_subquery(self, column: exp.Column, sign: type[exp.Expr], inner: exp.Select) -> Said:
        if len(inner.expressions) != 1:
            raise UnsayableError("subquery")
        item = inner.expressions[0]
        if is_column(item.this) and self._words.kind(item.this) not in ORDERED:
            raise UnsayableError("the highest of texts")
        plain = not inner.args.get("where") and not inner.args.get("joins")
        if isinstance(item, (exp.Max, exp.Min)) and sign is exp.EQ and plain and item.this == column:
            return self._is_most(column, type(item))
        if not isinstance(item, (exp.Avg, exp.Max, exp.Min)) or not isinstance(item.this, exp.Column):
            raise UnsayableError("subquery")
        same = item.this == column and plain
        said = self._compared(column, sign, self._put_together(item, None if same else inner))
        return replace(said, open=not plain)

    def _is_most(self, column: exp.Column, aggregate: type[exp.Expr]) -> Said:
        is_time = self._words.kind(column) in (TIME, YEAR)
        return self._whose(column, f"is the {self._any((_LAST if is_time else _MOST)[aggregate])}")

    def _put_together(self, item: exp.AggFunc, rows: exp.Select | None) -> str:
        """What an aggregate gives; `rows`: of these, otherwise of all."""
        of = "" if rows is None else f" {self._label(item.this)} of {self._describe(rows)}"
        is_time = not isinstance(item, exp.Avg) and self._words.kind(item.this) in (TIME, YEAR)
        return f"the {self._any((_LAST if is_time else _AGGREGATES)[type(item)])}{of}"

    def _membership(self, column: exp.Column, node: exp.Expr, *, negated: bool) -> Said:
        query = node.args.get("query")
        if query is None:
            values = [self._literal(value) for value in node.args.get("expressions") or ()]
            return self._one_of(column, values, negated=negated)
        inner = query.this if isinstance(query, exp.Subquery) else query
        number = self._words.number(column)
        if not isinstance(inner, exp.Select) or not _is_key(self._words, number):
            raise UnsayableError("IN")
        own, other = self._words.owner(column), self._of_item(inner)
        if own == self._words.owner(other) or not self._words.links.joins(number, self._words.number(other)):
            raise UnsayableError("rows of the same table, or of one that does not refer to it")
        if negated and self._words.may_lack(number):
            raise UnsayableError("rows that belong to nothing, which NOT IN leaves out")
        if own in {self._words.source(node) for node in inner.find_all(exp.Table)}:
            raise UnsayableError("rows of others that lead back to these")
        belong = self._words.is_unique(other) and not self._words.is_unique(column)
        is_open = bool(inner.args.get("where") or inner.args.get("joins"))
        text = self._related(
            self._describe(inner), own, self._words.owner(other), belong=belong, negated=negated
        )
        return Said(own, text, having=True, open=is_open)

    def _one_of(self, column: exp.Column, values: Sequence[str], *, negated: bool) -> Said:
        joined = f"{', '.join(values[:-1])} or {values[-1]}" if len(values) > 1 else "".join(values)
        return self._whose(
            column, f"is neither {joined.replace(' or ', ' nor ')}" if negated else f"is {joined}"
        )

    def _related(self, rows: str, own: int, other: int, *, belong: bool, negated: bool) -> str:
        """That rows of a table, `own`, belong to some of another one, or have some: to `rows`."""
        if belong:
            verb = "are of none of the|are not of any of the" if negated else "are of one of the"
        else:
            verb = "have no|do not have any" if negated else "have some|have any"
        return f"{self._any(verb)} {rows}"

    def _of_item(self, select: exp.Select) -> exp.Column:
        """The key that a subquery selects."""
        item = select.expressions[0]
        if not isinstance(item, exp.Column):
            raise UnsayableError("IN")
        return item

    def _between(self, column: exp.Column, node: exp.Expr, *, negated: bool) -> Said:
        if self._words.kind(column) not in ORDERED:
            raise UnsayableError("range of no amount")
        low, high = self._literal(node.args["low"]), self._literal(node.args["high"])
        if _place(node.args["low"]) > _place(node.args["high"]):
            raise UnsayableError("an empty range")
        return self._within(column, low, high, negated=negated)

    def _within(self, column: exp.Column, low: str, high: str, *, negated: bool) -> Said:
        return self._whose(column, f"is {'not ' if negated else ''}between {low} and {high}")

    def _likeness(self, column: exp.Column, pattern: str, *, negated: bool) -> Said:
        if self._words.kind(column) not in (*TEXTS, CODE) or self._words.is_number(
            self._words.number(column)
        ):
            raise UnsayableError("pattern of no text")
        text = pattern.strip("%")
        if "%" in text or "_" in text:
            raise UnsayableError("pattern")
        return self._like(column, pattern, text, negated=negated)

    def _like(self, column: exp.Column, pattern: str, text: str, *, negated: bool) -> Said:
        verb = {
            (True, True): "contain",
            (False, True): "start with",
            (True, False): "end with",
            (False, False): "read",
        }[pattern.startswith("%"), pattern.endswith("%")]
        first, _, rest = verb.partition(" ")
        said = f"does not {verb}" if negated else f"{first}s {rest}".strip()
        return self._whose(column, f"{said} '{text}'")

    def _either(self, left: Said, right: Said) -> Said:
        if left.table != right.table or left.having != right.having:
            raise UnsayableError("OR of two tables")
        if left.open or right.open:
            raise UnsayableError("OR of conditions on other rows")
        return Said(left.table, self._or(left.text, right.text), left.having, either=True)

    def _or(self, left: str, right: str) -> str:
        return f"{left} or {right}"

    def _missing(self, column: exp.Column, *, negated: bool) -> Said:
        known = "is [known|recorded|not missing]" if negated else "is [missing|not known|not recorded]"
        return self._whose(column, self._any(known))

    def _compared(self, column: exp.Column, sign: type[exp.Expr], what: str) -> Said:
        return self._whose(column, f"{self._sign(column, sign)} {what}")

    def _that(self, column: exp.Column) -> str:
        """Another column of the same row."""
        return f"the {self._label(column)}"

    def _text(self, text: str) -> str:
        """A text as people write it, with quotation marks where it would not end clearly, or now and then."""
        marks = ("'", '"') if not text[-1:].isalnum() else ("", "'", '"') if " " in text else ("",)
        mark = self._rng.choice(marks)
        return f"{mark}{text}{mark}"

    def _sign(self, column: exp.Column | None, sign: type[exp.Expr]) -> str:
        if sign is exp.EQ:
            return "is"
        if sign is exp.NEQ:
            return "is not"
        return f"is {self._any((_TIME_SIGNS if self._is_time(column) else _SIGNS)[sign])}"

    def _is_time(self, column: exp.Column | None) -> bool:
        """Whether values are later and earlier, not more and less; None: a number. Raises UnsayableError if neither."""
        kind = AMOUNT if column is None else self._words.kind(column)
        if kind not in ORDERED:
            raise UnsayableError(f"order of {kind}s")
        return kind != AMOUNT

    def _whose(self, column: exp.Column, rest: str) -> Said:
        return Said(self._words.owner(column), f"{self._label(column)} {rest}")

    def _label(self, column: exp.Column) -> str:
        return self._words.label(self._words.number(column), self._rng)

    def _any(self, pattern: str) -> str:
        """One phrase of a pattern. What users have written never is a part of one."""
        return expand(pattern, self._rng)


def moment_of(part: exp.TimeToStr) -> exp.Column | None:
    """The column of which it takes a part; None where that is none."""
    column = _bare(part.this)
    return column if isinstance(column, exp.Column) else None


def _bare(node: exp.Expr) -> exp.Expr:
    while isinstance(node, (exp.Paren, exp.TsOrDsToTimestamp, exp.TsOrDsToDate)):
        node = node.this
    return node


def _is_key(words: Words, column: int) -> bool:
    return words.schema.key_groups[column] >= 0


def _place(literal: exp.Expr) -> tuple[float, str]:
    """Where a bound stands: by its number, a date by its text."""
    text = literal.sql().strip("'")
    try:
        return float(text), ""
    except ValueError:
        return 0.0, text
