"""What a question says of a value: that it is to be more than that, at least that, other than that.

Only what is plain is read: words that stand beside the value itself and say one thing. A model that has seen few of them
takes "no less than" for "less than"; what is said is no matter of likelihood.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from fastsql.linking.vocabulary import chinese, english

_QUOTES = " \t\"'“”‘’「」"
_SIGNS = {phrase: sign for sign, said in english.COMPARED_BY_SIGNS.items() for phrase in said}


def _signs(*lists: Mapping[str, Iterable[str]]) -> dict[str, str]:
    return {phrase: sign for words in lists for sign, said in words.items() for phrase in said}


def _any(phrases: Iterable[str]) -> str:
    return "|".join(re.escape(one).replace(r"\ ", r"\s+") for one in sorted(phrases, key=len, reverse=True))


_ENGLISH = _signs(
    english.COMPARED_AMOUNTS, english.COMPARED_BY_VERBS, english.COMPARED_TIMES, english.COMPARED_SELDOM
)
_CHINESE = _signs(chinese.COMPARED)
_CHINESE_WORDS = _any(_CHINESE).replace("不是", "(?<!是)不是").replace("非", "(?<![是除并无莫若])非")
"""是不是 asks, and denies nothing; 非 is a part of 是非, 除非, 并非."""
_BEFORE = re.compile(
    rf"(?:(?<![\w'’])(?P<english>{_any(_ENGLISH)})|(?P<chinese>{_CHINESE_WORDS})|(?<![<>=!])(?P<sign>{_any(_SIGNS)}))$",
    re.IGNORECASE,
)
_NO_DENIAL = re.compile(
    _any(phrase for phrase, sign in (*_ENGLISH.items(), *_CHINESE.items()) if sign in ("ge", "le")),
    re.IGNORECASE,
)
"""Comparisons some of which hold a denial of their own: "not above"."""
_ENGLISH_BEHIND = _signs(english.COMPARED_BEHIND, english.COMPARED_BEHIND_SELDOM)
_CHINESE_BEHIND = _signs(chinese.COMPARED_BEHIND)
_BEHIND = re.compile(
    rf"(?:\s*(?:(?!(?:{'|'.join(english.SMALL_NUMERALS)})\b)[^\W\d]{{1,12}}\s+)?"
    rf"(?P<english>{_any(_ENGLISH_BEHIND)})(?!\w)(?!\s+(?:than|\d|(?:the|an?|to|treatment|observation|care)\b))"
    rf"|\s*[^\W\d_]{{0,2}}?(?P<chinese>{_any(_CHINESE_BEHIND)})(?![科海属]))",
    re.IGNORECASE,
)
_AGES = {"older than": "lt", "younger than": "gt"}
"""What is older than a day came before it."""
_OF_TIME = re.compile("[年月日号点时岁]")
"""Behind a number that is a year, or an age."""
_NEITHER = re.compile(rf"(?:(?<!\w){english.NEITHER}|{chinese.NEITHER})$", re.IGNORECASE)
_BY = re.compile(r"(?<!\w)(?<!grouped )(?<!ordered )(?<!sorted )by$", re.IGNORECASE)
_FROM, _ON = re.compile(r"(?<!\w)from$", re.IGNORECASE), re.compile(r"\s+on(?:wards?)?(?!\w)", re.IGNORECASE)
_CHINESE_FROM, _CHINESE_ON = (
    re.compile(f"{chinese.FROM_ON[0]}$"),
    re.compile(chinese.FROM_ON[1]),
)
_DATED_BEHIND = {sign: re.compile(said) for sign, said in chinese.DATED_BEHIND.items()}
_EXCEPT, _APART = re.compile(f"{chinese.EXCEPT[0]}$"), re.compile(chinese.EXCEPT[1])
_FIRST_OF_TWO = re.compile(rf"(?<!\w)neither(?!\w)|{chinese.FIRST_OF_TWO}", re.IGNORECASE)
_DENIED = re.compile(rf"(?:{'|'.join(english.DENIALS)})(?!\w)|{_any(chinese.DENIALS)}", re.IGNORECASE)


def said_of(question: str, span: tuple[int, int], *, dated: bool = False) -> str | None:
    """How the value at these characters, which may be a date, is to be compared: "gt", "ge", "lt", "le", "eq" or "ne".

    None where nothing beside it says so, or two things do, or what says so is denied.
    """
    before = question[: span[0]].rstrip(_QUOTES)
    neither = _NEITHER.search(before)
    if neither is not None:
        return None if _DENIED.search(_FIRST_OF_TWO.sub(" ", before[: neither.start()], count=1)) else "ne"
    except_for = _EXCEPT.search(before)
    if except_for is not None and _APART.match(question[span[1] :].lstrip(_QUOTES)):
        return None if _DENIED.search(before[: except_for.start()]) else "ne"
    match = _BEFORE.search(before)
    said = {_behind(question[span[1] :].lstrip("\"'”’」"), dated=dated)}
    if match is not None:
        older = _AGES.get((match["english"] or "").lower()) if dated else None
        said.add(older or _meant(match, _ENGLISH, _CHINESE))
        before = before[: match.start()]
    if dated:
        said.add(_of_date(before, question[span[1] :]))
    plain = said - {None}
    # "Have not been here since 2019", "do not have more than 3": any earlier denial may be of this.
    return plain.pop() if len(plain) == 1 and not _DENIED.search(_NO_DENIAL.sub(" ", before)) else None


def _of_date(before: str, behind: str) -> str | None:
    """What is said of a date alone: "by" that day, "from" that day "on", 自某月起, 某日前."""
    if _BY.search(before):
        return "le"
    if (_FROM.search(before) and _ON.match(behind)) or (
        _CHINESE_FROM.search(before) and _CHINESE_ON.match(behind)
    ):
        return "ge"
    return next((sign for sign, pattern in _DATED_BEHIND.items() if pattern.match(behind)), None)


def _behind(text: str, *, dated: bool) -> str | None:
    match = _BEHIND.match(text)
    if match is None or (match["chinese"] in chinese.TIMES_BEHIND and not (dated or _OF_TIME.match(text))):
        return None
    return _meant(match, _ENGLISH_BEHIND, _CHINESE_BEHIND)


def _meant(
    match: re.Match[str], english_signs: Mapping[str, str], chinese_signs: Mapping[str, str]
) -> str | None:
    found = match.groupdict()
    if found["english"] is not None:
        return english_signs.get(" ".join(found["english"].lower().split()))  # none for "at leaſt"
    return chinese_signs[found["chinese"]] if found["chinese"] is not None else _SIGNS[found["sign"]]
