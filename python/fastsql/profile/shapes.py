"""What tables are like as a whole: which columns name a row, and which tables are terminologies."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from fastsql.profile.kind_words import (
    EVENTS_OF_PERSONS,
    FIRST_NAMES,
    LAST_NAMES,
    LOOKUP_PREFIXES,
    LOOKUPS,
    OF_PERSONS,
    OF_PERSONS_CHINESE,
    PERSONS,
    PERSONS_CHINESE,
)
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
        """Whether a table is called a terminology, is a list of codes with their titles, and speaks of no person."""
        one = self.schema.tables[table]
        kinds = [self.kinds[column] for column in one.columns]
        parents = {
            self.schema.columns[key.references[0]].table for key in self.keys if key.columns[0] in one.columns
        }
        if parents - {table} or len(kinds) > _MOST_COLUMNS or "date" in kinds or "amount" in kinds:
            return False
        if self._is_person(table):
            return False
        name = label_from_name(one.name).split() or [""]
        if name[0] not in LOOKUP_PREFIXES and not LOOKUPS & {*name, *self.table_labels[table].split()}:
            return False  # codes with titles may be anybody's: only a name says what nobody's are
        coded = any(self.kinds[column] in ("code", "identifier") for column in one.columns)
        titled = any(kind in ("name", "text") for kind in kinds)
        referred = any(self.schema.columns[key.references[0]].table == table for key in self.keys)
        has_code = any(
            self.kinds[column] == "code" and self.schema.columns[column].type == "text"
            for column in one.columns
        )
        return coded and titled and (referred or has_code)

    def _is_person(self, table: int) -> bool:
        """Whether a name of a table or of its columns speaks of persons."""
        one = self.schema.tables[table]
        names = (self.table_labels[table], label_from_name(one.name))
        if any(PERSONS & {*name.split()} or any(word in name for word in PERSONS_CHINESE) for name in names):
            return True
        for column in one.columns:
            label = self.labels[column]
            if OF_PERSONS & {*label.split()[-2:]} or _bare(label).endswith(OF_PERSONS_CHINESE):
                return True
            if self.kinds[column] == "identifier" and PERSONS & {*label.split()}:
                return True
        return any(self._called(one.columns, names) is not None for names in (FIRST_NAMES, LAST_NAMES))

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


def is_called_persons(names: Iterable[str]) -> bool:
    """Whether a table is called so that each of its rows is a person: "hospital patients", not "patient visits"."""
    for name in names:
        words = name.lower().split()
        while words and words[-1] in _ABOUT:
            words.pop()
        if words and words[-1] in PERSONS - EVENTS_OF_PERSONS:
            return True
        if _ABOUT_CHINESE.sub("", name).endswith(PERSONS_CHINESE):
            return True
    return False


def _bare(label: str) -> str:
    """A label without what stands in brackets behind it."""
    return _BRACKETS.sub("", label).strip()


_ABOUT = ("info", "information", "master", "table", "demographics", "data")
_ABOUT_CHINESE = re.compile("(?:基本|主|个人)?(?:信息|资料|档案)?表?$")
_BRACKETS = re.compile(r"[(（\[【].*$")
_FAR = 9
"""The distance of a column that names something else."""
