"""The local file of a value dictionary: one line of JSON that describes it, one that holds it.

    {"format": "fastsql-values", "version": 1, "bytes": 123, "sha256": "..."}
    {"columns": [["d_items", "label"], ...], "groups": [[[0, 3], ["heart rate", ...]], ...]}

A group is the values that the same columns hold. Its numbers are positions in "columns": names, not schema indices, so that
a file outlives a schema change.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fastsql.errors import ModelError

_FORMAT, _VERSION = "fastsql-values", 1
_HEADER_BYTES = 1024
_LARGEST = 1 << 30
_REMEDY = "Write it again with ValueDictionary.save."


def write_dictionary(
    path: Path,
    names: Mapping[int, tuple[str, str]],
    groups: Mapping[tuple[int, ...], list[str]],
) -> None:
    """Write the file beside its place and move it there, so that a reader never sees half of one.

    Raises ModelError when the file cannot be written.
    """
    places = {column: number for number, column in enumerate(names)}
    body = json.dumps(
        {
            "columns": list(names.values()),
            "groups": [[[places[column] for column in held], group] for held, group in groups.items()],
        },
        ensure_ascii=False,
        separators=(",", ":"),
    ).encode("utf-8", "surrogatepass")
    header = {
        "format": _FORMAT,
        "version": _VERSION,
        "bytes": len(body),
        "sha256": hashlib.sha256(body).hexdigest(),
    }
    try:
        # mkstemp makes the file readable by its owner only, and the move keeps that: these are cells of a database.
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=path.name, suffix=".part")
        temporary = Path(name)
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(json.dumps(header).encode() + b"\n" + body)
                stream.flush()
                os.fsync(stream.fileno())
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise _failed("written", path, error) from error


def read_dictionary(path: Path) -> tuple[list[tuple[str, str]], list[tuple[list[int], list[str]]]]:
    """Column names, and groups of (positions of columns, the values that they hold).

    Raises ModelError for a missing or damaged file.
    """
    try:
        with path.open("rb") as stream:
            header = _header(stream.readline(_HEADER_BYTES), path)
            # The size is checked before anything of it is read.
            size = os.fstat(stream.fileno()).st_size - stream.tell()
            if size != header.get("bytes") or size > _LARGEST:
                raise _damaged(path, "it is shorter or longer than its first line says")
            body = stream.read()
    except OSError as error:
        raise _failed("read", path, error) from error
    if hashlib.sha256(body).hexdigest() != header.get("sha256"):
        raise _damaged(path, "its checksum does not match")
    try:
        data = json.loads(body.decode("utf-8", "surrogatepass"))
        names = [(str(table), str(column)) for table, column in data["columns"]]
        groups = [([int(number) for number in held], list(map(str, group))) for held, group in data["groups"]]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise _damaged(path, "its content has another form") from error
    if any(not 0 <= number < len(names) for held, _ in groups for number in held):
        raise _damaged(path, "a group refers to a column that it does not list")
    return names, groups


def _header(line: bytes, path: Path) -> dict[str, Any]:
    try:
        header = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise _damaged(path, "its first line is not that of a value dictionary") from error
    if not isinstance(header, dict) or header.get("format") != _FORMAT:
        raise _damaged(path, "its first line is not that of a value dictionary")
    if header.get("version") != _VERSION:
        version = header.get("version")
        raise ModelError(
            f"this is version {version!r} of the format, and this fastsql reads version {_VERSION}",
            where=str(path),
            remedy=_REMEDY,
        )
    return header


def _failed(what: str, path: Path, error: OSError) -> ModelError:
    return ModelError(
        f"the value dictionary cannot be {what} ({error.strerror})", where=str(path), remedy="Check the path."
    )


def _damaged(path: Path, why: str) -> ModelError:
    return ModelError(f"the value dictionary is damaged: {why}", where=str(path), remedy=_REMEDY)
