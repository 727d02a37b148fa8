"""Which earlier turns a question calls by their numbers: "A3", "the third answer", "result 12", 结果三, 第3个问题.

Conversations of EHR-SeqSQL (Ryu et al., Findings of ACL 2024, section 3) refer so, and so do people who see numbered
answers. No model should have to count turns: one that is called by its number is marked.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from fastsql.linking.numerals import chinese_cardinal, english_ordinal

Span = tuple[int, int]

_ENGLISH = r"(?:answer|result|question|query|turn)"
_NO_TIME = r"(?!\s*(?:times|days?|hours?|hrs?|h|weeks?|months?|years?|minutes?)\b)"
_HAN = "(?:答案|结果|回答|问题)"
_NUMERAL = "([0-9]{1,4}|[一二两三四五六七八九十百]{1,5})"
_NO_COUNT = r"(?!\s*[0-9一二三四五六七八九十百个名位次天日周月年小分人条种项号])"
_NUMBERED = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"(?<![A-Za-z0-9])(?:[AaQq]|#\s?)(\d{{1,4}})(?![A-Za-z0-9]){_NO_TIME}",
        rf"\b{_ENGLISH}\s*(?:no\.?|number|#)?\s*(\d{{1,4}})(?![A-Za-z0-9]){_NO_TIME}",
        rf"{_HAN}\s*(?:第|#)?\s*{_NUMERAL}{_NO_COUNT}",
        rf"第\s*{_NUMERAL}\s*(?:个|条|次|轮)?\s*(?:{_HAN}|查询|问)",
    )
)
"""Nobody means anything else by these, but for what a value says ("jackson pratt #1") or a unit does ("q4 hours")."""
_ORDINAL = re.compile(rf"\b(\d{{1,4}})(?:st|nd|rd|th)\s+{_ENGLISH}\b", re.IGNORECASE)
_ORDINAL_WORDS = re.compile(rf"\b([a-z]+(?:[ -][a-z]+)?)\s+{_ENGLISH}\b", re.IGNORECASE)
"""These may as well count what a table holds: "the first result of her creatinine"."""


def turn_numbers(question: str, values: Iterable[Span] = (), *, ordinals: bool = True) -> frozenset[int]:
    """The numbers by which a question calls earlier turns, from 1; there need not be such turns.

    No number counts that is in one of the spans of `values`, which some column is known to hold. Without `ordinals`, only
    what can hardly mean anything else.
    """
    taken = tuple(values)

    def free(match: re.Match[str]) -> bool:
        return not any(start <= match.start(1) < end for start, end in taken)

    patterns = (*_NUMBERED, _ORDINAL) if ordinals else _NUMBERED
    found = {_value(match[1]) for pattern in patterns for match in pattern.finditer(question) if free(match)}
    for match in _ORDINAL_WORDS.finditer(question) if ordinals else ():
        words = re.split("[ -]", match[1].lower())
        reads = (english_ordinal(words, start) for start in range(len(words)))
        whole = [value for value, end in filter(None, reads) if end == len(words)]
        found |= {1} if words[-1] == "first" and not whole else set(whole[:1])
    return frozenset(number for number in found if number)


def _value(numeral: str) -> int:
    return int(numeral) if numeral.isascii() else chinese_cardinal(numeral) or 0
