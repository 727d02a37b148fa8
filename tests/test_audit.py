"""The audit hook: one record a parse, and nothing in it that nobody asked for."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, asdict
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from fastsql import Schema
from fastsql.errors import DialectError, LimitError
from fastsql.parser.audit import Audit, AuditRecord

from .worlds.toy_bundle import load_toy

ASKED, DOMAIN = "zyxwaldo", "plughcorge"
SCHEMA = Schema.from_ddl("CREATE TABLE quuxward (id INTEGER PRIMARY KEY, graultkind TEXT)").with_values(
    {("quuxward", "graultkind"): [DOMAIN]}
)
QUESTION = f"how many {ASKED} of {DOMAIN} since 2100?"
SECRETS = (ASKED, DOMAIN, "quuxward", "graultkind", "2100")


def test_a_record_holds_neither_question_nor_literals_nor_names_unless_asked_for(toy_bundle: Path) -> None:
    records: list[AuditRecord] = []
    parser = load_toy(toy_bundle, audit=records.append)
    result = parser.parse(QUESTION, SCHEMA)
    (record,) = records
    assert [
        secret for secret in SECRETS if secret in repr(asdict(record)).replace(str(record.time.year), "")
    ] == []
    assert record.answered
    assert (record.model, record.penalty, record.dialect) == ("toy", 0.0, "sqlite")
    assert (record.confidence, record.unanswerable) == (result.confidence, result.unanswerable)
    assert record.characters == len(QUESTION)
    assert record.milliseconds >= max(result.timings.values())
    assert datetime.now(timezone.utc) - record.time < timedelta(minutes=5)
    assert (record.question, record.sql, record.literals, record.identifiers) == (None,) * 4
    with pytest.raises(FrozenInstanceError):
        record.answered = False  # type: ignore[misc]


@pytest.mark.parametrize("name", ["question", "sql", "literals", "identifiers"])
def test_each_text_is_given_by_its_own_name_only(toy_bundle: Path, name: str) -> None:
    records: list[AuditRecord] = []
    parser = load_toy(toy_bundle, audit=Audit(records.append, **{name: True}))
    result = parser.parse(QUESTION, SCHEMA)
    (record,) = records
    wanted: dict[str, Any] = {
        "question": QUESTION,
        "sql": result.sql,
        "literals": tuple(literal.value for literal in result.values),
    }
    if name in wanted:
        assert getattr(record, name) == wanted[name]
    else:
        assert set(record.identifiers or ()) <= {"quuxward", "quuxward.id", "quuxward.graultkind"}
    others = {"question", "sql", "literals", "identifiers"} - {name}
    assert [getattr(record, other) for other in others] == [None] * 3


def test_refusals_and_errors_are_on_record(toy_bundle: Path) -> None:
    records: list[AuditRecord] = []
    parser = load_toy(toy_bundle, penalty=10, audit=records.append)
    assert parser.parse(QUESTION, SCHEMA).abstained
    assert parser.parse("?!", SCHEMA).abstained
    with pytest.raises(LimitError):
        parser.parse("x" * 5_000, SCHEMA)
    with pytest.raises(DialectError):
        parser.parse(QUESTION, SCHEMA, dialect="cobol")
    with pytest.raises(TypeError):
        parser.parse(5, SCHEMA)  # type: ignore[arg-type]
    assert [record.error for record in records] == ["", "", "LimitError", "DialectError", "TypeError"]
    assert not any(record.answered for record in records)


def test_every_parse_of_a_batch_is_on_record(toy_bundle: Path) -> None:
    records: list[AuditRecord] = []
    parser = load_toy(toy_bundle, audit=records.append)
    parser.parse_batch([QUESTION, "how many"], SCHEMA)
    assert len(list(parser.pipe([(QUESTION, SCHEMA)]))) == 1
    assert len(records) == 3


def test_what_cannot_be_recorded_is_not_answered(toy_bundle: Path) -> None:
    def full(_record: AuditRecord) -> None:
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        load_toy(toy_bundle, audit=full).parse(QUESTION, SCHEMA)


def test_an_audit_is_something_to_call(toy_bundle: Path) -> None:
    with pytest.raises(TypeError, match="audit is a callable or an Audit, not str"):
        load_toy(toy_bundle, audit="log.txt")
