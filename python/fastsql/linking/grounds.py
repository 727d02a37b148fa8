"""Which literals exist: what a dictionary says of a question's words and numbers, for the columns that it knows whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastsql.grammar.grounding import NO_GROUNDS, Grounds

if TYPE_CHECKING:
    from types import ModuleType

    from fastsql.linking.dictionary import ValueDictionary
    from fastsql.linking.prepare import Prepared


def find_grounds(
    prepared: Prepared, dictionary: ValueDictionary | None, core: ModuleType | None = None
) -> Grounds:
    """The literals of a linked question that exist in columns of which `dictionary` has all values.

    `core` is the native module where it is to look words up; the grounds are the same.
    """
    if dictionary is None or not dictionary.whole:
        return NO_GROUNDS
    whole = dictionary.whole
    pairs = [
        (column, number)
        for number, candidate in enumerate(prepared.candidates)
        if not candidate.columns
        for column in dictionary.holding(str(candidate.value))
    ]
    offsets = prepared.offsets.tolist()
    first = {start: token for token, (start, _) in enumerate(offsets)}
    last = {end: token for token, (_, end) in enumerate(offsets)}
    spans = [
        (column, first[start], last[end])
        for start, end, columns in dictionary.written(prepared.text, core)
        if start in first and end in last
        for column in columns
    ]
    return Grounds(
        whole,
        frozenset(pair for pair in pairs if pair[0] in whole),
        frozenset(span for span in spans if span[0] in whole),
        dictionary.small_numbers,
    )
