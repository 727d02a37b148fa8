"""Schemas from DDL: CREATE TABLE with all that dumps put around it, in any dialect that sqlglot can tokenize."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fastsql.errors import LimitError, SchemaError
from fastsql.limits import DEFAULT, Limits
from fastsql.schema.assemble import assemble
from fastsql.schema.ddl_items import TableReader, describe
from fastsql.schema.ddl_tokens import (
    Piece,
    closing,
    guess_dialect,
    is_symbol,
    joined,
    split_list,
    statements,
    tokenize,
)
from fastsql.schema.dialects import canonical_dialect
from fastsql.schema.draft import Draft, DraftTable
from fastsql.schema.names import fold, label_from_name

if TYPE_CHECKING:
    from fastsql.schema.model import Structure, Value

_DEFAULT_NAMESPACES = frozenset({"public", "dbo", "main"})
_REMEDY = "Give the CREATE TABLE statements of the database."


def schema_from_ddl(
    sql: str,
    dialect: str | None = None,
    *,
    name: str = "schema",
    strict: bool = False,
    limits: Limits = DEFAULT,
) -> Structure:
    """See :meth:`Schema.from_ddl`.

    Statements other than CREATE TABLE, ALTER TABLE and COMMENT, views among them, are passed over.
    """
    if len(sql) > limits.ddl_characters:
        remedy = "Leave out what is not DDL, such as INSERT statements."
        raise LimitError.exceeded(
            "ddl_characters", len(sql), limits.ddl_characters, where="DDL", remedy=remedy
        )
    dialect = guess_dialect(sql) if dialect is None else canonical_dialect(dialect)
    reader = _DdlReader(Draft(name, dialect), case=_case(dialect))
    for statement in statements(tokenize(sql, dialect)):
        reader.read(statement)
    if not reader.found:
        raise SchemaError(
            "there is no CREATE TABLE statement in it", where=f"DDL ({dialect})", remedy=_REMEDY
        )
    return assemble(reader.draft, strict=strict, limits=limits)


def _case(dialect: str) -> str:
    """What the dialect does to unquoted names.

    "LOWERCASE", "UPPERCASE", or another word where it leaves them.
    """
    from sqlglot.dialects.dialect import Dialect

    return str(Dialect.get_or_raise(dialect).normalization_strategy.value)


@dataclass
class _DdlReader:
    draft: Draft
    case: str
    found: bool = False
    domains: dict[str, tuple[str, list[Value]]] = field(default_factory=dict)
    namespaces: set[str] = field(default_factory=set)

    def read(self, statement: list[Piece]) -> None:
        words = [piece.word for piece in statement[:8]]
        if words[:1] == ["CREATE"] and "TABLE" in words[1:5]:
            self._create_table(statement, words.index("TABLE") + 1)
        elif words[:2] in (["CREATE", "TYPE"], ["CREATE", "DOMAIN"]):
            self._create_type(statement)
        elif words[:2] == ["ALTER", "TABLE"]:
            self._alter_table(statement)
        elif words[:2] == ["COMMENT", "ON"]:
            self._comment(statement)

    def rename(self, piece: Piece) -> str:
        if piece.kind == "word" and self.case == "LOWERCASE":
            return piece.text.lower()
        if piece.kind == "word" and self.case == "UPPERCASE":
            return piece.text.upper()
        return piece.text

    def _dotted(self, pieces: list[Piece], index: int) -> tuple[list[Piece], int]:
        """The parts of a dotted name at ``index``, after IF [NOT] EXISTS and ONLY, and the index after it."""
        while index < len(pieces) and pieces[index].word in ("IF", "NOT", "EXISTS", "ONLY"):
            index += 1
        parts: list[Piece] = []
        while index < len(pieces) and pieces[index].is_name:
            parts.append(pieces[index])
            if not is_symbol(pieces, index + 1, "."):
                return parts, index + 1
            index += 2
        return parts, index

    def _create_table(self, pieces: list[Piece], index: int) -> None:
        self.found = True
        parts, index = self._dotted(pieces, index)
        if not parts:
            self.draft.warnings.append(("CREATE TABLE", "the table has no name; it is left out"))
            return
        table = DraftTable(self.rename(parts[-1]), label=label_from_name(parts[-1].text))
        if len(parts) > 1:
            self._note_namespace(parts[-2])
        if not is_symbol(pieces, index, "("):
            self.draft.warnings.append((f"table {table.name!r}", "it has no list of columns; it is left out"))
            return
        end = closing(pieces, index)
        if end is None:
            raise SchemaError(
                "its list of columns is not closed", where=f"table {table.name!r}", remedy=_REMEDY
            )
        reader = TableReader(table, self.rename, self.domains)
        for item in split_list(pieces[index + 1 : end]):
            reader.read(item)
        self._table_options(reader, pieces[end + 1 :])
        self.draft.tables.append(table)
        self.draft.foreign_keys.extend(reader.keys)

    def _note_namespace(self, piece: Piece) -> None:
        name = self.rename(piece)
        if fold(name) not in _DEFAULT_NAMESPACES and name not in self.namespaces:
            self.namespaces.add(name)
            self.draft.warnings.append(
                (
                    f"namespace {name!r}",
                    "tables are written without it; make it the connection's default or search path",
                )
            )

    def _table_options(self, reader: TableReader, pieces: list[Piece]) -> None:
        for index, piece in enumerate(pieces):
            if piece.word == "COMMENT":
                comment = next(
                    (after.text for after in pieces[index + 1 : index + 3] if after.kind == "string"), ""
                )
                describe(reader.table, comment)
            elif piece.word == "PARTITIONED" and is_symbol(pieces, index + 2, "("):
                # Hive keeps the partition columns of a table apart, but queries see them as columns.
                end = closing(pieces, index + 2) or index + 3
                for item in split_list(pieces[index + 3 : end]):
                    if len(item) > 1 and item[1].is_name:
                        reader.read(item)
                break

    def _create_type(self, pieces: list[Piece]) -> None:
        parts, index = self._dotted(pieces, 2)
        rest = pieces[index:]
        if rest and rest[0].word == "AS":
            rest = rest[1:]
        if not parts or not rest:
            return
        if rest[0].word == "ENUM":
            values: list[Value] = [piece.text for piece in rest if piece.kind == "string"]
            self.domains[fold(parts[-1].text)] = ("text", values)
        elif pieces[1].word == "DOMAIN":
            end = next(
                (
                    i
                    for i, piece in enumerate(rest)
                    if piece.word in ("CHECK", "NOT", "DEFAULT", "CONSTRAINT")
                ),
                len(rest),
            )
            self.domains[fold(parts[-1].text)] = (joined(rest[:end]), [])

    def _alter_table(self, pieces: list[Piece]) -> None:
        parts, index = self._dotted(pieces, 2)
        table = self._table(parts[-1]) if parts else None
        if table is None:
            if parts:
                item = f"table {self.rename(parts[-1])!r}"
                self.draft.warnings.append(
                    (item, "ALTER TABLE comes without its CREATE TABLE; it is ignored")
                )
            return
        reader = TableReader(table, self.rename, self.domains)
        for action in split_list(pieces[index:]):
            words = [piece.word for piece in action]
            # T-SQL writes WITH CHECK ADD CONSTRAINT.
            start = words.index("ADD") + 1 if "ADD" in words[:3] else 0
            if start:
                start += words[start : start + 1] == ["COLUMN"]
                added = action[start:]
                end = closing(added, 0) if is_symbol(added, 0, "(") else None
                for definition in split_list(added if end is None else added[1:end]):
                    reader.read(definition)
            elif words[:1] in (["RENAME"], ["DROP"]) and "CONSTRAINT" not in words[:2]:
                self.draft.warnings.append(
                    (f"table {table.name!r}", f"ALTER TABLE ... {words[0]} is not supported")
                )
        self.draft.foreign_keys.extend(reader.keys)

    def _table(self, piece: Piece) -> DraftTable | None:
        name = fold(self.rename(piece))
        return next((table for table in self.draft.tables if fold(table.name) == name), None)

    def _comment(self, pieces: list[Piece]) -> None:
        """COMMENT ON TABLE t IS '...' and COMMENT ON COLUMN t.c IS '...'."""
        parts, index = self._dotted(pieces, 3)
        kind = pieces[2].word if len(pieces) > 2 else ""
        if not parts or index + 1 >= len(pieces) or pieces[index + 1].kind != "string":
            return
        comment = pieces[index + 1].text
        if kind == "TABLE" and (table := self._table(parts[-1])):
            describe(table, comment)
        elif kind == "COLUMN" and len(parts) > 1 and (table := self._table(parts[-2])):
            name = fold(self.rename(parts[-1]))
            for column in table.columns:
                if fold(column.name) == name:
                    describe(column, comment)
