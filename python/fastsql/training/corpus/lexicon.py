"""What the gold SQL of a training set teaches about the values of columns.

Two products: the *lexicon*, literals that questions never spell out ("weight" -> `d_items.label = 'daily weight'`),
which travels in the bundle and is added to every schema with the same column; and the *pools*, all literals seen for a
column, from which augmentation draws replacements.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from fastsql.linking.gold import column_literals
from fastsql.schema import Schema
from fastsql.training.corpus.split import Pair

ColumnKey = tuple[str, str]  # table name, column name, as the schema spells them
PoolKey = tuple[str, str, str]  # the same, and what the literal's company says
Literals = Sequence[tuple[ColumnKey, str]]


def spelled_out(literal: str, question: str) -> bool:
    """True if the question holds the literal as whole words, in any letter case."""
    found = re.search(r"(?<!\w)" + re.escape(literal.lower()) + r"(?!\w)", question.lower())
    return found is not None


def collect_lexicon(
    pairs: Iterable[Pair], schema: Schema, minimum: int = 2, literals: Mapping[str, Literals] | None = None
) -> dict[ColumnKey, list[str]]:
    """Literals per column that gold SQL uses at least `minimum` times without the question spelling them out.

    `literals` gives the column literals of a query by its text where they are known already.
    """
    counts: Counter[tuple[ColumnKey, str]] = Counter()
    for pair in pairs:
        known = literals.get(pair.sql) if literals is not None else None
        here = known if known is not None else column_literals(pair.sql, schema)
        counts.update({item for item in here if not spelled_out(item[1], pair.question)})
    lexicon: dict[ColumnKey, list[str]] = {}
    for (key, text), count in sorted(counts.items()):
        if count >= minimum:
            lexicon.setdefault(key, []).append(text)
    return lexicon


def collect_pools(
    pairs: Iterable[Pair], literals: Mapping[str, Literals], smallest: int = 5
) -> dict[PoolKey, list[str]]:
    """All literals per column that some question spells out; pools of fewer than `smallest` are left out.

    Literals that stand with different unspoken ones of the same table (`linksto = 'inputevents'`) are no exchange for
    one another, so each company has its own pool.
    """
    pools: dict[PoolKey, set[str]] = {}
    for pair in pairs:
        for key, text in pool_entries(pair.question, literals.get(pair.sql, ())):
            pools.setdefault(key, set()).add(text)
    return {key: sorted(texts) for key, texts in sorted(pools.items()) if len(texts) >= smallest}


def pool_entries(question: str, literals: Iterable[tuple[ColumnKey, str]]) -> list[tuple[PoolKey, str]]:
    """The literals of one query that its question spells out, each once, with the pool that it belongs to."""
    found = dict.fromkeys(literals)
    silent = [(column, text) for column, text in found if not spelled_out(text, question)]
    entries: list[tuple[PoolKey, str]] = []
    for (table, name), text in found:
        if len(text) > 2 and spelled_out(text, question):
            company = sorted(f"{other[1]}={value}" for other, value in silent if other[0] == table)
            entries.append(((table, name, "; ".join(company)), text))
    return entries
