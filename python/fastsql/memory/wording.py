"""A question's wording: its words in order, with gaps for literals, and the ways in which another question fits."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

Span = tuple[int, int]
Gaps = dict[int, tuple[int, int]]
"""For each gap the words that fill it, ``[first, last)``."""

_CHINESE = "\u2e80-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[{_CHINESE}]|[^\W_{_CHINESE}]+|[^\s\w.,;:?!'\"`。，、；：？！“”‘’]|_")
"""Words; of other signs those that may mean something, such as < and %. Each Chinese character is a word."""
_WITH_DIGIT = re.compile(r"[A-Za-z0-9_-]*[0-9][A-Za-z0-9_-]*")
MASK = "_"
MOST_GAPS = 16
_MOST_STEPS = 2_000
"""Of the search for the ways in which a question fits: where it takes more, nobody could tell which is meant."""


@dataclass(frozen=True)
class Word:
    """A word in small letters, and its characters ``[start, end)``."""

    text: str
    start: int
    end: int


def words_of(text: str) -> tuple[Word, ...]:
    """The words of a question, without punctuation."""
    return tuple(Word(m.group().casefold(), m.start(), m.end()) for m in _WORD.finditer(text))


def covered(words: Sequence[Word], span: Span) -> tuple[int, int] | None:
    """The words ``[first, last)`` that a span of characters covers; None where it covers none, or a part of one."""
    touched = [number for number, word in enumerate(words) if word.start < span[1] and span[0] < word.end]
    if not touched or words[touched[0]].start < span[0] or words[touched[-1]].end > span[1]:
        return None
    return touched[0], touched[-1] + 1


def masked_text(text: str, spans: Iterable[Span]) -> str:
    """A question with a sign in place of each span and of each word that has a digit."""
    hidden = sorted([*spans, *(match.span() for match in _WITH_DIGIT.finditer(text))])
    pieces, place = [], 0
    for start, end in hidden:
        if start >= place:
            pieces += [text[place:start], MASK]
        place = max(place, end)
    return "".join([*pieces, text[place:]])


@dataclass(frozen=True, repr=False)
class Wording:
    """The words of a question; in place of a literal stands its gap's number, wherever the question says it."""

    items: tuple[str | int, ...]

    @classmethod
    def of(cls, text: str, spans: Sequence[Span]) -> Wording | None:
        """The wording of a question with a gap for each span, by its number.

        None where a span covers half a word or a part of another, or there are more than 16.
        """
        words = words_of(text)
        items: list[str | int] = [word.text for word in words]
        said = [covered(words, span) for span in spans]
        if len(spans) > MOST_GAPS:
            return None
        for gap, place in sorted(enumerate(said), key=lambda one: -_length(one[1])):
            if place is None:
                return None
            parts = [word.text for word in words[slice(*place)]]
            starts = [at for at in range(len(items)) if items[at : at + len(parts)] == parts]
            if place[0] not in starts:
                return None  # another literal's gap is in it
            free = len(items)
            for at in reversed(starts):
                if at + len(parts) <= free:
                    # The length stays, so that the places of words do: the rest of a gap is taken out below.
                    items[at : at + len(parts)] = [gap, *[""] * (len(parts) - 1)]
                    free = at
        return cls(tuple(item for item in items if item != ""))

    def ways(self, words: Sequence[Word]) -> list[Gaps]:
        """How another question's words fill the gaps, all others being the same; empty if they do not, or in too many ways.

        A gap takes one word or more, and the same wherever it stands.
        """
        texts = [word.text for word in words]
        reachable = self._reachable(texts)
        found: list[Gaps] = []
        begun: list[tuple[int, int, Gaps]] = [(0, 0, {})] if 0 in reachable[0] else []
        for _ in range(_MOST_STEPS):
            if not begun:
                return found
            number, at, gaps = begun.pop()
            if number == len(self.items):
                found.append(gaps)
                continue
            item = self.items[number]
            if isinstance(item, str):
                begun.append((number + 1, at + 1, gaps))
                continue
            known = None if item not in gaps else texts[slice(*gaps[item])]
            ends = (end for end in reachable[number + 1] if end > at and known in (None, texts[at:end]))
            begun += [(number + 1, end, {item: (at, end), **gaps}) for end in ends]
        return []

    def _reachable(self, texts: Sequence[str]) -> list[set[int]]:
        """For each item, and behind the last, the words from which the rest can be said."""
        reachable = [set[int]() for _ in self.items] + [{len(texts)}]
        for number in range(len(self.items) - 1, -1, -1):
            item, after = self.items[number], reachable[number + 1]
            if isinstance(item, str):
                reachable[number] = {end - 1 for end in after if end and texts[end - 1] == item}
            else:
                reachable[number] = set(range(max(after, default=0)))
        return reachable


def _length(place: tuple[int, int] | None) -> int:
    return 0 if place is None else place[1] - place[0]
