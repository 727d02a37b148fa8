"""What tables are like as a whole: which columns name a row, and which tables are terminologies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fastsql.profile.kind_words import FIRST_NAMES, LAST_NAMES, LOOKUP_PREFIXES, LOOKUPS, PERSONS
from fastsql.profile.model import Kind
from fastsql.schema.model import ForeignKey, Structure
from fastsql.schema.names import label_from_name

_MOST_COLUMNS = 10
"""Columns of a terminology: a table of more says things of its rows."""
_PLAIN_NAMES = ("name", "title", "label", "display", "名称", "姓名")
_LONGER = ("long", "full", "display", "long title", "full name")


@dataclass(frozen=True)
class Shapes:
    """A schema with what is known of its columns; `keys` are foreign keys, declared and likely."""

    schema: Structure
    labels: Sequence[str]
    table_labels: Sequence[str]
    kinds: Sequence[Kind]
    keys: Sequence[ForeignKey]

    def row(self, table: int) -> tuple[int, ...]:
        """The columns by which a row is told from others in an answer: a person's names, a name, else a key."""
        columns = self.schema.tables[table].columns
        first = self._called(columns, FIRST_NAMES)
        last = self._called(columns, LAST_NAMES)
        if first is not None and last is not None:
            return first, last
        named = sorted(
            (self._distance(table, column), column) for column in columns if self.kinds[column] == "name"
        )
        if named and named[0][0] < _FAR:
            return (named[0][1],)
        referred = [column for key in self.keys for column in key.references if column in columns]
        if referred:
            return (max(columns, key=lambda column: (referred.count(column), -column)),)
        return tuple(self.schema.tables[table].primary_key)

    def is_reference(self, table: int) -> bool:
        """Whether a table is a list of codes with their titles, which others refer to, and speaks of no person."""
        one = self.schema.tables[table]
        kinds = [self.kinds[column] for column in one.columns]
        parents = {
            self.schema.columns[key.references[0]].table for key in self.keys if key.columns[0] in one.columns
        }
        if parents - {table} or len(kinds) > _MOST_COLUMNS or "date" in kinds or "amount" in kinds:
            return False
        labelled = {word for column in one.columns for word in self.labels[column].split()[-2:]}
        if self._is_person(table, labelled):
            return False
        name = label_from_name(one.name).split() or [""]
        listed = name[0] in LOOKUP_PREFIXES or bool(LOOKUPS & {*name, *self.table_labels[table].split()})
        coded = any(self.kinds[column] in ("code", "identifier") for column in one.columns)
        titled = any(kind in ("name", "text") for kind in kinds)
        referred = any(self.schema.columns[key.references[0]].table == table for key in self.keys)
        has_code = any(
            self.kinds[column] == "code" and self.schema.columns[column].type == "text"
            for column in one.columns
        )
        return coded and titled and ((referred and (has_code or listed)) or (listed and has_code))

    def _is_person(self, table: int, labelled: set[str]) -> bool:
        words = {*self.table_labels[table].split(), *label_from_name(self.schema.tables[table].name).split()}
        return bool(
            words & PERSONS or labelled & {"birth", "dob", "surname", "gender", "sex", "email", "姓名"}
        ) or any(
            self._called(self.schema.tables[table].columns, names) is not None
            for names in (FIRST_NAMES, LAST_NAMES)
        )

    def _called(self, columns: Sequence[int], names: Sequence[str]) -> int | None:
        return next((column for name in names for column in columns if self.labels[column] == name), None)

    def _distance(self, table: int, column: int) -> int:
        """How far a name of a column is from naming the table's rows: 0 is "name", or "patient name" of patients."""
        label = self.labels[column]
        if label in _PLAIN_NAMES:
            return 0
        words, own = label.split(), {word.rstrip("s") for word in self.table_labels[table].split()}
        if words[-1] not in _PLAIN_NAMES and not label.endswith(_PLAIN_NAMES[-2:]):
            return _FAR
        rest = {word.rstrip("s") for word in words[:-1]}
        if rest <= own:
            return 0
        return 1 if label.rpartition(" ")[0] in _LONGER else 2 if not rest & PERSONS else _FAR


_FAR = 9
"""The distance of a column that names something else."""
