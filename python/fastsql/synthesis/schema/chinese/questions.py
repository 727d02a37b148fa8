"""Queries in Chinese: what is asked for stands behind its rows, as in 性别为女的患者的姓名有哪些？

It says what it can say exactly; for the rest it raises UnsayableError, also for derived tables and arithmetic, for which
there are English words only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from fastsql.synthesis.schema.asker import MOST_ITEMS, Asker
from fastsql.synthesis.schema.chinese.nouns import measure
from fastsql.synthesis.schema.chinese.rows import NO_TABLE, ChineseRows
from fastsql.synthesis.schema.clauses import (
    counts_rows,
    has_aggregate,
    is_column,
    is_for_each_group,
    keys_of,
    limit_of,
)
from fastsql.synthesis.schema.kinds import AMOUNT, TIME
from fastsql.synthesis.schema.words import UnsayableError

_POLITE = "|||请问|请问一下，|我想知道"
_ORDERS = "列出@|请列出@|查询@|查一下@|帮我查一下@|请帮我查询@|给出@|@"
_COUNTS = "统计@|帮我统计一下@|查询@|@"
_VALUES = "计算@|查询@|帮我查一下@|请帮我算一下@|@"


@dataclass(frozen=True)
class _Things:
    """What is asked for: `asks` are ways to end the question, `sorting` is how the answer is sorted."""

    text: str
    asks: str
    orders: str = _ORDERS
    sorting: str = ""


class ChineseAsker(Asker):
    """Asks in Chinese."""

    _rows: ChineseRows

    def _make_rows(self) -> ChineseRows:
        return ChineseRows(self._words, self._rng)

    def _ask_set(self, query: exp.SetOperation) -> str:
        return self._finished(self._set_operation(query))

    def _ask_rows(self, select: exp.Select) -> str:
        return self._finished(self._things(select))

    def _ask_count(self, select: exp.Select) -> str:
        if select.args.get("order") is not None or limit_of(select):
            raise UnsayableError("order of a count")
        self._meaning.check_known(select)
        counted = self._items.counted(select)
        rows = self._rows.say(select, counted)
        unit = measure(self._words.one(counted, self._rng))
        # Not 明细的数量: that may be a column of theirs.
        if self._rng.random() < 0.3:
            return self._any(f"统计一下@有多少{unit}|帮我查一下有多少{unit}@|查询有多少{unit}@").replace(
                "@", rows
            )
        asked = self._any(f"@有多少{unit}|一共有多少{unit}@|有多少{unit}@|@共有多少{unit}|@有几{unit}")
        return f"{self._any(_POLITE)}{asked.replace('@', rows)}{self._mark()}"

    def _set_operation(self, query: exp.SetOperation) -> _Things:
        """As 既是…又是…: what is the same on both sides is a column, and nothing is sorted or kept."""
        left, right = query.left, query.right
        if not isinstance(left, exp.Select) or not isinstance(right, exp.Select):
            raise UnsayableError("set operation")
        if len(left.expressions) != 1 or len(right.expressions) != 1:
            raise UnsayableError("set operation of several columns")
        if not self._meaning.are_alike(left.expressions[0], right.expressions[0]):
            raise UnsayableError("set operation of different things")
        if any(side.args.get("order") is not None or keys_of(side) for side in (left, right)):
            raise UnsayableError("set operation of groups, or of what is sorted")
        one, other = self._things(left).text, self._things(right).text
        label = self._items.say(left.expressions[0], left, self._rows.subject(left), many=True)
        match query:
            case exp.Intersect():
                frames = f"同时出现在@和#中的{label}|既是@，又是#的{label}|@与#中共有的{label}"
            case exp.Except():
                frames = f"除了#之外，@|出现在@中，但不在#中的{label}"
            case exp.Union() if query.args.get("distinct"):
                frames = "@，以及#|@，加上#"
            case _:
                raise UnsayableError("set operation")
        text = "".join({"@": one, "#": other}.get(part, part) for part in self._any(frames))
        return _Things(text, "有哪些|都有哪些")

    def _things(self, select: exp.Select) -> _Things:
        self._meaning.check_groups(select)
        self._meaning.check_known(select)
        subject, sorting = self._rows.subject(select), self._rows.sorting
        if select.is_star:
            every = self._any("所有信息|全部信息|完整信息")
            return _Things(
                f"{self._rows.say(select, subject)}的{every}", "有哪些", sorting=sorting(select, subject)
            )
        if keys_of(select):
            return self._for_each(select) if is_for_each_group(select) else self._groups(select)
        owners = {self._words.owner(item) for item in select.expressions if is_column(item)}
        named = NO_TABLE if len(owners) > 1 else subject
        labels = [self._items.say(item, select, named, many=True) for item in select.expressions]
        rows = self._rows.say(select, subject)
        different = self._any("不同的|不重复的") if select.args.get("distinct") else ""
        if all(map(counts_rows, select.expressions)):
            raise UnsayableError("rows counted twice")
        text = f"{rows}的{different}{listed(labels)}"
        if all(map(has_aggregate, select.expressions)):
            return _Things(text, "是多少" if len(labels) == 1 else "分别是多少|各是多少", _VALUES)
        return _Things(text, self._end(select), sorting=sorting(select, subject))

    def _end(self, select: exp.Select) -> str:
        """How a question for columns ends."""
        first, *others = select.expressions
        if limit_of(select) != "1":
            return "分别是什么|都是什么|有哪些" if others else "有哪些|都有哪些|是什么"
        if others:
            return "分别是什么|各是什么"
        kind = self._words.kind(first) if is_column(first) else ""
        return "是多少" if kind == AMOUNT else "是哪天|是什么时候" if kind == TIME else "是什么"

    def _for_each(self, select: exp.Select) -> _Things:
        """As 每个性别的患者的平均年龄."""
        keys = keys_of(select)
        items = [item for item in select.expressions if item not in keys]
        row = self._row_of_keys(select)
        if row is not None:
            rows = self._rows.say(select, row)
            each = f"每{measure(self._words.one(row, self._rng))}{rows}"
            return _Things(f"{each}的{self._labels(items, select, row)}", "分别是多少|各是多少")
        subject = self._items.counted(select)
        groups = listed([self._key(key, select, subject) for key in keys])
        each = self._any(f"每个{groups}|各{groups}") if len(keys) == 1 else f"每种{groups}的组合"
        within, noun = self._rows.where(select, subject), self._words.one(subject, self._rng)
        if within:
            text = f"{within}的{noun}中，{each}的{self._labels(items, select, subject)}"
        else:
            text = f"{each}的{self._of_rows(items, select, subject)}"
        return _Things(text, "分别是多少|各是多少", _COUNTS)

    def _of_rows(self, items: Sequence[exp.Expr], select: exp.Select, subject: int) -> str:
        """As 患者的平均年龄, and 患者数量, which says already whose it is."""
        noun = self._words.one(subject, self._rng)
        if not any(isinstance(item, exp.Count) for item in items):
            return f"{noun}的{self._labels(items, select, subject)}"
        said = [self._items.say(item, select, subject, many=False) for item in items]
        pairs = zip(items, said, strict=True)
        return listed([one if isinstance(item, exp.Count) else f"{noun}的{one}" for item, one in pairs])

    def _groups(self, select: exp.Select) -> _Things:
        """Groups that pass, or that come first: 患者数量不少于4的城市."""
        order = select.args.get("order")
        if not any(map(is_column, select.expressions)):
            raise UnsayableError("groups that are not named")
        if (
            limit_of(select)
            and order is not None
            and any(key.this in select.expressions for key in order.expressions)
        ):
            raise UnsayableError("what decides is asked for, too")
        keys, row = keys_of(select), self._row_of_keys(select)
        if row is not None:
            text = f"{self._rows.say(select, row)}的{self._labels(select.expressions, select, row)}"
            return _Things(text, self._end(select), sorting=self._rows.sorting(select, row))
        if not all(key in select.expressions for key in keys) or len(keys) != 1:
            raise UnsayableError("groups that are not named")
        subject = self._items.counted(select)
        key = self._key(keys[0], select, subject)
        passing, count = self._rows.passing(select, NO_TABLE), limit_of(select)
        if count and len(passing) > 1:
            raise UnsayableError("the first of the groups that pass")
        within, noun = self._rows.where(select, subject), self._words.one(subject, self._rng)
        among = f"{within}的{noun}中，" if within else ""
        has_having = select.args.get("having") is not None
        if not count:
            groups = f"{passing[0]}的{key}" if has_having else f"各个{key}"
        else:
            groups = f"{passing[0]}的{key}" if count == "1" else f"{passing[0]}的{count}个{key}"
        others = [item for item in select.expressions if item not in keys]
        also = f"及其{self._of_rows(others, select, subject)}" if others else ""
        return _Things(
            f"{among}{groups}{also}",
            "分别是什么" if others else "是什么" if count == "1" else "有哪些",
            sorting=self._rows.sorting(select, NO_TABLE),
        )

    def _row_of_keys(self, select: exp.Select) -> int | None:
        """The table of which each group is a row; None for groups of values. Raises UnsayableError for a mixture."""
        unique = {
            self._words.owner(key) for key in keys_of(select) if is_column(key) and self._words.is_unique(key)
        }
        if not unique:
            return None
        if len(unique) > 1 or any(
            is_column(item) and self._words.owner(item) not in unique for item in select.expressions
        ):
            raise UnsayableError("groups of another table")
        return unique.pop()

    def _key(self, key: exp.Expr, select: exp.Select, subject: int) -> str:
        return self._items.say(key, select, subject, many=False)

    def _labels(self, items: Sequence[exp.Expr], select: exp.Select, subject: int) -> str:
        return listed([self._items.say(item, select, subject, many=False) for item in items])

    def _finished(self, things: _Things) -> str:
        ask = self._rng.random() < 0.5
        if ask:
            text = f"{self._any(_POLITE)}{things.text}{self._any(things.asks)}"
        else:
            text = self._any(things.orders).replace("@", things.text)
        if things.sorting:
            return f"{text}{self._any('，|，并|，结果')}{things.sorting}{self._rng.choice(('。', ''))}"
        return f"{text}{self._mark() if ask else self._rng.choice(('。', '', ''))}"

    def _mark(self) -> str:
        return self._rng.choice(("？", "？", ""))


def listed(labels: Sequence[str]) -> str:
    """As 姓名、年龄和性别. Raises UnsayableError where two are the same, or there are more than a question asks for."""
    if len(set(labels)) < len(labels):
        raise UnsayableError("two items of one name")
    if not 0 < len(labels) <= MOST_ITEMS:
        raise UnsayableError("nothing but keys, or too many items")
    *others, last = labels
    joint = "以及" if others and others[-1].endswith("和") else "和"
    return f"{'、'.join(others)}{joint}{last}" if others else last
