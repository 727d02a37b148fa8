"""The local file of a value dictionary: a line of JSON, a directory, checksums, and three bodies of arrays.

    {"format": "fastsql-values", "version": 4, "bytes": 123, "sha256": "..."}
    {"columns": [["d_items", "label"], ...], "whole": [0, 2], "forms": [[4, ["R9999"]], ...], "holders": [[0, 3], ...],
     "sections": [9, ...], "grams": [...],
     "tables": [{"table": "d_items", "columns": ["itemid", "label"], "rows": 4014}, ...], "rows": [64224, ...]}
    CRC-32 of each block of 4,096 bytes of the first body, then of the second and the third, little-endian
    zeros up to a multiple of 4,096 bytes
    the arrays of `value_table`, with the sizes that "sections" says
    zeros up to a multiple of 4,096 bytes
    the arrays of `gram_table`, with the sizes that "grams" says
    zeros up to a multiple of 4,096 bytes, if there are rows
    of each reference table in "tables" its `reference_rows`: uint64[columns, rows], little-endian, of the size in "rows"

"bytes" and "sha256" are of the second line and the checksums behind it. Opening a file reads no more than these; the arrays
are mapped into memory, and each block is checked when it is first read. "holders" are the sets of columns that hold a value.
Their numbers are positions in "columns": names, not schema indices, so that a file outlives a schema change. "whole" are the
columns of which there is no other value, "forms" those of keys; where a file does not say, there are none.

Files of version 3, which end behind the second body, of version 2, which end behind the first, and of version 1
(`dictionary_json`) are read, too.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import Any

import numpy as np

from fastsql.errors import ModelError
from fastsql.linking.dictionary_json import read_json_dictionary
from fastsql.linking.gram_table import SECTIONS as GRAM_SECTIONS
from fastsql.linking.gram_table import GramTable
from fastsql.linking.mapped_file import BLOCK, MappedFile, block_checksums
from fastsql.linking.reference_rows import ReferenceRows
from fastsql.linking.value_index import Columns, ValueIndex
from fastsql.linking.value_table import REMEDY, SECTIONS, ValueTable, damaged

_FORMAT, _VERSION = "fastsql-values", 4
_READ = (1, 2, 3, _VERSION)
"""Versions that can be read."""
_HEADER_BYTES = 1024
_LARGEST_DIRECTORY = 1 << 28
_LARGEST = 1 << 32
_CHECKED_AT_ONCE = 1 << 20
"""Arrays of at most so many bytes are checked whole when the file is opened."""

ColumnName = tuple[str, str]
_Table = tuple[str, tuple[str, ...], int]
"""Name, columns and number of rows of a reference table."""


def write_dictionary(
    path: Path,
    names: Mapping[int, ColumnName],
    whole: Collection[int],
    index: ValueIndex,
    rows: Sequence[ReferenceRows],
    forms: Mapping[int, Sequence[str]],
) -> None:
    """Write the file beside its place and move it there, so that a reader never sees half of one.

    `names` are those of the columns that the others speak of, `whole` those of which the index has all values; `rows` are
    those of reference tables, `forms` those of keys. Raises ModelError when the file cannot be written.
    """
    places = {column: number for number, column in enumerate(names)}
    table, grams = index.table, index.grams
    table.expect_unchanged()
    for one in rows:
        one.expect_whole()
    reference = memoryview(b"".join(one.cells.astype("<u8").tobytes() for one in rows))
    directory = json.dumps(
        {
            "columns": list(names.values()),
            "whole": sorted(places[column] for column in whole),
            "forms": [[places[column], own] for column, own in forms.items()],
            "holders": [[places[column] for column in held] for held in index.holders],
            "sections": np.diff(table.bounds).tolist(),
            "grams": np.diff(grams.bounds).tolist(),
            "tables": [
                {"table": one.table, "columns": one.columns, "rows": one.cells.shape[1]} for one in rows
            ],
            "rows": [one.cells.nbytes for one in rows],
        },
        ensure_ascii=False,
        separators=(",", ":"),
    ).encode("utf-8", "surrogatepass")
    directory += b"\n"
    for body in (table.body, grams.body, reference):
        directory += block_checksums(body).astype("<u4").tobytes()
    header = {
        "format": _FORMAT,
        "version": _VERSION,
        "bytes": len(directory),
        "sha256": hashlib.sha256(directory).hexdigest(),
    }
    head = json.dumps(header).encode() + b"\n" + directory
    try:
        # mkstemp makes the file readable by its owner only, and the move keeps that: these are cells of a database.
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=path.name, suffix=".part")
        temporary = Path(name)
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(head + b"\0" * (-len(head) % BLOCK))
                stream.write(table.body)
                stream.write(b"\0" * (-len(table.body) % BLOCK))
                stream.write(grams.body)
                if reference:
                    stream.write(b"\0" * (-len(grams.body) % BLOCK))
                    stream.write(reference)
                stream.flush()
                os.fsync(stream.fileno())
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise _failed("written", path, error) from error


@dataclass(frozen=True)
class StoredDictionary:
    """What a file holds: the names of its columns, those known whole, values, rows, and forms of keys.

    Columns are positions among the names.
    """

    names: list[ColumnName]
    whole: list[int]
    index: ValueIndex
    rows: list[ReferenceRows]
    forms: dict[int, tuple[str, ...]]


def open_dictionary(path: Path) -> StoredDictionary:
    """Open a file that `write_dictionary` wrote.

    Raises ModelError for a missing or damaged file. One that is damaged where nobody looks at once raises it when its values
    are read.
    """
    try:
        stream = path.open("rb")
        try:
            header = _header(stream.readline(_HEADER_BYTES), path)
            if header["version"] == 1:
                with stream:
                    names, index = read_json_dictionary(stream, header, path)
                return StoredDictionary(names, [], index, [], {})
            return _open_mapped(stream, header, path)
        except BaseException:
            stream.close()
            raise
    except OSError as error:
        raise _failed("read", path, error) from error


def _open_mapped(stream: BufferedReader, header: dict[str, Any], path: Path) -> StoredDictionary:
    size = os.fstat(stream.fileno()).st_size
    begin = stream.tell()
    length = header.get("bytes")
    # Sizes are checked before anything of it is read.
    if not isinstance(length, int) or not 0 < length <= min(size - begin, _LARGEST_DIRECTORY):
        raise damaged(path, "it is shorter than its first line says")
    directory = stream.read(length)
    if len(directory) != length or hashlib.sha256(directory).hexdigest() != header.get("sha256"):
        raise damaged(path, "its checksum does not match")
    line, _, tail = directory.partition(b"\n")
    listed = _directory(line, header["version"], path)
    sizes = listed.sizes
    checksums = np.frombuffer(tail[: len(tail) // 4 * 4], dtype="<u4").astype(np.uint32)
    if len(sizes) > 2 and not sum(sizes[2]):
        sizes.pop()  # nothing stands where no table has a row
    bodies = []
    end, first = begin + length, 0
    for sections in sizes:
        start = -(-end // BLOCK) * BLOCK
        end, last = start + sum(sections), first - (-sum(sections) // BLOCK)
        if end > size or 4 * last > len(tail):
            raise damaged(
                path, "it is shorter than its directory says, or has not one checksum for each block"
            )
        bodies.append(MappedFile(stream, start, end, checksums[first:last], REMEDY))
        first = last
    if size != end or len(tail) != 4 * first:
        raise damaged(path, "it is longer than its directory says")
    for file in bodies:
        if len(file.body) <= _CHECKED_AT_ONCE:
            file.check(0, len(file.body))
    table, grams = ValueTable(bodies[0].body, _bounds(sizes[0]), bodies[0]), None
    if len(bodies) > 1:
        grams = GramTable(bodies[1].body, _bounds(sizes[1]), len(table), bodies[1])
    starts = _bounds([8 * len(columns) * count for _, columns, count in listed.tables])
    body = bodies[2] if len(bodies) > 2 else None
    rows = [_rows(one, start, body) for one, start in zip(listed.tables, starts, strict=False)]
    index = ValueIndex.of(table, listed.holders, grams, brought=grams is not None)
    return StoredDictionary(listed.names, listed.whole, index, rows, listed.forms)


def _bounds(sizes: Sequence[int]) -> list[int]:
    return [0, *np.cumsum(sizes).tolist()]


def _rows(table: _Table, start: int, body: MappedFile | None) -> ReferenceRows:
    name, columns, rows = table
    if body is None or not rows:
        return ReferenceRows(name, columns, np.zeros((len(columns), 0), dtype="<u8"))
    cells = np.frombuffer(body.body, dtype="<u8", count=len(columns) * rows, offset=start)
    return ReferenceRows(name, columns, cells.reshape(len(columns), rows), body, start)


@dataclass(frozen=True)
class _Directory:
    """The second line: what `StoredDictionary` has, sets of columns, and the sizes of the sections of each body."""

    names: list[ColumnName]
    whole: list[int]
    forms: dict[int, tuple[str, ...]]
    holders: list[Columns]
    tables: list[_Table]
    sizes: list[list[int]]


def _directory(line: bytes, version: int, path: Path) -> _Directory:
    kinds = ("sections", "grams", "rows")[: version - 1]
    try:
        data = json.loads(line.decode("utf-8", "surrogatepass"))
        names = [(str(table), str(column)) for table, column in data["columns"]]
        whole = [int(number) for number in data.get("whole", ())]
        forms = {int(number): tuple(map(str, own)) for number, own in data.get("forms", ())}
        holders = [tuple(int(number) for number in held) for held in data["holders"]]
        tables = [
            (str(one["table"]), tuple(map(str, one["columns"])), int(one["rows"]))
            for one in (data["tables"] if "rows" in kinds else ())
        ]
        sizes = [[int(size) for size in data[kind]] for kind in kinds]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError) as error:
        raise damaged(path, "its directory has another form") from error
    if any(not 0 <= number < len(names) for held in (whole, forms, *holders) for number in held):
        raise damaged(path, "a value is held by a column that it does not list")
    expected = (len(SECTIONS), len(GRAM_SECTIONS), len(tables))
    for count, found in zip(expected, sizes, strict=False):
        if len(found) != count or any(not 0 <= one <= _LARGEST for one in found):
            raise damaged(path, "its directory lists other sections")
    if any(
        rows < 0 or not columns or 8 * len(columns) * rows != size
        for (_, columns, rows), size in zip(tables, sizes[-1], strict=False)
    ):
        raise damaged(path, "its directory lists rows of another size")
    return _Directory(names, whole, forms, holders, tables, sizes)


def _header(line: bytes, path: Path) -> dict[str, Any]:
    try:
        header = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise damaged(path, "its first line is not that of a value dictionary") from error
    if not isinstance(header, dict) or header.get("format") != _FORMAT:
        raise damaged(path, "its first line is not that of a value dictionary")
    if header.get("version") not in _READ:
        version = header.get("version")
        raise ModelError(
            f"this is version {version!r} of the format, and this fastsql reads versions 1 to {_VERSION}",
            where=str(path),
            remedy=REMEDY,
        )
    return header


def _failed(what: str, path: Path, error: OSError) -> ModelError:
    return ModelError(
        f"the value dictionary cannot be {what} ({error.strerror})", where=str(path), remedy="Check the path."
    )
