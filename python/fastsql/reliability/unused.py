"""Values that a question says and the query does nothing with.

"How many unpaid invoices are there?", answered for all invoices: 'unpaid' is a value of the database, and no literal, table
or column of the query is read from it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from fastsql.linking.relations import split_words

if TYPE_CHECKING:
    from fastsql.linking.candidate import Candidate

Span = tuple[int, int]
"""Characters of the question, [start, end)."""


def unused_words(question: str, candidates: Iterable[Candidate], explained: Sequence[Span]) -> int:
    """The words of the longest value that stands in the question and touches nothing that is `explained`; 0 without any.

    Values are those of a dictionary or of the schema that the question says as they are. Long ones count for more: one word
    may be a value by chance, as "blood" is one of specimens.
    """
    spans = {one.span for one in candidates if one.columns and not one.distance}
    return max(
        (len(split_words(question[slice(*span)])) for span in spans if not _meets(span, explained)), default=0
    )


def _meets(span: Span, others: Iterable[Span]) -> bool:
    return any(span[0] < end and start < span[1] for start, end in others)
