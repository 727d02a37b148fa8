"""What puts a question that was refused right: "I meant ceftriaxone", "sorry, 2099", 我是说头孢曲松, and "yes" to a guess.

The words that say so are few and closed classes, as in any language. What is put in order is the one thing that the refusal
named: a value that the database does not hold, or words that nothing is called. What is confirmed is what it said in words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from fastsql.refusal.suggestions import (
    BestGuess,
    SeveralReadings,
    Span,
    Suggestion,
    UnknownValue,
    UnknownWords,
)

LONGEST = 80
"""Characters of what is meant instead; more is a question of its own."""
_AROUND = 60
"""Characters of the words that say so."""
_MEANT = re.compile(
    r"(?:(?:no|sorry|oops|pardon|actually|correction)\b\W*)*(?:i\s+(?:mean|meant)|make\s+that|(?:it|that)\s+should\s+be)\b\W*(?P<said>.+)"
    r"|(?:(?:no|sorry|oops|pardon|correction)\b\W+)+(?P<after>.+)"
    r"|(?P<before>.+?)\W+(?:i\s+(?:mean|meant)|rather)"
    r"|(?:不是?|不对|对不起|抱歉|错了)*[，,、\s]*(?:我是说|我的意思是|我是指|应该是|应为|改成)[：:，,\s]*(?P<zh>.+)"
    r"|(?:不对|对不起|抱歉|错了)[，,、\s]*(?P<sorry>.+)",
    re.IGNORECASE | re.DOTALL,
)
_ASKS = re.compile(
    r"(?:how|what|which|who|whom|whose|when|where|why|show|list|give|tell|find|count|only|just|and"
    r"|is|are|was|were|do|does|did|has|have|had|can|could)\b|.*(?:多少|哪|几|谁|什么|吗|列出|查询)",
    re.IGNORECASE | re.DOTALL,
)
"""Begins a question, or a request, of its own."""
_YES = re.compile(
    r"(?:(?:yes|yeah|yep|yup|ok(?:ay)?|sure|right|correct|exactly|indeed|please(?: do)?|i (?:do|did)"
    r"|that(?:['’]s| is)(?: (?:it|right|correct|the one|what i mean(?:t)?))?)(?!\w)\W*)+"
    r"|(?:(?:是的?|对的?|没错|正是|正确|嗯|好的?|可以|就是这个|就是这样)\W*)+",
    re.IGNORECASE,
)
_PLACES = {
    word: place
    for place, words in enumerate(
        (
            ("1", "1st", "first", "one", "一"),
            ("2", "2nd", "second", "two", "二"),
            ("3", "3rd", "third", "three", "三"),
        )
    )
    for word in words
}
_NTH = re.compile(
    rf"(?:(?:yes|ok(?:ay)?)\W+)?(?:i mean(?:t)? )?(?:the )?(?:(?:reading|number|option|no\.?) ?)?"
    rf"(?:是|我要|选)?第?(?P<nth>{'|'.join(sorted(_PLACES, key=len, reverse=True))})"
    r"(?: (?:one|reading|option)|[个种项](?:意思|解释)?)?",
    re.IGNORECASE,
)
_EDGES = " \t\r\n.,;:!?'\"“”‘’。，；：！？「」"


def repaired(question: str, refused: str, suggestions: Sequence[Suggestion]) -> str | None:
    """The refused question with what is meant in place of what was not understood; None where `question` corrects nothing.

    Args:
        question: what is asked now.
        refused: the question before it, which was refused.
        suggestions: those of its refusal, which say what was not understood.
    """
    place = _not_understood(suggestions)
    meant = None if place is None else _meant(question, suggestions)
    if place is None or not meant or len(meant) > LONGEST:
        return None
    start, end = place
    return f"{refused[:start]}{meant}{refused[end:]}"


def confirmed(question: str, suggestions: Sequence[Suggestion]) -> str | None:
    """The description of the reading that is said to be meant, of those that a refusal told; None where none is."""
    bare = question.strip(_EDGES)
    if len(bare) > _AROUND:
        return None
    for one in suggestions:
        if isinstance(one, BestGuess):
            return one.description if _YES.fullmatch(bare) else None
        if isinstance(one, SeveralReadings):
            found = _NTH.fullmatch(bare)
            place = None if found is None else _PLACES[found["nth"].lower()]
            return None if place is None or place >= len(one.descriptions) else one.descriptions[place]
    return None


def _meant(question: str, suggestions: Sequence[Suggestion]) -> str | None:
    bare = question.strip(_EDGES)
    if len(bare) > LONGEST + _AROUND:
        return None
    near = [near.value for one in suggestions if isinstance(one, UnknownValue) for near in one.nearest]
    if bare.casefold() in (value.casefold() for value in near):
        return bare  # a value that was proposed, and nothing else
    guessed = any(isinstance(one, BestGuess) for one in suggestions)
    if near and guessed and _YES.fullmatch(bare):
        return near[0]  # which the guess has in place of what was not understood
    found = _MEANT.fullmatch(bare)
    if found is None:
        return None
    said = next(text for text in found.groups() if text is not None).strip(_EDGES)
    return None if _ASKS.match(said) else said


def _not_understood(suggestions: Sequence[Suggestion]) -> Span | None:
    """Where the one thing stands that was not understood."""
    for one in suggestions:
        if isinstance(one, UnknownValue):
            return one.span
    for one in suggestions:
        if isinstance(one, UnknownWords) and len(one.spans) == 1:
            return one.spans[0]
    return None
