"""The rows that a query is about, in Chinese: 性别为女且有费用大于100的就诊的患者."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from fastsql.synthesis.schema.chinese.conditions import ChineseConditions, both
from fastsql.synthesis.schema.chinese.items import ChineseItems
from fastsql.synthesis.schema.chinese.nouns import measure
from fastsql.synthesis.schema.clauses import columns_in, keys_of, limit_of
from fastsql.synthesis.schema.conditions import Said
from fastsql.synthesis.schema.join_tree import End, JoinTree
from fastsql.synthesis.schema.kinds import AMOUNT, ORDERED
from fastsql.synthesis.schema.rows import Rows
from fastsql.synthesis.schema.words import UnsayableError

NO_TABLE = -1
"""The subject of what is said with its table: 科室名称和患者性别, and of groups of values."""
_COUNTED: dict[type[exp.Expr], str] = {
    exp.GT: "大于@|超过@|多于@",
    exp.GTE: "不少于@|至少为@|大于等于@",
    exp.LT: "小于@|少于@",
    exp.LTE: "不超过@|至多为@|小于等于@",
    exp.EQ: "为@|等于@|恰好为@",
}
_HAD: dict[type[exp.Expr], str] = {
    exp.GT: "有超过@",
    exp.GTE: "至少有@",
    exp.LT: "有不到@",
    exp.LTE: "最多有@",
    exp.EQ: "恰好有@",
}


class ChineseRows(Rows):
    """Puts what restricts and sorts rows into words."""

    def _make_conditions(self) -> ChineseConditions:
        return ChineseConditions(self._words, self._rng, self.within)

    def _make_items(self) -> ChineseItems:
        return ChineseItems(self._words, self._rng, self._conditions)

    def subject(self, select: exp.Select) -> int:
        """As in English; but where columns of several tables are asked for, each row of FROM is one."""
        owners = {self._words.owner(column) for item in select.expressions for column in columns_in(item)}
        if not keys_of(select) and len(owners) > 1:
            return self._items.counted(select)
        return super().subject(select)

    def within(self, select: exp.Select) -> str:
        """The rows of a subquery, whose conditions are kept apart from those around it. Raises UnsayableError."""
        if select.args.get("order") is not None or keys_of(select):
            raise UnsayableError("order or groups in a subquery")
        subject = self.subject(select)
        return self._nested(self.where(select, subject), self._words.one(subject, self._rng))

    def say(self, select: exp.Select, subject: int | None = None, *, one: bool = False) -> str:
        """As 性别为女的患者中年龄最高的3名患者; an order of all rows is left to `sorting`. Raises UnsayableError."""
        if subject is None:
            subject = self.subject(select)
        if select.args.get("offset") is not None:
            raise UnsayableError("OFFSET")
        noun, count = self._words.one(subject, self._rng), limit_of(select)
        met = "且".join(filter(None, [self.where(select, subject), *self._having(select, subject)]))
        rows = f"{met}的{noun}" if met else noun
        if not count:
            return rows
        (most,) = self._order(select, subject)
        return f"{f'{rows}中，' if met else ''}{self.first(most, count, noun)}"

    def first(self, most: str, count: str, noun: str) -> str:
        """As 年龄最高的3名患者."""
        if count == "1":
            return f"{most}的{noun}"
        return f"{most}的{self._any('|前')}{count}{measure(noun)}{noun}"

    def sorting(self, select: exp.Select, subject: int) -> str:
        """The order of all rows; empty where there is none, or where it tells which rows are kept."""
        return "" if limit_of(select) else "".join(self._order(select, subject))

    def where(self, select: exp.Select, subject: int) -> str:
        """WHERE, and what joins alone demand: 性别为女且有费用大于100的就诊. Raises UnsayableError."""
        tree = JoinTree(select, self._words)
        by_table, used = self._told(select, subject, tree)
        found = [*by_table[subject]]
        asked = [
            Said(subject, text, having=True)
            for text in self._having_any(select, tree.ends[subject], by_table, used)
        ]
        for end in tree.ends[subject]:
            joined = self._conditions_beyond(end, subject, tree, by_table, used)
            if joined and keys_of(select) and end.many:
                raise UnsayableError("what is put together is restricted by a join")
            found += [
                replace(one, text=f"{self._any('对应|所属')}{one.text}") for one in joined if not end.many
            ]
            found += [one for one in joined if end.many]
        if len({one.table for one in found} - {subject}):
            raise UnsayableError("a condition on another table")
        return both([*found, *asked])

    def _conditions_beyond(
        self, end: End, before: int, tree: JoinTree, by_table: Mapping[int, Sequence[Said]], used: set[int]
    ) -> list[Said]:
        """What is said of a table that is joined, and of those beyond it, as conditions on the one before it.

        Raises UnsayableError for a join that no condition, item or count has a use for.
        """
        table, noun = end.table, self._words.one(end.table, self._rng)
        own, further = list(by_table.get(table, ())), [one for one in tree.ends[table] if one.table != before]
        if end.outer:
            if own or further or table in used:
                raise UnsayableError("rows that may not be there")
            return []
        if end.many and not own and len(further) == 1 and table not in used and self._words.is_link(table):
            return [
                replace(one, table=before)
                for one in self._conditions_beyond(
                    replace(further[0], many=True), table, tree, by_table, used
                )
            ]
        beyond = [
            said for one in further for said in self._conditions_beyond(one, table, tree, by_table, used)
        ]
        found = [*own, *beyond]
        if not end.many:
            if not found and table not in used:
                raise UnsayableError("a join without use")
            return [
                Said(
                    before, f"{noun}{'' if one.having else '的'}{one.text}", either=one.either, open=one.open
                )
                for one in found
            ]
        if found and table in used:
            raise UnsayableError("rows that are asked for, too, are restricted")
        if not found:
            return [] if table in used else [Said(before, self._with_any(table), having=True)]
        return [Said(before, f"有{self._nested(both(found), noun)}", having=True)]

    def _nested(self, met: str, noun: str) -> str:
        """Rows within a condition: 同时满足…且…的就诊, so that no condition behind 且 seems to be one on the rows around."""
        if "，" in met:
            raise UnsayableError("a choice among conditions on other rows")
        if met.startswith("有"):
            met = f"带{met}"  # not 有有药品的处方
        together = "同时满足" if "且" in met else "满足" if "或" in met else ""
        return f"{together}{met}的{noun}" if met else noun

    def _either(self, select: exp.Select, subject: int, tree: JoinTree, used: set[int]) -> None:
        return None

    def _without(self, table: int) -> str:
        return f"{self._any('没有|没有任何')}{self._words.one(table, self._rng)}"

    def _with_any(self, table: int) -> str:
        return f"有{self._words.one(table, self._rng)}"

    def _so_many(self, sign: type[exp.Expr], number: str, counted: int, subject: int) -> str:
        rows = self._words.one(counted, self._rng)
        if subject not in (NO_TABLE, counted) and self._rng.random() < 0.5:
            return self._any(_HAD[sign]).replace("@", f"{number}{measure(rows)}{rows}")
        return f"{rows}数量{self._any(_COUNTED[sign]).replace('@', number)}"

    def _so_much(self, sign: type[exp.Expr], number: str, said: str) -> str:
        return f"{said}{self._any(_COUNTED[sign]).replace('@', number)}"

    def _sorted(self, keys: Sequence[str]) -> str:
        first, *others = keys
        then = "".join(f"，再按{key}" for key in others)
        return f"{'先' if others else ''}按{first}{then}{self._any('排序|排列')}"

    def _first(self, most: str) -> str:
        return most

    def _in_order(self, said: str, by: exp.Expr, *, down: bool) -> str:
        kind = self._words.kind(by) if isinstance(by, exp.Column) else AMOUNT
        if kind == AMOUNT:
            return f"{said}{self._any('从高到低|从大到小|降序' if down else '从低到高|从小到大|升序')}"
        if kind in ORDERED:
            return f"{said}{self._any('从晚到早|降序' if down else '从早到晚|升序')}"
        return f"{said}{'降序' if down else '升序'}"

    def _most_counted(self, said: str, *, down: bool) -> str:
        return f"{said}{'最多' if down else '最少'}"

    def _most(self, said: str, *, down: bool, is_time: bool) -> str:
        if is_time:
            return f"{said}{'最晚' if down else '最早'}"
        return f"{said}{self._any('最高|最大' if down else '最低|最小')}"
