"""What people and attackers type in Chinese gives valid SQL, a refusal or a typed error, by the Chinese model."""

from __future__ import annotations

from pathlib import Path

import pytest

import fastsql
from fastsql import Parser, Schema, ValueDictionary
from fastsql.demo import hospital_of
from fastsql.execution import verify
from fastsql.parser import BUNDLED

HOSPITAL = hospital_of("zh")
ODD = {
    "mixed scripts": "列出 patients 中 gender=女 的姓名 name",
    "no spaces, no marks": "心内科主任医师姓名职称楼层床位数",
    "full-width": "血型为Ｏ型且总费用＞５００００的病人有多少？",
    "quotes": "诊断为“肺炎”或「高血压」或『哮喘』的病人姓名",
    "quotes left open": "姓名为“王的病人’有多少",
    "keywords": "SELECT 病人 FROM 住院 WHERE 1=1; DROP TABLE 病人 查询所有",
    "keywords in Chinese": "请删除表病人并插入一条记录",
    "emoji": "😀女病人🏥有多少个👩‍⚕️？",
    "traditional": "總費用最高的住院病人姓名是什麼？",
    "numerals": "床位数大于二十五的科室有几个？费用超过三万五千的呢？廿人，两成，百分之三十",
    "dates": "二零二二年三月到去年年底、近三个月、01年1月31日入院的病人",
    "rare characters": "姓名为𠮷田或㐂的病人",
    "one character": "病",
    "only marks": "？？！！。。",
    "blanks of all kinds": "女\u3000病人\u200b有\u00a0多少\ufeff个",
    "marks of direction": "女\u202e病人\u202c有多少",
    "control characters": "女\x00病人\x1b[31m有多少",
    "repeated": "的" * 200,
    "other language": "Сколько пациентов? 患者は何人ですか",
}


@pytest.fixture(scope="module")
def parser() -> Parser:
    if not (BUNDLED / "css-zh").is_dir():
        pytest.skip("the bundled model css-zh runs this")
    return fastsql.load("css-zh", threads=1)


@pytest.fixture(scope="module")
def schema(chinese_hospital: Path) -> Schema:
    return Schema.from_sqlite(chinese_hospital, max_values=12)


@pytest.fixture(scope="module")
def values(chinese_hospital: Path, schema: Schema) -> ValueDictionary:
    return ValueDictionary.from_database(chinese_hospital, schema)


@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("penalty", [0, 10])
def test_odd_questions_give_valid_sql_or_a_refusal(
    name: str, penalty: float, parser: Parser, schema: Schema, values: ValueDictionary
) -> None:
    result = parser.parse(ODD[name], schema, values=values, penalty=penalty)
    for sql in filter(None, (result.sql, result.best)):
        verify(sql, schema)
    assert (result.sql is None) == result.abstained
    if result.abstained:
        assert result.reason
    for link in result.links:
        start, end = link.span
        assert ODD[name][start:end] == link.text


def test_a_hundred_thousand_characters_are_too_many(parser: Parser, schema: Schema) -> None:
    with pytest.raises(fastsql.LimitError):
        parser.parse("病人" * 50_000, schema)
    with pytest.raises(fastsql.LimitError):
        fastsql.load("auto").parse("病人" * 50_000, schema)


def test_schemas_without_labels_with_long_ones_and_with_emoji(parser: Parser) -> None:
    columns = ", ".join(f"c{number} TEXT" for number in range(40))
    long = "住院期间由主管医生填写的关于病人病情变化以及用药反应和家属意见的详细说明" * 3
    for ddl in (
        f"CREATE TABLE t1 (id INTEGER PRIMARY KEY, {columns})",
        f'CREATE TABLE "{long}" ("{long}编号" INTEGER, "{long}" TEXT)',
        'CREATE TABLE "病人😀" ("姓名🏥" TEXT, "年 龄" INTEGER, "性""别" TEXT, "ＩＤ" INTEGER)',
    ):
        schema = Schema.from_ddl(ddl)
        result = parser.parse("年龄大于60的病人有多少个？", schema, penalty=0)
        for sql in filter(None, (result.sql, result.best)):
            verify(sql, schema)


def test_the_reference_and_the_native_core_agree(schema: Schema, values: ValueDictionary) -> None:
    if not (BUNDLED / "css-zh").is_dir():
        pytest.skip("the bundled model css-zh runs this")
    cores = [fastsql.load("css-zh", device=device, threads=1) for device in ("python", "auto")]
    for question in (*HOSPITAL.questions, ODD["full-width"], ODD["traditional"], ODD["numerals"]):
        one, other = (core.parse(question, schema, values=values, now=HOSPITAL.now) for core in cores)
        assert one.best == other.best
        assert one.confidence == pytest.approx(other.confidence, abs=0.02)
