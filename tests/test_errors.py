"""Errors: one tree, three parts, safe to send between processes."""

from __future__ import annotations

import pickle

import pytest

from fastsql.errors import (
    ConversationError,
    DialectError,
    ExampleError,
    ExecutionError,
    FastSQLError,
    LimitError,
    ModelError,
    SchemaError,
    VerificationError,
)

KINDS = [
    SchemaError,
    ModelError,
    LimitError,
    DialectError,
    VerificationError,
    ExecutionError,
    ExampleError,
    ConversationError,
]


@pytest.mark.parametrize("kind", KINDS)
def test_every_error_is_a_fastsql_error(kind: type[FastSQLError]) -> None:
    assert issubclass(kind, FastSQLError)
    with pytest.raises(FastSQLError):
        raise kind("it is broken")


@pytest.mark.parametrize("kind", [FastSQLError, *KINDS])
def test_the_message_says_where_what_and_what_to_do(kind: type[FastSQLError]) -> None:
    error = kind("it has no columns", where="table 'patients'", remedy="Give it some.")
    assert str(error) == "table 'patients': it has no columns. Give it some."
    assert (error.what, error.where, error.remedy) == (
        "it has no columns",
        "table 'patients'",
        "Give it some.",
    )


def test_a_message_of_one_part_stands_alone() -> None:
    assert str(SchemaError("nothing to read")) == "nothing to read"
    assert str(SchemaError("nothing to read.", remedy="Give DDL.")) == "nothing to read. Give DDL."


def test_a_limit_error_tells_the_limit_and_how_to_get_past_it() -> None:
    error = LimitError.exceeded("tables", 600, 512, where="schema 'dw'")
    assert str(error) == (
        "schema 'dw': 600 is more than the limit of 512 (tables). Make the input smaller, or raise Limits.tables."
    )


@pytest.mark.parametrize("kind", KINDS)
def test_errors_travel_between_processes(kind: type[FastSQLError]) -> None:
    error = kind("what", where="where", remedy="Remedy.")
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is kind
    assert str(copy) == str(error)
    assert (copy.what, copy.where, copy.remedy) == ("what", "where", "Remedy.")
