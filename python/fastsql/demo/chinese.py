"""The Chinese demo hospital: a design of its own tables and names, filled as those of training are."""

from __future__ import annotations

import shutil
from importlib.resources import files
from pathlib import Path

from fastsql.synthesis.contents import MadeDatabase
from fastsql.synthesis.designs import as_designed, read_design

NOW = "2023-07-01 08:00:00"
QUESTIONS: tuple[str, ...] = (
    "女病人有多少个？",
    "肺炎病人有多少名？",
    "心内科有哪些医生？",
    "床位数最多的科室是哪个？",
    "各医保类型的病人数量分别是多少？",
    "使用过华法林的病人的姓名有哪些？",
    "肌酐的平均结果是多少？",
    "住院总费用超过5万元的住院有多少次？",
    "最常见的三种疾病是什么？",
    "明年会有多少病人？",
)
CONVERSATION: tuple[str, ...] = ("列出血型为A型的病人", "其中女性有哪些？", "一共有多少个？")
_SIZE = 2.0
"""Rows, in times of what a made database has."""


def create_hospital(database: Path) -> None:
    """Writes the hospital to an SQLite file."""
    text = files("fastsql.demo").joinpath("hospital.zh.design").read_text(encoding="utf-8")
    variant = as_designed(read_design("医院", text))
    with MadeDatabase(
        variant.schema,
        "医院",
        fillings=variant.fillings,
        profile=variant.profile,
        constraints=variant.constraints,
        size=_SIZE,
    ) as made:
        shutil.copyfile(made.path, database)
