"""Words that say a calendar period: "this year", "the last 30 days", 上个月.

The grammar has an action for each kind of period, and the decoder takes it or not; no rule of linking does. These patterns
only find, afterwards, the words that say what was taken.
"""

from __future__ import annotations

import re

from fastsql.explanation.trail import Span

RELATIONS = ("in", "since", "until", "within", "same")
"""First part of the names of the grammar's actions for time."""

_UNITS = {
    "year": (r"years?", "年"),
    "month": (r"months?", "个?月"),
    "day": (r"days?", "[天日]"),
    "hour": (r"hours?", "个?小?时"),
    "time": (r"time|moment", "时[刻间]"),
}
_COUNTS = (
    "no",
    "an?|one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
)
_CHINESE_COUNTS = ("〇", "一", "[两二]", "三", "四", "五", "六", "七", "八", "九", "十", "十一", "十二")
_LAST = r"(?:last|past|previous|prior|preceding)"
_OWN_WORDS = {
    ("in", "year", 0): "今年|本年|当年",
    ("in", "month", 0): "本月|当月|这个?月",
    ("in", "day", 0): r"\btoday\b|今[天日]|当[天日]",
    ("in", "year", 1): "去年|上一?年",
    ("in", "month", 1): "上个?月",
    ("in", "day", 1): r"\byesterday\b|昨[天日]",
    ("in", "year", 2): "前年",
}


def find_time_words(question: str, relation: str, unit: str, count: int | None) -> Span | None:
    """Where a question says a period, such as the month (`unit`) 0 back (`count`) for "in"; None where it does not.

    `relation` is one of `RELATIONS`; `count` is None for those that count nothing ("same").
    """
    for pattern in _patterns(relation, unit, count):
        match = re.search(pattern, question, re.IGNORECASE)
        if match:
            return match.span()
    return None


def _patterns(relation: str, unit: str, count: int | None) -> list[str]:
    if unit not in _UNITS or relation not in RELATIONS:
        return []
    english, chinese = _UNITS[unit]
    if relation == "same":
        return [rf"\b(?:the )?same (?:{english})\b", rf"同一?(?:{chinese})|当(?:{chinese})"]
    assert count is not None
    number = rf"(?:{_spelled(count, _COUNTS)})"
    chinese_number = rf"(?:{_spelled(count, _CHINESE_COUNTS)})"
    if relation == "in":
        own = [_OWN_WORDS[relation, unit, count]] if (relation, unit, count) in _OWN_WORDS else []
        which = "(?:this|the current|current|the present)" if count == 0 else rf"(?:the )?{_LAST}"
        ago = [rf"\b{number} (?:{english}) ago\b", rf"{chinese_number}(?:{chinese})前"]
        return [*([rf"\b{which} (?:{english})\b"] if count < 2 else []), *own, *(ago if count else [])]
    if relation == "within":
        return [
            rf"\bwithin (?:the )?(?:same |next )?{number} (?:{english})\b",
            *([rf"\bwithin (?:the |a )?(?:same )?(?:{english})\b"] if count <= 1 else []),
            rf"{chinese_number}(?:{chinese})[之以]?内",
        ]
    lead = (
        r"(?:since|after|from|in|over|during|within|for) "
        if relation == "since"
        else r"(?:until|before|till|to) "
    )
    return [
        rf"\b(?:{lead})?(?:the )?(?:{_LAST} )?{number} (?:{english})(?: ago)?\b",
        *([rf"\b(?:{lead})?(?:the )?{_LAST} (?:{english})\b"] if count == 1 else []),
        rf"(?:最?近|过去)?{chinese_number}(?:{chinese})(?:[之以]?[前内来])?",
    ]


def _spelled(count: int, names: tuple[str, ...]) -> str:
    return rf"{count}|{names[count]}" if 0 <= count < len(names) else str(count)
