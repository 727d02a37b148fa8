"""What is selected, counted and ordered by, in Chinese: 平均年龄, 就诊数量."""

from __future__ import annotations

from sqlglot import exp

from fastsql.synthesis.schema.chinese.conditions import moment_in_words
from fastsql.synthesis.schema.clauses import is_column
from fastsql.synthesis.schema.items import Items
from fastsql.synthesis.schema.kinds import AMOUNT
from fastsql.synthesis.schema.words import UnsayableError

_AGGREGATES: dict[type[exp.Expr], str] = {
    exp.Avg: "平均@|@的平均值",
    exp.Sum: "@总和|@的总和",
    exp.Max: "最高@|最大@|@的最大值",
    exp.Min: "最低@|最小@|@的最小值",
}
_TIMES: dict[type[exp.Expr], str] = {exp.Max: "最晚的@|最近的@", exp.Min: "最早的@"}


class ChineseItems(Items):
    """Puts columns and aggregates into words."""

    def _label(self, column: exp.Column, subject: int) -> str:
        table = self._words.owner(column)
        label = self._words.label(self._words.number(column), self._rng)
        one = self._words.one(table, self._rng)
        if table == subject or label.startswith(one):
            return label
        return f"{one}{label}"

    def _several(self, label: str) -> str:
        return label

    def _number_of(self, things: str, *, different: bool = False) -> str:
        return self._any("不同@的数量|不同的@的个数" if different else "@数量|@的个数|@总数").replace(
            "@", things
        )

    def _put_together(self, aggregate: exp.AggFunc, label: str) -> str:
        is_amount = not is_column(aggregate.this) or self._words.kind(aggregate.this) == AMOUNT
        frames = (_AGGREGATES if is_amount else _TIMES)[type(aggregate)]
        return self._any(frames).replace("@", label)

    def _part(self, time: exp.TimeToStr) -> str:
        column, part = moment_in_words(time)
        return f"{self._words.label(self._words.number(column), self._rng)}的{part}"

    def _computed(self, item: exp.Expr, select: exp.Select, subject: int, *, many: bool) -> str:
        raise UnsayableError(type(item).__name__)
