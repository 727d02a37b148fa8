"""Values that a Chinese question says in part, for short or by another name."""

from __future__ import annotations

import pytest

from fastsql.linking.candidates import find_candidates
from fastsql.schema import Schema

WARDS = ["普通外科", "骨伤科", "心内科", "内分泌科"]
ROUTES = ["口服", "静脉滴注", "皮下注射"]
TESTS = ["白细胞计数", "红细胞计数", "血糖"]
ILLS = ["2型糖尿病", "脑梗死", "股骨颈骨折", "住院肺炎"]
CLINIC = Schema.from_dict(
    {
        "name": "住院部",
        "tables": [
            {
                "name": "住院",
                "columns": [
                    {"name": "科室", "type": "text", "values": WARDS},
                    {"name": "给药途径", "type": "text", "values": ROUTES},
                    {"name": "项目", "type": "text", "values": TESTS},
                    {"name": "疾病", "type": "text", "values": ILLS},
                    {"name": "去向", "type": "text", "values": ["治愈", "死亡"]},
                    {"name": "主治医生", "type": "text", "values": ["李建国", "王芳"]},
                ],
            }
        ],
        "foreign_keys": [],
    }
)


def found(question: str) -> dict[str, str]:
    """The values of columns that it offers, with the words that say them."""
    candidates = find_candidates(question, CLINIC)
    return {str(one.value): question[slice(*one.span)] for one in candidates if one.columns}


@pytest.mark.parametrize(
    ("question", "value", "words"),
    [
        ("白细胞高的有几个", "白细胞计数", "白细胞"),
        ("静滴的有多少", "静脉滴注", "静滴"),
        ("骨科有几张床", "骨伤科", "骨科"),
        ("普外科有几张床", "普通外科", "普外科"),
        ("内分泌的病人", "内分泌科", "内分泌"),
        ("脑梗的病人", "脑梗死", "脑梗"),
        ("骨折的病人", "股骨颈骨折", "骨折"),
        ("糖尿病病人", "2型糖尿病", "糖尿病"),
        ("抢救无效去世的", "死亡", "去世"),
        ("治好的病人", "治愈", "治好"),
    ],
)
def test_a_part_that_is_of_one_value_alone_stands_for_it(question: str, value: str, words: str) -> None:
    assert found(question) == {value: words}


@pytest.mark.parametrize(
    "question",
    [
        "细胞计数的平均值",  # of two values
        "住院的病人",  # what rows are called, too
        "病人有几个",
        "骨",
        "下注",  # the middle of a word
        "脑梗塞的病人",  # another word with the same beginning
        "肱骨骨折的病人",
        "刘建国医生的病人",  # no short form of another's name
    ],
)
def test_a_part_of_several_or_of_a_label_stands_for_none(question: str) -> None:
    assert found(question) == {}


def test_a_value_that_is_said_is_offered_as_such() -> None:
    assert found("白细胞计数和静脉滴注") == {"白细胞计数": "白细胞计数", "静脉滴注": "静脉滴注"}
    (one,) = (one for one in find_candidates("静脉滴注", CLINIC) if one.columns)
    (part,) = (one for one in find_candidates("静滴", CLINIC) if one.columns)
    assert one.distance == 0 < part.distance


def test_the_longer_of_two_parts_is_taken() -> None:
    assert found("普通外的床") == {"普通外科": "普通外"}
