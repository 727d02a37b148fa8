"""Values that questions mean without writing them: a small closed map that only examples can tell.

"Weight" may stand for the chart item ``daily weight``. Such values stand with the schema (see `Schema.with_values`), where
the decoder can point at them whatever the question says.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from fastsql.linking.candidates import find_candidates
from fastsql.linking.gold import gold_literals
from fastsql.linking.recall import literal_recall

if TYPE_CHECKING:
    from fastsql.linking.dictionary import ValueDictionary
    from fastsql.schema import Schema, Value


def standing_values(
    examples: Iterable[tuple[str, str]],
    schema: Schema,
    dictionary: ValueDictionary | None = None,
    *,
    least: int = 2,
    max_values: int = 50,
) -> dict[tuple[str, str], tuple[Value, ...]]:
    """Values to add to the schema, from (question, gold SQL) pairs: for `Schema.with_values`.

    A value is taken when at least `least` questions need it for a column and do not offer it. Values that the column already
    has stay. A column that would get more than `max_values` is left out: that is no closed map. Learn from training data
    only, and from data that holds no patient's cells.
    """
    needed: Counter[tuple[int, Value]] = Counter()
    for question, sql in examples:
        literals = gold_literals(sql, schema)
        candidates = find_candidates(question, schema, dictionary)
        for literal in literal_recall(literals, question, candidates, schema, dictionary).missing:
            if literal.column is not None and isinstance(literal.value, str):
                needed[literal.column, literal.value] += 1
    by_column: dict[int, list[Value]] = {}
    for (column, value), count in sorted(
        needed.items(), key=lambda item: (item[0][0], -item[1], str(item[0][1]))
    ):
        if count >= least:
            by_column.setdefault(column, list(schema.columns[column].values)).append(value)
    return {
        (schema.tables[schema.columns[column].table].name, schema.columns[column].name): tuple(values)
        for column, values in by_column.items()
        if len(values) <= max_values
    }
