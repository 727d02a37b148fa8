"""The Chinese demo hospital: a design of its own tables and names, filled as those of training are."""

from __future__ import annotations

import shutil
from importlib.resources import files
from pathlib import Path

from fastsql.synthesis.contents import MadeDatabase
from fastsql.synthesis.designs import as_designed, read_design

NOW = "2023-07-01 08:00:00"
PENALTY = 0.2
"""The model is cautious with schemas that it has not seen: at the default it gives few answers."""
QUESTIONS: tuple[str, ...] = (
    "女病人有多少个？",
    "列出职称为主任医师的医生姓名",
    "心内科有哪些医生？",
    "各医保类型的病人数量分别是多少？",
    "使用过华法林的病人的姓名有哪些？",
    "肌酐的平均结果是多少？",
    "总费用最高的住院的病人姓名是什么？",
    "住院总费用超过5万元的住院有多少次？",
    "哪些病人没有住院？",
    "明年会有多少病人？",
)
CONVERSATION: tuple[str, ...] = ("医保类型为自费的病人的姓名有哪些？", "其中女性有哪些？", "一共有多少名？")
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
