"""Words that stand for something said before: "those", "their", 他们.

They are few and closed classes, as in any language, and only looked for in conversations.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from fastsql.linking.folding import has_han

_PRONOUNS = re.compile(
    r"\b(?:th(?:ose|ese|em|ey|eir|eirs)|he|him|his|she|hers?)\b(?!\W+(?:\w+\W+){0,2}?(?:who|whose|that|which|with|without|where)\b)"
    r"|[他她它]们|其中|这些|那些|[他她]的",
    re.IGNORECASE,
)
"""Not where what follows says who is meant: "those who were discharged", "those patients with sepsis"."""
_POINTING = re.compile(r"th[oe]se|其中|这些|那些", re.IGNORECASE)

_BEGINS = r"^\W*(?:(?:and|but|now|then|so|ok|okay)\b\W*)*"
"""What a turn may begin with before it says anything."""
_SUBJECT = re.compile(
    rf"{_BEGINS}(?:how|which|what|when|where|why|who(?:m|se)?)\b(?:(?!\band\b)[^,;:.?!])*?"
    r"\b(?:am|is|are|was|were|do|does|did|has|have|had|can|could|may|might|must|shall|should|will|would)\s+s?he\b",
    re.IGNORECASE,
)
"""The subject of a question's first clause: "how many calls did she take" means nobody whom it names itself. "They"
may be whoever works there."""

_BESIDES = re.compile(
    r"^\W*(?:or|also|plus)\b|\b(?:too|as well|also)\b\W*(?:please\b\W*)?$"
    r"|^(?:还有|加上|外加|或者?)|也(?:要|算|算上|加上|包括)(?:在内)?\W*$",
    re.IGNORECASE,
)
_INSTEAD = re.compile(r"\b(?:only|just|instead|rather|not|without)\b|只|不|换", re.IGNORECASE)

_LIMITS = re.compile(
    rf"{_BEGINS}"
    r"(?:only|just|over|under|above|below|(?:more|less|fewer|older|younger) than|at (?:least|most)|with(?:out)?|for|in|at|on"
    r"|from|since|before|after|between|of|by|per|except|excluding|including|not|no|nor|or|same|leave out)\b"
    r"|^(?:那么?|再|然后)?(?:[只仅光就](?:要|看|算|统计|列|查|包括|限)?|按|除了?|不(?:要|含|包括|算|限)|从|自)",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"\b(?:who(?:m|se)?|which|what|how|when|where|why|list|show|give|find|count|number of|is|are|was|were|does|do|did|has"
    r"|have|any)\b|[谁哪吗呢几]|多少|多[长大高重久]|什么|怎|列出|显示|给出|查询|查找|统计|是否|有没有|数量|[人个总次]数",
    re.IGNORECASE,
)
_WHO_IS_MEANT = re.compile(r"\b(?:those|ones)\s+(?:who|that|which|whose)\b", re.IGNORECASE)
_MOST_WORDS, _MOST_CHARACTERS = 7, 14
"""Of a short turn, in a language with blanks and in one without."""


def only_limits(question: str) -> bool:
    """Whether a turn begins with what limits or splits an answer, and asks for none: "only the pharmacists", "per year"."""
    if _LIMITS.search(question) is None or _ASKS.search(_WHO_IS_MEANT.sub(" ", question)) is not None:
        return False
    return _is_short(question)


def _is_short(question: str) -> bool:
    return len(question) <= _MOST_CHARACTERS if has_han(question) else len(question.split()) <= _MOST_WORDS


_FURTHER = re.compile(
    r"^\W*(?:and|with|add|include|show|give|plus)\b|^(?:还有|加上|以及|连同|附上|带上)", re.IGNORECASE
)


def names_more(question: str) -> bool:
    """Whether a short turn names something and asks nothing: "with phone numbers", "their pagers too"."""
    if not _is_short(question) or _INSTEAD.search(question) is not None:
        return False
    return adds(question) or _FURTHER.search(question) is not None or _ASKS.search(question) is None


_GOES_BACK = re.compile(
    r"\b(?:again|regardless|irrespective|whatever|all|any|every(?:one|body|thing)?|drop|forget|ignore|back|originally|overall"
    r"|total|either|both|ever|or not)\b|全部|所有|不管|不论|无论|不限|总共|合计|一共|任何|回到",
    re.IGNORECASE,
)


def goes_back(question: str) -> bool:
    """Whether a turn may take back what was asked for since: "everyone again, but above 38"."""
    return _GOES_BACK.search(question) is not None


_COUNTS_A_PART = re.compile(
    rf"{_BEGINS}how many of (?:th(?:em|ose|ese|e)|his|hers?|theirs?)\b"
    r"(?!.*\b(?:each|per)\b)"
    r"|^\W*(?:那么?|这)?(?:其中|里面|当中)(?!.*[各每]).{0,3}(?:多少|几)",
    re.IGNORECASE,
)


def counts_a_part(question: str) -> bool:
    """Whether a turn asks how many of those asked for before are something: "how many of them died?"."""
    return _COUNTS_A_PART.search(question) is not None


def adds(question: str) -> bool:
    """Whether a turn asks for something beside what was asked for before, and nothing in its place: "or Spanish"."""
    return _BESIDES.search(question) is not None and _INSTEAD.search(question) is None


def points_back(question: str) -> bool:
    """Whether a question has such a word which nothing in the question itself can be: its first one is "those" or its like,
    or it asks what "she" did.
    """
    found = _PRONOUNS.search(question)
    return found is not None and bool(_POINTING.match(found[0]) or _SUBJECT.search(question))


def refers_back(question: str, named: Iterable[tuple[int, int]]) -> bool:
    """Whether a question has such a word, and names nothing before it that could be meant.

    `named` are spans of the question that name something. What "those" are is never said before them in the same question:
    in "the average age of those" they are no ages.
    """
    found = _PRONOUNS.search(question)
    if found is None:
        return False
    return points_back(question) or not any(start < found.start() for start, _ in named)
