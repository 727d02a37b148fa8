"""What the model reads of a schema: distinct texts grouped by length, item types, values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fastsql.linking.relations import SchemaLinks
from fastsql.model.config import column_type_index
from fastsql.model.tokenizer import Tokenizer
from fastsql.schema import Schema

TextGroups = tuple[NDArray[np.int32], ...]
"""Texts of equal length lie together, int32[texts, tokens] each, so that none needs padding."""


@dataclass(frozen=True, eq=False)
class SchemaInputs:
    """Arrays of one schema; S = T + C items (tables, then columns), W schema values.

    `item_text` int64[S] and `value_text` int64[W] count the texts through all groups of `texts` and `value_texts`.
    `item_type` int64[S] indexes `ITEM_TYPES`; `column_table` int64[C]; `value_column` int64[W] is a column, or -1
    for a named constant that belongs to none; `relations` uint8[S, S].
    """

    fingerprint: str
    n_tables: int
    n_columns: int
    texts: TextGroups
    item_text: NDArray[np.int64]
    item_type: NDArray[np.int64]
    column_table: NDArray[np.int64]
    relations: NDArray[np.uint8]
    value_texts: TextGroups
    value_text: NDArray[np.int64]
    value_column: NDArray[np.int64]

    @property
    def n_items(self) -> int:
        """S, tables and columns."""
        return self.n_tables + self.n_columns

    @property
    def n_values(self) -> int:
        """W, schema values and named constants."""
        return len(self.value_text)

    @classmethod
    def build(cls, links: SchemaLinks, tokenizer: Tokenizer) -> SchemaInputs:
        """Tokenize the labels and values of a linked schema."""
        schema = links.schema
        labels = [table.label or table.name for table in schema.tables]
        labels += [column.label or column.name for column in schema.columns]
        texts, item_text = _group(labels, tokenizer)
        value_labels, value_columns = _values(schema)
        value_texts, value_text = _group(value_labels, tokenizer)
        return cls(
            fingerprint=schema.fingerprint,
            n_tables=len(schema.tables),
            n_columns=len(schema.columns),
            texts=texts,
            item_text=item_text,
            item_type=np.array(
                [0] * len(schema.tables) + [column_type_index(column) for column in schema.columns],
                dtype=np.int64,
            ),
            column_table=np.array([column.table for column in schema.columns], dtype=np.int64),
            relations=links.static,
            value_texts=value_texts,
            value_text=value_text,
            value_column=np.array(value_columns, dtype=np.int64),
        )


def _values(schema: Schema) -> tuple[list[str], list[int]]:
    """Text and column of every schema value: the columns' small domains, then the named constants."""
    pairs = [(str(value), index) for index, column in enumerate(schema.columns) for value in column.values]
    pairs += [
        (
            constant.label or constant.name.replace("_", " "),
            -1 if constant.column is None else constant.column,
        )
        for constant in schema.constants
    ]
    return [text for text, _ in pairs], [column for _, column in pairs]


def _group(texts: Sequence[str], tokenizer: Tokenizer) -> tuple[TextGroups, NDArray[np.int64]]:
    """Distinct texts grouped by token count, and for each given text its place through all groups."""
    distinct = list(dict.fromkeys(texts))
    ids = tokenizer.encode_texts(distinct) if distinct else []
    order = sorted(range(len(distinct)), key=lambda index: len(ids[index]))
    place = {distinct[index]: position for position, index in enumerate(order)}
    by_length: dict[int, list[list[int]]] = {}
    for index in order:
        by_length.setdefault(len(ids[index]), []).append(ids[index])
    groups = tuple(np.array(rows, dtype=np.int32) for rows in by_length.values())
    return groups, np.array([place[text] for text in texts], dtype=np.int64)
