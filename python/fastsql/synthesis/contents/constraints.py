"""NOT NULL and UNIQUE, which a schema does not keep, read from the DDL that it was read from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from fastsql.schema import Schema
from fastsql.schema.ddl_tokens import guess_dialect
from fastsql.schema.mapping import read_text
from fastsql.synthesis.contents.fillings import Constraints


def constraints_of(source: str, schema: Schema) -> Constraints:
    """Those of DDL, a text or a file of it; JSON has none. DDL that sqlglot cannot parse, of which a schema is read all the
    same, is `unread`.
    """
    suffix = Path(source).suffix.lower()
    if suffix == ".json":
        return Constraints()
    if suffix in (".sql", ".ddl"):
        source = read_text(source)
    try:
        statements = sqlglot.parse(source, dialect=guess_dialect(source))
    except SqlglotError:
        return Constraints(unread=True)
    required: set[int] = set()
    unique: list[tuple[int, ...]] = []
    for table, create in _tables(statements, schema):
        for column in create.find_all(exp.ColumnDef):
            index = schema.find_column(table, column.name)
            if index is None:
                continue
            kinds = [constraint.kind for constraint in column.args.get("constraints") or ()]
            if any(
                isinstance(kind, exp.NotNullColumnConstraint) and not kind.args.get("allow_null")
                for kind in kinds
            ):
                required.add(index)
            if any(isinstance(kind, exp.UniqueColumnConstraint) for kind in kinds):
                unique.append((index,))
        for constraint in create.find_all(exp.UniqueColumnConstraint):
            listed = constraint.this.expressions if isinstance(constraint.this, exp.Schema) else ()
            found = [schema.find_column(table, one.name) for one in listed]
            if found and None not in found:
                unique.append(tuple(index for index in found if index is not None))
    return Constraints(frozenset(required), tuple(dict.fromkeys(unique)))


def _tables(statements: Iterable[exp.Expr | None], schema: Schema) -> Iterator[tuple[str, exp.Create]]:
    for statement in statements:
        if isinstance(statement, exp.Create) and statement.kind == "TABLE":
            name = statement.find(exp.Table)
            index = None if name is None else schema.find_table(name.name)
            if index is not None:
                yield schema.table_name(index), statement
