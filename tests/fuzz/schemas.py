"""Schemas that nobody would design, drawn from a seed: odd names and types, odd values, keys to anywhere."""

from __future__ import annotations

import random
from typing import Any

_NAMES = (
    "patients|admissions|subject_id|hadm_id|name|charttime|Patients|ID|id|select|FROM|order|group by|rowid|_rowid_|oid"
    "|NULL|true|T1|t2|C1|now|count|a b| x |it's|quo\"te|`y`|[x]|a.b|a;b|--|/*|%|?"
    "|:x|1st|42|病人|出生日期|就诊（住院）|😀|über|ÜBER|Ａ"
    "|\u202epatients|pat\u200bients|e\u0301|ſelect|\u212aey|İd|a\tb|a\nb"
    "|\u3000|\\|\\'|$1|@v|#t|strftime|values|key|window|limit"
    "|sqlite_master|sqlite_x|a\0b|\ud800|"
)
_TYPES = (
    "INTEGER|INT|REAL|TEXT|VARCHAR(20)|DATE|TIMESTAMP|DATETIME|BOOLEAN|BLOB|NUMERIC(10,2)"
    "||others|GEOMETRY(POINT, 4326)|TIME"
)
_VALUES: tuple[Any, ...] = (
    *(
        "m",
        "f",
        "icu ward",
        "it's",
        "",
        "--",
        "%",
        "_",
        "\\",
        "内科",
        "😀",
        "a\0b",
        "\ud800",
        "2100-12-05",
        "5",
        "x" * 200,
    ),
    *(0, -1, 5, 2.5, 2**63 - 1, 2**63, float("inf"), float("nan"), None, True),
)


def draw_schema(rng: random.Random) -> dict[str, Any]:
    """A schema as `Schema.from_dict` takes it; now and then one that it must refuse."""
    names = _NAMES.split("|")
    tables = [_table(rng, rng.choice(names), names) for _ in range(rng.choice((0, 1, 1, 2, 3, 5, 8)))]
    places = [f"{table['name']}.{column['name']}" for table in tables for column in table["columns"]]
    data: dict[str, Any] = {"db_id": rng.choice(names), "tables": tables}
    if len(places) > 1:
        data["foreign_keys"] = [[rng.choice(places), rng.choice(places)] for _ in range(rng.randint(0, 4))]
    if rng.random() < 0.3:
        value = rng.choice(_VALUES)
        constant = {"name": rng.choice((*names, "age_upper", "age_lower")), "value": value}
        data["constants"] = [
            constant | ({"column": rng.choice(places)} if places and rng.random() < 0.5 else {})
        ]
    return data


def _table(rng: random.Random, name: str, names: list[str]) -> dict[str, Any]:
    columns = [_column(rng, rng.choice(names)) for _ in range(rng.choice((0, 1, 2, 4, 6, 12)))]
    table: dict[str, Any] = {"name": name, "columns": columns}
    if rng.random() < 0.2:
        table["label"] = rng.choice(names)
    if rng.random() < 0.2:
        table["synonyms"] = rng.sample(names, 2)
    if columns and rng.random() < 0.4:
        table["primary_key"] = [rng.choice(columns)["name"]]
    return table


def _column(rng: random.Random, name: str) -> dict[str, Any]:
    column: dict[str, Any] = {"name": name}
    if rng.random() < 0.9:
        column["sql_type" if rng.random() < 0.7 else "type"] = rng.choice(_TYPES.split("|"))
    if rng.random() < 0.25:
        column["values"] = rng.choices(_VALUES, k=rng.choice((1, 3, 8, 60)))
    if rng.random() < 0.1:
        column["description"] = rng.choice(("", "\ud800", "a note", "x" * 3_000))
    return column
