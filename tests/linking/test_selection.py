"""Pre-selection for large schemas: what is kept, what the part looks like, and how words say names."""

from __future__ import annotations

import numpy as np
import pytest

from fastsql.linking import Candidate, SchemaSelector, find_candidates
from fastsql.linking.column_ranking import WEIGHTS, ColumnRanking
from fastsql.linking.name_search import NameSearch
from fastsql.linking.selection import reduced
from fastsql.linking.word_match import closeness, name_words
from fastsql.schema import Constant, Schema


def warehouse(tables: int = 30, width: int = 10) -> Schema:
    """A warehouse in which only three tables are about patients; the others hold numbered readings."""
    described = [
        {
            "name": "patients",
            "columns": [
                {"name": "patient_id", "type": "number", "primary_key": True},
                {"name": "dob", "type": "time"},
            ],
        },
        {
            "name": "adm",
            "label": "admissions",
            "columns": [
                {"name": "adm_id", "type": "number", "primary_key": True},
                {"name": "patient_id", "type": "number"},
                {"name": "dept", "type": "text", "values": ["surgery", "cardiology"]},
                {"name": "费用", "label": "住院费用", "type": "number"},
            ],
        },
        {
            "name": "stays",
            "columns": [
                {"name": "stay_id", "type": "number", "primary_key": True},
                {"name": "adm_id", "type": "number"},
            ],
        },
    ]
    for number in range(tables):
        columns = [{"name": f"reading_{number}_{place}", "type": "number"} for place in range(width)]
        described.append({"name": f"sensor_{number}", "columns": columns})
    keys = [["adm.patient_id", "patients.patient_id"], ["stays.adm_id", "adm.adm_id"]]
    return Schema.from_dict({"name": "warehouse", "tables": described, "foreign_keys": keys})


SCHEMA = warehouse()


def kept(question: str, limit: int, candidates: tuple[Candidate, ...] = ()) -> set[str]:
    selection = SchemaSelector(SCHEMA).select(question, candidates, limit=limit)
    return {SCHEMA.qualified_name(column) for column in selection.columns}


def test_a_schema_within_the_limit_stays_whole() -> None:
    selection = SchemaSelector(SCHEMA).select("anything", limit=len(SCHEMA.columns))
    assert selection.schema is SCHEMA
    assert selection.columns == tuple(range(len(SCHEMA.columns)))
    assert len(SchemaSelector(SCHEMA).select("anything", limit=len(SCHEMA.columns) - 1).columns) < len(
        SCHEMA.columns
    )


@pytest.mark.parametrize(
    ("question", "column"),
    [
        ("What is the date of birth of each patient?", "patients.dob"),
        ("Which department had most admissions?", "adm.dept"),
        ("平均住院费用是多少", "adm.费用"),
        ("What is reading 7 3?", "sensor_7.reading_7_3"),
    ],
)
def test_what_the_question_names_is_kept(question: str, column: str) -> None:
    assert column in kept(question, 12)


def test_keys_of_what_is_kept_and_of_its_neighbours_are_kept() -> None:
    assert {"adm.adm_id", "adm.patient_id", "patients.patient_id"} <= kept("admissions a department has", 12)


def test_a_verb_that_opens_a_request_names_nothing_but_elsewhere_it_does() -> None:
    tables = [
        {"name": "mail_list", "columns": [{"name": "mail_list_id", "type": "number"}]},
        {"name": "wards", "columns": [{"name": "ward", "type": "text"}, {"name": "beds", "type": "number"}]},
    ]
    search = NameSearch(Schema.from_dict({"name": "clinic", "tables": tables}))
    assert search.find("List the beds of each ward.").said[0] == 0
    assert search.find("Please show me beds, then list the wards").said[0] == 0
    assert search.find("Which list has nobody?").said[0] > 0


def test_a_column_that_joins_a_table_asked_for_outranks_one_that_joins_none() -> None:
    features = ColumnRanking(SCHEMA).features(NameSearch(SCHEMA).find("the date of birth of patients"))
    joined = list(WEIGHTS).index("rank of the table it joins")
    to_patients, to_none = SCHEMA.column_index("adm", "patient_id"), SCHEMA.column_index("adm", "dept")
    assert features.shape == (len(SCHEMA.columns), len(WEIGHTS))
    assert features[to_patients, joined] == 0  # patients rank first
    assert features[to_none, joined] == np.log1p(len(SCHEMA.tables))


def test_equal_tables_share_a_rank() -> None:
    features = ColumnRanking(SCHEMA).features(NameSearch(SCHEMA).find("patients"))
    sensors = [table.columns[0] for table in SCHEMA.tables[3:]]
    assert len(set(features[sensors, 0].tolist())) == 1


def test_without_a_word_in_common_what_stands_in_front_is_kept() -> None:
    first = {table.columns[0] for table in SCHEMA.tables[3:]}
    assert first <= set(SchemaSelector(SCHEMA).select("?", limit=60).columns)


def test_a_value_keeps_its_column() -> None:
    question = "how many in cardiology?"
    candidates = find_candidates(question, SCHEMA)
    assert [candidate.value for candidate in candidates] == ["cardiology"]
    assert "adm.dept" in kept(question, 4, candidates)


@pytest.mark.parametrize("limit", [1, 3, 17, 200])
@pytest.mark.parametrize("question", ["", "?", "patients", "reading of sensor 3 and 费用"])
def test_never_more_than_the_limit_is_kept(question: str, limit: int) -> None:
    selection = SchemaSelector(SCHEMA).select(question, limit=limit)
    assert len(selection.columns) == len(selection.schema.columns) <= limit


def test_the_part_is_a_schema_whose_indices_lead_back() -> None:
    schema = SCHEMA.with_constants([Constant("old", 90, column=SCHEMA.column_index("patients", "dob"))])
    chosen = [schema.column_index("adm", "patient_id"), schema.column_index("patients", "patient_id")]
    selection = reduced(schema, chosen)
    part = selection.schema
    assert [part.qualified_name(column) for column in range(2)] == ["patients.patient_id", "adm.patient_id"]
    assert [schema.qualified_name(column) for column in selection.columns] == [
        "patients.patient_id",
        "adm.patient_id",
    ]
    assert [schema.tables[table].name for table in selection.tables] == ["patients", "adm"]
    assert [(key.columns, key.references) for key in part.foreign_keys] == [((1,), (0,))]
    assert part.tables[1].primary_key == ()
    assert part.tables[0].primary_key == (0,)
    assert part.constants == ()
    assert Schema.from_dict(part.to_dict()).columns == part.columns


@pytest.mark.parametrize(
    ("said", "named"),
    [
        ("department", "dept"),
        ("admission", "adm"),
        ("diagnosed", "diagnosis"),
        ("quantity", "qty"),
        ("patients", "patient"),
        ("费用", "费用"),
    ],
)
def test_a_word_says_a_name(said: str, named: str) -> None:
    assert 0 < closeness(said, named) <= 1


@pytest.mark.parametrize(
    ("said", "named"),
    [("drug", "dose"), ("2100", "21"), ("age", "average"), ("费用", "费率"), ("date", "data")],
)
def test_a_word_does_not_say_a_name_that_it_only_resembles(said: str, named: str) -> None:
    assert closeness(said, named) == 0


def test_names_are_cut_into_words() -> None:
    assert name_words("admDateTime2_HTTPCode") == ["adm", "date", "time", "2", "http", "code"]
    assert name_words("入院日期 id") == ["入院", "院日", "日期", "id"]
