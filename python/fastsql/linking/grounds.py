"""Which literals exist: what a dictionary says of a question's words and numbers, for the columns that it knows whole."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fastsql.grammar.grounding import NO_GROUNDS, Grounds
from fastsql.grammar.matching import ANYWHERE, EVERY, LIKE, Patterns
from fastsql.linking.value_parts import BEGUN, ENDED, WITHIN, Said

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

    import numpy as np
    from numpy.typing import NDArray

    from fastsql.linking.dictionary import ValueDictionary
    from fastsql.linking.folding import Word
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
    pairs: set[tuple[int, int]] = set()
    alike: list[tuple[int, int]] = []
    for number, candidate in enumerate(prepared.candidates):
        if not candidate.columns:
            exactly, but_for_case = dictionary.known_to_hold(str(candidate.value))
            pairs.update((column, number) for column in exactly)
            alike += ((column, number) for column in but_for_case)
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
        frozenset(pairs),
        frozenset(span for span in spans if span[0] in whole),
        dictionary.small_numbers,
        _find_patterns(prepared, dictionary, alike, core),
    )


def _find_patterns(
    prepared: Prepared,
    dictionary: ValueDictionary,
    alike: Sequence[tuple[int, int]],
    core: ModuleType | None = None,
) -> Patterns | None:
    """What of a linked question is a part of a value; None where the dictionary cannot tell in time.

    `alike`: (column, candidate) where the column holds the candidate but for letter case.
    Raises ModelError where its file is damaged.
    """
    texts = [
        Said.of(prepared.text),
        *(Said.of(str(one.value), whole=True) for one in prepared.candidates),
    ]
    rows = dictionary.parts(texts, core)
    if rows is None:
        return None
    places = _Tokens.of(texts[0].words, prepared.offsets)
    runs: tuple[dict[tuple[int, int], int], ...] = ({}, {}, {})
    ways: dict[tuple[int, int], int] = dict.fromkeys(alike, LIKE)
    ways |= {(EVERY, number): ANYWHERE for number, text in enumerate(texts[1:]) if not text.words}
    for text, kind, fixed, far, columns in rows:
        if text == 0:
            tokens = places.of_run(kind, fixed, far, exact=columns != (EVERY,))
            if tokens is None:
                continue
            place, reached = tokens
            for column in columns:
                known = runs[kind].setdefault((column, place), reached)
                runs[kind][column, place] = min(known, reached) if kind == ENDED else max(known, reached)
        elif abs(fixed - far) == len(texts[text].words) - 1:
            bits = 1 << kind if columns != (EVERY,) or kind == ENDED else 1 << WITHIN | 1 << BEGUN
            for column in columns:
                ways[column, text - 1] = ways.get((column, text - 1), 0) | bits
    within, begun, ended = (frozenset((*place, far) for place, far in found.items()) for found in runs)
    return Patterns(frozenset((*place, bits) for place, bits in ways.items()), within, begun, ended)


@dataclass(frozen=True)
class _Tokens:
    """The first and the last token of each word, and the last before the next word.

    Chinese characters are words of their own, and a token may be several of them: where a word begins or ends within one,
    the first token that begins behind it is its first, and the last that ends before it is its last.
    """

    firsts: list[int]
    lasts: list[int]
    nexts: list[int]
    begin_within: list[bool]
    """By word, whether it begins within a token."""
    end_within: list[bool]

    @classmethod
    def of(cls, words: Sequence[Word], offsets: NDArray[np.int32]) -> _Tokens:
        starts, ends = offsets.T.tolist()  # of a question's few words, for which NumPy's search is slow
        firsts = [bisect_left(starts, word.start) for word in words]
        lasts = [bisect_right(ends, word.end) - 1 for word in words]
        nexts = [*(first - 1 for first in firsts[1:]), len(starts) - 1]
        begin_within = [
            bisect_right(ends, word.start) < first for word, first in zip(words, firsts, strict=True)
        ]
        end_within = [
            bisect_left(starts, word.end) - 1 > last for word, last in zip(words, lasts, strict=True)
        ]
        return cls(firsts, lasts, nexts, begin_within, end_within)

    def of_run(self, kind: int, fixed: int, far: int, *, exact: bool) -> tuple[int, int] | None:
        """The tokens of a run's fixed and furthest words; unless `exact`, with what stands behind it.

        None for a run that is no token whole, or whose fixed end, which is that of a value, lies within one.
        """
        lasts = self.lasts if exact else self.nexts
        if kind == ENDED:
            first, last = self.firsts[far], lasts[fixed]
            within = exact and self.end_within[fixed]
            return None if within or last < first else (last, first)
        first, last = self.firsts[fixed], lasts[far]
        within = kind == BEGUN and self.begin_within[fixed]
        return None if within or last < first else (first, last)
