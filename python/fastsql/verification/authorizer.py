"""What SQLite may do on a connection: read tables, by the schema where there is one, and call harmless functions.

SQLite asks the authorizer while it compiles a statement, once for each table, column and function, with names resolved.
What it says of views is not enough by itself: it gives the name of the view that a table is read in, but a common table
expression of that name would do as well, and it reports the table under a view as read by itself where no column of it is.
So for a schema with views, what each of them reads is recorded beforehand, and the text may neither name that nor redefine
a view.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from hashlib import sha256

from fastsql.errors import ExecutionError
from fastsql.schema.names import fold, quote
from fastsql.verification.allowed import words
from fastsql.verification.readable import Readable
from fastsql.verification.trim import define_trims

LONGEST_VALUE = 1_000_000
"""Bytes of one value. A clinical note is shorter; what one instruction makes of one value takes less than seconds."""
_SQLITE_LIMITS = {0: LONGEST_VALUE, 1: 1_000_000, 7: 0, 8: 500, 11: 0}
"""By SQLite's own numbers: bytes of a value (SQLITE_LIMIT_LENGTH), of a statement, attached files, bytes of a LIKE or GLOB
pattern (each byte of the value may be compared with each of the pattern), threads that help with sorting."""
_FUNCTIONS = words(
    """
    abs avg ceil ceiling char coalesce concat concat_ws count cume_dist date datetime degrees dense_rank exp first_value
    floor glob group_concat hex ifnull iif instr julianday lag last_value lead length like likelihood likely ln log
    log10 log2 lower ltrim max median min mod nth_value ntile nullif octet_length percent_rank pi pow power
    quote radians random rank replace round row_number rtrim sign soundex sqrt strftime string_agg substr substring sum time
    timediff total trim trunc typeof unhex unicode unixepoch unlikely upper
    acos acosh asin asinh atan atan2 atanh cos cosh sin sinh tan tanh
    json json_array json_array_length json_extract json_object json_quote json_type json_valid -> ->>
    current_date current_time current_timestamp
    """
)
"""Functions of SQLite that compute from their arguments alone. `match`, `load_extension` and all others are refused, and so
is `printf`, which writes as many characters as one number says, however few may come of it."""
_SYSTEM = ("sqlite_", "pragma_")
_MAKING = frozenset(
    {sqlite3.SQLITE_CREATE_TEMP_TABLE, sqlite3.SQLITE_INSERT, sqlite3.SQLITE_UPDATE, sqlite3.SQLITE_READ}
)
"""What making and filling a temporary table asks for, SQLite's own list of such tables included."""
_COLLATED = "SELECT 1 FROM {}.sqlite_master WHERE sql LIKE '%collate%' LIMIT 1"
_SHAPE = "SELECT type, name, tbl_name, sql FROM {}.sqlite_master ORDER BY 1, 2, 3"
_ITEMS = "SELECT name, type FROM {}.sqlite_master WHERE type IN ('table', 'view')"
_Read = tuple[str, str, str, str]
"""(table, column, view that it is read in, attached database or "" for the main one), folded."""

_TOKEN = re.compile(
    r"""--[^\n]*|/\*.*?(?:\*/|\Z)|[ \t\n\f\r\ufeff]+
    |(?P<quoted>"(?:[^"]|"")*"|`(?:[^`]|``)*`|'(?:[^']|'')*'|\[[^\]]*\])
    |(?P<bare>[A-Za-z_\x80-\U0010ffff][A-Za-z0-9_$\x80-\U0010ffff]*)
    |(?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)


class Authorizer:
    """Says what statements on one connection may read and call.

    Args:
        readable: the tables and columns that may be read; None for all but SQLite's own.
        attached: names of attached databases that may be read, too.
    """

    def __init__(self, readable: Readable | None = None, attached: Iterable[str] = ()) -> None:
        self._readable = readable
        self._attached = frozenset(map(fold, attached))
        self._known: frozenset[str] = frozenset()
        self._in_views: frozenset[_Read] = frozenset()
        self._views: frozenset[str] = frozenset()
        self._hidden: frozenset[str] = frozenset()
        self._recorded: set[_Read] | None = None
        self._version: object = None
        self._temporary: frozenset[str] = frozenset()

    def guard(self, connection: sqlite3.Connection) -> None:
        """Refuse, on this connection, everything else from now on; size limits come with it."""
        connection.set_authorizer(self._authorize)
        set_limit = getattr(connection, "setlimit", None)  # Python 3.11
        if set_limit is not None:
            for category, limit in _SQLITE_LIMITS.items():
                set_limit(category, limit)
        define_trims(connection)

    def learn(self, connection: sqlite3.Connection) -> None:
        """Look at the tables and views of the database, if it has others than when last looked at. Raises sqlite3.Error."""
        if self._readable is None:
            return
        connection.set_authorizer(_allow)  # Python 3.10 cannot unset it
        try:
            version = [
                connection.execute(f"PRAGMA {quote(name)}.schema_version").fetchone()
                for name in ("main", *sorted(self._attached))
            ]
            if version != self._version:
                self._learn(connection, self._readable)
                self._version = version
        finally:
            connection.set_authorizer(self._authorize)

    @contextmanager
    def making(self, connection: sqlite3.Connection, names: Iterable[str]) -> Iterator[None]:
        """For the block, temporary tables of these names may be made, too; after it they may be read.

        For an executor's own statements. Whatever else they read is refused as in any other. Raises sqlite3.Error.
        """
        temporary = frozenset(map(fold, names))
        made = (*temporary, "sqlite_temp_master", "sqlite_temp_schema")

        def authorize(
            action: int, first: str | None, second: str | None, database: str | None, view: str | None
        ) -> int:
            if action in _MAKING and database == "temp" and fold(first or "") in made:
                return sqlite3.SQLITE_OK
            return self._authorize(action, first, second, database, view)

        self._set_writable(connection, True)
        try:
            connection.set_authorizer(authorize)
            yield
            self._temporary = temporary
        finally:
            self._set_writable(connection, False)

    def has_collations(self, connection: sqlite3.Connection) -> bool:
        """Whether a column, or anything else, is declared with a collation. Raises sqlite3.Error."""
        return self._finds(connection, _COLLATED) != []

    def _finds(self, connection: sqlite3.Connection, query: str) -> list[tuple[object, ...]]:
        """The rows of a query of our own over each database's list of its tables."""
        connection.set_authorizer(_allow)
        try:
            return [
                row
                for name in ("main", *sorted(self._attached))
                for row in connection.execute(query.format(quote(name))).fetchall()
            ]
        finally:
            connection.set_authorizer(self._authorize)

    def _set_writable(self, connection: sqlite3.Connection, writable: bool) -> None:
        connection.set_authorizer(_allow)
        try:
            connection.execute(f"PRAGMA query_only = {'OFF' if writable else 'ON'}")
        finally:
            connection.set_authorizer(self._authorize)

    def shape(self, connection: sqlite3.Connection) -> str:
        """A digest of all that the database's schema says. Raises sqlite3.Error."""
        found = repr(self._finds(connection, _SHAPE))
        return sha256(found.encode("utf-8", "replace")).hexdigest()

    def check(self, sql: str) -> None:
        """Return if a text asks for rows, and neither redefines a view of the schema nor names what one reads.

        Raises:
            ExecutionError: it asks for a plan, of which SQLite says nothing to the authorizer; or it does such a thing.
        """
        first = next((text for text, _ in _tokens(sql) if text != ";"), "")
        if fold(first) == "explain":
            raise ExecutionError("asks for a plan", where="query", remedy="Give a SELECT statement.")
        if not self._views:
            return
        tokens = list(_tokens(sql))
        for place, (text, is_name) in enumerate(tokens):
            name = fold(text)
            if is_name and (
                (name in self._views and _defines(tokens, place))
                or (name in self._hidden and _is_source(tokens, place))
            ):
                raise ExecutionError(
                    "names what a view stands for", where="query", remedy="Read the schema's tables by name."
                )

    def _learn(self, connection: sqlite3.Connection, readable: Readable) -> None:
        kinds = {
            (namespace, fold(name)): kind
            for namespace in ("", *sorted(self._attached))
            for name, kind in connection.execute(_ITEMS.format(quote(namespace or "main"))).fetchall()
        }
        modules = connection.execute("SELECT name FROM pragma_module_list").fetchall()
        known = {name for namespace, name in kinds if not namespace}
        self._known = frozenset(known) | {fold(name) for (name,) in modules}
        views = [
            (namespace, name)
            for (namespace, name), kind in kinds.items()
            if kind == "view" and readable.has_table(name, namespace)
        ]
        self._recorded = set()
        connection.set_authorizer(self._record)
        try:
            for namespace, view in views:
                place = f"{quote(namespace or 'main')}.{quote(view)}"
                connection.execute(f"EXPLAIN SELECT * FROM {place}").close()  # noqa: S608 - quoted
        finally:
            self._in_views, self._recorded = frozenset(self._recorded), None
        beneath = {(table, namespace) for table, _, _, namespace in self._in_views}
        self._hidden = frozenset(name for name, place in beneath if not readable.has_table(name, place))
        self._views = frozenset(name for _, name in views) | {view for _, _, view, _ in self._in_views}

    def _record(
        self, action: int, table: str | None, column: str | None, database: str | None, view: str | None
    ) -> int:
        if action == sqlite3.SQLITE_READ and view is not None and self._recorded is not None:
            self._recorded.add((fold(table or ""), fold(column or ""), fold(view), _namespace(database)))
        return sqlite3.SQLITE_OK

    def _authorize(
        self, action: int, first: str | None, second: str | None, database: str | None, view: str | None
    ) -> int:
        if action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_RECURSIVE):
            return sqlite3.SQLITE_OK
        if action == sqlite3.SQLITE_READ:
            allowed = self._may_read(first or "", second or "", database, view)
        else:
            allowed = action == sqlite3.SQLITE_FUNCTION and (second or "").lower() in _FUNCTIONS
        return sqlite3.SQLITE_OK if allowed else sqlite3.SQLITE_DENY

    def _may_read(self, table: str, column: str, database: str | None, view: str | None) -> bool:
        namespace = _namespace(database)
        if namespace == "temp" and fold(table) in self._temporary:
            return True
        if fold(table).startswith(_SYSTEM) or (namespace and namespace not in self._attached):
            return False
        readable = self._readable
        if readable is None or readable.has_column(table, column, namespace):
            return True
        if view is not None and (fold(table), fold(column), fold(view), namespace) in self._in_views:
            return True
        if column:
            return False
        if namespace:
            return readable.has_table(table, namespace)
        # Without a column: what a common table expression is called, too, and what a view stands for. A text that
        # names the latter itself has been refused.
        name = fold(table)
        return readable.has_table(name) or name in self._hidden or name not in self._known


def _tokens(sql: str) -> Iterator[tuple[str, bool]]:
    """The tokens of a text, names without their quotes, and whether each may be a name."""
    for match in _TOKEN.finditer(sql):
        quoted, bare, other = match["quoted"], match["bare"], match["other"]
        if quoted is not None:
            inner = quoted[1:-1]
            yield (inner if quoted[0] == "[" else inner.replace(quoted[0] * 2, quoted[0])), True
        elif bare is not None:
            yield bare, True
        elif other is not None:
            yield other, False


def _defines(tokens: list[tuple[str, bool]], place: int) -> bool:
    """Whether a common table expression may be defined here: name, columns perhaps, AS, a parenthesis."""
    place += 1
    if tokens[place : place + 1] == [("(", False)]:
        while place < len(tokens) and tokens[place] != (")", False):
            place += 1
        place += 1
    following = [fold(text) for text, _ in tokens[place : place + 4]]
    if following[:1] != ["as"]:
        return False
    rest = [text for text in following[1:] if text not in ("not", "materialized")]
    return rest[:1] == ["("]


def _is_source(tokens: list[tuple[str, bool]], place: int) -> bool:
    """Whether a name may be that of a table here."""
    before = fold(tokens[place - 1][0]) if place else ""
    if before == ".":
        return place > 1 and fold(tokens[place - 2][0]) in ("main", "temp")
    return before in ("from", "join", "in", ",", "(")


def _namespace(database: str | None) -> str:
    """The name of an attached database, "temp" among them; "" for the main one, and for what is in none."""
    return "" if database in (None, "main") else fold(database or "")


def _allow(*_: object) -> int:
    return sqlite3.SQLITE_OK


def restrict(connection: sqlite3.Connection, attached: Iterable[str] = ()) -> None:
    """Refuse, on a connection, everything but reading tables and calling harmless functions."""
    Authorizer(attached=attached).guard(connection)


def error_name(error: Exception) -> str:
    """SQLite's name of an error, such as SQLITE_ERROR; Python's where it has none."""
    return str(getattr(error, "sqlite_errorname", None) or type(error).__name__)  # Python 3.11
