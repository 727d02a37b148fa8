"""Chinese names of rows and columns, and the measure words by which rows are counted."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

from fastsql.profile.model import ColumnProfile, TableProfile

_IDEOGRAPH = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]")
_FLAGS = ("是否", "有无", "能否", "可否")
_ENDS_OF_FLAGS = ("标志", "标识", "标记", "与否")
_TABLES_OF_A_KIND = ("报表", "量表", "仪表", "代表", "手表", "图表", "电表")
"""Things whose names end as those of tables do."""
_MEASURES = (
    (("记录", "明细", "台账", "日志"), "条"),
    (("报告", "报告单", "合同", "订单", "问卷"), "份"),
    (("处方", "账单", "发票", "医嘱单"), "张"),
    (("就诊", "住院", "手术", "检查", "检验", "会诊", "随访", "比赛", "预约"), "次"),
    (("医院", "公司", "机构", "诊所", "药房", "企业"), "家"),
    (
        (
            "患者",
            "病人",
            "医生",
            "医师",
            "护士",
            "学生",
            "老师",
            "教师",
            "人员",
            "员工",
            "运动员",
            "球员",
            "选手",
            "客人",
        ),
        "名",
    ),
)
_SHORTEST = 2


def is_chinese(text: str) -> bool:
    """Whether a text holds an ideograph."""
    return _IDEOGRAPH.search(text) is not None


def is_flag(name: str) -> bool:
    """Whether a column says yes or no."""
    return name.startswith(_FLAGS) or name.endswith(_ENDS_OF_FLAGS)


def row(table: TableProfile, rng: random.Random) -> str:
    """A row of a table: 患者 for 患者信息表."""
    return _without_table(_said(table, rng))


def label(
    column: ColumnProfile, table: TableProfile, others: Sequence[ColumnProfile], rng: random.Random
) -> str:
    """A column, mostly without its table where its label repeats that: 姓名 of 患者, not 患者姓名.

    `others`: the table's other columns; the shorter name must be part of none of theirs.
    """
    said = _said(column, rng)
    short = said.removeprefix(_without_table(table.called))
    is_clear = len(short) >= _SHORTEST and not any(short in one.called for one in others)
    return short if is_clear and rng.random() < 0.7 else said


def measure(noun: str) -> str:
    """The measure word of a noun: 名 for 患者, 条 for 记录."""
    return next((word for ends, word in _MEASURES if noun.endswith(ends)), "个")


def _said(item: TableProfile | ColumnProfile, rng: random.Random) -> str:
    names = [name for name in (item.called, item.words, *item.synonyms) if is_chinese(name)]
    name = item.called if not names or rng.random() < 0.6 else rng.choice(names)
    return name.replace("_", "").replace(" ", "") if is_chinese(name) else name


def _without_table(name: str) -> str:
    """The name of a table as that of one of its rows."""
    for end in ("表", "信息"):
        if name.endswith(end) and not name.endswith(_TABLES_OF_A_KIND) and len(name) >= len(end) + _SHORTEST:
            name = name.removesuffix(end)
    return name
