"""Of whom a row is: the columns by whose distinct values patients are counted, and the tables that name nobody.

What cannot be told is closed: a table of which nobody knows whose its rows are lists no value.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from fastsql.profile.kind_words import IDENTIFIERS, PERSONS
from fastsql.profile.reading import named_column
from fastsql.profile.shapes import is_called_persons

if TYPE_CHECKING:
    from fastsql.profile.model import Profile
    from fastsql.schema.model import Structure

_NUMBERS = IDENTIFIERS | {"row", "number", "no", "num"}
"""Words that say of a key that it is one, and not of what."""
_OF_PATIENTS = PERSONS | {"mrn"}


@dataclass(frozen=True)
class Holders:
    """A schema whose profile says kinds, likely keys and terminologies; `all_keys`: whether all keys were looked for."""

    schema: Structure
    profile: Profile
    all_keys: bool = True

    def of(self, table: int) -> tuple[int, ...]:
        """Every column that tells whose a row is: keys to what is no terminology, and identifiers that are no key of it."""
        return tuple(column for column in self.schema.tables[table].columns if self._holds(column))

    def are_known(self, table: int) -> bool:
        """Whether values of a table may be counted: rows of persons and of terminologies may without any holder."""
        if self.is_terminology(table) or is_called_persons(self._names(table)):
            return True
        if self._is_beyond(table):
            return False
        if not self.all_keys:
            return any(column in self._declared for column in self.of(table))
        return any(self._parents[column] or not self._numbers_rows(column) for column in self.of(table))

    def is_terminology(self, table: int) -> bool:
        """Whether a name, a file or the schema says so."""
        return self.profile.tables[table].reference or self.schema.tables[table].reference

    def _is_beyond(self, table: int) -> bool:
        """Whether persons are told only by way of other tables, as of results that name a stay: stays would be counted."""
        for column in self.of(table):
            if not self._parents[column] and _OF_PATIENTS & {*self._words(column)}:
                return False
        new = self._named_by(table)
        if any(is_called_persons(self._names(parent)) for parent in new):
            return False
        reached: set[int] = set()
        while new:
            reached |= new
            new = {parent for one in new for parent in self._named_by(one)} - reached
        return any(is_called_persons(self._names(parent)) for parent in reached)

    def _named_by(self, table: int) -> set[int]:
        """Tables, no terminologies, that rows of a table name by keys."""
        found = {parent for column in self.schema.tables[table].columns for parent in self._parents[column]}
        return {parent for parent in found - {table} if not self.is_terminology(parent)}

    def _words(self, column: int) -> list[str]:
        return self.profile.columns[column].words.lower().split()

    def _holds(self, column: int) -> bool:
        table, parents = self.schema.columns[column].table, self._parents[column]
        if any(parent != table and not self.is_terminology(parent) for parent in parents):
            return True
        if column in self.schema.unique_columns or self.profile.columns[column].kind != "identifier":
            return False
        # That a patient's number is among the keys of a terminology, or of its own table, is chance unless declared.
        return not parents or (column not in self._declared and bool(_OF_PATIENTS & {*self._words(column)}))

    def _numbers_rows(self, column: int) -> bool:
        """Whether an identifier is of the table itself, as `visit_id` and `row_id` are of visits, and so of nobody."""
        called = [word for word in self._words(column) if word not in _NUMBERS]
        bare = [word.rstrip("s") for word in called]
        for name in self._names(self.schema.columns[column].table):
            own = [word.rstrip("s") for word in name.lower().split()]
            if bare == own[len(own) - len(bare) :] or own == bare[len(bare) - len(own) :]:
                return True
        return False

    def _names(self, table: int) -> tuple[str, ...]:
        said = self.profile.tables[table]
        names = (said.words, said.label, self.schema.tables[table].label)
        return tuple(filter(None, names))

    @cached_property
    def _declared(self) -> frozenset[int]:
        return frozenset(column for key in self.schema.foreign_keys for column in key.columns)

    @cached_property
    def _parents(self) -> defaultdict[int, set[int]]:
        """By column the tables that it refers to, as a key that is declared, or one that the profile says."""
        found: defaultdict[int, set[int]] = defaultdict(set)
        for key in self.schema.foreign_keys:
            for child, parent in zip(key.columns, key.references, strict=True):
                found[child].add(self.schema.columns[parent].table)
        for child, one in enumerate(self.profile.columns):
            if one.refers_to and (column := named_column(self.schema, one.refers_to)) is not None:
                found[child].add(self.schema.columns[column].table)
        return found
