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
from fastsql.synthesis.schema.chinese.degrees import degree
from fastsql.synthesis.schema.chinese.nouns import is_flag, measure, says_yes_or_no
from fastsql.synthesis.schema.contents import Contents
from fastsql.synthesis.schema.contrast import differ_in_one_phrase
from fastsql.synthesis.schema.questions import ask
from fastsql.synthesis.schema.unanswerable import CHINESE_KINDS, Unanswerables
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
            "((每个|各)性别|按性别分组)的患者的(平均年龄|年龄的平均值)",
        ),
        (
            "SELECT 性别, COUNT(*) FROM 患者信息表 GROUP BY 性别",
            "((每个|各)性别|按性别分组)的患者(数量|的数量|总数)",
        ),
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
        (f"SELECT p.患者姓名, w.名称 {_WARDS}", "患者的姓名，以及(对应|所属)科室的名称"),
        (
            "SELECT 性别 FROM 患者信息表 WHERE 年龄 > 60 INTERSECT SELECT 性别 FROM 患者信息表 WHERE 年龄 < 40",
            "既出现在年龄(大于|超过)60的患者中，又出现在年龄小于40的患者中的性别",
        ),
        (
            f"SELECT p.患者姓名 {_VISITS} GROUP BY p.患者编号 HAVING COUNT(*) > 3",
            "(有超过3条就诊记录|就诊记录数量(大于|超过|多于)3)的患者的",
        ),
        (
            "SELECT 患者姓名 FROM 患者信息表 EXCEPT SELECT 患者姓名 FROM 患者信息表 WHERE 年龄 < 40",
            "没有出现在年龄小于40的患者中的患者姓名",
        ),
        (
            "SELECT 患者姓名 FROM 患者信息表 WHERE 年龄 = (SELECT MAX(年龄) FROM 患者信息表)",
            "年龄(在所有患者中最大|是所有患者中最大)的患者的",
        ),
        ("SELECT 费用 FROM 就诊记录表 ORDER BY 费用 DESC LIMIT 1", "就诊记录中最高的费用"),
        ("SELECT 入院日期 FROM 就诊记录表 ORDER BY 入院日期 LIMIT 1", "就诊记录中最早的入院日期"),
        ("SELECT COUNT(*), AVG(费用) FROM 就诊记录表", "就诊记录的数量和(平均费用|费用的平均值)"),
        (
            f"SELECT COUNT(DISTINCT p.患者编号) {_VISITS} WHERE v.原因 = '咳嗽'",
            "(多少|几)名有原因(为|是)“?咳嗽”?的就诊记录的患者|就诊记录的患者(有|共有|一共有)(多少|几)名",
        ),
        ("SELECT 科室编号, 患者编号 FROM 患者信息表", "患者的科室编号和患者编号"),
        ("SELECT COUNT(DISTINCT 患者编号) FROM 就诊记录表", "就诊记录涉及多少名不同的患者"),
        (
            "SELECT COUNT(DISTINCT 原因) FROM 就诊记录表",
            "就诊记录(的原因共有多少种|(共|一共)有多少种不同的原因)",
        ),
        (
            "SELECT 患者编号, COUNT(*) FROM 就诊记录表 GROUP BY 患者编号",
            "按患者编号分组的就诊记录(数量|的数量|总数)",
        ),
        (
            "SELECT STRFTIME('%Y', 入院日期), COUNT(*) FROM 就诊记录表 GROUP BY STRFTIME('%Y', 入院日期)",
            "(每个|各|按)入院年份(分组)?的就诊记录",
        ),
        (
            f"SELECT w.名称 {_WARDS} GROUP BY w.名称 ORDER BY COUNT(*) DESC LIMIT 1",
            "按科室名称统计时患者数量最多的科室名称",
        ),
        (
            f"SELECT DISTINCT p.患者编号 {_VISITS} WHERE v.费用 > 100",
            "有费用(大于|高于|超过)100的就诊记录的患者的编号",
        ),
        (
            "SELECT 体重 FROM 患者信息表 WHERE 年龄 > (SELECT AVG(年龄) FROM 患者信息表 WHERE 性别 = '女') AND 性别 = '女'",
            "性别(为|是)“?女”?且年龄(大于|超过)此类患者的平均年龄的患者的",
        ),
        (
            f"SELECT v.原因 {_VISITS} WHERE p.性别 = '女'",
            "患者的?性别(为|是)“?女”?的就诊记录的原因",
        ),
        (
            f"SELECT v.原因 {_VISITS} WHERE STRFTIME('%Y', v.入院日期) = '2023' AND p.年龄 > 60",
            "2023年?”?(入院)?且患者的?年龄(大于|超过)60的就诊记录",
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
        "SELECT DISTINCT 患者编号 FROM 患者信息表",
        "SELECT DISTINCT 患者姓名 FROM 患者信息表 WHERE 患者编号 = 3",
        f"SELECT v.原因 {_VISITS} WHERE p.患者编号 = 3",
        "SELECT DISTINCT 性别 FROM 患者信息表 WHERE 患者姓名 = '王芳'",
        "SELECT COUNT(DISTINCT 费用) FROM 就诊记录表",
        "SELECT 患者姓名, MIN(年龄) FROM 患者信息表 GROUP BY 患者姓名",
        f"SELECT p.患者姓名, COUNT(DISTINCT v.患者编号) {_VISITS} GROUP BY p.患者姓名",
        "SELECT AVG(年龄) FROM 患者信息表 WHERE 患者姓名 = '王芳'",
        "SELECT 患者姓名 FROM 患者信息表 WHERE 年龄 > 60 AND 年龄 < 40",
        "SELECT 患者姓名 FROM 患者信息表 WHERE 年龄 < (SELECT MAX(年龄) FROM 患者信息表)",
        "SELECT 患者姓名 FROM 患者信息表 WHERE 年龄 = (SELECT MAX(年龄) FROM 患者信息表 WHERE 性别 = '女')",
        "SELECT 患者姓名 FROM 患者信息表 WHERE 年龄 > (SELECT AVG(年龄) FROM 患者信息表 WHERE 患者姓名 = '王芳')",
        "SELECT 原因 FROM 就诊记录表 WHERE 费用 > 9 UNION SELECT 原因 FROM 就诊记录表 WHERE 费用 < 99",
        "SELECT 患者姓名 FROM 患者信息表 WHERE 患者姓名 LIKE '%12%'",
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


_SURGERY = """
CREATE TABLE 外科医生 (医生编号 INTEGER PRIMARY KEY, 医师姓名 TEXT, 从医年限 INTEGER);
CREATE TABLE 药品目录 (药品编号 INTEGER PRIMARY KEY, 名称 TEXT);
CREATE TABLE 手术记录 (
    手术记录编号 INTEGER PRIMARY KEY, 主刀医生编号 INTEGER REFERENCES 外科医生(医生编号),
    药品编号 INTEGER REFERENCES 药品目录(药品编号), 手术时长 INTEGER, 血压 INTEGER, 排队号 INTEGER, 楼层 INTEGER
);
CREATE TABLE 标本 (标本编号 INTEGER PRIMARY KEY, 手术编号 INTEGER REFERENCES 手术记录(手术记录编号), 部位 TEXT);
CREATE TABLE 库存 (库存编号 INTEGER PRIMARY KEY, 库存数量 INTEGER, 窗口 TEXT);
"""
_SPECIMENS = "JOIN 标本 s ON o.手术记录编号 = s.手术编号 WHERE s.部位 = '胃'"
_FAR = (
    "SELECT m.名称 FROM 药品目录 m JOIN 手术记录 o ON m.药品编号 = o.药品编号 "
    f"{_SPECIMENS} INTERSECT SELECT 名称 FROM 药品目录"
)
_OPERATIONS = "FROM 外科医生 d JOIN 手术记录 o ON d.医生编号 = o.主刀医生编号"


@pytest.fixture(scope="module")
def surgery() -> Schema:
    return Schema.from_ddl(_SURGERY, name="手术")


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        (f"SELECT DISTINCT d.从医年限 {_OPERATIONS} WHERE o.手术时长 > 90", "负责过.*的手术记录的外科医生的"),
        (
            "SELECT 医师姓名 FROM 外科医生 WHERE 医生编号 NOT IN (SELECT 主刀医生编号 FROM 手术记录)",
            "(没有|未)负责过手术记录的外科医生的姓名",
        ),
        (
            f"SELECT o.手术时长 {_OPERATIONS} WHERE d.医师姓名 = '王芳'",
            "主刀医生的?姓名(为|是)“?王芳”?的手术记录的",
        ),
        (f"SELECT o.手术时长, d.医师姓名 {_OPERATIONS}", "手术记录的手术时长，以及主刀医生姓名"),
        (
            "SELECT o.手术时长 FROM 手术记录 o JOIN 药品目录 m ON o.药品编号 = m.药品编号 WHERE m.名称 = '丙泊酚'",
            "对应药品的名称(为|是)“?丙泊酚”?的手术记录",
        ),
        (
            f"SELECT DISTINCT d.从医年限 {_OPERATIONS} {_SPECIMENS}",
            "负责过.*部位(为|是)“?胃”?的标本的手术记录的外科医生",
        ),
        (
            f"SELECT DISTINCT m.名称 FROM 药品目录 m JOIN 手术记录 o ON m.药品编号 = o.药品编号 {_SPECIMENS}",
            "手术记录中有部位(为|是)“?胃”?的标本的药品的",
        ),
        (
            f"SELECT d.医师姓名 {_OPERATIONS} GROUP BY d.医师姓名 HAVING AVG(o.手术时长) > 90",
            "按外科医生姓名统计时手术记录的(平均手术时长|手术时长的平均值)(大于|超过|长于|高于)90的外科医生姓名",
        ),
        ("SELECT 手术时长 FROM 手术记录 ORDER BY 血压 DESC LIMIT 1", "血压最高的手术记录"),
        ("SELECT 血压 FROM 手术记录 ORDER BY 手术时长 DESC LIMIT 1", "手术时长最长的手术记录"),
        ("SELECT COUNT(*) FROM 库存 WHERE 窗口 = '东'", "库存"),
        ("SELECT 窗口, COUNT(*) FROM 库存 GROUP BY 窗口", "库存记录数量"),
        ("SELECT AVG(血压) FROM 手术记录", "手术记录的(平均血压|血压的平均值)"),
    ],
)
def test_rows_are_said_by_what_they_are_to_others(sql: str, said: str, surgery: Schema) -> None:
    for question in asked(sql, surgery):
        assert re.search(said, question), question
        assert "的的" not in question
        assert "有带有" not in question


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT AVG(排队号) FROM 手术记录",
        "SELECT SUM(楼层) FROM 手术记录",
        "SELECT SUM(血压) FROM 手术记录",
        "SELECT 手术时长 FROM 手术记录 WHERE 排队号 > 3",
        _FAR,
        "SELECT 手术时长 FROM 手术记录 ORDER BY 排队号 DESC LIMIT 1",
    ],
)
def test_ranks_and_what_is_far_away_are_not_put_together(sql: str, surgery: Schema) -> None:
    with pytest.raises(UnsayableError):
        asked(sql, surgery)


def test_who_is_asked_for_persons() -> None:
    orders = Schema.from_ddl("CREATE TABLE 医嘱 (医嘱编号 INTEGER PRIMARY KEY, 开立医生 TEXT, 天数 INTEGER)")
    questions = asked("SELECT 开立医生 FROM 医嘱 ORDER BY 天数 DESC LIMIT 1", orders)
    assert any("是谁" in question for question in questions)
    assert not any("是什么" in question for question in questions)


def test_what_rows_say_keeps_senseless_questions_away(clinic: Schema, executor: Executor) -> None:
    words = Words(clinic, contents=Contents(clinic, executor))
    for sql in (
        "SELECT 性别 FROM 患者信息表 WHERE 年龄 > 60 INTERSECT SELECT 性别 FROM 患者信息表 WHERE 年龄 < 40",
        "SELECT COUNT(DISTINCT 性别) FROM 患者信息表",
        "SELECT 患者姓名 FROM 患者信息表 WHERE 患者姓名 LIKE '%王%'",
    ):
        query = parse_query(render(sql_to_program(sql, clinic), clinic))
        with pytest.raises(UnsayableError):
            ask(query, words, random.Random(0))


def test_a_name_is_said_without_what_the_row_is_called() -> None:
    patients = Schema.from_ddl(
        "CREATE TABLE 患者 (患者编号 INTEGER PRIMARY KEY, 病人姓名 TEXT, 丈夫年龄 INTEGER, 年龄 INTEGER)"
    )
    words, rng = Words(patients), random.Random(0)
    assert [words.label(column, rng) for column in range(4)] == ["编号", "姓名", "丈夫年龄", "年龄"]
    classes = Schema.from_ddl(
        "CREATE TABLE 班 (班编号 INTEGER PRIMARY KEY, 班主任编号 INTEGER, 班 TEXT, 教室 TEXT)"
    )
    assert Words(classes).label(1, rng) == "班主任编号"
    loans = Schema.from_ddl("CREATE TABLE 借阅 (借阅编号 INTEGER PRIMARY KEY, 借阅者编号 INTEGER, 书名 TEXT)")
    assert Words(loans).label(1, rng) == "借阅者编号"
    wards = Schema.from_ddl("CREATE TABLE 病区 (病区编号 INTEGER PRIMARY KEY, 病区 TEXT, 楼层 INTEGER)")
    assert Words(wards).label(1, rng) == "名称"


def test_amounts_are_more_and_less_in_their_own_words() -> None:
    assert [
        degree(label).most
        for label in ("平均住院天数", "手术时长", "岁数", "费用", "就诊记录数量", "尿素清除指数")
    ] == [
        "最多",
        "最长",
        "最大",
        "最高",
        "最多",
        "最高",
    ]


def test_yes_and_no_are_told_by_values() -> None:
    assert says_yes_or_no((0, 1))
    assert says_yes_or_no(("有", "无"))
    assert not says_yes_or_no(())
    assert not says_yes_or_no((0, 1, 2))


def test_nobody_writes_to_what_is_no_person(clinic: Schema, executor: Executor) -> None:
    words, contents = Words(clinic), Contents(clinic, executor)
    refusals = Unanswerables(clinic, clinic.profile, words, contents)

    def refused(sql: str, kind: str) -> str:
        query = parse_query(render(sql_to_program(sql, clinic), clinic))
        return " ".join(refusals.ask(query, kind, random.Random(seed)) for seed in range(60))

    patients, visits = "SELECT 患者姓名 FROM 患者信息表", "SELECT 原因 FROM 就诊记录表"
    assert re.search("给患者(发|打)", refused(patients, "action"))
    assert not re.search("给就诊记录(发|打)", refused(visits, "action"))
    assert "推荐" in refused("SELECT 名称 FROM 科室表", "opinion")
    assert not re.search("推荐|喜欢", refused(patients, "opinion") + refused(visits, "opinion"))
    assert "担心" in refused(patients, "opinion")
    assert "担心" not in refused(visits, "opinion")
    assert re.search("费用是不是太高了", refused(visits, "opinion"))
    assert re.search("年龄是不是太大了", refused(patients, "opinion"))


def test_nouns_have_measure_words() -> None:
    nouns = (
        "患者",
        "就诊记录",
        "检验报告",
        "医院",
        "科室",
        "牙医",
        "药品",
        "透析机",
        "化验单",
        "住院分娩",
        "压疮",
    )
    assert [measure(noun) for noun in nouns] == [
        "名",
        "条",
        "份",
        "家",
        "个",
        "名",
        "种",
        "台",
        "张",
        "次",
        "处",
    ]
    assert is_flag("是否参保")
    assert is_flag("新生儿标志")
    assert not is_flag("性别")


def test_an_ideograph_says_as_much_as_several_letters() -> None:
    assert differ_in_one_phrase("列出费用" + "高" * 16, "列出费用" + "低" * 16, 0)
    assert not differ_in_one_phrase("列出费用" + "高" * 17, "列出费用" + "低" * 17, 0)
