"""What the model reads of a schema: distinct texts grouped by length, item types, values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fastsql.grammar.schema_values import schema_values
from fastsql.linking.nodes import NodeLayout
from fastsql.linking.relations import SchemaLinks
from fastsql.model.config import column_type_index
from fastsql.model.tokenizer import Tokenizer

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

    @cached_property
    def nodes(self) -> NodeLayout:
        """Where tables and columns lie among the items."""
        return NodeLayout(n_tables=self.n_tables, n_columns=self.n_columns)

    @property
    def n_items(self) -> int:
        """S, tables and columns."""
        return self.nodes.size

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
        values = schema_values(schema)
        value_texts, value_text = _group([value.text for value in values], tokenizer)
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
            value_column=np.array(
                [-1 if value.column is None else value.column for value in values], dtype=np.int64
            ),
        )


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
