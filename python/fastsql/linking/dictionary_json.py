"""The first version of a value dictionary's file: its second line is JSON, read whole.

    {"format": "fastsql-values", "version": 1, "bytes": 123, "sha256": "..."}
    {"columns": [["d_items", "label"], ...], "groups": [[[0, 3], ["heart rate", ...]], ...]}

A group is the values that the same columns hold; its numbers are positions in "columns". Such files are read, and no longer
written.
"""

from __future__ import annotations

import hashlib
import json
import os
from io import BufferedReader
from pathlib import Path
from typing import Any

from fastsql.linking.value_index import Columns, ValueIndex, is_sql_text
from fastsql.linking.value_table import damaged

_LARGEST = 1 << 30


def read_json_dictionary(
    stream: BufferedReader, header: dict[str, Any], path: Path
) -> tuple[list[tuple[str, str]], ValueIndex]:
    """Column names, and the index of the values, whose columns are positions among the names.

    `stream` stands behind the first line, which `header` is. Raises ModelError for a damaged file, OSError.
    """
    # The size is checked before anything of it is read.
    size = os.fstat(stream.fileno()).st_size - stream.tell()
    if size != header.get("bytes") or size > _LARGEST:
        raise damaged(path, "it is shorter or longer than its first line says")
    body = stream.read()
    if hashlib.sha256(body).hexdigest() != header.get("sha256"):
        raise damaged(path, "its checksum does not match")
    try:
        data = json.loads(body.decode("utf-8", "surrogatepass"))
        names = [(str(table), str(column)) for table, column in data["columns"]]
        groups = [([int(number) for number in held], list(map(str, group))) for held, group in data["groups"]]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise damaged(path, "its content has another form") from error
    if any(not 0 <= number < len(names) for held, _ in groups for number in held):
        raise damaged(path, "a group refers to a column that it does not list")
    values: dict[str, Columns] = {}
    for held, group in groups:
        values.update(dict.fromkeys(filter(is_sql_text, group), tuple(held)))
    return names, ValueIndex(values)
