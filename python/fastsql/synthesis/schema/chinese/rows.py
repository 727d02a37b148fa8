"""The rows that a query is about, in Chinese: 性别为女且有费用大于100的就诊的患者."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from fastsql.synthesis.schema.chinese.conditions import ChineseConditions, both, check_possible, signs
from fastsql.synthesis.schema.chinese.degrees import degree
from fastsql.synthesis.schema.chinese.items import ChineseItems, of_row
from fastsql.synthesis.schema.chinese.nouns import (
    is_event,
    is_in_charge,
    is_person,
    is_thing,
    measure,
    number_of,
    role,
)
from fastsql.synthesis.schema.clauses import columns_in, conditions_of, is_column, keys_of, limit_of
from fastsql.synthesis.schema.conditions import Said
from fastsql.synthesis.schema.join_tree import End, JoinTree
from fastsql.synthesis.schema.kinds import AMOUNT, ORDERED
from fastsql.synthesis.schema.rows import Rows
from fastsql.synthesis.schema.words import UnsayableError

NO_TABLE = -1
"""The subject of what is said with its table: 科室名称和患者性别, and of groups of values."""
_AMONG = "中有"
"""How rows are said to have others that have others."""
_OPENED = ("所属", "对应")
"""How what others refer to is opened where that is no person."""
_VERBS = ("有", "没有", "负责过", "未负责过", "属于", "不属于", "恰好", "至少", "最多")
"""How conditions open that need no 的 behind a noun."""
_SAID = 2
"""Characters by which the name of a kind of rows ends: 医生 of 接诊医生."""
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

    _conditions: ChineseConditions
    _items: ChineseItems

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
        rows = before_noun(met, noun)
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
        check_possible(conditions_of(select))
        tree = JoinTree(select, self._words)
        by_table, used = self._told(select, subject, tree)
        found = [*by_table[subject]]
        asked = [
            Said(subject, text, having=True)
            for text in self._having_any(select, subject, tree, by_table, used)
        ]
        for end in tree.ends[subject]:
            joined = self._conditions_beyond(end, subject, tree, by_table, used)
            if joined and keys_of(select) and end.many:
                raise UnsayableError("what is put together is restricted by a join")
            found += joined
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
            opening = self.opening(before, table)
            return [
                Said(before, self._behind(opening, one), either=one.either, open=one.open) for one in found
            ]
        if found and table in used:
            raise UnsayableError("rows that are asked for, too, are restricted")
        if not found:
            return [] if table in used else [Said(before, self._with_any(table, before), having=True)]
        if any(one.open for one in found):
            raise UnsayableError("comparisons with other rows within others")
        if any(one.having and _AMONG in one.text for one in found):
            raise UnsayableError("rows that have others that have others")
        verb = self._conditions.having(before, table)
        if len(found) == 1 and found[0].having and found[0].text.startswith("有"):
            if verb != "有":
                return [Said(before, before_noun(f"{verb}{found[0].text}", noun), having=True)]
            # 影像报告中有最大径大于3的病灶的检查, not 有带有最大径大于3的病灶的影像报告的检查
            among = f"有{noun}" if is_person(noun) else f"{noun}中"
            return [Said(before, f"{among}{found[0].text}", having=True)]
        return [Said(before, f"{verb}{self._nested(both(found), noun)}", having=True)]

    def way(self, select: exp.Select, subject: int, table: int) -> str:
        """What rows of a table that is joined are to those that are asked about, over others between them: 所属就诊的患者.

        Raises UnsayableError for rows of which there may be several, or none.
        """
        tree = JoinTree(select, self._words)
        found = self._way(tree, subject, table, NO_TABLE)
        if not found:
            raise UnsayableError("columns of rows that may be several or none")
        first, *others = found
        return "的".join([first, *(one.removeprefix("所属").removeprefix("对应") for one in others)])

    def _way(self, tree: JoinTree, start: int, table: int, before: int) -> list[str]:
        for end in tree.ends[start]:
            if end.table == before or end.many or end.outer:
                continue
            further = [] if end.table == table else self._way(tree, end.table, table, start)
            if end.table == table or further:
                return [self.opening(start, end.table), *further]
        return []

    def most(self, key: exp.Ordered, select: exp.Select, subject: int) -> str:
        """As in English; no running number is the highest. Raises UnsayableError."""
        if is_column(key.this) and self._words.is_running_number(key.this):
            raise UnsayableError("the highest of running numbers")
        return super().most(key, select, subject)

    def opening(self, before: int, table: int) -> str:
        """What rows of one table are to those that refer to them: 患者, 接诊医生, 所属科室, 对应药品."""
        noun = self._words.one(table, self._rng)
        reference = self._words.reference(before, table)
        called = "" if reference is None else role(self._words.label(reference, self._rng))
        if is_person(noun):
            return called if is_person(called) and is_in_charge(noun, called) else noun
        if called != noun and called.endswith(noun[-_SAID:]) and not is_event(noun):
            return called
        return f"{'对应' if is_thing(noun) else self._any('对应|所属')}{noun}"

    def _behind(self, opening: str, said: Said) -> str:
        """A condition on a row that others refer to, as one on these: 患者的性别为女, 患者有…, 所属住院在2023年入院."""
        text = said.text
        if opening.startswith(_OPENED):
            text = text.removeprefix("所属").removeprefix(
                "对应"
            )  # once is enough on a way over several tables
        if said.having or said.alone:
            joint = "" if said.alone or text.startswith(_VERBS) else "的"
            return f"{opening}{joint}{text}"
        if text.startswith(_OPENED):
            return f"{opening}{text}"
        if text.startswith(opening[-_SAID:]):
            return of_row(opening, text)
        return f"{opening}{self._any('的|') if is_person(opening) else '的'}{text}"

    def _nested(self, met: str, noun: str) -> str:
        """Rows within a condition: 同时满足…且…的就诊, so that no condition behind 且 seems to be one on the rows around."""
        if "，" in met:
            raise UnsayableError("a choice among conditions on other rows")
        if met.startswith(("有", "没有")):
            raise UnsayableError("rows that have others, within others")
        together = "同时满足" if "且" in met else "满足" if "或" in met else ""
        return before_noun(f"{together}{met}", noun)

    def _either(self, select: exp.Select, subject: int, tree: JoinTree, used: set[int]) -> None:
        return None

    def _without(self, table: int, subject: int) -> str:
        return f"{self._conditions.having(subject, table, negated=True)}{self._words.one(table, self._rng)}"

    def _with_any(self, table: int, subject: int) -> str:
        return f"{self._conditions.having(subject, table)}{self._words.one(table, self._rng)}"

    def _so_many(self, sign: type[exp.Expr], number: str, counted: int, subject: int) -> str:
        rows = self._words.one(counted, self._rng)
        noun = "" if subject == NO_TABLE else self._words.one(subject, self._rng)
        if subject not in (NO_TABLE, counted) and not is_in_charge(noun, rows) and self._rng.random() < 0.5:
            return self._any(_HAD[sign]).replace("@", f"{number}{measure(rows)}{rows}")
        return (
            f"{number_of(rows, self._words.names_of_columns)}{self._any(_COUNTED[sign]).replace('@', number)}"
        )

    def _so_much(self, sign: type[exp.Expr], number: str, said: str) -> str:
        return f"{said}{self._any(signs(degree(said))[sign]).replace('@', number)}"

    def _sorted(self, keys: Sequence[str]) -> str:
        first, *others = keys
        then = "".join(f"，再按{key}" for key in others)
        return f"{'先' if others else ''}按{first}{then}{self._any('排序|排列')}"

    def _first(self, most: str) -> str:
        return most

    def _in_order(self, said: str, by: exp.Expr, *, down: bool) -> str:
        kind = self._words.kind(by) if isinstance(by, exp.Column) else AMOUNT
        if kind == AMOUNT:
            words = degree(said)
            return f"{said}{self._any(words.falling if down else words.rising)}"
        if kind in ORDERED:
            return f"{said}{self._any('从晚到早|降序' if down else '从早到晚|升序')}"
        return f"{said}{'降序' if down else '升序'}"

    def _most_counted(self, said: str, *, down: bool) -> str:
        return f"{self._items.number(said)}{'最多' if down else '最少'}"

    def _most(self, said: str, *, down: bool, is_time: bool) -> str:
        if is_time:
            return f"{said}{'最晚' if down else '最早'}"
        return f"{said}{degree(said).most if down else degree(said).least}"


def before_noun(met: str, noun: str) -> str:
    """Conditions before their noun; one 的 between them, even where they end in one."""
    return f"{met.removesuffix('的')}的{noun}" if met else noun
