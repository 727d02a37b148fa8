"""Words that are written as one: ``TOTALCOST`` is "total cost", ``bodysite`` "body site", ``itemid`` "item id".

The cheapest way to cut a run of letters into known words, a word costing the logarithm of its rank (the unigram model of
word segmentation, solved by dynamic programming as by Viterbi).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence

from fastsql.profile.english import is_common, is_english, rank, ranks, word_set

_LONGEST_RUN = 40
_LONGEST_WORD = 18
_SHORTEST_RUN = 4
_LEAST = 6
"""Letters that a run must have unless it ends with one of `ENDS`."""
ENDS = frozenset({"id", "ids", "no", "cd", "dt", "nm", "num", "nbr", "uom", "amt", "qty"})
"""What is often written behind a word without a gap, and is none itself."""
_HEADS = ENDS | word_set(
    """
    account address age amount area balance birth category charge class code cost count country date day
    days death desc description dose duration end event fee file first flag group height hour hours income
    index item key kind last length level limit line local location month name names note notes number
    order parent path patient percent period phone place price quantity rate ratio reason record region
    result salary score sex site size source speed start state station status sum table tax text time
    times title total type unit units use user value version visit volume weight width year years zip
    """
)
"""What columns are called by. Words run together in common English (windstorm, evergreen) rarely end so."""
LINKS = frozenset({"at", "by", "in", "is", "no", "of", "on", "to"})
"""Short words between others, where all names of a schema are written without gaps."""
_OWN = math.log(200)
"""The cost of a word that stands alone in another name of the schema."""
_SHORT_RANK = 1_500
"""The rank up to which a word of three letters may be a part."""
_LINK = math.log(1_000) + 3.0
"""The cost of one of `LINKS`: two letters are easily found in a longer word."""
_SHORT_WORD = 4
"""Letters of a word that is found in many others."""
_PIECE, _THREE = 3.0, 2.0
"""What every part costs beside its rank, so that fewer are better, and what one of three letters costs more."""


def cut(run: str, own: Collection[str], short: Mapping[str, str], *, joined: bool = False) -> tuple[str, ...]:
    """The words of a run of lower-case ASCII letters; the run itself where no way of cutting it is likely.

    `own` are words of other names in the schema, `short` abbreviations, either of which may be a part. In a schema whose
    names are all `joined`, any common words may be parts, and so may those that link them, as in ``kindoftask``.
    """
    if not _SHORTEST_RUN <= len(run) <= _LONGEST_RUN or run in own or run in short or is_english(run):
        return (run,)
    best: list[tuple[float, int]] = [(0.0, 0)] + [(math.inf, 0)] * len(run)
    for end in range(2, len(run) + 1):
        for begin in range(max(0, end - _LONGEST_WORD), end - 1):
            part, last = run[begin:end], end == len(run)
            cost = best[begin][0] + (
                _LINK if joined and part in LINKS else _cost(part, own, short, last=last, first=begin == 0)
            )
            if cost < best[end][0]:
                best[end] = cost, begin
    if best[-1][0] == math.inf:
        return (run,)
    parts: list[str] = []
    end = len(run)
    while end:
        parts.insert(0, run[best[end][1] : end])
        end = best[end][1]
    long_enough = len(run) >= (_SHORTEST_RUN if parts[-1] in ENDS else _LEAST)
    abbreviated = parts[-1] in short and len(parts[-1]) > 3
    likely = parts[-1] in _HEADS or abbreviated or all(part in own for part in parts)
    if joined and not likely:
        likely = all(_fits(parts, place, own, short) for place in range(len(parts)))
    return tuple(parts) if long_enough and likely else (run,)


def _fits(parts: Sequence[str], place: int, own: Collection[str], short: Mapping[str, str]) -> bool:
    """Whether a part is a word, or an abbreviation at the end or before a word of some length: ``num`` of no ``numeric``."""
    part, following = parts[place], parts[place + 1 : place + 2]
    if part in own or part in LINKS or is_common(part) or (len(part) > _SHORT_WORD and is_english(part)):
        return True
    return part in short and all(len(word) > _SHORT_WORD for word in following)


def _cost(part: str, own: Collection[str], short: Mapping[str, str], *, first: bool, last: bool) -> float:
    if last and not first and part in ENDS:
        return _OWN + _PIECE
    if len(part) < 3:
        return math.inf
    if part in own and len(part) > 3:
        return _OWN + _PIECE
    place = rank(part) if len(part) > _SHORT_WORD else ranks().get(part)
    if place is not None and (len(part) > 3 or place < _SHORT_RANK):
        return math.log(place + 100) + _PIECE + (len(part) == 3) * _THREE
    if part in short and len(part) > 2:
        return math.log(3_000) + _PIECE
    return math.inf
