"""Codes that a comment explains."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastsql.schema import Schema
from fastsql.schema.comment_codes import codes_of


@pytest.mark.parametrize(
    ("comment", "named", "before"),
    [
        ("性别：1男 2女", [("1", "男"), ("2", "女")], "性别"),
        ("性别：1男2女", [("1", "男"), ("2", "女")], "性别"),
        ("状态 0-候诊，1-已就诊，2-退号", [("0", "候诊"), ("1", "已就诊"), ("2", "退号")], "状态"),
        ("1在岗 0离岗", [("1", "在岗"), ("0", "离岗")], ""),
        ("医保类型(1:职工医保;2:居民医保)", [("1", "职工医保"), ("2", "居民医保")], "医保类型"),
        ("男=1 女=2", [("1", "男"), ("2", "女")], ""),
        ("性别 男1 女2 未知9", [("1", "男"), ("2", "女"), ("9", "未知")], "性别"),
        ("内科A、外科B、儿科C", [("A", "内科"), ("B", "外科"), ("C", "儿科")], ""),
        ("结果 A阳性、B阴性", [("A", "阳性"), ("B", "阴性")], "结果"),
        ("sex (1 = male, 2 = female)", [("1", "male"), ("2", "female")], "sex"),
        ("M: male, F: female", [("M", "male"), ("F", "female")], ""),
    ],
)
def test_codes_and_their_words(comment: str, named: list[tuple[str, str]], before: str) -> None:
    found = codes_of(comment)
    assert found is not None
    assert (list(found.named), found.before) == (named, before)


@pytest.mark.parametrize(
    "comment",
    [
        "就诊流水号",
        "人民币元",
        "1型糖尿病标志",
        "血压 120/80",
        "2020年1月至2021年2月",
        "age in years, 3 digits",
        "单位：mg/L",
        "",
    ],
)
def test_other_comments_explain_none(comment: str) -> None:
    assert codes_of(comment) is None


@given(st.text(max_size=80))
def test_any_comment_is_read(comment: str) -> None:
    found = codes_of(comment)
    assert found is None or len({code for code, _ in found.named}) == len(found.named) >= 2


def test_a_column_knows_the_codes_that_its_comment_explains() -> None:
    schema = Schema.from_ddl(
        """CREATE TABLE gh (
            id INTEGER PRIMARY KEY, -- 挂号编号
            xb INTEGER, -- 性别：1男 2女
            yb TEXT, -- 医保类型(1-职工，2-居民)
            是否在岗 INTEGER, -- 1在岗 0离岗
            jg REAL, -- A高 B低
            单价 REAL -- 人民币元
        );"""
    )
    _, sex, insurance, on_duty, rating, price = schema.columns
    assert (sex.label, sex.values, sex.value_synonyms) == ("性别", (1, 2), ((1, ("男",)), (2, ("女",))))
    assert (insurance.label, insurance.values) == ("医保类型", ("1", "2"))
    assert (on_duty.label, on_duty.values, on_duty.description) == ("是否在岗", (1, 0), "1在岗 0离岗")
    assert (rating.values, rating.value_synonyms) == ((), ())  # a number is none of these
    assert (price.label, price.description) == ("单价", "人民币元")
