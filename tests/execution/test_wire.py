"""What goes between an executor and its workers comes out as it went in, and what is no such message is refused."""

from __future__ import annotations

import json
import math
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from ipaddress import ip_address
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest

from fastsql.errors import ExecutionError, FastSQLError, LimitError, VerificationError
from fastsql.execution import QueryTimeoutError, ResultSizeError
from fastsql.execution.isolation.wire import (
    LENGTH,
    WireError,
    error_message,
    frame,
    message,
    message_rows,
    raise_error,
    rows_message,
)
from fastsql.execution.postgres_session import ConnectionLostError

BERLIN = ZoneInfo("Europe/Berlin")
CELLS = [
    None,
    True,
    False,
    0,
    -1,
    10**40,
    "",
    "é中\n\x00'\"\\😀",
    0.1,
    -0.0,
    1e308,
    b"",
    b"\x00\xff",
    Decimal("1.50"),
    Decimal("-0E-10"),
    date(2100, 2, 3),
    datetime(2100, 2, 3, 4, 5, 6, 789),  # noqa: DTZ001 - a column without a zone
    datetime(2100, 2, 3, 4, 5, tzinfo=timezone.utc),
    datetime(2021, 10, 31, 2, 30, tzinfo=BERLIN),
    datetime(2021, 10, 31, 2, 30, fold=1, tzinfo=BERLIN),
    datetime(2100, 2, 3, tzinfo=timezone(timedelta(hours=-5, minutes=-30))),
    time(23, 59, 59, 1),
    time(1, 2, tzinfo=timezone.utc),
    timedelta(days=-3, microseconds=5),
    UUID(int=2**100),
    [1, None, ["a", Decimal(1)], []],
    (1, (2,)),
    {"a": {"decimal": "x"}, 1: [date(2100, 1, 1)]},
    {"decimal": "1"},
]


def sent(rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Rows after the way through a pipe."""
    raw = frame(rows_message(rows))
    assert LENGTH.unpack(raw[: LENGTH.size]) == (len(raw) - LENGTH.size,)
    return message_rows(message(raw[LENGTH.size :]))


@pytest.mark.parametrize("cell", CELLS, ids=repr)
def test_a_cell_comes_out_as_it_went_in(cell: Any) -> None:
    for rows in ([(cell,)], [(1, cell, "x"), (cell, None, cell)]):
        found = sent(rows)
        assert found == rows
        assert [[type(item) for item in row] for row in found] == [
            [type(item) for item in row] for row in rows
        ]
        assert repr(found) == repr(rows) or isinstance(cell, datetime)


def test_nan_and_infinity_come_out_as_they_went_in() -> None:
    found = sent([(math.nan, math.inf, -math.inf, Decimal("NaN"))])[0]
    assert math.isnan(found[0])
    assert found[1:3] == (math.inf, -math.inf)
    assert found[3].is_nan()


def test_a_moment_keeps_its_zone_and_its_fold() -> None:
    moment = datetime(2021, 10, 31, 2, 30, fold=1, tzinfo=BERLIN)
    found = sent([(moment,)])[0][0]
    assert (found.tzinfo, found.fold, found.isoformat()) == (BERLIN, 1, moment.isoformat())


def test_what_is_not_known_travels_as_its_text() -> None:
    assert sent([(ip_address("10.0.0.1"),)]) == [("10.0.0.1",)]


def test_results_without_rows_or_without_columns_are_sent() -> None:
    assert sent([]) == []
    assert sent([(), ()]) == [(), ()]


@pytest.mark.parametrize("text", ["half a pair: \ud800"])
def test_what_cannot_be_sent_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="surrogates"):
        frame(rows_message([(text,)]))


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\xff",
        b"[]",
        b"1",
        b'{"rows": 1, "plain": true}',
        b'{"rows": [1], "plain": true}',
        b'{"plain": true}',
        b'{"rows": [[{"decimal": "x"}]]}',
        b'{"rows": [[{"pickle": "x"}]]}',
        b'{"rows": [[{"bytes": "*"}]]}',
        b'{"rows": [[{"moment": ["x", null]}]]}',
        b'{"rows": [[{"moment": ["2100-01-01T00:00:00+00:00", "../../etc/passwd"]}]]}',
        b'{"rows": [[{"interval": [1e300, 0, 0]}]]}',
        b'{"rows": [[{}]]}',
        b'{"rows": [[{"list": 1}]]}',
        b'{"rows": [[[1]]]}',
        b'{"rows": [[{"map": [[{"list": []}, 1]]}]]}',
        b'{"rows": [[' + b'{"list": [' * 100_000 + b"]}" * 100_000 + b"]]}",
        b"[" * 200_000,
        b'{"rows": [[' + b"1" * 10_000 + b"]]}",
    ],
)
def test_what_is_no_message_is_refused(body: bytes) -> None:
    with pytest.raises(WireError):
        message_rows(message(body))


@pytest.mark.parametrize(
    "error",
    [
        ExecutionError("a", where="b", remedy="C."),
        QueryTimeoutError("a"),
        ResultSizeError("a", remedy="C."),
        LimitError("a", where="b"),
        VerificationError("a"),
        ConnectionLostError("a"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_an_error_keeps_its_type_and_its_parts(error: FastSQLError) -> None:
    with pytest.raises(type(error)) as caught:
        raise_error(message(frame(error_message(error))[LENGTH.size :]))
    assert type(caught.value) is type(error)
    assert vars(caught.value) == vars(error)


def test_an_unknown_error_is_an_execution_error_and_no_class_is_looked_up_by_name() -> None:
    class OtherError(ExecutionError):
        pass

    for kind in (error_message(OtherError("a"))["error"][0], "SystemExit", "os.system"):
        with pytest.raises(ExecutionError) as caught:
            raise_error({"error": [kind, "a", "", ""]})
        assert type(caught.value) is ExecutionError
    for parts in (1, [], ["ExecutionError", 1, "", ""], json.loads("[null,null,null,null]")):
        with pytest.raises(WireError):
            raise_error({"error": parts})
