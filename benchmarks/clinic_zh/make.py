"""Write a Chinese clinic's database, and its schema as `fastsql eval` reads it.

The clinic is made up. Its forty questions (questions.json; now is 2024-06-30 12:00:00) were written by hand before any model
was trained on Chinese, to judge models that were trained on nothing of it.

    python benchmarks/clinic_zh/make.py clinic_zh
    fastsql eval benchmarks/clinic_zh/questions.json --schemas clinic_zh/schemas.json \
        --databases clinic_zh/clinic_zh.sqlite --now "2024-06-30 12:00:00"
"""

from __future__ import annotations

import argparse
import json
import random
import sqlite3
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path

from fastsql import Schema

HERE = Path(__file__).parent
PATIENTS, VISITS = 100, 700
FIRST_DAY = datetime.fromisoformat("2022-01-03 08:00")
DAYS = 905
FIRST_BIRTH = datetime.fromisoformat("1935-01-01")

DEPARTMENTS = (("内科", 2), ("外科", 3), ("儿科", 1), ("皮肤科", 4), ("急诊科", 1))
DOCTORS = (
    ("王建国", "男", "主任医师", 1, "2008-07-01"),
    ("李秀兰", "女", "副主任医师", 1, "2015-03-12"),
    ("张伟", "男", "主治医师", 2, "2018-09-01"),
    ("刘洋", "女", "主任医师", 3, "2005-05-20"),
    ("陈静", "女", "主治医师", 4, "2020-11-02"),
    ("赵磊", "男", "住院医师", 5, "2022-08-15"),
    ("孙丽", "女", "主治医师", 5, "2017-01-09"),
)
SURNAMES, GIVEN = (
    "周吴郑冯褚卫蒋沈韩杨朱秦许何吕",
    ("明", "芳", "强", "婷婷", "志远", "雪", "海燕", "俊杰", "玉梅", "浩"),
)
CITIES = ("青岛", "烟台", "威海", "潍坊")
INSURANCES = ("城镇职工医保", "城乡居民医保", "自费")
KINDS = ("门诊", "急诊", "住院")
COMPLAINTS = ("发热", "咳嗽", "头痛", "腹痛", "皮疹", "胸闷", "复查")
DISEASES = (
    ("高血压", "是"),
    ("2型糖尿病", "是"),
    ("上呼吸道感染", "否"),
    ("急性胃炎", "否"),
    ("湿疹", "是"),
    ("哮喘", "是"),
    ("肺炎", "否"),
)
DRUGS = {
    "阿莫西林": (250, 500),
    "布洛芬": (200, 400),
    "二甲双胍": (500, 850),
    "氨氯地平": (5, 10),
    "沙丁胺醇": (0.1, 0.2),
    "头孢曲松": (1000, 2000),
}
TESTS = {
    "空腹血糖": (3.9, 15.0, "mmol/L"),
    "白细胞计数": (3.0, 18.0, "10^9/L"),
    "肌酐": (40, 180, "umol/L"),
    "血红蛋白": (80, 170, "g/L"),
}
ALLERGENS = ("青霉素", "花粉", "海鲜", "磺胺类")


def make(folder: Path) -> Path:
    """The database's path. Raises FileExistsError where there is one."""
    folder.mkdir(parents=True, exist_ok=True)
    database = folder / "clinic_zh.sqlite"
    database.touch(exist_ok=False)
    rng = random.Random(11)
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.executescript((HERE / "clinic.sql").read_text(encoding="utf-8"))
        connection.executemany("INSERT INTO 科室 VALUES (NULL, ?, ?)", DEPARTMENTS)
        connection.executemany("INSERT INTO 医生 VALUES (NULL, ?, ?, ?, ?, ?)", DOCTORS)
        for number in range(1, PATIENTS + 1):
            _add_patient(connection, number, rng)
        for _ in range(VISITS):
            _add_visit(connection, rng)
    entry = {**Schema.from_sqlite(database).to_dict(), "db_id": "clinic_zh"}
    (folder / "schemas.json").write_text(json.dumps([entry], indent=1, ensure_ascii=False), encoding="utf-8")
    return database


def _add_patient(connection: sqlite3.Connection, number: int, rng: random.Random) -> None:
    name = "何雪" if number == 12 else rng.choice(SURNAMES) + rng.choice(GIVEN)
    born = FIRST_BIRTH + timedelta(days=rng.randrange(85 * 365))
    drawn = (name, rng.choice("男女"), f"{born:%Y-%m-%d}", rng.choice(CITIES), rng.choice(INSURANCES))
    connection.execute("INSERT INTO 患者 VALUES (?, ?, ?, ?, ?, ?)", (number, *drawn))
    for allergen in ALLERGENS:
        if rng.random() < 0.15:
            cells = (number, allergen, rng.choice(("轻度", "重度")))
            connection.execute("INSERT INTO 过敏 VALUES (?, ?, ?)", cells)


def _add_visit(connection: sqlite3.Connection, rng: random.Random) -> None:
    day = FIRST_DAY + timedelta(days=rng.randrange(DAYS), minutes=10 * rng.randrange(60))
    patient = 12 if rng.random() < 0.03 else rng.randint(1, PATIENTS - 4)
    kind = rng.choices(KINDS, (7, 2, 1))[0]
    fee = round(rng.uniform(20, 300) * (12 if kind == "住院" else 1), 2)
    row = (
        patient,
        rng.randint(1, len(DOCTORS)),
        f"{day:%Y-%m-%d %H:%M:%S}",
        kind,
        rng.choice(COMPLAINTS),
        fee,
    )
    visit = connection.execute("INSERT INTO 就诊 VALUES (NULL, ?, ?, ?, ?, ?, ?)", row).lastrowid
    for _ in range(rng.randint(0, 2)):
        connection.execute("INSERT INTO 诊断 VALUES (NULL, ?, ?, ?)", (visit, *rng.choice(DISEASES)))
    if rng.random() < 0.6:
        drug = rng.choice(tuple(DRUGS))
        cells = (visit, drug, rng.choice(DRUGS[drug]), rng.choice((3, 5, 7, 14)))
        connection.execute("INSERT INTO 处方 VALUES (NULL, ?, ?, ?, ?)", cells)
    for name in rng.sample(tuple(TESTS), rng.randint(0, 2)):
        low, high, unit = TESTS[name]
        taken = f"{day + timedelta(minutes=30):%Y-%m-%d %H:%M:%S}"
        found = (visit, name, round(rng.uniform(low, high), 1), unit, taken)
        connection.execute("INSERT INTO 检验 VALUES (NULL, ?, ?, ?, ?, ?)", found)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="where clinic_zh.sqlite and schemas.json are written")
    print(make(parser.parse_args().folder))
