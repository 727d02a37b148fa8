"""Tables, columns and keys of a server as SQLAlchemy reflects them: those that are chosen and that the role may read."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fastsql.errors import DialectError, SchemaError
from fastsql.schema.ddl_items import describe
from fastsql.schema.dialects import canonical_dialect
from fastsql.schema.draft import Draft, DraftColumn, DraftKey, DraftTable
from fastsql.schema.names import is_reserved

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection, Engine
    from sqlalchemy.engine.reflection import Inspector

    from fastsql.schema.choice import Choice

_NAMED = 8
"""Tables that a warning names."""
_READABLE = """
SELECT c.relname, a.attname
FROM pg_catalog.pg_class AS c
JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
JOIN pg_catalog.pg_attribute AS a ON a.attrelid = c.oid
WHERE n.nspname = :namespace AND c.relkind IN ('r', 'v', 'm', 'p', 'f') AND a.attnum > 0 AND NOT a.attisdropped
  AND pg_catalog.has_schema_privilege(n.oid, 'USAGE') AND pg_catalog.has_column_privilege(c.oid, a.attnum, 'SELECT')
"""


def reflect(
    connection: Connection, engine: Engine, namespaces: tuple[str, ...] | None, choice: Choice
) -> Draft:
    """The draft of a server's tables; `namespaces` None is the connection's default one.

    Raises:
        SchemaError: a namespace is not there, or the role may read none of the tables.
    """
    import sqlalchemy

    inspector = sqlalchemy.inspect(connection)
    draft = Draft(engine.url.database or engine.dialect.name, _dialect(engine))
    if draft.dialect != engine.dialect.name and draft.dialect == "sqlite":
        draft.warnings.append(
            (f"dialect {engine.dialect.name!r}", "it is unknown; SQL is written as for SQLite")
        )
    default = inspector.default_schema_name or ""
    if namespaces is not None or draft.dialect == "postgres":
        draft.default_namespace = default
    for namespace in namespaces or ():
        _check_namespace(inspector, namespace)
    reader = _Reflection(connection, engine, inspector, draft, choice, default)
    for asked in namespaces if namespaces is not None else (None,):
        reader.read(asked)
    reader.say_what_is_unreadable()
    draft.left_out += [parent for parent in reader.parents if parent.namespace not in reader.holders]
    return draft


def _dialect(engine: Engine) -> str:
    try:
        return canonical_dialect(engine.dialect.name)
    except DialectError:
        return "sqlite"


def _check_namespace(inspector: Inspector, namespace: str) -> None:
    known = inspector.get_schema_names()
    if namespace not in known:
        raise SchemaError(
            "the database has no such namespace",
            where=f"namespace {namespace!r}",
            remedy=f"It has: {', '.join(known[:_NAMED])}{', ...' if len(known) > _NAMED else ''}.",
        )


@dataclass
class _Reflection:
    connection: Connection
    engine: Engine
    inspector: Inspector
    draft: Draft
    choice: Choice
    default: str

    def __post_init__(self) -> None:
        self.parents: list[DraftTable] = []
        """Tables that keys refer to."""
        self.holders: set[str] = set()
        """Namespaces that were read."""
        self._unreadable: list[str] = []
        self._unreflected: list[str] = []

    def read(self, namespace: str | None) -> None:
        """Read the chosen tables and views of a namespace."""
        holder = namespace or (self.default if self.draft.dialect == "postgres" else "")
        self.holders.add(holder)
        readable = self._readable(namespace or self.default)
        for name, view in self._names(namespace):
            table = DraftTable(self._real(name), namespace=holder)
            if self.draft.dialect == "sqlite" and is_reserved(name):
                continue
            if not self.choice.wants(table.name, holder, view=view):
                if not view:
                    self.draft.left_out.append(table)
            elif readable is not None and name not in readable:
                self._leave_out(table, self._unreadable)
            else:
                self._table(table, name, namespace, None if readable is None else readable[name])

    def say_what_is_unreadable(self) -> None:
        """Warn of what was left out. Raises SchemaError where that is all."""
        for names, why in (
            (self._unreadable, "the role may not read them; they are left out"),
            (self._unreflected, "the server refused to describe or read them; they are left out"),
        ):
            if names and not self.draft.tables:
                raise SchemaError(
                    f"{why.partition(';')[0]}, and there are no others",
                    where=_listed(names),
                    remedy="Grant the role SELECT on the tables, and USAGE on their namespace.",
                )
            if names:
                self.draft.warnings.append((_listed(names), why))

    def _names(self, namespace: str | None) -> list[tuple[str, bool]]:
        """Names of tables and views, and whether each is a view."""
        names = [(name, False) for name in self.inspector.get_table_names(schema=namespace)]
        if self.choice.views:
            names += [(name, True) for name in self.inspector.get_view_names(schema=namespace)]
            with suppress(NotImplementedError):
                found = self.inspector.get_materialized_view_names(schema=namespace)
                names += [(name, True) for name in found]
        return list(dict.fromkeys(names))

    def _readable(self, namespace: str) -> dict[str, set[str]] | None:
        """The columns that the role may read, by table; None where the server does not tell beforehand."""
        import sqlalchemy

        if self.draft.dialect != "postgres" or self.engine.dialect.name != "postgresql":
            return None
        found: dict[str, set[str]] = {}
        for table, column in self.connection.execute(sqlalchemy.text(_READABLE), {"namespace": namespace}):
            found.setdefault(table, set()).add(column)
        return found

    def _table(self, table: DraftTable, name: str, namespace: str | None, readable: set[str] | None) -> None:
        import sqlalchemy

        try:
            columns = self.inspector.get_columns(name, schema=namespace)
            primary = self.inspector.get_pk_constraint(name, schema=namespace)["constrained_columns"]
            keys = self.inspector.get_foreign_keys(name, schema=namespace)
            comment = self._comment(name, namespace)
            if readable is None and self.draft.dialect != "sqlite":
                self._probe(name, namespace)
        except sqlalchemy.exc.SQLAlchemyError as error:
            if getattr(error, "connection_invalidated", False):
                raise
            self.connection.rollback()
            self._leave_out(table, self._unreflected)
            return
        if comment:
            describe(table, comment)
        hidden = [
            found["name"] for found in columns if readable is not None and found["name"] not in readable
        ]
        if hidden:
            listed = ", ".join(f"{self.draft.shown(table)}.{column}" for column in hidden[:_NAMED])
            what = f"columns {listed}{', ...' if len(hidden) > _NAMED else ''}"
            self.draft.warnings.append((what, "the role may not read them; they are left out"))
        table.columns = [self._column(found) for found in columns if found["name"] not in hidden]
        gone = set(hidden)
        table.primary_key = [] if gone & set(primary) else [self._real(column) for column in primary]
        self.draft.tables.append(table)
        for key in keys:
            if not gone & set(key["constrained_columns"]):
                self._key(table, key, namespace)

    def _key(self, table: DraftTable, found: Any, namespace: str | None) -> None:
        held = found["referred_schema"] or (table.namespace if namespace is None else self.default)
        parent = DraftTable(self._real(found["referred_table"]), namespace=held if table.namespace else "")
        key = DraftKey(
            table.full_name,
            [self._real(column) for column in found["constrained_columns"]],
            parent.full_name,
            [self._real(column) for column in found["referred_columns"]],
        )
        self.draft.foreign_keys.append(key)
        self.parents.append(parent)

    def _leave_out(self, table: DraftTable, why: list[str]) -> None:
        why.append(self.draft.shown(table))
        self.draft.left_out.append(table)

    def _probe(self, name: str, namespace: str | None) -> None:
        """Ask for no row of a table, which a role that may not read it is refused. Raises SQLAlchemyError."""
        import sqlalchemy

        table = sqlalchemy.table(name, schema=namespace)
        nothing = sqlalchemy.select(sqlalchemy.literal(1)).select_from(table).where(sqlalchemy.false())
        self.connection.execute(nothing).close()

    def _comment(self, name: str, namespace: str | None) -> str:
        try:
            return self.inspector.get_table_comment(name, schema=namespace)["text"] or ""
        except NotImplementedError:
            return ""  # SQLite and some others have no comments

    def _real(self, name: str) -> str:
        """Undo SQLAlchemy's lower-casing of names that Oracle and its kin hold in upper case.

        Our SQL quotes names, so they must be those that the server holds.
        """
        if not self.engine.dialect.requires_name_normalize:
            return name
        return str(self.engine.dialect.denormalize_name(name))

    def _column(self, found: Any) -> DraftColumn:
        from sqlalchemy.exc import CompileError
        from sqlalchemy.types import NullType

        kind = found["type"]
        try:
            declared = "" if isinstance(kind, NullType) else str(kind.compile(dialect=self.engine.dialect))
        except CompileError:
            declared = type(kind).__name__
        column = DraftColumn(self._real(found["name"]), sql_type=declared)
        if values := getattr(kind, "enums", None):
            column.type, column.values = "text", list(values)
        if comment := found.get("comment"):
            describe(column, comment)
        return column


def _listed(names: list[str]) -> str:
    listed = ", ".join(names[:_NAMED])
    more = len(names) - _NAMED
    return f"tables {listed}{f' and {more:,} more' if more > 0 else ''}"
