"""The audit hook: one record a parse and an execution, and nothing in it that nobody asked for."""

from __future__ import annotations

import hashlib
import json
import pickle
import re
import sqlite3
from contextlib import closing
from dataclasses import FrozenInstanceError, fields
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from fastsql import Audit, AuditRecord, ExecutionRecord, Inspector, Schema
from fastsql.errors import DialectError, ExecutionError, LimitError, VerificationError
from fastsql.execution import RefusedError, open_executor

from .worlds.database import inserted, write_database
from .worlds.toy_bundle import load_toy

CELL = "graultfredcell"
ASKED, DOMAIN = "zyxwaldo", "plughcorge"
SCHEMA = Schema.from_ddl("CREATE TABLE quuxward (id INTEGER PRIMARY KEY, graultkind TEXT)").with_values(
    {("quuxward", "graultkind"): [DOMAIN]}
)
QUESTION = f"how many {ASKED} of {DOMAIN} since 2100?"
SECRETS = (ASKED, DOMAIN, CELL, "quuxward", "graultkind")
YEAR = re.compile(r"(?<![\w.])2100(?!\w)")
"""The question's year; not the same figures within a digest or a measured number, where they stand by chance."""


def secrets_in(record: AuditRecord | ExecutionRecord) -> list[str]:
    told = record.to_json()
    return [secret for secret in SECRETS if secret in told] + YEAR.findall(told)


def test_a_record_holds_neither_question_nor_literals_nor_names_unless_asked_for(toy_bundle: Path) -> None:
    records: list[AuditRecord] = []
    parser = load_toy(toy_bundle, audit=records.append)
    result = parser.parse(QUESTION, SCHEMA)
    (record,) = records
    assert secrets_in(record) == []
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


# ---------------------------------------------------------------- executions, ids, JSON


class NoExecutor:
    """Is never asked for anything."""

    dialect = "sqlite"


def executions(records: list[Any]) -> list[ExecutionRecord]:
    return [record for record in records if isinstance(record, ExecutionRecord)]


@pytest.fixture
def database(tmp_path: Path) -> Path:
    rows = inserted("quuxward", [(i, CELL) for i in range(30)])
    return write_database(tmp_path / "ward.sqlite", SCHEMA.to_ddl() + rows)


def test_an_execution_is_on_record_with_the_statement_of_its_parse_and_without_a_cell(
    toy_bundle: Path, database: Path
) -> None:
    records: list[Any] = []
    parser = load_toy(toy_bundle, audit=records.append)
    with closing(open_executor(database, schema=SCHEMA, row_limit=20)) as executor:
        answer = parser.ask(QUESTION, SCHEMA, executor=executor, request_id="r-1", user_id="u-1")
    assert answer.rows is not None
    parse, execution = records
    assert isinstance(parse, AuditRecord)
    assert isinstance(execution, ExecutionRecord)
    assert parse.statement == execution.statement != ""
    assert (execution.outcome, execution.error, execution.dialect) == ("ran", "", "sqlite")
    assert (execution.rows, execution.truncated) == (len(answer.rows.rows), answer.rows.truncated)
    assert execution.milliseconds > 0
    for record in records:
        assert (record.request_id, record.user_id) == ("r-1", "u-1")
        assert secrets_in(record) == []
        assert record.sql is None


def test_statements_refused_and_failed_are_told_apart(database: Path) -> None:
    records: list[Any] = []
    audit = Audit(records.append)
    with audit.watch(open_executor(database, schema=SCHEMA, row_limit=20), user_id="u") as executor:
        assert executor.dialect == "sqlite"
        assert len(executor.run("SELECT id FROM quuxward").rows) == 20
        with pytest.raises(VerificationError):
            executor.run("DROP TABLE quuxward")
        with pytest.raises(RefusedError):
            executor.run(None)
        with executor.cursor("SELECT id FROM quuxward") as cursor:
            assert [column[0] for column in cursor.description] == ["id"]
            assert len(cursor.fetchmany(3)) == 3
            assert len(list(cursor)) == 27
    with audit.watch(open_executor(database)) as bare, pytest.raises(ExecutionError):
        bare.run("SELECT nothing FROM quuxward")
    assert [(r.outcome, r.rows, r.truncated, r.error) for r in executions(records)] == [
        ("ran", 20, True, ""),
        ("refused", 0, False, "VerificationError"),
        ("refused", 0, False, "RefusedError"),
        ("ran", 30, False, ""),
        ("failed", 0, False, "ExecutionError"),
    ]
    assert records[0].statement == records[3].statement != records[1].statement
    assert records[2].statement == ""
    assert [record.user_id for record in records] == ["u", "u", "u", "u", None]


def test_a_watched_executor_tells_whether_its_database_has_changed_as_far_as_it_knows(database: Path) -> None:
    with open_executor(database) as executor:
        watched = Audit(print).watch(executor)
        before = watched.state()
        assert before is not None
        assert watched.state() == before
        with closing(sqlite3.connect(database)) as connection, connection:
            connection.execute("DELETE FROM quuxward")
        assert watched.state() != before
    assert Audit(print).watch(NoExecutor()).state() is None


def test_the_text_of_a_statement_is_told_when_asked_for(database: Path) -> None:
    records: list[Any] = []
    with Audit(records.append, sql=True).watch(open_executor(database)) as executor:
        executor.run("SELECT 1")
    assert records[0].sql == "SELECT 1"


def test_a_digest_needs_its_key_and_lasts_as_long_as_that() -> None:
    sql = "SELECT 1"
    one, other = Audit(print), Audit(print)
    assert one.digest(sql) == one.digest(sql) != other.digest(sql)
    key = b"0123456789abcdef"
    assert Audit(print, key=key).digest(sql) == Audit(print, key=key).digest(sql)
    assert Audit(print, key=key).digest(sql) != hashlib.sha256(sql.encode()).hexdigest()
    assert pickle.loads(pickle.dumps(one)).digest(sql) == one.digest(sql)
    assert "key" not in repr(one)
    with pytest.raises(ValueError, match="at least 16 bytes"):
        Audit(print, key=b"short")
    with pytest.raises(TypeError, match="key is bytes, not str"):
        Audit(print, key="0123456789abcdef")  # type: ignore[arg-type]


def test_what_an_inspector_runs_is_on_record_as_that(toy_bundle: Path, database: Path) -> None:
    records: list[Any] = []
    parser = load_toy(toy_bundle, audit=records.append)
    with closing(open_executor(database, schema=SCHEMA)) as executor:
        inspector = Inspector(executor)
        result = parser.parse(QUESTION, SCHEMA, inspector=inspector, request_id="r")
        parser.ask(QUESTION, SCHEMA, executor=executor, inspector=inspector)
    assert inspector.executor is executor
    assert result.sql
    first = records.index(next(record for record in records if isinstance(record, AuditRecord)))
    inspected = records[:first]
    assert inspected
    assert all(record.inspection and record.request_id == "r" for record in inspected)
    assert records[first].inspected
    assert records[first].statement in {record.statement for record in inspected}
    assert not records[-1].inspection


def test_a_statement_is_on_record_once_however_often_its_executor_is_watched(
    toy_bundle: Path, database: Path
) -> None:
    records: list[Any] = []
    audit = Audit(records.append)
    with audit.watch(open_executor(database, schema=SCHEMA), user_id="night") as executor:
        load_toy(toy_bundle, audit=audit).ask(QUESTION, SCHEMA, executor=executor, user_id="day")
    assert [record.user_id for record in executions(records)] == ["day"]


def test_what_cannot_be_recorded_is_not_handed_out(toy_bundle: Path, database: Path) -> None:
    def full(record: object) -> None:
        if isinstance(record, ExecutionRecord):
            raise OSError("disk full")

    parser = load_toy(toy_bundle, audit=full)
    with closing(open_executor(database)) as executor, pytest.raises(OSError, match="disk full"):
        parser.ask(QUESTION, SCHEMA, executor=executor)


def test_ids_reach_every_record_of_a_batch_and_need_no_audit(toy_bundle: Path) -> None:
    records: list[AuditRecord] = []
    parser = load_toy(toy_bundle, audit=records.append)
    parser.parse_batch([QUESTION, "how many"], SCHEMA, request_id="r", user_id="患者组")
    assert [(record.request_id, record.user_id) for record in records] == [("r", "患者组")] * 2
    assert load_toy(toy_bundle).parse(QUESTION, SCHEMA, request_id="r", user_id="u").sql


@pytest.mark.parametrize(("bad", "error"), [(5, TypeError), (b"r", TypeError), ("x" * 257, ValueError)])
@pytest.mark.parametrize("name", ["request_id", "user_id"])
def test_an_id_that_is_none_ends_the_parse_and_is_not_on_record(
    toy_bundle: Path, name: str, bad: Any, error: type[Exception]
) -> None:
    records: list[AuditRecord] = []
    parser = load_toy(toy_bundle, audit=records.append)
    with pytest.raises(error, match=name):
        parser.parse(QUESTION, SCHEMA, **{name: bad})
    (record,) = records
    assert (record.error, record.request_id, record.user_id) == (error.__name__, None, None)
    with pytest.raises(error, match=name):
        Audit(print).watch(NoExecutor(), **{name: bad})


def test_records_are_lines_of_json_with_the_same_keys_as_attributes(toy_bundle: Path, database: Path) -> None:
    records: list[Any] = []
    audit = Audit(records.append, question=True, sql=True, literals=True, identifiers=True)
    parser = load_toy(toy_bundle, audit=audit)
    with closing(open_executor(database)) as executor:
        parser.ask(f"{QUESTION}\n肌酐 \ud800?", SCHEMA, executor=executor, user_id="u\n1")
    with pytest.raises(ValueError, match="penalty"):
        parser.parse(QUESTION, SCHEMA, penalty=float("nan"))
    for record, event in zip(records, ("parse", "execution", "parse"), strict=True):
        line = record.to_json()
        assert "\n" not in line
        line.encode("utf-8")
        content = json.loads(line, parse_constant=lambda name: pytest.fail(f"{name} in JSON"))
        assert content == record.to_dict()
        assert list(content) == ["event", *(field.name for field in fields(record))]
        assert content["event"] == record.event == event
        assert datetime.fromisoformat(content["time"]) == record.time
    asked = json.loads(records[0].to_json())
    assert asked["question"] == records[0].question
    assert asked["literals"] == list(records[0].literals)
    assert "肌酐" in records[0].to_json()
    assert json.loads(records[2].to_json())["penalty"] is None
