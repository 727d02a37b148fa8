"""A conversation is written down and read again; nothing of a record is believed that can be checked."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from fastsql import ConversationError, LimitError, ModelError, SchemaError
from fastsql.parser import Parser
from fastsql.schema import Schema
from fastsql.session import Turn
from fastsql.session.record import write_record

from ..worlds.toy_bundle import load_toy
from ..worlds.toy_model import SCHEMA
from .talks import MORE, refused, talked


@pytest.mark.parametrize("mode", ["qs", "qq"])
def test_a_loaded_conversation_goes_on_as_the_first_does(parser: Parser, mode: str) -> None:
    session = talked(parser, 8, history=mode)
    other = parser.session(SCHEMA)
    other.load(session.export())
    assert [turn.to_dict()["sql"] for turn in other] == [turn.sql for turn in session]
    assert [turn.uses for turn in other] == [turn.uses for turn in session]
    assert [turn.kind for turn in other] == [turn.kind for turn in session]
    assert other.export() == session.export()
    for question in MORE[:4]:
        assert other.ask(question).sql == session.ask(question).sql


def test_refusals_are_kept_as_refusals(parser: Parser) -> None:
    session = parser.session(SCHEMA, penalty=1e6)
    for question in ("", *MORE[:2]):
        session.ask(question)
    other = parser.session(SCHEMA)
    other.load(session.export())
    assert [(turn.sql, turn.reason, turn.usable) for turn in other] == [
        (None, turn.reason, False) for turn in session
    ]


def test_what_was_typed_is_kept_where_it_put_a_question_right(parser: Parser) -> None:
    turn = parser.parse(
        "No, I meant patients.", SCHEMA, history=[refused("how many zyxes are there", "zyxes")]
    )
    session = parser.session(SCHEMA)
    session.load(write_record([cast("Turn", turn)], SCHEMA, "qs"))
    (loaded,) = session
    assert (loaded.asked, loaded.question) == ("No, I meant patients.", "how many patients are there")


def test_the_sql_of_a_record_is_written_anew(parser: Parser) -> None:
    session = talked(parser, 3)
    content = json.loads(session.export())
    content["turns"][1]["sql"] = "DROP TABLE patients"
    other = parser.session(SCHEMA)
    other.load(json.dumps(content))
    assert [turn.sql for turn in other] == [turn.sql for turn in session]


def _set(*path: Any, to: Any) -> Callable[[Any], None]:
    def change(content: Any) -> None:
        for key in path[:-1]:
            content = content[key]
        content[path[-1]] = to

    return change


def _drop(*path: Any) -> Callable[[Any], None]:
    def change(content: Any) -> None:
        for key in path[:-1]:
            content = content[key]
        del content[path[-1]]

    return change


def _says_of_first(*, kind: Any) -> Callable[[Any], None]:
    """What the first turn uses, nothing, and its kind."""

    def change(content: Any) -> None:
        content["turns"][0] |= {"uses": [], "kind": kind}

    return change


@pytest.mark.parametrize(
    "change",
    [
        _set("fastsql_conversation", to=99),
        _set("turns", to="none"),
        _set("history", to="all"),
        _set("turns", 0, "number", to=7),
        _set("turns", 0, "number", to=True),
        _set("turns", 1, "question", to=5),
        _set("turns", 1, "question", to="x" * 5000),
        _set("turns", 1, "abstained", to="no"),
        _set("turns", 1, "pooled", to="?"),
        _set("turns", 1, "pooled", to="AAAA"),
        _set("turns", 1, "program", to=["drop"]),
        _set("turns", 1, "program", to=[["table", "salaries"]]),
        _set("turns", 1, "program", to=[["turn", 9]]),
        _set("turns", 1, "program", to=[]),
        _set("turns", 1, "dialect", to="cobol"),
        _set("turns", 1, "standing", to={"2": [2.0, 0.0]}),
        _set("turns", 1, "standing", to=[]),
        _set("turns", 1, to=None),
        _set("turns", 1, "asked", to=5),
        _set("turns", 1, "asked", to="x" * 5000),
        _set("turns", 0, "uses", to=[1]),
        _set("turns", 0, "uses", to=[False]),
        _set("turns", 0, "uses", to="1"),
        _says_of_first(kind=["odd"]),
        _says_of_first(kind=[]),
        _says_of_first(kind=None),
        _drop("turns", 1, "reason"),
        _drop("turns"),
    ],
)
def test_a_damaged_record_changes_nothing(parser: Parser, change: Callable[[Any], None]) -> None:
    session = talked(parser, 3)
    before = session.history
    content = json.loads(session.export())
    change(content)
    with pytest.raises(ConversationError, match="cannot be read"):
        session.load(json.dumps(content))
    assert session.history == before


@pytest.mark.parametrize("text", ["", "[]", "{", "[" * 100_000, "null", "\x00"])
def test_what_is_no_record_is_said_to_be_none(parser: Parser, text: str) -> None:
    with pytest.raises(ConversationError, match="cannot be read"):
        parser.session(SCHEMA).load(text)


def test_a_record_of_another_schema_or_model_is_refused(parser: Parser) -> None:
    text = talked(parser, 2).export()
    with pytest.raises(SchemaError, match="conversation"):
        parser.session(Schema.from_dict({"patients": {"subject_id": "INT"}})).load(text)
    content = json.loads(text)
    content["model"] = "another"
    with pytest.raises(ModelError, match="another model"):
        parser.session(SCHEMA).load(json.dumps(content))


def test_a_record_of_more_turns_than_a_session_keeps_is_refused(parser: Parser) -> None:
    content = json.loads(talked(parser, 2).export())
    content["turns"] *= parser.limits.turns
    with pytest.raises(LimitError, match="turns"):
        parser.session(SCHEMA).load(json.dumps(content))


def test_turns_that_refer_twice_to_those_before_do_not_grow_beyond_memory(talking_bundle: Path) -> None:
    parser = load_toy(
        talking_bundle
    )  # which keeps 64 turns: the last would be 2**64 times as long as the first
    content = json.loads(talked(parser, 1).export())
    (first,) = content["turns"]
    column, dob = ["column", "patients.dob", 0], ["item", 0, 0]
    content["turns"] = [{**first, "program": [["table", "patients"], column, "end"]}]
    for number in range(2, parser.limits.turns + 1):
        before = ["turn", number - 1]
        program = ["previous", before, "in_previous", before, dob, dob, "end"]
        standing = {str(one): [0.5, 0.0] for one in range(1, number + 1)}
        content["turns"].append({**first, "number": number, "program": program, "standing": standing})
    session = parser.session(SCHEMA)
    few = {**content, "turns": content["turns"][:3]}
    session.load(json.dumps(few))
    assert len(session) == 3
    with pytest.raises(ConversationError, match=r"turn \d+ cannot be read"):
        session.load(json.dumps(content))
    assert len(session) == 3
