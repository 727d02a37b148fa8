"""Schemas from DDL: CREATE TABLE with all that dumps put around it, in any dialect that sqlglot can tokenize."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fastsql.errors import LimitError, SchemaError
from fastsql.limits import DEFAULT, Limits
from fastsql.schema.assemble import assemble
from fastsql.schema.choice import ALL, Choice
from fastsql.schema.ddl_items import TableReader, describe, namespace_of
from fastsql.schema.ddl_statements import (
    ALTER_ACTIONS,
    TABLE_OPTIONS,
    begins_table,
    first_words,
    is_passed_over,
    opens_body,
    without_shell,
)
from fastsql.schema.ddl_tokens import (
    Piece,
    closing,
    guess_dialect,
    has_comments,
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

_REMEDY = "Give the CREATE TABLE statements of the database."


def schema_from_ddl(
    sql: str,
    dialect: str | None = None,
    *,
    name: str = "schema",
    choice: Choice = ALL,
    strict: bool = False,
    limits: Limits = DEFAULT,
) -> Structure:
    """See :meth:`Schema.from_ddl`.

    Statements that make no table, views among them, are passed over; what is not understood is told.
    """
    if len(sql) > limits.ddl_characters:
        remedy = "Leave out what is not DDL, such as INSERT statements."
        raise LimitError.exceeded(
            "ddl_characters", len(sql), limits.ddl_characters, where="DDL", remedy=remedy
        )
    dialect = guess_dialect(sql) if dialect is None else canonical_dialect(dialect)
    sql = without_shell(sql)
    reader = _DdlReader(Draft(name, dialect), case=_case(dialect), text=sql)
    for statement in statements(tokenize(sql, dialect)):
        reader.read(statement)
    reader.finish()
    if not reader.found:
        raise SchemaError(
            "there is no CREATE TABLE statement in it", where=f"DDL ({dialect})", remedy=_REMEDY
        )
    return assemble(reader.draft, strict=strict, limits=limits, choice=choice)


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
    text: str = ""
    found: bool = False
    in_body: bool = False
    domains: dict[str, tuple[str, list[Value]]] = field(default_factory=dict)
    strange: dict[str, list[int]] = field(default_factory=dict)
    """Lines of statements that were not understood, by their first words."""

    def read(self, statement: list[Piece]) -> None:
        if not statement or (self.in_body and not begins_table(statement[0])):
            return
        self.in_body = opens_body(statement)
        words = [piece.word for piece in statement[:8]]
        if words[:1] == ["CREATE"] and "TABLE" in words[1:5]:
            self._create_table(statement, words.index("TABLE") + 1)
        elif words[:2] in (["CREATE", "TYPE"], ["CREATE", "DOMAIN"]):
            self._create_type(statement)
        elif words[:2] == ["ALTER", "TABLE"]:
            self._alter_table(statement)
        elif words[:2] == ["COMMENT", "ON"] and len(statement) > 3:
            self._comment(statement)
        elif not is_passed_over(statement):
            self.strange.setdefault(first_words(statement), []).append(self._line(statement[0]))

    def finish(self) -> None:
        """Say what was not understood, and lead keys to the tables that they mean."""
        for words, lines in self.strange.items():
            more = f", and so are {len(lines) - 1:,} more that begin so" if len(lines) > 1 else ""
            what = f"the statement is not understood; it is left out{more}"
            self.draft.warnings.append((f"line {lines[0]:,}, {words}", what))
        names = {fold(table.full_name) for table in self.draft.tables}
        for key in self.draft.foreign_keys:
            namespace, bare = key.table.rpartition(".")[0], key.parent.rpartition(".")[2]
            if namespace and fold(f"{namespace}.{key.parent}") in names:
                key.parent = f"{namespace}.{key.parent}"
            elif fold(key.parent) not in names and fold(bare) in names:
                key.parent = bare  # a dump names the database that it was made of

    def _line(self, piece: Piece) -> int:
        return self.text.count("\n", 0, piece.start) + 1

    def _warn(self, item: str, what: str, piece: Piece) -> None:
        self.draft.warnings.append((item, f"{what} (line {self._line(piece):,})"))

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
            self._warn("CREATE TABLE", "the table has no name; it is left out", pieces[0])
            return
        table = DraftTable(self.rename(parts[-1]), label=label_from_name(parts[-1].text))
        table.namespace = namespace_of(parts, self.rename)
        item = f"table {table.name!r}"
        if not is_symbol(pieces, index, "("):
            self._warn(item, "it has no list of columns; it is left out", pieces[0])
            return
        end = closing(pieces, index)
        if end is None:
            raise SchemaError(
                f"its list of columns is not closed (line {self._line(pieces[0]):,})",
                where=item,
                remedy=_REMEDY,
            )
        reader = TableReader(table, self.rename, self.domains)
        for one in split_list(pieces[index + 1 : end]):
            if not reader.read(one):
                self._warn(item, "an item of its list of columns is not understood; it is left out", one[0])
        self._table_options(reader, pieces[end + 1 :])
        if has_comments(self.text):
            from fastsql.schema.sql_comments import describe_by_comments

            describe_by_comments(table, self.text, pieces, index)
        strange = _strange_option(pieces[end + 1 :])
        if strange is not None:
            self._warn(item, "what follows its columns is not understood; it is left out", strange)
        self.draft.tables.append(table)
        self.draft.foreign_keys.extend(reader.keys)

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
        table = self._table(parts) if parts else None
        if not parts or index >= len(pieces):
            self._warn("ALTER TABLE", "the statement is not complete; it is left out", pieces[0])
            return
        if table is None:
            item = f"table {self.rename(parts[-1])!r}"
            self.draft.warnings.append((item, "ALTER TABLE comes without its CREATE TABLE; it is ignored"))
            return
        reader = TableReader(table, self.rename, self.domains)
        actions = split_list(pieces[index:])
        first = actions[0] if actions else None
        for action in actions:
            words = [piece.word for piece in action]
            # T-SQL writes WITH CHECK ADD CONSTRAINT.
            start = words.index("ADD") + 1 if "ADD" in words[:3] else 0
            if start:
                start += words[start : start + 1] == ["COLUMN"]
                added = action[start:]
                end = closing(added, 0) if is_symbol(added, 0, "(") else None
                definitions = split_list(added if end is None else added[1:end])
                understood = [reader.read(definition) for definition in definitions]
                if not understood or not all(understood):
                    what = "what ALTER TABLE adds is not understood; it is left out"
                    self._warn(f"table {table.name!r}", what, action[0])
            elif words[:1] in (["RENAME"], ["DROP"]) and "CONSTRAINT" not in words[:2]:
                self.draft.warnings.append(
                    (f"table {table.name!r}", f"ALTER TABLE ... {words[0]} is not supported")
                )
            elif action is first and words[0] not in ALTER_ACTIONS:
                what = "what ALTER TABLE does is not understood; it is left out"
                self._warn(f"table {table.name!r}", what, action[0])
        self.draft.foreign_keys.extend(reader.keys)

    def _table(self, parts: list[Piece]) -> DraftTable | None:
        """The table of a dotted name; without a namespace it may be of any, as a script may have set one."""
        name, namespace = fold(self.rename(parts[-1])), fold(namespace_of(parts, self.rename))
        found = [table for table in self.draft.tables if fold(table.name) == name]
        return next((table for table in found if fold(table.namespace) == namespace), None) or (
            found[0] if found and len(parts) == 1 else None
        )

    def _comment(self, pieces: list[Piece]) -> None:
        """COMMENT ON TABLE t IS '...' and COMMENT ON COLUMN t.c IS '...'."""
        parts, index = self._dotted(pieces, 3)
        kind = pieces[2].word if len(pieces) > 2 else ""
        if kind in ("TABLE", "COLUMN") and (not parts or index + 1 >= len(pieces)):
            self._warn(f"COMMENT ON {kind}", "the statement is not complete; it is left out", pieces[0])
        if not parts or index + 1 >= len(pieces) or pieces[index + 1].kind != "string":
            return
        comment = pieces[index + 1].text
        if kind == "TABLE" and (table := self._table(parts)):
            describe(table, comment)
        elif kind == "COLUMN" and len(parts) > 1 and (table := self._table(parts[:-1])):
            name = fold(self.rename(parts[-1]))
            for column in table.columns:
                if fold(column.name) == name:
                    describe(column, comment)


def _strange_option(pieces: list[Piece]) -> Piece | None:
    """The first of the pieces behind the columns of a table that can be no option of it; None where all can."""
    depth = 0
    for place, piece in enumerate(pieces):
        if piece.kind == "symbol":
            depth += {"(": 1, ")": -1}.get(piece.text, 0)
        if depth < 0 or (place and depth == 0 and piece.word == "CREATE"):
            return piece
        # ENGINE = InnoDB nonsense
        if (
            depth == 0
            and piece.word
            and is_symbol(pieces, place - 2, "=")
            and piece.word not in TABLE_OPTIONS
        ):
            return piece
    if not pieces or pieces[0].word in TABLE_OPTIONS or is_passed_over(pieces):
        return None
    return pieces[0]
