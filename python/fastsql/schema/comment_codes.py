"""Codes that a comment explains: "性别：1男 2女", "状态 0-候诊，1-已就诊", "sex (1 = male, 2 = female)".

A hospital's tables hold numbers whose meaning stands nowhere else. What is explained is known of the column: its codes, and
what people call them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_CODE, _WORD = r"(?P<code>\d{1,3}|[A-Za-z]{1,2})", "(?P<word>[\u4e00-\u9fff]{1,10})"
_ALONE = "(?<![A-Za-z0-9.])"
_BETWEEN = r"[\s,，;；、/|]*"
_FORMS = tuple(
    re.compile(pattern)
    for pattern in (
        rf"{_ALONE}{_CODE}\s*[-:：.=＝—]?\s*{_WORD}",
        rf"(?<![A-Za-z0-9_.]){_WORD}{_CODE}(?![A-Za-z0-9_.])",
        rf"(?<![\w.]){_WORD}\s*[-:：=＝—]\s*(?P<code>\d{{1,3}})(?![\w.])",
        rf"{_ALONE}(?P<code>\d{{1,3}}|[A-Z]{{1,2}})\s*[:=]\s*(?P<word>[A-Za-z][A-Za-z -]{{0,29}}?)(?=\s*(?:[,;/|)\n]|$))",
    )
)
"""A code and its word, in the order in which they are tried."""
_APART = re.compile(_BETWEEN)
_LEAST = 2
"""Codes of a column: one by itself may be anything."""
_NO_WORD = re.compile("^(?:[天日月年岁次分级点片盒型类号楼周时秒元个位名例种套份件项条]|小时|星期)|[到至]")
"""How amounts go on, and words of ranges."""
_HAN_LAST, _CODE_FIRST = (
    re.compile("[\u4e00-\u9fff]$"),
    re.compile(r"[\s,，;；、/|]*[0-9A-Za-z]{1,3}(?![\u4e00-\u9fff\w])"),
)
_LEAD = " \t:：,，;；(（[【-—="


@dataclass(frozen=True)
class Codes:
    """Codes with their words, in the comment's order, and what stands before them: the column's name, or nothing."""

    named: tuple[tuple[str, str], ...]
    before: str


def codes_of(comment: str) -> Codes | None:
    """The codes that a comment explains; None where it explains fewer than two."""
    for form in _FORMS:
        found = list(_neighbours(form, comment))
        codes = [match["code"] for match in found]
        words = [match["word"].strip() for match in found]
        if len(found) >= _LEAST and _are_codes(codes, words) and not _is_shifted(form, comment, found):
            named = tuple(zip(codes, words, strict=True))
            return Codes(named, comment[: found[0].start()].strip(_LEAD))
    return None


def _are_codes(codes: Sequence[str], words: Sequence[str]) -> bool:
    """Whether they are codes with their words, and no amounts with their units, ranges or types."""
    return (
        len(set(codes)) == len(codes)
        and len(set(words)) == len(words)
        and not any(_NO_WORD.search(word) for word in words)
    )


def _is_shifted(form: re.Pattern[str], comment: str, found: Sequence[re.Match[str]]) -> bool:
    """Whether each word stands before its code and not behind it: 男1 女2, where a code without a word comes last."""
    if form is not _FORMS[0]:
        return False
    before, behind = comment[: found[0].start()], comment[found[-1].end() :]
    return _HAN_LAST.search(before) is not None and _CODE_FIRST.match(behind) is not None


def _neighbours(form: re.Pattern[str], comment: str) -> Iterator[re.Match[str]]:
    """The first run of matches with nothing between them."""
    match = form.search(comment)
    while match is not None:
        yield match
        apart = _APART.match(comment, match.end())
        assert apart is not None  # it may be empty
        match = form.match(comment, apart.end())
