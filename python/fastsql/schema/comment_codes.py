"""Codes that a comment explains: "性别：1男 2女", "状态 0-候诊，1-已就诊", "sex (1 = male, 2 = female)".

A hospital's tables hold numbers whose meaning stands nowhere else. What is explained is known of the column: its codes, and
what people call them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_CODE, _WORD = r"(?P<code>\d{1,3}|[A-Za-z]{1,2})", "(?P<word>[\u4e00-\u9fff]{1,10})"
_ALONE = "(?<![A-Za-z0-9.])"
_BETWEEN = r"[\s,，;；、/|]*"
_FORMS = tuple(
    re.compile(pattern)
    for pattern in (
        rf"{_ALONE}{_CODE}\s*[-:：.=＝、—]?\s*{_WORD}",
        rf"(?<![\w.]){_WORD}\s*[-:：=＝—]\s*(?P<code>\d{{1,3}})(?![\w.])",
        rf"{_ALONE}(?P<code>\d{{1,3}}|[A-Z]{{1,2}})\s*[:=]\s*(?P<word>[A-Za-z][A-Za-z -]{{0,29}}?)(?=\s*(?:[,;/|)\n]|$))",
    )
)
"""A code and its word, in the order in which they are tried."""
_APART = re.compile(_BETWEEN)
_LEAST = 2
"""Codes of a column: one by itself may be anything."""
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
        if len(found) >= _LEAST and len(set(codes)) == len(codes):
            named = tuple((match["code"], match["word"].strip()) for match in found)
            return Codes(named, comment[: found[0].start()].strip(_LEAD))
    return None


def _neighbours(form: re.Pattern[str], comment: str) -> Iterator[re.Match[str]]:
    """The first run of matches with nothing between them."""
    match = form.search(comment)
    while match is not None:
        yield match
        apart = _APART.match(comment, match.end())
        assert apart is not None  # it may be empty
        match = form.match(comment, apart.end())
