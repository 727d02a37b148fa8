"""The Chinese demo hospital is the same everywhere, and can answer the questions that the demo asks."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

import fastsql
from fastsql import ValueDictionary
from fastsql.demo import hospital_of
from fastsql.execution import ReadOnlyExecutor
from fastsql.parser import BUNDLED
from fastsql.schema import Schema

HOSPITAL = hospital_of("zh")
GOLD = {
    "女病人有多少个？": "SELECT COUNT(*) FROM 病人 WHERE 性别 = '女'",
    "列出职称为主任医师的医生姓名": "SELECT 医生姓名 FROM 医生 WHERE 职称 = '主任医师'",
    "心内科有哪些医生？": "SELECT 医生姓名 FROM 医生 JOIN 科室 ON 科室id = 科室编号 WHERE 科室名称 = '心内科'",
    "各医保类型的病人数量分别是多少？": "SELECT 医保类型, COUNT(*) FROM 病人 GROUP BY 医保类型",
    "使用过华法林的病人的姓名有哪些？": "SELECT 姓名 FROM 病人 JOIN 住院 ON 病人id = 病人编号 "
    "JOIN 用药 ON 住院id = 住院号 WHERE 药品名称 = '华法林'",
    "肌酐的平均结果是多少？": "SELECT AVG(结果) FROM 检验 WHERE 项目名称 = '肌酐'",
    "总费用最高的住院的病人姓名是什么？": "SELECT 姓名 FROM 病人 JOIN 住院 ON 病人id = 病人编号 "
    "ORDER BY 总费用 DESC LIMIT 1",
    "住院总费用超过5万元的住院有多少次？": "SELECT COUNT(*) FROM 住院 WHERE 总费用 > 50000",
    "哪些病人没有住院？": "SELECT 姓名 FROM 病人 WHERE 病人编号 NOT IN (SELECT 病人id FROM 住院)",
}


@pytest.fixture(scope="module")
def executor(chinese_hospital: Path) -> Iterator[ReadOnlyExecutor]:
    with ReadOnlyExecutor(chinese_hospital) as found:
        yield found


def dump(path: Path) -> list[str]:
    with sqlite3.connect(path) as connection:
        return list(connection.iterdump())


def test_the_chinese_hospital_is_the_same_each_time(chinese_hospital: Path, tmp_path: Path) -> None:
    HOSPITAL.create(tmp_path / "again.sqlite")
    assert dump(tmp_path / "again.sqlite") == dump(chinese_hospital)


def test_all_names_are_chinese_and_keys_refer(chinese_hospital: Path) -> None:
    schema = Schema.from_sqlite(chinese_hospital)
    names = [table.name for table in schema.tables] + [column.name for column in schema.columns]
    assert not [name for name in names if name.isascii()]
    with sqlite3.connect(chinese_hospital) as connection:
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        ((last,),) = connection.execute("SELECT MAX(入院时间) FROM 住院").fetchall()
    assert last < HOSPITAL.now


@pytest.mark.parametrize("question", HOSPITAL.questions[:-1])
def test_every_question_but_the_last_has_an_answer(question: str, executor: ReadOnlyExecutor) -> None:
    rows = executor.run(GOLD[question]).rows
    assert rows
    assert rows[0][0] not in (None, 0)


def test_the_bundled_model_answers_most_of_the_questions_and_not_the_last(
    chinese_hospital: Path, executor: ReadOnlyExecutor
) -> None:
    if not (BUNDLED / "css-zh").is_dir():
        pytest.skip("the bundled model css-zh runs this")
    parser = fastsql.load("css-zh", penalty=HOSPITAL.penalty or 0)
    schema = Schema.from_sqlite(chinese_hospital, max_values=12)
    values = ValueDictionary.from_database(chinese_hospital, schema)
    results = [
        parser.parse(question, schema, values=values, now=HOSPITAL.now) for question in HOSPITAL.questions
    ]
    assert results[-1].sql is None
    given = [one for one in results[:-1] if one.sql is not None]
    right = [
        one
        for one in given
        if sorted(executor.run(one.sql or "").rows) == sorted(executor.run(GOLD[one.question]).rows)
    ]
    assert len(right) >= len(HOSPITAL.questions) / 2
    assert len(given) - len(right) <= 1
