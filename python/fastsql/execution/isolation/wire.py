"""What an executor and its worker process say to each other: frames of JSON, each after its length.

Never a pickle: whoever has taken over a worker must not be able to run anything in the process that asked. Cells that JSON
does not have are objects with one key, which says what they are; what is not known here travels as its text.
"""

from __future__ import annotations

import base64
import json
import math
import struct
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from fastsql.errors import DialectError, ExecutionError, FastSQLError, LimitError, VerificationError
from fastsql.execution.connections import ConnectionsBusyError
from fastsql.execution.executor import QueryTimeoutError, ResultSizeError
from fastsql.execution.postgres_session import ConnectionLostError
from fastsql.execution.reuse import Statement, TemporaryTable

LENGTH = struct.Struct(">I")
"""How the length of a frame is written, in bytes, before it."""
_PLAIN = frozenset({str, int, bool, type(None)})
_ERRORS: Mapping[str, type[FastSQLError]] = {
    kind.__name__: kind
    for kind in (
        ConnectionLostError,
        ConnectionsBusyError,
        DialectError,
        ExecutionError,
        LimitError,
        QueryTimeoutError,
        ResultSizeError,
        VerificationError,
    )
}


class WireError(Exception):
    """What came is no frame that the other side would have sent. Never leaves the package."""


def frame(message: Mapping[str, Any]) -> bytes:
    """A message as it goes through the pipe.

    Raises:
        ValueError: it holds what cannot be sent: half a surrogate pair, a number of thousands of digits.
    """
    body = json.dumps(message, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode("utf-8")
    return LENGTH.pack(len(body)) + body


def message(body: bytes | bytearray) -> dict[str, Any]:
    """The message in a frame.

    Raises:
        WireError: it holds none.
    """
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise WireError("no message")
    return found


# ---------------------------------------------------------------- errors


def error_message(error: FastSQLError) -> dict[str, Any]:
    """A typed error as a message."""
    kind = next((name for name, known in _ERRORS.items() if type(error) is known), "ExecutionError")
    return {"error": [kind, error.what, error.where, error.remedy]}


def raise_error(found: Mapping[str, Any]) -> None:
    """Raise the error that a message holds, if it holds one.

    Raises:
        FastSQLError: of the type that it had on the other side.
        WireError: it cannot be read.
    """
    if "error" not in found:
        return
    parts = found["error"]
    if not isinstance(parts, list) or len(parts) != 4 or not all(isinstance(part, str) for part in parts):
        raise WireError("no error")
    kind, what, where, remedy = parts
    raise _ERRORS.get(kind, ExecutionError)(what, where=where, remedy=remedy)


# ---------------------------------------------------------------- rows


def rows_message(rows: Sequence[tuple[Any, ...]]) -> dict[str, Any]:
    """Rows as a message; `plain` says that no cell is more than JSON."""
    kinds = {type(cell) for row in rows for cell in row}
    plain = kinds <= _PLAIN or (
        kinds <= _PLAIN | {float}
        and all(math.isfinite(cell) for row in rows for cell in row if type(cell) is float)
    )
    return {"rows": rows if plain else [[_packed(cell) for cell in row] for row in rows], "plain": plain}


def statement_message(statement: Statement) -> dict[str, Any]:
    """A statement as a message; its own keys are those of a query that is run."""
    return {
        "run": statement.text,
        "values": rows_message([statement.values]),
        "tables": [
            {"name": table.name, "like": table.like, **rows_message(table.rows)} for table in statement.tables
        ],
    }


def message_statement(found: Mapping[str, Any]) -> Statement:
    """The statement in a message.

    Raises:
        WireError: it holds none.
    """
    values = message_rows(found["values"])[0] if "values" in found else ()
    tables = [
        TemporaryTable(table["name"], table["like"], tuple(message_rows(table)))
        for table in found.get("tables", ())
    ]
    return Statement(found["run"], values, tuple(tables))


def message_rows(found: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    """The rows in a message.

    Raises:
        WireError: it holds none.
    """
    rows, plain = found.get("rows"), found.get("plain")
    if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
        raise WireError("no rows")
    if plain is True:
        return [tuple(row) for row in rows]
    try:
        return [tuple(map(_unpacked, row)) for row in rows]
    except (ValueError, TypeError, KeyError, ArithmeticError, RecursionError):
        pass
    raise WireError("no cells")


def _packed(cell: Any) -> Any:
    kind = type(cell)
    if kind in _PLAIN or (kind is float and math.isfinite(cell)):
        return cell
    pack = _PACK.get(kind)
    if pack is not None:
        tag, packed = pack
        return {tag: packed(cell)}
    return {"other": str(cell)}


def _unpacked(cell: Any) -> Any:
    if not isinstance(cell, dict):
        if isinstance(cell, list):
            raise TypeError("a list has a tag")
        return cell
    ((tag, packed),) = cell.items()
    return _UNPACK[tag](packed)


def _moment(cell: datetime) -> list[str | None]:
    """A moment with its offset from UTC, and the name of its zone where it has one."""
    return [cell.isoformat(), getattr(cell.tzinfo, "key", None) or getattr(cell.tzinfo, "zone", None)]


def _as_moment(packed: list[str | None]) -> datetime:
    text, zone = packed
    found = datetime.fromisoformat(str(text))
    if zone is None or found.tzinfo is None:
        return found
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    try:
        return found.astimezone(ZoneInfo(zone))
    except ZoneInfoNotFoundError:
        return found  # the same moment, by its offset


def _map(cell: Mapping[Any, Any]) -> list[list[Any]]:
    return [[_packed(key), _packed(value)] for key, value in cell.items()]


def _as_map(packed: list[list[Any]]) -> dict[Any, Any]:
    return {_unpacked(key): _unpacked(value) for key, value in packed}


_PACK: Mapping[type, tuple[str, Callable[[Any], Any]]] = {
    float: ("float", repr),
    Decimal: ("decimal", str),
    bytes: ("bytes", lambda cell: base64.b64encode(cell).decode("ascii")),
    bytearray: ("bytes", lambda cell: base64.b64encode(cell).decode("ascii")),
    memoryview: ("bytes", lambda cell: base64.b64encode(cell).decode("ascii")),
    datetime: ("moment", _moment),
    date: ("date", date.isoformat),
    time: ("time", time.isoformat),
    timedelta: ("interval", lambda cell: [cell.days, cell.seconds, cell.microseconds]),
    UUID: ("uuid", str),
    list: ("list", lambda cell: [_packed(item) for item in cell]),
    tuple: ("tuple", lambda cell: [_packed(item) for item in cell]),
    dict: ("map", _map),
}
_UNPACK: Mapping[str, Callable[[Any], Any]] = {
    "float": float,
    "decimal": Decimal,
    "bytes": lambda packed: base64.b64decode(packed, validate=True),
    "moment": _as_moment,
    "date": date.fromisoformat,
    "time": time.fromisoformat,
    "interval": lambda packed: timedelta(*packed),
    "uuid": UUID,
    "list": lambda packed: [_unpacked(item) for item in packed],
    "tuple": lambda packed: tuple(map(_unpacked, packed)),
    "map": _as_map,
    "other": str,
}
