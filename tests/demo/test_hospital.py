"""The demo hospital is the same everywhere, hangs together, and can answer the questions that the demo asks."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from fastsql import Parser, ValueDictionary
from fastsql.datasets import read_schemas
from fastsql.demo import NOW, QUESTIONS, create_hospital
from fastsql.evaluation.answers import answer_rows, is_void
from fastsql.execution import ReadOnlyExecutor, verify
from fastsql.parser import DEFAULT_PENALTY
from fastsql.schema import Schema

_ADMISSIONS_OF = "SELECT admissions.hadm_id FROM admissions WHERE admissions.subject_id = {}"
_FIRST_VISIT = (
    f"{_ADMISSIONS_OF} AND NOT admissions.dischtime IS NULL ORDER BY admissions.admittime ASC LIMIT 1"
)

GOLD: dict[str, str | None] = {
    "How many patients were diagnosed with essential hypertension in 2100?": """
        SELECT COUNT(DISTINCT admissions.subject_id) FROM admissions WHERE admissions.hadm_id IN (
            SELECT diagnoses_icd.hadm_id FROM diagnoses_icd WHERE diagnoses_icd.icd_code = (
                SELECT d_icd_diagnoses.icd_code FROM d_icd_diagnoses
                WHERE d_icd_diagnoses.long_title = 'essential hypertension'
            ) AND strftime('%Y', diagnoses_icd.charttime) = '2100')""",
    "What was the name of the drug that patient 71021258 was last prescribed?": f"""
        SELECT prescriptions.drug FROM prescriptions WHERE prescriptions.hadm_id IN ({_ADMISSIONS_OF.format(71021258)})
        ORDER BY prescriptions.starttime DESC LIMIT 1""",
    "What are the three most common lab tests this year?": f"""
        SELECT d_labitems.label FROM d_labitems WHERE d_labitems.itemid IN (SELECT t1.itemid FROM (
            SELECT labevents.itemid, DENSE_RANK() OVER (ORDER BY COUNT(*) DESC) AS c1 FROM labevents
            WHERE datetime(labevents.charttime, 'start of year') = datetime('{NOW}', 'start of year', '-0 year')
            GROUP BY labevents.itemid) AS t1 WHERE t1.c1 <= 3)""",
    "When was patient 71021258 last discharged from the hospital?": """
        SELECT admissions.dischtime FROM admissions
        WHERE admissions.subject_id = 71021258 AND NOT admissions.dischtime IS NULL
        ORDER BY admissions.dischtime DESC LIMIT 1""",
    "What was the last heart rate measured for patient 71021258 on their first ICU stay?": f"""
        SELECT chartevents.valuenum FROM chartevents WHERE chartevents.stay_id IN (
            SELECT icustays.stay_id FROM icustays WHERE icustays.hadm_id IN ({_ADMISSIONS_OF.format(71021258)})
            AND NOT icustays.outtime IS NULL ORDER BY icustays.intime ASC LIMIT 1
        ) AND chartevents.itemid IN (SELECT d_items.itemid FROM d_items
            WHERE d_items.label = 'heart rate' AND d_items.linksto = 'chartevents')
        ORDER BY chartevents.charttime DESC LIMIT 1""",
    "How much does the procedure hemodialysis cost?": """
        SELECT DISTINCT cost.cost FROM cost WHERE cost.event_type = 'procedures_icd' AND cost.event_id IN (
            SELECT procedures_icd.row_id FROM procedures_icd WHERE procedures_icd.icd_code = (
                SELECT d_icd_procedures.icd_code FROM d_icd_procedures
                WHERE d_icd_procedures.long_title = 'hemodialysis'))""",
    "Has patient 71021258 been prescribed warfarin this month?": f"""
        SELECT COUNT(*) > 0 FROM prescriptions
        WHERE prescriptions.hadm_id IN ({_ADMISSIONS_OF.format(71021258)}) AND prescriptions.drug = 'warfarin'
        AND datetime(prescriptions.starttime, 'start of month') = datetime('{NOW}', 'start of month', '-0 month')""",
    "What was the maximum creatinine value of patient 71021495 on their first hospital visit?": f"""
        SELECT MAX(labevents.valuenum) FROM labevents WHERE labevents.hadm_id IN ({_FIRST_VISIT.format(71021495)})
        AND labevents.itemid IN (SELECT d_labitems.itemid FROM d_labitems WHERE d_labitems.label = 'creatinine')""",
    "Which surgeon operated on patient 71021141 last night?": None,
}


@pytest.fixture
def connection(demo_hospital: Path) -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(demo_hospital)
    yield connection
    connection.close()


def test_every_demo_question_has_gold_and_eight_have_sql() -> None:
    assert tuple(GOLD) == QUESTIONS
    assert len([sql for sql in GOLD.values() if sql is not None]) == 8


@pytest.mark.parametrize("question", [question for question, sql in GOLD.items() if sql is not None])
def test_every_question_has_an_answer_that_says_something(demo_hospital: Path, question: str) -> None:
    sql = GOLD[question]
    assert sql is not None
    verify(sql, Schema.from_sqlite(demo_hospital))
    with ReadOnlyExecutor(demo_hospital) as executor:
        found = executor.run(sql)
    assert 1 <= len(found.rows) <= 3
    assert not is_void(answer_rows(found.rows))


@pytest.mark.parametrize(("question", "sql"), GOLD.items())
def test_the_bundled_model_answers_each_question_rightly_but_refuses_the_last(
    ehr_en: Parser, demo_hospital: Path, question: str, sql: str | None
) -> None:
    schema = Schema.from_sqlite(demo_hospital, max_values=12)
    values = ValueDictionary.from_database(demo_hospital, schema)
    with ReadOnlyExecutor(demo_hospital) as executor:
        found = ehr_en.ask(
            question, schema, executor=executor, values=values, now=NOW, penalty=DEFAULT_PENALTY
        )
        expected = None if sql is None else set(executor.run(sql).rows)
    assert (None if found.rows is None else set(found.rows.rows)) == expected


def test_the_same_seed_makes_the_same_hospital(tmp_path: Path) -> None:
    dumps = []
    for name, seed in (("one", 5), ("same", 5), ("other", 6)):
        create_hospital(tmp_path / name, patients=4, seed=seed)
        connection = sqlite3.connect(tmp_path / name)
        dumps.append("\n".join(connection.iterdump()))
        connection.close()
    assert dumps[0] == dumps[1] != dumps[2]


def test_an_existing_file_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "precious"
    path.write_text("mine")
    with pytest.raises(FileExistsError):
        create_hospital(path)
    assert path.read_text() == "mine"


def test_tables_and_columns_are_those_of_ehrsql2024(demo_hospital: Path, ehrsql2024: Path) -> None:
    def names(schema: Schema) -> dict[str, list[tuple[str, str]]]:
        return {
            table.name: [
                (schema.columns[column].name, schema.columns[column].type) for column in table.columns
            ]
            for table in schema.tables
        }

    assert names(Schema.from_sqlite(demo_hospital)) == names(
        read_schemas(ehrsql2024 / "schemas.json")["mimic_iv"]
    )


def test_every_table_has_rows_and_none_is_later_than_now(connection: sqlite3.Connection) -> None:
    schema = Schema.from_sqlite(connection)
    for table in schema.tables:
        assert connection.execute(f"SELECT COUNT(*) FROM {table.name}").fetchone()[0] > 0, table.name
    for column in schema.columns:
        if column.type == "time":
            name = schema.tables[column.table].name
            latest = connection.execute(f"SELECT MAX({column.name}) FROM {name}").fetchone()[0]
            assert latest <= NOW, f"{name}.{column.name}"


@pytest.mark.parametrize(
    ("child", "key", "parent"),
    [
        ("admissions", "subject_id", "patients"),
        ("diagnoses_icd", "icd_code", "d_icd_diagnoses"),
        ("procedures_icd", "icd_code", "d_icd_procedures"),
        ("labevents", "itemid", "d_labitems"),
        ("chartevents", "itemid", "d_items"),
        ("chartevents", "stay_id", "icustays"),
        ("icustays", "hadm_id", "admissions"),
        ("prescriptions", "hadm_id", "admissions"),
    ],
)
def test_foreign_keys_of_the_demo_hospital_lead_to_rows(
    connection: sqlite3.Connection, child: str, key: str, parent: str
) -> None:
    orphans = f"SELECT COUNT(*) FROM {child} WHERE {key} NOT IN (SELECT {key} FROM {parent})"
    assert connection.execute(orphans).fetchone() == (0,)


def test_costs_lead_to_their_events(connection: sqlite3.Connection) -> None:
    for (table,) in connection.execute("SELECT DISTINCT event_type FROM cost").fetchall():
        orphans = (
            f"SELECT COUNT(*) FROM cost WHERE event_type = ? AND event_id NOT IN (SELECT row_id FROM {table})"
        )
        assert connection.execute(orphans, (table,)).fetchone() == (0,)


def test_stays_lie_inside_their_admissions(connection: sqlite3.Connection) -> None:
    outside = """
        SELECT COUNT(*) FROM icustays JOIN admissions USING (hadm_id)
        WHERE intime < admittime OR outtime < intime OR outtime > COALESCE(dischtime, ?)"""
    assert connection.execute(outside, (NOW,)).fetchone() == (0,)


def test_some_patients_are_still_there_and_some_have_died(connection: sqlite3.Connection) -> None:
    assert connection.execute("SELECT COUNT(*) FROM admissions WHERE dischtime IS NULL").fetchone()[0] > 0
    assert connection.execute("SELECT COUNT(*) FROM patients WHERE dod IS NOT NULL").fetchone()[0] > 0


def test_no_number_could_be_a_patient_of_mimic(connection: sqlite3.Connection) -> None:
    for table, column in (("patients", "subject_id"), ("admissions", "hadm_id"), ("icustays", "stay_id")):
        lowest, highest = connection.execute(f"SELECT MIN({column}), MAX({column}) FROM {table}").fetchone()
        assert 70_000_000 <= lowest <= highest <= 99_999_999
