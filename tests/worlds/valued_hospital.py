"""A small schema, English and Chinese, and the values of its text columns."""

from __future__ import annotations

from fastsql.schema import Schema

SCHEMA = Schema.from_dict(
    {
        "admissions": {
            "hadm_id": "INT",
            "gender": "TEXT",
            "location": "TEXT",
            "kind": "TEXT",
            "admittime": "TIMESTAMP",
        },
        "prescriptions": {"hadm_id": "INT", "drug": "TEXT", "dose": "TEXT"},
        "diagnoses": {"hadm_id": "INT", "code": "TEXT", "title": "TEXT"},
        "samples": {"hadm_id": "INT", "specimen": "TEXT"},
        "就诊": {"编号": "INT", "诊断": "TEXT", "检查": "TEXT", "医保类型": "TEXT"},
    }
).with_values(
    {
        ("admissions", "gender"): ["m", "f"],
        ("admissions", "location"): ["emergency room", "physician referral"],
        ("admissions", "kind"): ["URGENT", "ELECTIVE"],
        ("就诊", "医保类型"): ["本地", "异地"],
    }
)

VALUES: dict[tuple[str, str], list[str]] = {
    ("admissions", "location"): ["emergency room", "physician referral"],
    ("prescriptions", "drug"): [
        "aspirin",
        "aspirin (low-dose)",
        "dextrose 5%",
        "5% dextrose",
        "heparin",
        "It",
        "Café au Lait",
    ],
    ("prescriptions", "dose"): ["5", "10", "4019"],
    ("diagnoses", "code"): ["4019", "N18.3"],
    ("diagnoses", "title"): [
        "chronic kidney disease",
        "chronic kidney disease, stage 3",
        "urinary tract infection",
        "Crohn's disease",
        "heparin",
    ],
    ("samples", "specimen"): ["swab", "blood culture"],
    ("就诊", "诊断"): ["2型糖尿病", "糖尿病"],
    ("就诊", "检查"): ["心电图", "心电图检查"],
}
