"""Questions to schemas whose labels are Chinese: in Chinese, with nothing English in them, and as exact as English ones."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from fastsql.execution import Executor
from fastsql.grammar import render, sql_to_program
from fastsql.schema import Schema
from fastsql.synthesis.schema import SchemaSource, known_templates
from fastsql.synthesis.schema.chinese.nouns import is_flag, measure
from fastsql.synthesis.schema.contrast import differ_in_one_phrase
from fastsql.synthesis.schema.questions import ask
from fastsql.synthesis.schema.unanswerable import CHINESE_KINDS
from fastsql.synthesis.schema.words import UnsayableError, Words
from fastsql.synthesis.varied import generate_varied
from fastsql.verification.parse import parse_query

from ...worlds.clinic import chinese_clinic_database

_VISITS = "FROM 患者信息表 p JOIN 就诊记录表 v ON p.患者编号 = v.患者编号"
_WARDS = "FROM 患者信息表 p JOIN 科室表 w ON p.科室编号 = w.科室编号"
_SEEDS = 12


@pytest.fixture(scope="module")
def clinic_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return chinese_clinic_database(tmp_path_factory.mktemp("chinese") / "clinic.sqlite")


@pytest.fixture(scope="module")
def clinic(clinic_file: Path) -> Schema:
    return Schema.from_sqlite(clinic_file)


def asked(sql: str, schema: Schema) -> list[str]:
    """The questions of some seeds."""
    query, words = parse_query(render(sql_to_program(sql, schema), schema)), Words(schema)
    return [ask(query, words, random.Random(seed)) for seed in range(_SEEDS)]


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("SELECT 患者姓名 FROM 患者信息表 WHERE 性别 = '女'", "性别(为|是)“?女”?的患者的(患者)?姓名"),
        ("SELECT 患者姓名 FROM 患者信息表 WHERE 性别 <> '女'", "性别(不是|不为)“?女”?的患者的(患者)?姓名"),
        (
            "SELECT 患者姓名 FROM 患者信息表 WHERE 性别 = '女' AND 年龄 > 60",
            "性别(为|是)“?女”?且年龄(大于|高于|超过)60的患者的",
        ),
        (
            "SELECT 患者姓名 FROM 患者信息表 WHERE 年龄 BETWEEN 30 AND 40",
            "年龄(在|介于)30(到|和|与)40之间的患者的",
        ),
        (
            "SELECT 患者姓名 FROM 患者信息表 WHERE 年龄 NOT BETWEEN 30 AND 40",
            "年龄不(在|介于)30(到|和|与)40之间的",
        ),
        ("SELECT 患者姓名 FROM 患者信息表 WHERE 患者姓名 LIKE '王%'", "姓名以“王”开头的患者的"),
        ("SELECT 患者姓名 FROM 患者信息表 WHERE 患者姓名 NOT LIKE '%王%'", "姓名不包含“王”的患者的"),
        ("SELECT 患者姓名 FROM 患者信息表 WHERE 体重 IS NULL", "体重(为空|缺失|没有记录)的患者的"),
        (
            "SELECT 原因 FROM 就诊记录表 WHERE 入院日期 > '2023-04-05'",
            "入院日期(在|晚于)(2023-04-05|2023年4月5日)",
        ),
        (
            "SELECT 患者姓名 FROM 患者信息表 WHERE 患者编号 NOT IN (SELECT 患者编号 FROM 就诊记录表 WHERE 费用 > 100)",
            "没有(任何)?费用(大于|高于|超过)100的就诊记录的患者的",
        ),
        (
            "SELECT 患者姓名 FROM 患者信息表 WHERE 年龄 > (SELECT AVG(年龄) FROM 患者信息表)",
            "年龄(大于|高于|超过)所有患者的(平均年龄|年龄的平均值)的患者的",
        ),
        ("SELECT COUNT(*) FROM 患者信息表 WHERE 性别 = '女'", "性别(为|是)“?女”?的患者|多少名患者|几名"),
        ("SELECT AVG(年龄) FROM 患者信息表 WHERE 性别 = '女'", "的患者的(平均年龄|年龄的平均值)"),
        (
            "SELECT COUNT(*) FROM 就诊记录表 WHERE STRFTIME('%Y', 入院日期) = '2023'",
            "((在|于)?2023年入院|入院日期(在|为)2023年|入院日期的年份(为|是)“?2023”?)的就诊记录",
        ),
        (
            "SELECT COUNT(*) FROM 就诊记录表 WHERE STRFTIME('%Y-%m', 入院日期) = '2023-04'",
            "((在|于)?2023年4月入院|入院日期在2023年4月)的就诊记录",
        ),
        ("SELECT MAX(费用) FROM 就诊记录表", "就诊记录的(最高费用|最大费用|费用的最大值)"),
        (
            "SELECT 性别, AVG(年龄) FROM 患者信息表 GROUP BY 性别",
            "(每个|各)性别的患者的(平均年龄|年龄的平均值)",
        ),
        ("SELECT 性别, COUNT(*) FROM 患者信息表 GROUP BY 性别", "(每个|各)性别的患者(数量|的个数|总数)"),
        (
            "SELECT 原因 FROM 就诊记录表 GROUP BY 原因 HAVING COUNT(*) >= 4",
            "就诊记录数量(不少于|至少为|大于等于)4的原因",
        ),
        ("SELECT DISTINCT 原因 FROM 就诊记录表", "就诊记录的(不同|不重复)的原因"),
        ("SELECT 患者姓名 FROM 患者信息表 ORDER BY 年龄 DESC", "按年龄(从高到低|从大到小|降序)(排序|排列)"),
        ("SELECT 患者姓名 FROM 患者信息表 ORDER BY 年龄 DESC LIMIT 1", "年龄(最高|最大)的患者的"),
        ("SELECT 患者姓名 FROM 患者信息表 ORDER BY 年龄 LIMIT 3", "年龄(最低|最小)的前?3名患者的"),
        (f"SELECT p.患者姓名 {_WARDS} WHERE w.名称 = '内科'", "(对应|所属)科室的名称(为|是)“?内科”?的患者的"),
        (
            f"SELECT DISTINCT p.患者姓名 {_VISITS} WHERE v.原因 = '咳嗽'",
            "有原因(为|是)“?咳嗽”?的就诊记录的患者的",
        ),
        (f"SELECT p.患者姓名, w.名称 {_WARDS}", "患者的患者姓名和科室名称"),
        (
            "SELECT 性别 FROM 患者信息表 WHERE 年龄 > 60 INTERSECT SELECT 性别 FROM 患者信息表 WHERE 年龄 < 40",
            "年龄(大于|高于|超过)60的患者的性别.*年龄(小于|低于)40的患者的性别.*",
        ),
        (
            f"SELECT p.患者姓名 {_VISITS} GROUP BY p.患者编号 HAVING COUNT(*) > 3",
            "(有超过3条就诊记录|就诊记录数量(大于|超过|多于)3)的患者的",
        ),
    ],
)
def test_every_part_of_a_query_is_said_before_its_noun(sql: str, said: str, clinic: Schema) -> None:
    for question in asked(sql, clinic):
        assert re.search(said, question), question


def test_a_question_is_put_in_several_ways(clinic: Schema) -> None:
    questions = asked("SELECT 患者姓名 FROM 患者信息表 WHERE 年龄 > 60", clinic)
    assert len(set(questions)) > _SEEDS // 2
    assert any(question.startswith("请问") for question in questions)


def test_conditions_on_other_rows_are_kept_apart(clinic: Schema) -> None:
    sql = f"SELECT DISTINCT p.患者姓名 {_VISITS} WHERE v.原因 = '咳嗽' AND v.费用 > 100 AND p.性别 = '女'"
    for question in asked(sql, clinic):
        assert re.search("性别.*且有同时满足.*且.*的就诊记录的患者的", question), question


def test_rows_are_said_apart_where_they_come_first_among_some(clinic: Schema) -> None:
    for question in asked(
        "SELECT 患者姓名 FROM 患者信息表 WHERE 性别 = '女' ORDER BY 年龄 DESC LIMIT 2", clinic
    ):
        assert re.search("性别.*女.*的患者中，年龄(最高|最大)的前?2名患者的", question), question


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 患者姓名, AVG(年龄) FROM 患者信息表",
        "SELECT 患者姓名 FROM 患者信息表 LIMIT 3",
        "SELECT 是否参保 FROM 患者信息表",
        "SELECT 患者姓名 FROM 患者信息表 WHERE 是否参保 = '是'",
        "SELECT 患者姓名 FROM 患者信息表 WHERE 患者姓名 > '王芳'",
        "SELECT MAX(年龄) - MIN(年龄) FROM 患者信息表",
        "SELECT 患者姓名 FROM 患者信息表 UNION SELECT 原因 FROM 就诊记录表",
        "SELECT AVG(T.C1) FROM (SELECT COUNT(*) AS C1 FROM 就诊记录表 GROUP BY 患者编号) AS T",
        f"SELECT w.名称 {_WARDS} WHERE p.性别 = '女' OR w.床位数 > 9",
        f"SELECT AVG(p.年龄) {_VISITS}",
    ],
)
def test_what_cannot_be_said_exactly_is_not_said(sql: str, clinic: Schema) -> None:
    with pytest.raises(UnsayableError):
        asked(sql, clinic)


def test_pairs_contrasts_and_refusals_are_all_chinese(clinic: Schema, executor: Executor) -> None:
    source = SchemaSource(clinic, executor, known_templates())
    pairs = generate_varied(source, 40, contrast=0.3, unanswerable=0.4)
    assert all(not re.search("[A-Za-z]", pair.question.replace("PDF", "")) for pair in pairs)
    refused = {pair.extra["unanswerable"] for pair in pairs if pair.sql is None}
    assert len(refused) > 3
    assert refused <= set(CHINESE_KINDS)
    assert any("contrast" in pair.extra for pair in pairs)


def test_the_words_of_a_schema_tell_its_language() -> None:
    english = Schema.from_ddl("CREATE TABLE visits (id INTEGER PRIMARY KEY, cost REAL, 原因 TEXT)")
    assert Words(english).language == "en"
    labelled = Schema.from_ddl(
        "CREATE TABLE t1 (id INTEGER PRIMARY KEY COMMENT '编号', a REAL COMMENT '费用', b TEXT COMMENT '原因')"
    )
    assert Words(labelled).language == "zh"


def test_nouns_have_measure_words() -> None:
    assert [measure(noun) for noun in ("患者", "就诊记录", "检验报告", "医院", "科室")] == [
        "名",
        "条",
        "份",
        "家",
        "个",
    ]
    assert is_flag("是否参保")
    assert is_flag("新生儿标志")
    assert not is_flag("性别")


def test_an_ideograph_says_as_much_as_several_letters() -> None:
    assert differ_in_one_phrase("列出费用" + "高" * 16, "列出费用" + "低" * 16, 0)
    assert not differ_in_one_phrase("列出费用" + "高" * 17, "列出费用" + "低" * 17, 0)
