"""Questions and cell values go into results and nowhere else: no log, stream, warning or error repeats them."""

from __future__ import annotations

import logging
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from fastsql import Parser, Schema, ValueDictionary
from fastsql.errors import FastSQLError
from fastsql.execution import open_executor

from .worlds.database import inserted, write_database
from .worlds.shop import shop_schema
from .worlds.toy_bundle import load_toy

ASKED, CELL, DOMAIN, LISTED = "zyxwaldo", "quuxmorph", "plughcorge", "graultfred"
"""Unique words of the question, of a database's cells, of the schema's small domains, of a value dictionary."""
SECRETS = (ASKED, CELL, DOMAIN, LISTED)
QUESTION = f"has {ASKED} '{ASKED}' 'smith' got {CELL} or {LISTED} since 12/05/2100 by {DOMAIN}?"
DDL = "CREATE TABLE ward (id INTEGER PRIMARY KEY, name TEXT, drug TEXT, kind TEXT, seen TIMESTAMP)"
SCHEMA = Schema.from_ddl(DDL).with_values({("ward", "kind"): [DOMAIN, DOMAIN.upper()]})
DICTIONARY = ValueDictionary.from_mapping({("ward", "name"): [LISTED, f"{LISTED} {ASKED}"]}, SCHEMA)


@pytest.fixture
def ward(tmp_path: Path) -> Path:
    rows = [(i, f"{CELL} {i}", CELL, DOMAIN, "2100-12-05") for i in range(2_000)]
    return write_database(tmp_path / "ward.sqlite", f"{DDL}; {inserted('ward', rows)}")


@pytest.fixture
def overheard(
    caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> Iterator[Callable[[], str]]:
    """All that was logged, printed or warned of until it is asked for."""
    caplog.set_level(logging.DEBUG)
    for name in list(logging.root.manager.loggerDict):
        caplog.set_level(logging.DEBUG, name)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")

        def collect() -> str:
            streams = capfd.readouterr()
            logged = [f"{record.name} {record.getMessage()} {record.exc_text}" for record in caplog.records]
            return "\n".join([*logged, streams.out, streams.err, *(str(w.message) for w in caught)])

        yield collect


def silent(text: str) -> bool:
    lowered = text.casefold()
    assert [secret for secret in SECRETS if secret in lowered] == []
    return True


def complaint(call: Callable[[], object]) -> str:
    """The traceback of the error that a call ends in, causes included, as a log would show it; "" if in none."""
    try:
        call()
    except (FastSQLError, TypeError, ValueError) as error:
        return "".join(traceback.format_exception(error))
    return ""


def failure(call: Callable[[], object]) -> str:
    """The complaint of a call that must fail."""
    shown = complaint(call)
    assert shown
    return shown


@pytest.mark.parametrize("values", [None, DICTIONARY, "file"])
def test_a_parse_says_nothing_but_its_result(
    toy: Parser, ward: Path, overheard: Callable[[], str], values: Any
) -> None:
    for beam in (1, 4):
        result = toy.parse(QUESTION, SCHEMA, values=ward if values == "file" else values, beam=beam)
        assert result.sql
        assert result.alternatives is not None
    assert silent(overheard())


def test_a_refusal_says_why_without_repeating_the_question(
    toy_bundle: Path, ward: Path, overheard: Callable[[], str]
) -> None:
    result = load_toy(toy_bundle, penalty=10).parse(QUESTION, SCHEMA, values=ward)
    assert result.abstained
    assert silent(result.reason)
    assert silent(overheard())


def test_asking_a_database_says_nothing_but_its_answer(
    toy: Parser, ward: Path, overheard: Callable[[], str]
) -> None:
    with closing(open_executor(ward, schema=SCHEMA)) as executor:
        answer = toy.ask(QUESTION, SCHEMA, executor=executor, values=ward)
    assert answer.rows is not None
    assert silent(repr(answer))
    other = shop_schema()
    with closing(open_executor(ward, schema=other)) as executor:
        assert "VerificationError" in (
            shown := failure(lambda: toy.ask(QUESTION, SCHEMA, executor=executor, values=ward))
        )
    assert silent(shown)
    assert silent(overheard())


@pytest.mark.parametrize(
    "sql",
    [
        f"SELECT '{ASKED}' FROM FROM '{CELL}'",
        f"SELECT ward.id FROM ward WHERE ward.name = '{ASKED}",
        f"SELECT {ASKED}.id FROM ward",
        f"SELECT ward.{ASKED} FROM ward",
        f"SELECT ward.id FROM ward WHERE ward.name = {CELL}",
        f"SELECT {ASKED}(ward.id, '{CELL}') FROM ward",
        f"SELECT ward.id FROM ward WHERE ward.name = '{ASKED}'; DROP TABLE {CELL}",
        f"SELECT ward.id FROM ward WHERE ward.name = '{ASKED}' {'(' * 60}{')' * 60}",
        f"CREATE TABLE {ASKED} AS SELECT '{CELL}'",
    ],
)
def test_sql_that_fails_verification_is_not_repeated(
    toy: Parser, overheard: Callable[[], str], monkeypatch: pytest.MonkeyPatch, sql: str
) -> None:
    monkeypatch.setattr("fastsql.parser.write.render", lambda *a, **k: sql)
    result = toy.parse(QUESTION, SCHEMA)
    assert result.abstained
    assert silent(result.reason)
    assert silent(overheard())


def test_errors_about_a_question_do_not_quote_it(toy: Parser, overheard: Callable[[], str]) -> None:
    for question in (f"{ASKED} " * 3_000, f"{ASKED} " * 400):
        assert "LimitError" in (shown := failure(lambda text=question: toy.parse(text, SCHEMA)))
        assert silent(shown)
    for question in (QUESTION.encode(), [QUESTION], {QUESTION: CELL}):
        assert silent(failure(lambda text=question: toy.parse(text, SCHEMA)))
    for options in ({"dialect": "oracle"}, {"beam": 0}, {"beam": 10**6}, {"values": 5}, {"now": CELL}):
        assert silent(failure(lambda options=options: toy.parse(QUESTION, SCHEMA, **options)))
    assert silent(overheard())


def test_errors_about_a_database_do_not_quote_its_cells(
    toy: Parser, ward: Path, overheard: Callable[[], str], tmp_path: Path
) -> None:
    whole = ward.read_bytes()
    assert CELL.encode() in whole
    schema = Schema.from_ddl(DDL)
    damaged = {
        "truncated": whole[: len(whole) // 2],
        "scrambled": whole[:4_096] + b"\xff" * 4_096 + whole[8_192:],
        "headless": CELL.encode() * 1_000,
    }
    for name, content in damaged.items():
        path = tmp_path / f"{name}.sqlite"
        path.write_bytes(content)
        assert silent(complaint(lambda path=path: toy.parse(QUESTION, schema, values=path)))
        assert silent(complaint(lambda path=path: toy.parse(QUESTION, path)))
    other = Schema.from_dict({"patients": {"id": "INT", "name": "TEXT"}})
    assert silent(failure(lambda: toy.parse(QUESTION, other, values=ward)))
    assert silent(failure(lambda: toy.parse(QUESTION, other, values=DICTIONARY)))
    assert silent(overheard())


@pytest.mark.parametrize(
    "values", [[DOMAIN * 100], [f"{DOMAIN} {i}" for i in range(60)], [[DOMAIN]], [None, DOMAIN], DOMAIN]
)
def test_errors_about_values_of_a_schema_do_not_quote_them(
    toy: Parser, overheard: Callable[[], str], values: Any
) -> None:
    columns = {"kind": {"type": "TEXT", "values": values}}
    assert silent(complaint(lambda: toy.parse(QUESTION, {"ward": columns})))
    assert silent(complaint(lambda: Schema.from_ddl(DDL).with_values({("ward", "kind"): values})))
    assert silent(overheard())


def test_nothing_that_is_kept_shows_a_value_by_its_repr(toy: Parser) -> None:
    toy.parse(QUESTION, SCHEMA, values=DICTIONARY)
    assert silent(repr(DICTIONARY))
    assert silent(repr(toy))
    assert silent(str(vars(toy).keys()))


def test_a_parser_is_sent_without_what_it_has_read(toy: Parser) -> None:
    import pickle

    toy.parse(QUESTION, SCHEMA, values=DICTIONARY)
    assert silent(pickle.dumps(toy).decode("latin-1"))


def test_parsing_opens_no_socket(toy: Parser, ward: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import socket

    def refuse(*arguments: Any, **options: Any) -> Any:
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket.socket, "__init__", refuse)
    monkeypatch.setattr(socket, "create_connection", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    with pytest.raises(AssertionError, match="a socket was opened"):
        socket.socket()
    assert toy.parse(QUESTION, ward, values=ward).best is not None
