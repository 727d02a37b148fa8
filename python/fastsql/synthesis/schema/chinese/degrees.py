"""Words for more and most in Chinese, by what an amount is one of: 时长最长, 人数最多, 年龄最大, 费用最高."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Degree:
    """How amounts of one kind are compared, as patterns: `more` than another, `most` of all, `falling` from the most on."""

    more: str
    less: str
    at_least: str
    at_most: str
    most: str
    least: str
    falling: str
    rising: str


_HIGH = Degree(
    "大于@|高于@|超过@",
    "小于@|低于@",
    "不低于@|不小于@|大于等于@",
    "不高于@|不超过@|小于等于@",
    "最高",
    "最低",
    "从高到低|降序",
    "从低到高|升序",
)
_LARGE = Degree(
    "大于@|超过@",
    "小于@",
    "不小于@|大于等于@",
    "不超过@|小于等于@",
    "最大",
    "最小",
    "从大到小|降序",
    "从小到大|升序",
)
_LONG = Degree(
    "大于@|超过@|长于@",
    "小于@|短于@",
    "不短于@|不小于@|大于等于@",
    "不长于@|不超过@|小于等于@",
    "最长",
    "最短",
    "从长到短|降序",
    "从短到长|升序",
)
_MANY = Degree(
    "大于@|超过@|多于@",
    "小于@|少于@",
    "不少于@|大于等于@",
    "不超过@|不多于@|小于等于@",
    "最多",
    "最少",
    "从多到少|降序",
    "从少到多|升序",
)
_BY_END = (
    (re.compile(r".*(时长|时间|年限|工龄|教龄|工时|产程|疗程)"), _LONG),
    (re.compile(r".*岁数"), _LARGE),
    (re.compile(r".*(指数|分数|数值|系数|参数|读数|度数)"), _HIGH),
    (
        re.compile(
            r".*(数量|数目|总数|[\u4e00-\u9fff]数|人口|定员|库存|库存量|销量|尿量|入量|出血量|出血|失血|失血量|里程|卡路里|积分)"
        ),
        _MANY,
    ),
    (re.compile(r".*(体重|年龄|月龄|孕周|面积|大小|直径|径|容积|容量|规格)"), _LARGE),
)
"""Names by how they end; every other amount is high or low."""


def degree(label: str) -> Degree:
    """The words for amounts of that name, which may have others before it: 平均年龄."""
    return next((words for end, words in _BY_END if end.fullmatch(label)), _HIGH)
