"""A clinic whose rows people ask about: wards, their patients, visits and drugs; and one in Chinese."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

from fastsql.schema import Schema

from .database import inserted, write_database

_DDL = """
CREATE TABLE wards (ward_id INTEGER PRIMARY KEY, name TEXT, beds INTEGER);
CREATE TABLE patients (
    patient_id INTEGER PRIMARY KEY, name TEXT, sex TEXT, weight REAL, born DATE,
    ward_id INTEGER REFERENCES wards(ward_id)
);
CREATE TABLE visits (
    visit_id INTEGER PRIMARY KEY, patient_id INTEGER REFERENCES patients(patient_id), reason TEXT, cost REAL, day DATE
);
CREATE TABLE drugs (drug_id INTEGER PRIMARY KEY, visit_id INTEGER REFERENCES visits(visit_id), drug TEXT, dose REAL);
"""
_CHINESE_DDL = """
CREATE TABLE 科室表 (科室编号 INTEGER PRIMARY KEY, 名称 TEXT, 床位数 INTEGER);
CREATE TABLE 患者信息表 (
    患者编号 INTEGER PRIMARY KEY, 患者姓名 TEXT, 性别 TEXT, 年龄 INTEGER, 体重 REAL, 是否参保 TEXT,
    科室编号 INTEGER REFERENCES 科室表(科室编号)
);
CREATE TABLE 就诊记录表 (
    记录编号 INTEGER PRIMARY KEY, 患者编号 INTEGER REFERENCES 患者信息表(患者编号), 原因 TEXT, 费用 REAL,
    入院日期 DATE, 出院日期 DATE
);
"""
NAMES = ("Ada Moss", "Ben Lund", "Cleo Sand", "Dora Vik", "Emil Roth", "Fay Holm", "Gus Berg", "Hana Kord")
_CHINESE_NAMES = ("王芳", "李伟", "张敏", "刘洋", "陈静", "杨磊", "赵丽", "黄强")


@cache
def clinic_schema() -> Schema:
    """The clinic's schema, which knows no values."""
    return Schema.from_ddl(_DDL, name="clinic")


@cache
def chinese_clinic_schema() -> Schema:
    """The same of the Chinese one."""
    return Schema.from_ddl(_CHINESE_DDL, name="诊所")


def clinic_script(names: Sequence[str] = NAMES) -> str:
    """Statements of any dialect for the clinic and its rows: these patients, eight at least, and visits of some of them."""
    patients = (
        (n, name, "FM"[n % 2], 50.5 + 7 * n, f"{1960 + 3 * n % 60}-0{n % 9 + 1}-11", 1 + n % 3)
        for n, name in enumerate(names)
    )
    reasons = ("cough", "broken arm", "check-up", "fever")
    visits = ((n, n * n % 7, reasons[n % 4], 20.0 + 13 * n, f"2023-{1 + n % 12:02}-05") for n in range(24))
    drugs = ((n, n % 20, ("aspirin", "ibuprofen", "insulin")[n % 3], 100.0 * (1 + n % 4)) for n in range(30))
    return "".join(
        (
            _DDL,
            inserted("wards", [(1, "north", 12), (2, "south", 20), (3, "children", 9)]),
            inserted("patients", patients),
            inserted("visits", visits),
            inserted("drugs", drugs),
        )
    )


def clinic_database(path: Path, names: Sequence[str] = NAMES) -> Path:
    """The clinic as a file."""
    return write_database(path, clinic_script(names))


def chinese_clinic_database(path: Path) -> Path:
    """The Chinese clinic as a file."""
    patients = (
        (n, name, "女男"[n % 2], 30 + 5 * n, 50.5 + 4 * n, "是否"[n % 2], 1 + n % 3)
        for n, name in enumerate(_CHINESE_NAMES)
    )
    reasons = ("咳嗽", "骨折", "体检", "发热")
    visits = (
        (n, n * n % 7, reasons[n % 4], 20.0 + 13 * n, f"2023-{1 + n % 9:02}-05", f"2023-{2 + n % 9:02}-11")
        for n in range(24)
    )
    wards = inserted("科室表", [(1, "内科", 12), (2, "外科", 20), (3, "儿科", 9)])
    rows = wards + inserted("患者信息表", patients) + inserted("就诊记录表", visits)
    return write_database(path, _CHINESE_DDL + rows)
