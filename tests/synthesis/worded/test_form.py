"""What of a query may be sent: its form, in which no literal is left."""

from __future__ import annotations

import pytest

from fastsql.schema import Schema
from fastsql.synthesis.schema.words import UnsayableError, Words
from fastsql.synthesis.worded.form import form_of
from fastsql.synthesis.worded.prompt import messages_for
from fastsql.verification.parse import parse_query

from ...worlds.clinic import chinese_clinic_schema, clinic_schema

SCHEMA = clinic_schema()
SECRETS = ("Quarkwright", "Vorplotz", "70417", "3.125", "1987-05-06", "2031", "王小明")
JOINED = "JOIN visits ON patients.patient_id = visits.patient_id"
MEAN = "SELECT AVG(patients.weight) FROM patients"
QUERIES = (
    "SELECT patients.weight FROM patients WHERE patients.name = 'Quarkwright'",
    "SELECT patients.name FROM patients WHERE patients.name LIKE '%Vorplotz%'",
    "SELECT COUNT(*) FROM visits WHERE visits.cost > 70417",
    "SELECT COUNT(*) FROM visits WHERE visits.cost BETWEEN 3.125 AND 70417",
    "SELECT patients.name FROM patients WHERE patients.sex IN ('Quarkwright', 'Vorplotz')",
    "SELECT COUNT(*) FROM visits WHERE visits.day >= '1987-05-06'",
    "SELECT COUNT(*) FROM visits WHERE STRFTIME('%Y', visits.day) = '2031'",
    f"SELECT patients.name FROM patients {JOINED} WHERE visits.reason = 'Quarkwright' AND patients.weight < 70417",
    f"SELECT patients.name FROM patients WHERE patients.weight > ({MEAN} WHERE patients.sex = 'Vorplotz')",
)


def sent(sql: str, schema: Schema = SCHEMA) -> str:
    words = Words(schema)
    form = form_of(parse_query(sql), words)
    return "\n".join(message["content"] for message in messages_for(form, 8, words.language))


@pytest.mark.parametrize("sql", QUERIES)
def test_no_literal_is_sent(sql: str) -> None:
    text = sent(sql)
    assert not [secret for secret in SECRETS if secret in text]
    assert "[" in text


def test_no_literal_of_a_chinese_schema_is_sent() -> None:
    text = sent(
        "SELECT 患者信息表.年龄 FROM 患者信息表 WHERE 患者信息表.患者姓名 = '王小明' AND 患者信息表.年龄 > 70417",
        chinese_clinic_schema(),
    )
    assert "王小明" not in text
    assert "70417" not in text
    assert "[TEXT_1]" in text
    assert "改写" in text


def test_queries_that_differ_in_literals_alone_have_one_form() -> None:
    one, other = (
        form_of(
            parse_query(f"SELECT patients.weight FROM patients WHERE patients.name = '{name}'"), Words(SCHEMA)
        )
        for name in ("Quarkwright", "O''Hara [TEXT_2]")
    )
    assert (one.sql, one.question, one.names) == (other.sql, other.question, other.names)
    assert other.fill("who is [TEXT_1]?") == "who is O'Hara [TEXT_2]?"
    assert "Quarkwright" not in repr(one)


def test_what_people_do_not_compare_with_has_no_form() -> None:
    for sql in (
        "SELECT patients.name || 'Quarkwright' FROM patients",
        "SELECT 70417",
        "SELECT COALESCE(patients.name, 'Vorplotz') FROM patients",
    ):
        with pytest.raises(UnsayableError):
            form_of(parse_query(sql), Words(SCHEMA))
