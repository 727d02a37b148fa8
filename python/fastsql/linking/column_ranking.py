"""Which columns a query is likely to need: a logistic regression over what is known before anything is encoded.

Names said are told by `name_search`; the rest is structure: a column that joins its table to one that is asked for is needed
though no question names it, and what a query reads stands in front more often than not. Scores enter as ranks, which mean
the same in schemas of ten tables and of a thousand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from fastsql.linking.name_search import Found
    from fastsql.schema import Schema

WEIGHTS = {
    "rank of the table": -1.01,
    "rank in the table": -0.51,
    "rank of the column": -1.02,
    "share of the table's name said": 2.09,
    "values held": 1.48,
    "is in a foreign key": -0.68,
    "rank of the table it joins": -0.53,
    "place in the table": -0.46,
}
"""Of each feature, in their order. Ranks and places, from 0, are taken as log(1 + rank). Fitted on the training databases of
Spider and BIRD, one by one (`fastsql fit-ranking`); a column in no foreign
key joins no table, the rank behind the last."""

Scores = NDArray[np.float64]


class ColumnRanking:
    """Ranks the columns of one schema. Immutable once built, so threads may share it."""

    def __init__(self, schema: Schema) -> None:
        self._n_tables = len(schema.tables)
        self._table_of = np.array([column.table for column in schema.columns], dtype=np.intp)
        self._columns_of = [np.array(table.columns, dtype=np.intp) for table in schema.tables]
        first = np.array([table.columns[0] for table in schema.tables])
        self._place = np.log1p(np.arange(len(self._table_of)) - first[self._table_of])
        ends = [
            pair
            for key in schema.foreign_keys
            for source, target in zip(key.columns, key.references, strict=True)
            for pair in ((source, target), (target, source))
        ]
        self._joining = np.array([own for own, _ in ends], dtype=np.intp)
        self._joined = np.array([schema.columns[other].table for _, other in ends], dtype=np.intp)

    def scores(self, found: Found) -> Scores:
        """float64[C]: the log-odds that a query needs a column, up to a constant."""
        scores: Scores = self.features(found) @ np.array(list(WEIGHTS.values()))
        return scores

    def features(self, found: Found) -> Scores:
        """float64[C, k], the features that `WEIGHTS` names."""
        of_table = np.log1p(_ranks(found.tables))
        in_table = np.empty(len(self._table_of))
        for own in self._columns_of:
            in_table[own] = _ranks(found.columns[own])
        in_key = np.zeros(len(self._table_of))
        in_key[self._joining] = 1
        joined = np.full(len(self._table_of), np.log1p(self._n_tables))
        np.minimum.at(joined, self._joining, of_table[self._joined])
        return np.stack(
            [
                of_table[self._table_of],
                np.log1p(in_table),
                np.log1p(_ranks(found.columns)),
                found.said[self._table_of],
                found.votes,
                in_key,
                joined,
                self._place,
            ],
            axis=1,
        )


def _ranks(scores: Scores) -> Scores:
    """float64[n]: 0 for the highest score, 1 for the next; equal ones share a rank: parts of a split table stay together."""
    _, place = np.unique(np.round(-scores, 6), return_inverse=True)
    return place.astype(np.float64)
