"""The tables of the demo hospital: names and columns of MIMIC-IV as the EHRSQL 2024 task cuts it, nothing of its rows."""

from __future__ import annotations

TABLES: tuple[tuple[str, str], ...] = (
    ("patients", "row_id# subject_id! gender dob@ dod@"),
    (
        "admissions",
        "row_id# subject_id:patients.subject_id hadm_id! admittime@ dischtime@ admission_type admission_location "
        "discharge_location insurance language marital_status age+",
    ),
    ("d_icd_diagnoses", "row_id# icd_code* long_title"),
    ("d_icd_procedures", "row_id# icd_code* long_title"),
    ("d_labitems", "row_id# itemid! label"),
    ("d_items", "row_id# itemid! label abbreviation linksto"),
    (
        "diagnoses_icd",
        "row_id# subject_id+ hadm_id:admissions.hadm_id icd_code~d_icd_diagnoses.icd_code charttime@",
    ),
    (
        "procedures_icd",
        "row_id# subject_id+ hadm_id:admissions.hadm_id icd_code~d_icd_procedures.icd_code charttime@",
    ),
    (
        "labevents",
        "row_id# subject_id+ hadm_id:admissions.hadm_id itemid:d_labitems.itemid charttime@ valuenum% valueuom",
    ),
    (
        "prescriptions",
        "row_id# subject_id+ hadm_id:admissions.hadm_id starttime@ stoptime@ drug dose_val_rx dose_unit_rx route",
    ),
    ("cost", "row_id# subject_id+ hadm_id:admissions.hadm_id event_type event_id+ chargetime@ cost%"),
    (
        "chartevents",
        "row_id# subject_id+ hadm_id:admissions.hadm_id stay_id:icustays.stay_id itemid:d_items.itemid charttime@ "
        "valuenum% valueuom",
    ),
    (
        "inputevents",
        "row_id# subject_id+ hadm_id:admissions.hadm_id stay_id:icustays.stay_id starttime@ itemid:d_items.itemid "
        "totalamount% totalamountuom",
    ),
    (
        "outputevents",
        "row_id# subject_id+ hadm_id:admissions.hadm_id stay_id:icustays.stay_id charttime@ itemid:d_items.itemid "
        "value% valueuom",
    ),
    (
        "microbiologyevents",
        "row_id# subject_id+ hadm_id:admissions.hadm_id charttime@ spec_type_desc test_name org_name",
    ),
    (
        "icustays",
        "row_id# subject_id+ hadm_id:admissions.hadm_id stay_id! first_careunit last_careunit intime@ outtime@",
    ),
    (
        "transfers",
        "row_id# subject_id+ hadm_id:admissions.hadm_id transfer_id+ eventtype careunit intime@ outtime@",
    ),
)
"""Table name and columns. The mark after a column tells its type: ``#`` primary key, ``!`` unique number, ``*`` unique text,
``+`` number, ``%`` real, ``@`` time, ``:t.c`` number referring to t.c, ``~t.c`` text referring to t.c, none for text."""

_TYPES = {
    "#": "INT NOT NULL PRIMARY KEY",
    "!": "INT NOT NULL UNIQUE",
    "*": "VARCHAR(10) NOT NULL UNIQUE",
    "+": "INT NOT NULL",
    "%": "DOUBLE PRECISION",
    "@": "TIMESTAMP(0)",
}


def hospital_ddl() -> str:
    """The CREATE TABLE statements of the demo hospital."""
    return "\n".join(
        f"CREATE TABLE {name} ({', '.join(_definition(column) for column in columns.split())});"
        for name, columns in TABLES
    )


def _definition(column: str) -> str:
    for mark, sql_type in ((":", "INT NOT NULL"), ("~", "VARCHAR(10) NOT NULL")):
        name, found, target = column.partition(mark)
        if found:
            table, _, key = target.partition(".")
            return f"{name} {sql_type} REFERENCES {table}({key})"
    if column[-1] in _TYPES:
        return f"{column[:-1]} {_TYPES[column[-1]]}"
    return f"{column} VARCHAR(255)"
