"""Queries in Chinese: what is asked for stands behind its rows, as in 性别为女的患者的姓名有哪些？

It says what it can say exactly; for the rest it raises UnsayableError, also for derived tables and arithmetic, for which
there are English words only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from sqlglot import exp

from fastsql.synthesis.schema.asker import MOST_ITEMS, Asker
from fastsql.synthesis.schema.chinese.items import ChineseItems, of_row
from fastsql.synthesis.schema.chinese.nouns import OWN_KEYS, is_person, kind_measure, measure
from fastsql.synthesis.schema.chinese.rows import NO_TABLE, ChineseRows, before_noun
from fastsql.synthesis.schema.clauses import (
    conditions_of,
    counts_rows,
    has_aggregate,
    is_column,
    is_for_each_group,
    joins_of,
    keys_of,
    limit_of,
)
from fastsql.synthesis.schema.kinds import AMOUNT, CODE, KEY, REFERENCE, TIME
from fastsql.synthesis.schema.repeats import repeats_rows
from fastsql.synthesis.schema.words import UnsayableError

_POLITE = "|||请问|请问一下，|我想知道"
_ORDERS = "列出@|请列出@|查询@|查一下@|帮我查一下@|请帮我查询@|给出@|@"
_COUNTS = "统计@|帮我统计一下@|查询@|@"
_NAMED_BY = (KEY, REFERENCE, CODE)
"""Kinds of columns by which groups are told apart, but that nobody calls them by."""
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
    _items: ChineseItems

    def _make_rows(self) -> ChineseRows:
        return ChineseRows(self._words, self._rng)

    def _ask_set(self, query: exp.SetOperation) -> str:
        return self._finished(self._set_operation(query))

    def _ask_rows(self, select: exp.Select) -> str:
        first, *others = select.expressions
        alone = not others and not keys_of(select) and select.args.get("order") is None
        if alone and isinstance(first, exp.Count) and isinstance(first.this, exp.Distinct):
            return self._ask_different(select, first.this.expressions[0])
        return self._finished(self._things(select))

    def _ask_different(self, select: exp.Select, column: exp.Expr) -> str:
        """For how many values there are: 化验单涉及多少名不同的病人, 患者共有多少个不同的联系电话."""
        if not is_column(column) or self._words.kind(column) == AMOUNT:
            raise UnsayableError("different values of an expression, or of an amount")
        if self._words.is_unique(column) and self._words.owner(column) == self._rows.subject(select):
            return self._ask_how_many(select, self._rows.subject(select))
        if self._words.has_few(column):
            raise UnsayableError("how many there are of a handful of values")
        if self._words.number(column) in self._words.naming(self._words.owner(column)):
            raise UnsayableError("how many names there are")
        self._check_known(select)
        subject = self._rows.subject(select)
        rows, thing = self._rows.say(select, subject), self._items.different(column)
        if thing:
            frame = f"涉及多少{measure(thing)}不同的{thing}"
        else:
            label = self._items.say(column, select, subject, many=True)
            unit = kind_measure(label)
            sorts = "的@共有多少种" if self._words.kind(column) == "category" else f"共有多少{unit}不同的@"
            frame = self._any(f"{sorts}|一共有多少{unit}不同的@").replace("@", label)
        if self._rng.random() < 0.3:
            return f"{self._any('统计一下|帮我查一下|查询')}{rows}{frame}{self._rng.choice(('。', ''))}"
        return f"{self._any(_POLITE)}{rows}{frame}{self._mark()}"

    def _ask_count(self, select: exp.Select) -> str:
        if select.args.get("order") is not None or limit_of(select):
            raise UnsayableError("order of a count")
        self._meaning.check_known(select)
        return self._ask_how_many(select, self._items.counted(select))

    def _ask_how_many(self, select: exp.Select, counted: int) -> str:
        """For how many rows of a table there are."""
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
        if is_column(left.expressions[0]) and self._words.has_few(left.expressions[0]):
            raise UnsayableError("which there are of a handful of values")
        if any(len(joins_of(side)) > 1 for side in (left, right)):
            raise UnsayableError("set operation of rows that are told by rows far away")
        if any(side.args.get("order") is not None or keys_of(side) for side in (left, right)):
            raise UnsayableError("set operation of groups, or of what is sorted")
        one, other = self._things(left).text, self._things(right).text
        label = self._items.say(left.expressions[0], left, self._key_subject(left), many=True)
        rows, others = (self._rows.say(side, self._rows.subject(side)) for side in (left, right))
        match query:
            case exp.Intersect():
                text = f"既出现在{rows}中，又出现在{others}中的{label}"
            case exp.Except():
                noun = self._words.one(self._rows.subject(left), self._rng)
                among = f"出现在{rows}中，但" if rows != noun else ""
                text = f"{among}没有出现在{others}中的{label if among else of_row(noun, label)}"
            case exp.Union() if query.args.get("distinct") and not _compare_alike(left, right):
                text = f"{one}，{self._any('以及|加上')}{other}"
            case _:
                raise UnsayableError("set operation")
        return _Things(text, "有哪些|都有哪些")

    def _key_subject(self, side: exp.Select) -> int:
        """What one side of a set operation is about; of keys no table, so that they say whose they are: 手术室ID."""
        item = side.expressions[0]
        is_key = is_column(item) and self._words.kind(item) == KEY
        return NO_TABLE if is_key else self._rows.subject(side)

    def _things(self, select: exp.Select) -> _Things:
        self._meaning.check_groups(select)
        self._check_known(select)
        subject, sorting = self._rows.subject(select), self._rows.sorting
        if select.is_star:
            every = self._any("所有信息|全部信息|完整信息")
            return _Things(
                f"{self._rows.say(select, subject)}的{every}", "有哪些", sorting=sorting(select, subject)
            )
        if keys_of(select):
            return self._for_each(select) if is_for_each_group(select) else self._groups(select)
        if all(map(counts_rows, select.expressions)):
            raise UnsayableError("rows counted twice")
        owners = {self._words.owner(item) for item in select.expressions if is_column(item)}
        different = self._different(select)
        if owners - {subject} and all(map(is_column, select.expressions)):
            text = self._of_tables(select, subject, different)
            return _Things(text, self._end(select), sorting=sorting(select, subject))
        named = NO_TABLE if len(owners) > 1 else subject
        labels = [self._items.say(item, select, named, many=True) for item in select.expressions]
        if not keys_of(select) and len(labels) > 1:
            labels = self._apart(labels, select, subject)
        order = select.args.get("order")
        if (
            order is not None
            and limit_of(select) == "1"
            and select.expressions == [order.expressions[0].this]
        ):
            # 就诊记录中最高的费用, not 费用最高的就诊记录的费用
            (first,) = order.expressions
            rest = select.copy()
            rest.set("limit", None)
            rest.set("order", None)
            if is_column(first.this) and self._words.owner(first.this) == subject:
                self._rows.most(first, select, subject)
                most = self._items.end(first.this, labels[0], down=bool(first.args.get("desc")))
                return _Things(f"{self._rows.say(rest, subject)}中{most}", self._end(select))
        text = f"{self._rows.say(select, subject)}的{different}{listed(labels)}"
        if all(map(has_aggregate, select.expressions)):
            return _Things(text, "是多少" if len(labels) == 1 else "分别是多少|各是多少", _VALUES)
        return _Things(text, self._end(select), sorting=sorting(select, subject))

    def _apart(self, labels: Sequence[str], select: exp.Select, subject: int) -> list[str]:
        """Labels of one question's items: 数量 and no more for the rows themselves; 订单编号 beside 门店编号."""
        noun = self._words.one(subject, self._rng)
        said = []
        for item, label in zip(select.expressions, labels, strict=True):
            is_part = label in OWN_KEYS and any(one != label and one.endswith(label) for one in labels)
            said.append("数量" if counts_rows(item) else f"{noun}{label}" if is_part else label)
        return said

    def _different(self, select: exp.Select) -> str:
        """How DISTINCT is said; not at all of what is another in each row that is asked about.

        Raises UnsayableError where it leaves out nothing.
        """
        if not select.args.get("distinct"):
            return ""
        if self._is_single(select) or limit_of(select) == "1" or self._is_named(select):
            raise UnsayableError("different values of a single row")
        if not any(is_column(item) and self._words.is_unique(item) for item in select.expressions):
            return self._any("不同的|不重复的")
        plain = select.copy()
        plain.set("distinct", None)
        if not repeats_rows(plain, self._words):
            raise UnsayableError("different keys of rows that nothing repeats")
        return ""

    def _of_tables(self, select: exp.Select, subject: int, different: str) -> str:
        """Columns of several tables: 就诊记录的费用，以及接诊医生的姓名."""
        runs = [(table, list(run)) for table, run in groupby(select.expressions, self._owner)]
        tables = [table for table, _ in runs]
        if len(set(tables)) < len(tables):
            raise UnsayableError("columns of tables that take turns")
        noun, parts = self._words.one(subject, self._rng), []
        for place, (table, items) in enumerate(runs):
            labels = listed([self._items.say(item, select, table, many=True) for item in items])
            whose = noun if table == subject else self._rows.way(select, subject, table)
            if not place:
                rows = self._rows.say(select, subject)
                joint = "" if whose.startswith(("所属", "对应")) else "的"
                whose = f"{rows}" if table == subject else f"{rows}{joint}{whose}"
                parts.append(f"{whose}的{different}{labels}")
            else:
                parts.append(
                    of_row(whose, labels) if len(items) == 1 and is_person(whose) else f"{whose}的{labels}"
                )
        return "，以及".join(parts)

    def _owner(self, item: exp.Expr) -> int:
        assert is_column(item)
        return self._words.owner(item)

    def _is_named(self, select: exp.Select) -> bool:
        """Whether a condition says how the rows are called that are asked about, which mostly is one."""
        naming = self._words.naming(self._rows.subject(select))
        return any(
            isinstance(one, exp.EQ) and is_column(one.this) and naming == (self._words.number(one.this),)
            for one in conditions_of(select)
        )

    def _is_single(self, select: exp.Select) -> bool:
        """Whether a condition says which row is asked about: at most one."""
        subject = self._rows.subject(select)
        return any(
            isinstance(one, exp.EQ)
            and is_column(one.this)
            and isinstance(one.expression, exp.Literal)
            and (self._words.is_unique(one.this) or self._words.is_another_in_each(one.this))
            and self._words.owner(one.this) == subject
            for one in conditions_of(select)
        )

    def _end(self, select: exp.Select) -> str:
        """How a question for columns ends."""
        first, *others = select.expressions
        is_single = limit_of(select) == "1" or (not keys_of(select) and self._is_single(select))
        if others:
            return "分别是什么|各是什么" if is_single else "分别是什么|都是什么|有哪些"
        kind = self._words.kind(first) if is_column(first) else ""
        if not is_single:
            return "分别是多少|有哪些" if kind == AMOUNT else "有哪些|都有哪些"
        if is_column(first) and is_person(self._words.label(self._words.number(first), self._rng)):
            return "是谁"
        return "是多少" if kind == AMOUNT else "是哪天|是什么时候" if kind == TIME else "是什么"

    def _for_each(self, select: exp.Select) -> _Things:
        """As 每个性别的患者的平均年龄."""
        keys = keys_of(select)
        self._check_shared(select, keys)
        items = [item for item in select.expressions if item not in keys]
        row = self._row_of_keys(select)
        if row is not None:
            rows = self._rows.say(select, row)
            each = f"每{measure(self._words.one(row, self._rng))}{rows}"
            return _Things(f"{each}的{self._labels(items, select, row)}", "分别是多少|各是多少")
        subject = self._items.counted(select)
        groups = listed([self._key(key, select, subject) for key in keys])
        within, noun = self._rows.where(select, subject), self._words.one(subject, self._rng)
        named = any(is_column(key) and self._words.kind(key) in _NAMED_BY for key in keys)
        if named or self._rng.random() < 0.3:
            among = f"{before_noun(within, noun)}中，" if within else ""
            text = f"{among}按{groups}分组的{self._of_rows(items, select, subject)}"
            return _Things(text, "分别是多少|各是多少", _VALUES)
        each = (
            self._any(f"每{kind_measure(groups)}{groups}|各{groups}")
            if len(keys) == 1
            else f"每种{groups}的组合"
        )
        if within:
            text = f"{before_noun(within, noun)}中，{each}的{self._labels(items, select, subject)}"
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
        self._check_shared(select, keys)
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
        among = f"{before_noun(within, noun)}中，" if within else ""
        has_having = select.args.get("having") is not None
        if passing and is_column(keys[0]) and self._words.owner(keys[0]) != subject:
            # 按设备机房统计时故障数量最多的设备机房: not the room of the device that has most
            among += f"按{key}统计时"
        if not count:
            groups = f"{passing[0]}的{key}" if has_having else f"各个{key}"
            if not has_having:
                among = f"{before_noun(within, noun)}的"
        else:
            several = f"{count}{kind_measure(key)}"
            groups = f"{passing[0]}的{key}" if count == "1" else f"{passing[0]}的{several}{key}"
        others = [item for item in select.expressions if item not in keys]
        also = f"及其{self._of_rows(others, select, subject)}" if others else ""
        return _Things(
            f"{among}{groups}{also}",
            "分别是什么" if others else "是什么" if count == "1" else "有哪些",
            sorting=self._rows.sorting(select, NO_TABLE),
        )

    def _check_known(self, select: exp.Select) -> None:
        """As in English; but what tells the rows of a table apart needs no key, and a pattern may fit a single value."""
        self._meaning.check_known(select)
        asked = [item for item in select.expressions if is_column(item)]
        shown = {self._words.owner(item) for item in asked} | {self._rows.subject(select)}
        compares = (
            select.args.get("order") is not None
            or keys_of(select)
            or any(map(has_aggregate, select.expressions))
        )
        for one in conditions_of(select):
            column = one.this
            if isinstance(one, exp.Like) and column in asked:
                if self._words.found_by(column, one.expression.name.strip("%")) == 1:
                    raise UnsayableError("what is asked is known")
                continue
            is_equal = (
                isinstance(one, exp.EQ) and is_column(column) and isinstance(one.expression, exp.Literal)
            )
            named = self._words.naming(self._words.owner(column)) if is_equal else ()
            few = is_equal and (
                self._words.is_another_in_each(column) or named == (self._words.number(column),)
            )
            if compares and few:
                raise UnsayableError("a single row")
            if is_equal and self._words.is_unique(column) and self._words.owner(column) not in shown:
                raise UnsayableError("a row that is joined is known")

    def _check_shared(self, select: exp.Select, keys: Sequence[exp.Expr]) -> None:
        """Raises UnsayableError for groups by what each row has another of: telephone numbers, names."""
        codes = [key for key in keys if is_column(key) and self._words.kind(key) == CODE]
        if any(map(self._words.is_another_in_each, codes)):
            raise UnsayableError("groups by codes that are no groups")
        parts = [count.this for item in select.expressions for count in item.find_all(exp.Count)]
        ids = [one.expressions[0] for one in parts if isinstance(one, exp.Distinct)]
        tables = [
            self._items.counted(select),
            *(self._words.stands_for(one) for one in ids if is_column(one)),
        ]
        naming = [one for table in tables if table is not None for one in self._words.naming(table)]
        if any(is_column(key) and self._words.number(key) in naming for key in keys):
            raise UnsayableError("groups by what names single rows")

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


def _compare_alike(left: exp.Select, right: exp.Select) -> bool:
    """Whether both compare one amount: those above 11 and those below 35 are all there are."""
    signs = (exp.GT, exp.GTE, exp.LT, exp.LTE)
    one, other = (
        {item.this for item in conditions_of(side) if isinstance(item, signs)} for side in (left, right)
    )
    return bool(one & other)
