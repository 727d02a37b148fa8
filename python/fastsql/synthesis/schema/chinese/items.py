"""What is selected, counted and ordered by, in Chinese: 平均年龄, 就诊数量."""

from __future__ import annotations

import re

from sqlglot import exp

from fastsql.synthesis.schema.chinese.conditions import mean, moment_in_words, part_of
from fastsql.synthesis.schema.chinese.degrees import degree
from fastsql.synthesis.schema.chinese.nouns import OWN_KEYS, is_key, number_of, role
from fastsql.synthesis.schema.clauses import is_column
from fastsql.synthesis.schema.items import Items
from fastsql.synthesis.schema.kinds import AMOUNT, REFERENCE
from fastsql.synthesis.schema.words import UnsayableError

_TIMES: dict[type[exp.Expr], str] = {exp.Max: "最晚的@|最近的@", exp.Min: "最早的@"}
_COUNTED = re.compile("(?:的数量|数量|总数)$")


class ChineseItems(Items):
    """Puts columns and aggregates into words."""

    def say(self, item: exp.Expr, select: exp.Select, subject: int, *, many: bool) -> str:
        """As in English; what is put together says its table first, and there is no mean of ranks. Raises UnsayableError."""
        if isinstance(item, (exp.Avg, exp.Sum, exp.Min, exp.Max)) and is_column(item.this):
            if isinstance(item, (exp.Avg, exp.Sum)) and self._words.is_rank(item.this):
                raise UnsayableError("a mean or a total of ranks")
            owner = self._words.owner(item.this)
            said = super().say(item, select, owner, many=many)
            return said if owner == subject else f"{self._words.one(owner, self._rng)}的{said}"
        return super().say(item, select, subject, many=many)

    def _label(self, column: exp.Column, subject: int) -> str:
        table = self._words.owner(column)
        label = self._words.label(self._words.number(column), self._rng)
        return label if table == subject else of_row(self._words.one(table, self._rng), label)

    def _several(self, label: str) -> str:
        return label

    def _number_of(self, things: str, *, different: bool = False) -> str:
        if different:
            return f"不同{things}的数量"
        plain = number_of(things, self._words.names_of_columns)
        if plain != f"{things}数量":
            return plain
        return self._any(
            "@数量|@的数量|@总数" if f"{things}总数" not in self._words.names_of_columns else "@数量"
        ).replace("@", things)

    def number(self, said: str) -> str:
        """A number of things as it stands before 最多: 就诊记录数量."""
        return said if "不同" in said else f"{_COUNTED.sub('', said)}数量"

    def _things(self, column: exp.Column, subject: int) -> str:
        return self.different(column) or super()._things(column, subject)

    def different(self, column: exp.Column) -> str:
        """What a key refers to, as its label calls that: 班主任 of 班主任ID. Empty for what refers to no other row."""
        if self._words.kind(column) != REFERENCE or self._words.stands_for(column) is None:
            return ""
        return role(self._words.label(self._words.number(column), self._rng))

    def _put_together(self, aggregate: exp.AggFunc, label: str) -> str:
        if is_column(aggregate.this) and self._words.kind(aggregate.this) != AMOUNT:
            return self._any(_TIMES[type(aggregate)]).replace("@", label)
        words, is_extreme = degree(label), label.startswith("最")
        match aggregate:
            case exp.Avg():
                return self._any(f"{mean('@')}|@的平均值" if "均" not in label else "@的平均值").replace(
                    "@", label
                )
            case exp.Sum():
                return self._any("@总和|@的总和").replace("@", label)
            case exp.Max():
                return self._any("@的最大值" if is_extreme else f"{words.most}@|@的最大值").replace(
                    "@", label
                )
        return self._any("@的最小值" if is_extreme else f"{words.least}@|@的最小值").replace("@", label)

    def end(self, column: exp.Column, label: str, *, down: bool) -> str:
        """The highest or lowest, or the last or first, of what a column holds: 最高的费用."""
        if self._words.kind(column) != AMOUNT:
            return f"{'最晚' if down else '最早'}的{label}"
        return f"{degree(label).most if down else degree(label).least}的{label}"

    def _part(self, time: exp.TimeToStr) -> str:
        column, part = moment_in_words(time)
        return part_of(self._words.label(self._words.number(column), self._rng), part)

    def _computed(self, item: exp.Expr, select: exp.Select, subject: int, *, many: bool) -> str:
        raise UnsayableError(type(item).__name__)


def of_row(noun: str, label: str) -> str:
    """A label behind its row, what both say once: 接诊医生姓名 for a label 医生姓名 of 接诊医生."""
    if label.startswith(noun):
        return label
    if label not in OWN_KEYS and is_key(label):
        return f"{noun}的{label}"  # not 疫苗批次疫苗ID
    ends = (noun[start:] for start in range(len(noun) - 1))
    return f"{noun}{next((label.removeprefix(end) for end in ends if label.startswith(end)), label)}"
