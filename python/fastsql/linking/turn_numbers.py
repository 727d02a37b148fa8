"""Which earlier turns a question calls by their numbers: "A3", "the third answer", "result 12", 结果三, 第3个问题.

Conversations of EHR-SeqSQL (Ryu et al., Findings of ACL 2024, section 3) refer so, and so do people who see numbered
answers. No model should have to count turns: one that is called by its number is marked.
"""

from __future__ import annotations

import re

from fastsql.linking.numerals import chinese_cardinal, english_ordinal

_LETTER = r"(?<![A-Za-z0-9])(?:[AaQq]|#\s?)(\d{1,4})(?![A-Za-z0-9])"
_ENGLISH = r"(?:answer|result|question|query|turn)"
_AFTER = rf"\b{_ENGLISH}\s*(?:no\.?|number|#)?\s*(\d{{1,4}})(?![A-Za-z0-9])"
_BEFORE = rf"\b(\d{{1,4}})(?:st|nd|rd|th)\s+{_ENGLISH}\b"
_ORDINAL = rf"\b([a-z]+(?:[ -][a-z]+)?)\s+{_ENGLISH}\b"
_HAN = "(?:答案|结果|回答|问题|查询)"
_NUMERAL = "([0-9]{1,4}|[一二两三四五六七八九十百]{1,5})"
_CHINESE_AFTER = rf"{_HAN}\s*(?:第|#)?\s*{_NUMERAL}(?![0-9一二三四五六七八九十百])"
_CHINESE_BEFORE = rf"第\s*{_NUMERAL}\s*(?:个|条|次|轮)?\s*(?:{_HAN}|问)"
_PATTERNS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (_LETTER, _AFTER, _BEFORE, _CHINESE_AFTER, _CHINESE_BEFORE)
)
_WORDS = re.compile(_ORDINAL, re.IGNORECASE)


def turn_numbers(question: str) -> frozenset[int]:
    """The numbers by which a question calls earlier turns, from 1; there need not be such turns."""
    found = {_value(match[1]) for pattern in _PATTERNS for match in pattern.finditer(question)}
    for match in _WORDS.finditer(question):
        words = re.split("[ -]", match[1].lower())
        reads = (english_ordinal(words, start) for start in range(len(words)))
        whole = [value for value, end in filter(None, reads) if end == len(words)]
        found |= {1} if words[-1] == "first" and not whole else set(whole[:1])
    return frozenset(number for number in found if number)


def _value(numeral: str) -> int:
    return int(numeral) if numeral.isascii() else chinese_cardinal(numeral) or 0
