"""Conditions of a query in Chinese, as they stand before a noun: 年龄大于60."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sqlglot import exp

from fastsql.synthesis.schema.chinese.degrees import Degree, degree
from fastsql.synthesis.schema.chinese.nouns import is_in_charge
from fastsql.synthesis.schema.clauses import conditions_of, is_column
from fastsql.synthesis.schema.conditions import PARTS_OF_DATES, Conditions, Said, moment_of
from fastsql.synthesis.schema.kinds import AMOUNT
from fastsql.synthesis.schema.words import UnsayableError

PARTS = {"year": "年份", "month": "月份", "day": "日"}
_EQUAL: dict[type[exp.Expr], str] = {exp.EQ: "为@|等于@", exp.NEQ: "不为@|不等于@"}
_NAMED: dict[type[exp.Expr], str] = {exp.EQ: "为@|是@", exp.NEQ: "不是@|不为@"}
"""The same of what is no amount."""
_TIME_SIGNS: dict[type[exp.Expr], str] = {
    exp.GT: "在@之后|晚于@",
    exp.GTE: "不早于@|在@或之后",
    exp.LT: "在@之前|早于@",
    exp.LTE: "不晚于@|在@或之前",
}
_WHOLE: dict[type[exp.Expr], tuple[type[exp.Expr], ...]] = {
    exp.LT: (exp.Max,),
    exp.LTE: (exp.Max,),
    exp.GT: (exp.Min,),
    exp.GTE: (exp.Min,),
    exp.NEQ: (exp.Max, exp.Min),
}
"""What nearly every row is: below the highest of all."""
_LAST: dict[type[exp.Expr], str] = {exp.Max: "最晚", exp.Min: "最早"}
_DATE = re.compile(r"(\d{4})-(\d\d)(?:-(\d\d))?")
_PLAIN = re.compile(r"[\w.%-]+")
_FUNCTION_WORDS = re.compile("[的且或和与为是有在]")
"""Characters at which a text within a question would seem to end."""
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d)?")
_DEED = re.compile("((?!下次|上次|末次|首次|最近|最后|预|计划|应)..+?)(?:日期|时间|时刻|日)")
"""What happened at a time: 入院 of 入院日期; nothing of what only was to happen, or happened several times."""
_PART = re.compile("((?!下次|上次).+?)(?:日期|时间|时刻)")
"""What a year or a month is of: 就诊年份 for that of 就诊时间."""
_YEAR = re.compile(r"\d{4}(?:-|$)")
_DONE = 0.6
"""How often a year or a day is said with what happened then."""
_ROUNDNESS = 0.3
"""How often a date is written out: 2004年7月15日."""


class ChineseConditions(Conditions):
    """Puts conditions into words; several are met where 且 stands between them."""

    def met(self, found: Sequence[Said], table: int) -> str:
        """Conditions on one table before its noun: 性别为女且年龄大于60. Raises UnsayableError."""
        if any(one.table != table for one in found):
            raise UnsayableError("a condition on another table")
        return both(found)

    def _alone(self, condition: exp.Expr) -> None:
        """Chinese says every condition before the noun."""

    def _whose(self, column: exp.Column, rest: str) -> Said:
        return Said(self._words.owner(column), f"{self._label(column)}{rest}")

    def _compared(self, column: exp.Column, sign: type[exp.Expr], what: str) -> Said:
        if sign not in _NAMED and self._words.is_running_number(column):
            raise UnsayableError("order of running numbers")
        return self._whose(column, self._relation(column, sign, what))

    def _relation(self, column: exp.Column | None, sign: type[exp.Expr], what: str) -> str:
        if sign in _NAMED:
            is_amount = column is None or self._words.kind(column) == AMOUNT
            return self._any((_EQUAL if is_amount else _NAMED)[sign]).replace("@", what)
        frames = (
            _TIME_SIGNS
            if self._is_time(column)
            else signs(degree("" if column is None else self._called(column)))
        )
        return self._any(frames[sign]).replace("@", what)

    def _called(self, column: exp.Column) -> str:
        return self._words.profile.columns[self._words.number(column)].called

    def _most(self, column: exp.Column, aggregate: type[exp.Expr]) -> str:
        if self._is_time(column):
            return _LAST[aggregate]
        words = degree(self._called(column))
        return words.most if aggregate is exp.Max else words.least

    def _that(self, column: exp.Column) -> str:
        return self._label(column)

    def _of_date(self, column: exp.Expr, form: str, sign: type[exp.Expr], value: str) -> Said:
        assert isinstance(column, exp.Column)
        deed = _DEED.fullmatch(self._label(column))
        if sign is exp.EQ and deed is not None and self._rng.random() < _DONE and _YEAR.match(value):
            # 2022年入院, not 入院日期的年份为2022
            when = f"{value}年" if form == "%Y" else _written_out(value)
            return Said(self._words.owner(column), f"{self._any('|在|于')}{when}{deed[1]}", alone=True)
        if form == "%Y" and sign is exp.EQ and self._rng.random() < _DONE:
            return self._whose(column, f"{self._any('在|为')}{value}年")
        if form in PARTS_OF_DATES:
            return self._whose(column, f"的{PARTS[PARTS_OF_DATES[form]]}{self._relation(None, sign, value)}")
        moment = _written_out(value)
        return self._whose(column, f"在{moment}") if sign is exp.EQ else self._compared(column, sign, moment)

    def _is_most(self, column: exp.Column, aggregate: type[exp.Expr]) -> Said:
        most = f"所有{self._row(column)}中{self._most(column, aggregate)}"
        return self._whose(column, self._any("在@|是@的").replace("@", most))

    def _to_subquery(self, column: exp.Column, sign: type[exp.Expr], inner: exp.Select) -> Said:
        """As in English; but the mean or the highest of what a single row has is nothing to compare with."""
        if inner.args.get("joins"):
            raise UnsayableError("rows of several tables that are compared with")
        item = inner.expressions[0]
        if not conditions_of(inner) and type(item) in _WHOLE.get(sign, ()):
            raise UnsayableError("all but the highest, or all")
        if sign in _NAMED and conditions_of(inner):
            raise UnsayableError("the same as the highest of other rows")
        for one in conditions_of(inner):
            if isinstance(one, exp.EQ) and is_column(one.this) and self._words.is_another_in_each(one.this):
                raise UnsayableError("a single row that is compared with")
            if isinstance(one, exp.EQ) and is_column(one.this) and self._words.kind(one.this) == "name":
                raise UnsayableError("rows of one name that are compared with")
        return super()._to_subquery(column, sign, inner)

    def _put_together(self, item: exp.AggFunc, rows: exp.Select | None) -> str:
        of = f"所有{self._row(item.this)}" if rows is None else self._described(rows, item.this)
        if isinstance(item, exp.Avg):
            if self._words.is_rank(item.this):
                raise UnsayableError("a mean of ranks")
            return f"{of}的{mean(self._label(item.this))}"
        return f"{of}的{self._most(item.this, type(item))}{self._label(item.this)}"

    def _described(self, rows: exp.Select, column: exp.Column) -> str:
        """Rows of a subquery; where they are those that meet the other conditions around it, as 此类患者."""
        around = rows.parent_select
        others = (
            [] if around is None else [one for one in conditions_of(around) if one.find(exp.Subquery) is None]
        )
        met = conditions_of(rows)
        if (
            len(others) == len(met)
            and all(one in met for one in others)
            and around is not None
            and not around.args.get("joins")
        ):
            return f"此类{self._row(column)}"
        return self._describe(rows)

    def _row(self, column: exp.Column) -> str:
        return self._words.one(self._words.owner(column), self._rng)

    def _one_of(self, column: exp.Column, values: Sequence[str], *, negated: bool) -> Said:
        if len(values) == 1:
            return self._compared(column, exp.NEQ if negated else exp.EQ, values[0])
        if negated:
            return self._whose(column, f"既不是{'也不是'.join(values)}")
        return self._whose(column, f"{self._any('为|是')}{'、'.join(values[:-1])}或{values[-1]}")

    def _related(self, rows: str, own: int, other: int, *, belong: bool, negated: bool) -> str:
        if belong:
            return f"{'不属于任何' if negated else '属于'}{rows}"
        return f"{self.having(own, other, negated=negated)}{rows}"

    def having(self, table: int, other: int, *, negated: bool = False) -> str:
        """The verb for rows that have others: 有, or 负责过 for those who are in charge of them."""
        noun, of = self._words.one(table, self._rng), self._words.one(other, self._rng)
        if is_in_charge(noun, of):
            return self._any("没有负责过|未负责过" if negated else "负责过")
        return self._any("没有|没有任何" if negated else "有")

    def _within(self, column: exp.Column, low: str, high: str, *, negated: bool) -> Said:
        between = self._any("在@到#之间|介于@和#之间|在@与#之间").replace("@", low).replace("#", high)
        return self._whose(column, f"{'不' if negated else ''}{between}")

    def _like(self, column: exp.Column, pattern: str, text: str, *, negated: bool) -> Said:
        if text.replace(".", "").isdigit():
            raise UnsayableError("a part of a number")
        frame = {
            (True, True): "包含“@”",
            (False, True): "以“@”开头",
            (True, False): "以“@”结尾",
            (False, False): "为“@”",
        }[pattern.startswith("%"), pattern.endswith("%")]
        return self._whose(column, f"{'不' if negated else ''}{frame.replace('@', text)}")

    def _or(self, left: str, right: str) -> str:
        return f"{left}{self._any('或|或者')}{right}"

    def _missing(self, column: exp.Column, *, negated: bool) -> Said:
        return self._whose(column, self._any("不为空|有记录" if negated else "为空|缺失|没有记录"))

    def _text(self, text: str) -> str:
        if _MOMENT.fullmatch(text):
            return text
        if _DATE.fullmatch(text):
            return _written_out(text) if self._rng.random() < _ROUNDNESS else text
        if not _PLAIN.fullmatch(text) or _FUNCTION_WORDS.search(text):
            return f"“{text}”"
        return self._rng.choice((text, text, f"“{text}”"))


def check_possible(conditions: Sequence[exp.Expr]) -> None:
    """Raises UnsayableError for conditions that no row meets: above 5 and below 3, or two values at once."""
    lows: dict[exp.Expr, float] = {}
    highs: dict[exp.Expr, float] = {}
    for one in conditions:
        if (
            not is_column(one.this)
            or not isinstance(one.args.get("expression"), exp.Literal)
            or one.expression.is_string
        ):
            continue
        number = float(one.expression.name)
        if isinstance(one, (exp.GT, exp.GTE, exp.EQ)):
            lows[one.this] = max(number, lows.get(one.this, number))
        if isinstance(one, (exp.LT, exp.LTE, exp.EQ)):
            highs[one.this] = min(number, highs.get(one.this, number))
    if any(lows[column] > highs[column] for column in lows.keys() & highs.keys()):
        raise UnsayableError("conditions that no row meets")


def signs(words: Degree) -> dict[type[exp.Expr], str]:
    """How amounts are compared, by the sign."""
    return {**_EQUAL, exp.GT: words.more, exp.GTE: words.at_least, exp.LT: words.less, exp.LTE: words.at_most}


def part_of(label: str, part: str) -> str:
    """A year or a month of what a label says: 就诊年份, 生日的月份."""
    deed = _PART.fullmatch(label)
    return f"{label}的{part}" if deed is None or part == PARTS["day"] else f"{deed[1]}{part}"


def mean(label: str) -> str:
    """The mean of what a label says: 平均年龄; 年均接生数的平均值."""
    return f"{label}的平均值" if "均" in label else f"平均{label}"


def both(found: Sequence[Said]) -> str:
    """Conditions that all have to be met: those on other rows behind the plain ones, a choice last and behind a comma.

    Raises UnsayableError for two choices, and for two comparisons with other rows.
    """
    choices = [one.text for one in found if one.either]
    compared = [one.text for one in found if one.open and not one.having and not one.either]
    if len(choices) > 1 or len(compared) > 1:
        raise UnsayableError("two choices, or two comparisons with other rows")
    plain = [one.text for one in found if not (one.either or one.having or one.open)]
    plain += [one.text for one in found if one.having and not one.either]
    plain += compared
    return "，并且".join(filter(None, ["且".join(plain), *choices]))


def moment_in_words(part: exp.TimeToStr) -> tuple[exp.Column, str]:
    """A column and which part of it is taken. Raises UnsayableError for another part than year, month and day."""
    column, name = moment_of(part), PARTS_OF_DATES.get(part.text("format"))
    if column is None or name is None:
        raise UnsayableError("part of a time")
    return column, PARTS[name]


def _written_out(value: str) -> str:
    """A date as 2004年7月15日; anything else as it is."""
    found = _DATE.fullmatch(value)
    if found is None:
        return value
    return "".join(f"{int(part)}{unit}" for part, unit in zip(found.groups(), "年月日", strict=True) if part)
