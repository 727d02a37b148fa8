"""What depends on the schema alone, computed once and kept by the schema's fingerprint."""

from __future__ import annotations

import sqlite3
import stat
import threading
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from fastsql.engine import Encoded, Engine
from fastsql.errors import ExecutionError, SchemaError
from fastsql.forking import renew_in_child
from fastsql.limits import Limits
from fastsql.linking.lexicon import Lexicon, with_database_values
from fastsql.parser.checks import check_size
from fastsql.schema import Schema

if TYPE_CHECKING:
    from fastsql.linking.dictionary import ValueDictionary

T = TypeVar("T")

KEPT = 8
"""Schemas and dictionaries that are kept ready; the one used longest ago goes first."""


class Sources:
    """Schemas as the model sees them, and value dictionaries, by what they are read from. Thread-safe."""

    def __init__(self, engine: Engine, lexicon: Lexicon, limits: Limits) -> None:
        self._engine = engine
        self._lexicon = lexicon
        self._limits = limits
        self._dictionaries: OrderedDict[Any, ValueDictionary] = OrderedDict()
        self._read: OrderedDict[Any, Schema] = OrderedDict()
        self._dressed: OrderedDict[Any, Schema] = OrderedDict()
        self._states: OrderedDict[str, Encoded] = OrderedDict()
        self.renew_after_fork()
        renew_in_child(self)

    def renew_after_fork(self) -> None:
        """Let nobody wait for a thread of the other process. What has been read is as good as it was."""
        self.lock = threading.RLock()

    def schema(self, source: Any) -> Schema:
        """The schema that a source describes. Files are read again when they have changed, DDL text only once."""
        if isinstance(source, Schema):
            return source
        key = _stamp(source) if isinstance(source, (str, Path)) else None
        if key is None and _is_server(source):
            return self._of_server(source)
        if not isinstance(source, (str, Path)):
            return Schema.coerce(source, limits=self._limits)
        with self.lock:
            return _kept(self._read, key or source, lambda: Schema.coerce(source, limits=self._limits))

    def _of_server(self, source: Any) -> Schema:
        """Tables are looked at each time, as they may change behind one URL; their values are read once."""
        bare = Schema.from_sqlalchemy(source, max_values=0, limits=self._limits)
        with self.lock:
            key = (source, bare.fingerprint)
            return _kept(self._read, key, lambda: Schema.from_sqlalchemy(source, limits=self._limits))

    def ready(self, schema: Any, values: Any) -> tuple[Encoded, ValueDictionary | None]:
        """The schema's cached state, and the dictionary of its values.

        Raises SchemaError, LimitError, ExecutionError; TypeError for values that are no source of any.
        """
        plain = self.schema(schema)
        check_size(plain, self._limits)
        key = (plain.fingerprint, _origin(values))
        with self.lock:
            dressed = _kept(self._dressed, key, lambda: self._dress(plain, values))
            state = _kept(self._states, dressed.fingerprint, lambda: self._engine.encode_schema(dressed))
            if values is None:
                return state, None
            from fastsql.linking.dictionary import ValueDictionary  # for those who give values

            if isinstance(values, ValueDictionary):
                values.check(plain)
                return state, values
            return state, _kept(self._dictionaries, key, lambda: _read_dictionary(values, dressed))

    def _dress(self, schema: Schema, values: Any) -> Schema:
        """The schema with the small domains of the database and what the model knows of its columns."""
        if isinstance(values, (str, Path)) and _stamp(values) is not None:
            try:
                most = self._limits.values_per_column
                schema = with_database_values(schema, values, max_values=most, limits=self._limits)
            except SchemaError as error:
                raise ExecutionError(error.what, where=error.where, remedy=error.remedy) from error
        return self._lexicon.apply(schema, self._limits)


def _is_server(source: Any) -> bool:
    if isinstance(source, str):
        return "://" in source and "\n" not in source
    return hasattr(source, "dialect") and hasattr(source, "connect")


def _origin(values: Any) -> Any:
    """A key that changes when what values are read from is another thing, or a file that was written since."""
    if values is None:
        return None
    from fastsql.linking.dictionary import ValueDictionary  # for those who give values

    if isinstance(values, ValueDictionary):
        return None
    if isinstance(values, (str, Path)):
        return _stamp(values) or values
    if isinstance(values, sqlite3.Connection) or _is_server(values):
        return values
    raise TypeError(
        f"values are a ValueDictionary, or a database's path, URL or engine, not {type(values).__name__}"
    )


def _stamp(path: str | Path) -> tuple[str, int, int] | None:
    """Path, time of the last change and size of a file; None if there is none."""
    try:
        found = Path(path).stat()
    except (OSError, ValueError):  # nothing there, or text that is no path at all
        return None
    return (
        (str(Path(path).resolve()), found.st_mtime_ns, found.st_size) if stat.S_ISREG(found.st_mode) else None
    )


def _read_dictionary(values: Any, schema: Schema) -> ValueDictionary:
    from fastsql.linking.dictionary import ValueDictionary  # for those who give values

    try:
        return ValueDictionary.from_database(values, schema)
    except OSError as error:
        raise ExecutionError(
            f"the database cannot be read ({error.strerror})",
            where="values",
            remedy="Give a path, a URL or an engine.",
        ) from error


def _kept(store: OrderedDict[Any, T], key: Any, make: Callable[[], T]) -> T:
    """The stored value, made if need be; the least recently used one makes room."""
    if key in store:
        store.move_to_end(key)
        return store[key]
    value = make()
    store[key] = value
    if len(store) > KEPT:
        store.popitem(last=False)
    return value
