"""The schemas of the grammar's fixtures: a hospital in English, one in Chinese, and one whose names are traps."""

from __future__ import annotations

from fastsql.schema import Constant, Schema

HOSPITAL = (
    Schema.from_dict(
        {
            "patients": {"subject_id": "INTEGER", "gender": "TEXT", "dob": "TIMESTAMP", "name": "TEXT"},
            "admissions": {
                "hadm_id": "INTEGER",
                "subject_id": "INTEGER",
                "admittime": "TIMESTAMP",
                "dischtime": "TIMESTAMP",
                "ward": "TEXT",
                "age": "INTEGER",
            },
            "labevents": {
                "hadm_id": "INTEGER",
                "itemid": "INTEGER",
                "charttime": "TIMESTAMP",
                "valuenum": "REAL",
                "flag": "BOOLEAN",
            },
            "d_items": {"itemid": "INTEGER", "label": "TEXT", "unit": "TEXT"},
            "cost": {"hadm_id": "INTEGER", "event": "TEXT", "cost": "REAL"},
        }
    )
    .with_values({("patients", "gender"): ["m", "f"], ("admissions", "ward"): ["ICU", "Emergency Room"]})
    .with_constants([Constant("sao2_lower", 95), Constant("sao2_upper", 100)])
)

CHINESE = Schema.from_dict(
    {
        "病人": {"编号": "INTEGER", "姓名": "TEXT", "出生日期": "DATE", "性别": "TEXT"},
        "就诊记录": {"就诊号": "INTEGER", "病人编号": "INTEGER", "入院时间": "DATETIME", "科室": "TEXT"},
        "检验": {"就诊号": "INTEGER", "项目名称": "TEXT", "结果": "REAL", "检验时间": "DATETIME"},
    }
).with_values({("病人", "性别"): ["男", "女"], ("就诊记录", "科室"): ["内科", "外科"]})

TRAPS = Schema.from_dict(
    {
        "order": {"select": "INTEGER", "From": "TEXT", "group by": "TEXT", "date": "DATE", "key": "REAL"},
        "T1": {"t1": "INTEGER", "C1": "TEXT", "c 2": "TEXT"},
        "MixedCase": {"Id": "INTEGER", 'quo"te': "TEXT", "it's": "TEXT", "semi;colon": "REAL", "--": "TEXT"},
        "2nd": {"1st": "INTEGER", "a.b": "TEXT", "[x]": "TEXT", "`y`": "TEXT", "100%": "REAL"},
        "abort": {
            "rowid": "INTEGER",
            "TRUE": "TEXT",
            "null": "TEXT",
            "current_time": "TIMESTAMP",
            "病人": "TEXT",
        },
    }
).with_constants([Constant("key", 1), Constant("upper", 7)])

CLINIC = Schema.from_ddl(
    """
    CREATE TABLE payers (id TEXT PRIMARY KEY, name TEXT);
    CREATE TABLE patients (id TEXT PRIMARY KEY, sex TEXT, born DATE);
    CREATE TABLE stays (id TEXT PRIMARY KEY, patient TEXT REFERENCES patients (id), payer TEXT REFERENCES payers (id));
    CREATE TABLE labs (patient TEXT REFERENCES patients (id), stay TEXT REFERENCES stays (id), code TEXT, value REAL);
    CREATE TABLE codes (code TEXT, label TEXT);
    CREATE TABLE staff (id INTEGER PRIMARY KEY, boss INTEGER REFERENCES staff (id));
    """
)
"""One with keys, declared and not."""

REPORTS = Schema.from_ddl(
    """
    CREATE TABLE stays (hospital INTEGER, visit INTEGER, PRIMARY KEY (hospital, visit));
    CREATE TABLE days (hospital INTEGER, visit INTEGER, PRIMARY KEY (hospital, visit));
    CREATE TABLE reports (id INTEGER PRIMARY KEY, hospital INTEGER, visit INTEGER, stay_visit INTEGER, day_visit INTEGER,
                          FOREIGN KEY (hospital, stay_visit) REFERENCES stays (hospital, visit),
                          FOREIGN KEY (hospital, day_visit) REFERENCES days (hospital, visit));
    CREATE TABLE notes (id INTEGER PRIMARY KEY, visit TEXT);
    """
)
"""One of a network of hospitals; the `visit` of a report, which is no declared key, is a stay's or that of a day there."""

SCHEMAS = {"hospital": HOSPITAL, "chinese": CHINESE, "traps": TRAPS, "clinic": CLINIC, "reports": REPORTS}
