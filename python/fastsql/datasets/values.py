"""Cell values of databases that a data set does not come with: a published excerpt, or the literals of its gold SQL.

An excerpt is JSON, ``{database: {table: {column: [values]}}}``, each list cut at some length. The literals of gold SQL
serve training, where a parser has to learn what a match in a dictionary means, and measures that say so: they are the very
values that questions ask for, so a score with them is no score of a parser in use.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fastsql.datasets.examples import DatasetError, read_json
from fastsql.limits import DEFAULT
from fastsql.linking import ValueDictionary
from fastsql.linking.gold import ColumnName
from fastsql.linking.lexicon import with_database_values
from fastsql.schema import Schema, Value
from fastsql.schema.draft import FLAG, flag

_UNSEEN = 0.1
"""A column's literals count as its whole domain where a further use would bring a new one with at most this probability."""


@dataclass(frozen=True)
class ColumnValues:
    """Values of one database, by (table, column) as their source spells them; `whole` names columns that have no others."""

    values: Mapping[ColumnName, tuple[Value, ...]]
    whole: frozenset[ColumnName] = frozenset()


def read_values(path: str | Path) -> dict[str, ColumnValues]:
    """An excerpt by database id. The longest list of a database tells where its lists were cut; shorter ones are whole.

    Raises:
        DatasetError: no such file, or one of another form.
    """
    path = Path(path)
    content = read_json(path)
    found: dict[str, ColumnValues] = {}
    for db_id, tables in _items(content, path):
        values: dict[ColumnName, tuple[Value, ...]] = {}
        for table, columns in _items(tables, path):
            for column, cells in _items(columns, path):
                if not isinstance(cells, list):
                    raise _malformed(path)
                values[table, column] = tuple(cell for cell in cells if _is_value(cell))
        cut = max(map(len, values.values()), default=0)
        found[db_id] = ColumnValues(
            values, frozenset(name for name, cells in values.items() if len(cells) < cut)
        )
    return found


def gold_values(literals: Iterable[tuple[ColumnName, str]]) -> ColumnValues:
    """The literals of gold queries (`fastsql.linking.column_literals`, query after query) by column.

    A column's are taken for its whole domain where few of them were met only once: by Good and Turing's estimate (Good,
    Biometrika 1953), the share of uses whose literal occurs once is the probability that the next literal is a new one.
    """
    counts: dict[ColumnName, Counter[str]] = {}
    for name, text in literals:
        counts.setdefault(name, Counter())[text] += 1
    whole = {
        name
        for name, uses in counts.items()
        if sum(count == 1 for count in uses.values()) <= _UNSEEN * uses.total()
    }
    return ColumnValues({name: tuple(uses) for name, uses in counts.items()}, frozenset(whole))


def with_column_values(
    schema: Schema, known: ColumnValues, *, max_values: int = 50, dictionary: bool = True
) -> tuple[Schema, ValueDictionary | None]:
    """The schema with the whole domains of at most `max_values` texts and of flags, and a dictionary of all texts.

    Columns that have values keep them; columns that the schema lacks are passed over, since an excerpt may be older or newer
    than the schema. Without a text for any column, or with `dictionary` False, there is no dictionary.
    """
    domains: dict[ColumnName, Sequence[Value]] = {}
    words: dict[ColumnName, list[str]] = {}
    for (table, column), cells in known.values.items():
        index = schema.find_column(table, column)
        if index is None:
            continue
        one = schema.columns[index]
        name = (schema.table_name(one.table), one.name)
        texts = [cell for cell in cells if isinstance(cell, str) and cell.strip()]
        if texts:
            words[name] = texts
        is_known = (table, column) in known.whole
        is_whole = is_known and len(texts) == len(cells)
        fits = len(texts) <= max_values and max(map(len, texts), default=0) <= DEFAULT.value_characters
        if texts and is_whole and fits and one.type == "text" and not one.values:
            domains[name] = sorted(texts)
        elif is_known and max_values >= len(FLAG) and one.type == "number" and not one.values and flag(cells):
            domains[name] = FLAG
    if domains:
        schema = schema.with_values(domains)
    return schema, ValueDictionary.from_mapping(words, schema) if words and dictionary else None


def with_known_values(
    schema: Schema,
    database: Path | None,
    known: ColumnValues | None,
    *,
    max_values: int = 50,
    dictionary: bool = True,
) -> tuple[Schema, ValueDictionary | None]:
    """The schema with small domains, and a dictionary: of the database if there is one, else of the values `known`."""
    if database is not None:
        if max_values:
            schema = with_database_values(schema, database, max_values=max_values)
        return schema, ValueDictionary.from_database(database, schema) if dictionary else None
    if known is None:
        return schema, None
    return with_column_values(schema, known, max_values=max_values, dictionary=dictionary)


def _items(content: Any, path: Path) -> Iterable[tuple[str, Any]]:
    if not isinstance(content, dict):
        raise _malformed(path)
    return content.items()


def _is_value(cell: object) -> bool:
    return isinstance(cell, (str, int, float)) and not isinstance(cell, bool)


def _malformed(path: Path) -> DatasetError:
    return DatasetError(
        "is not an excerpt of values",
        where=str(path),
        remedy="Give {database: {table: {column: [values]}}} as JSON.",
    )
