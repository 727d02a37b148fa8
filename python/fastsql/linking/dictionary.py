"""The value dictionary: cell values by which a question's words are recognised, in memory or in a local file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastsql.errors import ExecutionError, SchemaError
from fastsql.limits import DEFAULT
from fastsql.linking.folding import keys, words
from fastsql.linking.identifiers import Identifiers
from fastsql.linking.near import Near, NearIndex
from fastsql.linking.reference_rows import ReferenceRows, of_schema
from fastsql.linking.value_index import STOP_WORDS, ValueIndex, ValueMatch, is_sql_text
from fastsql.linking.value_parts import EVERY, Said, find_parts
from fastsql.schema.pace import COLUMN_SECONDS, Pace, Progress, ReadingInterrupted

if TYPE_CHECKING:
    import sqlite3
    from types import ModuleType

    from sqlalchemy.engine import Engine

    from fastsql.linking.database_values import Origin, Reading
    from fastsql.schema import Schema, Value

ColumnName = tuple[str, str]
"""A table's name and a column's name."""

MAX_VALUES = 200_000
MAX_CHARACTERS = 200
SMALL = 20_000
"""Values whose index by letters is made on the way of a question, in some tenths of a second."""


class ValueDictionary:
    """Distinct values of text columns, made by `from_database`, `from_mapping` or `load`; immutable.

    It holds cells of a database, so it belongs where the database belongs: it is never part of a model bundle, and neither
    its `repr` nor any error shows a value. Columns are indices of the schema it was made for; `bound_to` moves it to another
    schema that has columns of the same names.
    """

    def __init__(
        self,
        values: Mapping[str, tuple[int, ...]],
        schema: Schema,
        skipped: Iterable[tuple[str, str, str]] = (),
        whole: Iterable[int] = (),
        rows: Iterable[ReferenceRows] = (),
        forms: Mapping[int, tuple[str, ...]] | None = None,
    ) -> None:
        """`values` maps each value to the columns that hold it, in ascending order. Most callers want a class method.

        Values that no SQL text can hold, with a NUL or half a surrogate pair, are left out.
        """
        used = {column for columns in set(values.values()) for column in columns}
        self.forms = dict(forms or {})
        """Of keys whose values are made alike, the forms of identifiers (`identifiers.forms_of`), by column."""
        self._names: dict[int, ColumnName] = {
            column: column_name(schema, column) for column in sorted(used.union(self.forms))
        }
        self._index = ValueIndex({value: held for value, held in values.items() if is_sql_text(value)})
        self._checked = schema
        self._origin: Origin | None = None
        self._stamps: Mapping[str, str] = {}
        self._rows = of_schema(rows, schema)
        self.skipped = tuple(skipped)
        """Columns that were left out, or of which there may be more values, as (table, column, why); of the rows of a
        reference table, (table, "*", why)."""
        self.whole = frozenset(whole).intersection(used)
        """Columns that have values, all of which are here: what is not, does not exist."""

    def __len__(self) -> int:
        return len(self._index)

    def __repr__(self) -> str:
        return f"<ValueDictionary {len(self):,} values, {len(self.columns)} columns>"

    def __iter__(self) -> Iterator[str]:
        """Every value, in no order that means anything. Raises ModelError where a file is damaged."""
        return (value for value, _ in self._index.items())

    @property
    def columns(self) -> tuple[int, ...]:
        """Indices of the columns that have a value here."""
        return tuple(sorted({column for held in self._index.holders for column in held}))

    @property
    def tables(self) -> tuple[int, ...]:
        """Indices of the reference tables whose rows are here."""
        return tuple(self._rows)

    def lacks_row(self, table: int, wanted: Iterable[tuple[int, Value]]) -> bool:
        """Whether no row of a reference table has these values in these columns; False where its rows are not here.

        What any database may take for equal counts as equal (`cell_number`). Raises ModelError where a file is damaged.
        """
        rows = self._rows.get(table)
        columns = self._checked.columns
        return rows is not None and rows.lack((columns[column].name, value) for column, value in wanted)

    @classmethod
    def from_database(
        cls,
        source: str | Path | sqlite3.Connection | Engine,
        schema: Schema,
        columns: Iterable[ColumnName] | None = None,
        *,
        max_values: int = MAX_VALUES,
        max_characters: int = MAX_CHARACTERS,
        column_seconds: float = COLUMN_SECONDS,
        max_cells: int = DEFAULT.reference_cells,
        progress: Progress | bool | None = None,
    ) -> ValueDictionary:
        """Read the distinct values of some columns, and the rows of the schema's reference tables, once.

        Of a server, what its statistics tell of a column and a sample of it come before the whole of it.

        Args:
            source: an SQLite file (opened read-only), an open SQLite connection, an SQLAlchemy engine or a URL.
            schema: the schema whose column indices the matches will have.
            columns: (table, column) pairs to read; None reads every text column that is no part of a key, and of text keys
                what identifiers look like (`forms`).
            max_values: a column of more distinct values is left out (see `skipped`): it holds identifiers or free text.
            max_characters: longer values are left out; nobody types them into a question.
            column_seconds: seconds that one column may take; of one that takes longer there are values of a sample, and
                `skipped` says so.
            max_cells: a reference table of more cells, rows times columns, has no rows here (see `skipped`).
            progress: called before each column with how many are done, how many there are, and "table.column"; False ends
                the reading, and what was read is returned. True shows a line on the standard error.

        Raises:
            ExecutionError: the database cannot be opened or read. SchemaError: a column is not in the schema.
            ReadingInterrupted: Ctrl-C; its `partial` is the dictionary of what was read.
        """
        from fastsql.linking.database_values import Origin

        chosen = text_columns(schema) if columns is None else [schema.column_index(*name) for name in columns]
        keys = text_keys(schema) if columns is None else ()
        origin = Origin(
            source,
            tuple(sorted(set(chosen))),
            max_values,
            max_characters,
            column_seconds,
            max_cells,
            tuple(keys),
        )
        return cls({}, schema)._reading(origin, schema, progress)

    def refresh(
        self,
        source: str | Path | sqlite3.Connection | Engine | None = None,
        *,
        progress: Progress | bool | None = None,
    ) -> ValueDictionary:
        """A dictionary of what the database holds now; this one where nothing has changed.

        PostgreSQL tells which tables were written since, and an SQLite file whether it was: only these are read again,
        and columns that could not be read to their end. Of other databases all columns are. Arguments are those of
        `from_database`; a dictionary that was not made there needs its `source`, and reads the columns that it has.

        Raises ExecutionError where there is no source, and what `from_database` raises.
        """
        from fastsql.linking.database_values import Origin, Reading

        schema, origin, earlier = self._checked, self._origin, None
        if origin is not None and (source is None or source == origin.source):
            values: dict[int, list[str]] = {}
            for value, columns in self._index.items():
                for column in columns:
                    values.setdefault(column, []).append(value)
            rows = tuple(self._rows.values())
            earlier = Reading(values, self.skipped, self._stamps, self.whole, rows, self.forms)
        elif source is None:
            raise ExecutionError(
                "it was not read from a database",
                where="value dictionary",
                remedy="Say which one: refresh(database).",
            )
        elif origin is not None:
            origin = replace(origin, source=source)
        else:
            origin = Origin(
                source, self.columns, MAX_VALUES, MAX_CHARACTERS, COLUMN_SECONDS, keys=tuple(self.forms)
            )
        return self._reading(origin, schema, progress, earlier)

    def _reading(
        self, origin: Origin, schema: Schema, progress: Progress | bool | None, earlier: Reading | None = None
    ) -> ValueDictionary:
        """The dictionary of what is read now; this one where that is what was read earlier."""
        from fastsql.linking.database_values import read_values

        pace = Pace(origin.column_seconds, progress)
        reading = read_values(origin, schema, pace, earlier)
        if reading.unchanged and earlier is not None:
            return self
        values: dict[str, tuple[int, ...]] = {}
        for column, texts in reading.values.items():
            alone = (column,)
            for value in texts:
                held = values.get(value)
                values[value] = alone if held is None else (*held, column)
        found = type(self)(values, schema, reading.skipped, reading.whole, reading.rows, reading.forms)
        found._origin, found._stamps = origin, reading.stamps
        if pace.interrupted:
            raise ReadingInterrupted(found)
        return found

    def __getstate__(self) -> dict[str, Any]:
        # What it was read from may be a connection, or bear a password.
        state = {**self.__dict__, "_origin": None, "_stamps": {}}
        state.pop("_near", None)
        state.pop("_whole_holders", None)
        state.pop("_identifiers", None)
        return state

    @classmethod
    def from_mapping(
        cls,
        mapping: Mapping[ColumnName, Iterable[str]],
        schema: Schema,
        *,
        max_characters: int = MAX_CHARACTERS,
        whole: bool = False,
    ) -> ValueDictionary:
        """A dictionary of given values, keyed by (table, column). `whole`: these are all that the columns have.

        Raises SchemaError for a column that is not there.
        """
        values: dict[str, set[int]] = {}
        longer: set[int] = set()
        for name, column_values in mapping.items():
            column = schema.column_index(*name)
            for value in column_values:
                if 0 < len(value) <= max_characters:
                    values.setdefault(value, set()).add(column)
                elif value:
                    longer.add(column)
        known = {column for columns in values.values() for column in columns} - longer if whole else ()
        return cls({value: tuple(sorted(columns)) for value, columns in values.items()}, schema, whole=known)

    @classmethod
    def load(cls, path: str | Path, schema: Schema) -> ValueDictionary:
        """Open a file that `save` wrote; what a question needs of it is read when it is asked.

        While the dictionary is in use, the file may be moved, deleted or saved anew, but not written into.
        Rows of tables that `schema` does not mark as reference tables are left out.
        Raises ModelError for a damaged file, SchemaError for a column `schema` lacks. Damage in a part of a large file is
        noticed when a question needs that part: `match` and `canonical` raise ModelError.
        """
        from fastsql.linking.dictionary_file import open_dictionary

        stored = open_dictionary(Path(path))
        held = {number for columns in stored.index.holders for number in columns}
        return cls._of(
            stored.index,
            {number: schema.column_index(*stored.names[number]) for number in held.union(stored.forms)},
            schema,
            whole=stored.whole,
            rows=stored.rows,
            forms=stored.forms,
        )

    def save(self, path: str | Path) -> None:
        """Write a local file, readable by its owner only; it replaces an older one whole or not at all.

        Raises ModelError when the file cannot be written.
        """
        from fastsql.linking.dictionary_file import write_dictionary

        rows = tuple(self._rows.values())
        write_dictionary(Path(path), self._names, self.whole, self._index, rows, self.forms)

    def bound_to(self, schema: Schema) -> ValueDictionary:
        """The same values for another schema's column indices. Raises SchemaError for a column that `schema` lacks."""
        moved = {column: schema.column_index(*name) for column, name in self._names.items()}
        return self._of(self._index, moved, schema, self.skipped, self.whole, self._rows.values(), self.forms)

    @classmethod
    def _of(
        cls,
        index: ValueIndex,
        moved: Mapping[int, int],
        schema: Schema,
        skipped: Iterable[tuple[str, str, str]] = (),
        whole: Iterable[int] = (),
        rows: Iterable[ReferenceRows] = (),
        forms: Mapping[int, tuple[str, ...]] | None = None,
    ) -> ValueDictionary:
        """The values of an index, whose columns are moved to those of a schema; `whole` and `forms` are of its columns."""
        moved_forms = {moved[column]: own for column, own in (forms or {}).items()}
        dictionary = cls({}, schema, skipped, rows=rows, forms=moved_forms)
        holders = [tuple(sorted(moved[column] for column in held)) for held in index.holders]
        dictionary._names = {column: column_name(schema, column) for column in sorted(moved.values())}
        dictionary._index = ValueIndex.of(index.table, holders, index.packed_grams, brought=index.brought)
        dictionary.whole = frozenset(moved[column] for column in whole if column in moved)
        return dictionary

    def check(self, schema: Schema) -> None:
        """Raise SchemaError unless the column indices of this dictionary are those of `schema`."""
        # The last schema found to fit is remembered: the test is on the way of every question.
        if schema is self._checked:
            return
        for column, name in self._names.items():
            if column >= len(schema.columns) or column_name(schema, column) != name:
                raise _other_schema(*name)
        for table, rows in self._rows.items():
            names = {schema.columns[column].name for column in _columns_of(schema, table, rows.table)}
            if missing := [column for column in rows.columns if column not in names]:
                raise _other_schema(rows.table, missing[0])
        self._checked = schema

    def match(self, question: str, core: ModuleType | None = None) -> tuple[ValueMatch, ...]:
        """Values that the question mentions, in their order; see `ValueIndex.match`."""
        return self._index.match(question, core)

    def identifiers(self, question: str) -> tuple[ValueMatch, ...]:
        """What the question writes as keys write their identifiers, with these keys; whether they hold it is not known."""
        return tuple(self._identifiers.said(question))

    @cached_property
    def _identifiers(self) -> Identifiers:
        return Identifiers(self.forms)

    def written(
        self, question: str, core: ModuleType | None = None
    ) -> Iterator[tuple[int, int, tuple[int, ...]]]:
        """Places [start, end) where the question has a value but for letter case, and the columns that hold it.

        Unlike those of `match`, they lie in one another, and any value counts.
        """
        return self._index.written(question, core)

    def holding(self, text: str) -> tuple[int, ...]:
        """The columns that hold a value, as it is written."""
        return tuple(
            column for value, columns in self._index.find(text) if value == text for column in columns
        )

    def known_to_hold(self, text: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The columns known whole that hold a value as it is written, and those that hold it but for letter case."""
        found = [
            (value == text, column)
            for value, columns in self._index.find(text)
            for column in columns
            if column in self.whole
        ]
        exactly = tuple(column for exact, column in found if exact)
        return exactly, tuple(dict.fromkeys(column for _, column in found))

    def parts(
        self, texts: Sequence[Said], core: ModuleType | None = None
    ) -> list[tuple[int, int, int, int, tuple[int, ...]]] | None:
        """Runs of words that values of the columns known whole have: rows of `find_parts`, with columns for sets.

        None where no file brought the index by letters, which takes longer to make than a question may wait.
        """
        if len(self) > SMALL and not self._index.brought:
            return None
        self._index.table.expect_unchanged()
        holders = self._whole_holders
        found = find_parts(self._near, texts, self._near.allowed(self.whole), core)
        return [(*row[:4], holders[row[4]]) for row in found]

    @cached_property
    def _whole_holders(self) -> list[tuple[int, ...]]:
        """Of each set of columns those that are known whole; behind the last, for `EVERY`, that."""
        whole = [tuple(column for column in held if column in self.whole) for held in self._index.holders]
        return [*whole, (EVERY,)]

    @cached_property
    def small_numbers(self) -> frozenset[tuple[int, int]]:
        """(column, n) where a column that is known whole holds 0, 1 or 2 as text."""
        held = ((column, n) for n in range(3) for column in self.holding(str(n)))
        return frozenset(pair for pair in held if pair[0] in self.whole)

    def nearest(self, text: str, column: int | None = None, limit: int = 5) -> tuple[Near, ...]:
        """At most `limit` values that are nearly `text`, the nearest first; those of one column where one is given.

        Misspelled, in the plural, in another order, cut short or in part: see `fastsql.linking.nearness` for the distance,
        which is 0 where only letter case, blanks and punctuation differ. What is farther than `near.FARTHEST` is left out.
        Where no file has the index by letters that this needs, the first call makes it: some ten seconds for a million
        values. Raises ModelError where a file is damaged.
        """
        self._index.table.expect_unchanged()
        return self._near.nearest(text, None if column is None else (column,), limit)

    @property
    def has_near(self) -> bool:
        """Whether `nearest` can look at once: a file brought the index by letters, or it was made before."""
        return self._index.packed_grams is not None

    def almost(
        self,
        question: str,
        settled: Sequence[tuple[int, int]] = (),
        closed: Sequence[tuple[int, int]] = (),
        core: ModuleType | None = None,
    ) -> Iterator[tuple[int, int, Near]]:
        """Places [start, end) where the question nearly says a value, and that value.

        They keep away from what is `closed`, and hold more than one that is `settled`, which says a value exactly, or none.
        Looked for are values of columns that are known whole, since elsewhere what is written may exist as it is; those of
        columns whose values stand with the schema are at hand anyway. Nothing is found in a dictionary of more than
        `SMALL` values that no file brought, whose index by letters would take longer to make than a question may wait.
        """
        columns = self._near_columns
        if not columns or (len(self) > SMALL and not self._index.brought):
            return
        self._index.table.expect_unchanged()
        said = words(question)
        texts = [
            "" if any(start < word.end and word.start < end for start, end in closed) else word.key
            for word in said
        ]
        idle = {place for place, text in enumerate(texts) if text in STOP_WORDS or text in self._named}
        within = [
            [place for place, word in enumerate(said) if start < word.end and word.start < end]
            for start, end in settled
        ]
        exact = [(places[0], places[-1] + 1) for places in within if places]
        for place in self._near.said(texts, idle, columns, exact, core):
            yield said[place.begin].start, said[place.end - 1].end, place.near

    @cached_property
    def _near_columns(self) -> frozenset[int]:
        return frozenset(column for column in self.whole if not self._checked.columns[column].values)

    @cached_property
    def _named(self) -> frozenset[str]:
        """Words of the schema's names, in the singular and in the plural."""
        items = [(one.name, one.label, *one.synonyms) for one in self._checked.tables]
        items += [(one.name, one.label, *one.synonyms) for one in self._checked.columns]
        named = {word for texts in items for text in texts for word in keys(text.replace("_", " "))}
        return frozenset(named | {word + "s" for word in named} | {word.removesuffix("s") for word in named})

    @cached_property
    def _near(self) -> NearIndex:
        return NearIndex(self._index, self._index.grams)

    def canonical(self, column: int, text: str) -> str | None:
        """The value of `column` that equals `text` but for letter case; an exact one first; None where there is none."""
        held = [value for value, columns in self._index.find(text) if column in columns]
        return text if text in held else held[0] if held else None


def _columns_of(schema: Schema, table: int, name: str) -> tuple[int, ...]:
    """The columns of a table, if it has this name."""
    named = table < len(schema.tables) and schema.table_name(table) == name
    return schema.tables[table].columns if named else ()


def _other_schema(table: str, column: str) -> SchemaError:
    return SchemaError(
        "the value dictionary was made for another schema",
        where=f"{table}.{column}",
        remedy="Use ValueDictionary.bound_to(schema), or read the values again with this schema.",
    )


def text_columns(schema: Schema) -> list[int]:
    """Columns worth reading: of text type, and no part of a primary or foreign key."""
    keys = set(text_keys(schema))
    return [
        number for number, column in enumerate(schema.columns) if column.type == "text" and number not in keys
    ]


def text_keys(schema: Schema) -> list[int]:
    """Columns of text type that are part of a primary or foreign key."""
    keys = {column for table in schema.tables for column in table.primary_key}
    keys |= {column for key in schema.foreign_keys for column in key.columns}
    return [
        number
        for number, column in enumerate(schema.columns)
        if column.type == "text" and (column.primary_key or number in keys)
    ]


def column_name(schema: Schema, column: int) -> ColumnName:
    """(table, column) as SQL names them, the table with its namespace where that is not the default one."""
    return schema.table_name(schema.columns[column].table), schema.columns[column].name
