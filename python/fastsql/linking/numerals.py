"""Numerals written in words: English cardinals and ordinals, Chinese numerals."""

from __future__ import annotations

from collections.abc import Sequence

from fastsql.linking.vocabulary import chinese
from fastsql.linking.vocabulary.english import ORDINALS, SCALES, SMALL_NUMERALS, TENS

_HAN_DIGITS = chinese.DIGITS | {str(value): value for value in range(10)}


def english_cardinal(words: Sequence[str], start: int) -> tuple[int, int] | None:
    """The cardinal in words at `words[start:]` as (value, index after it); None where there is none.

    Reads ``twenty five``, ``a hundred and five``, ``two thousand``; words are lower case, hyphens already separate.
    """
    total = group = 0
    position, last_small = start, 0
    seen = False
    while position < len(words):
        word = words[position]
        if word in SMALL_NUMERALS:
            value = SMALL_NUMERALS[word]
            # "five six" is two numbers, "twenty five" is one.
            if last_small and not (last_small % 10 == 0 and 20 <= last_small <= 90 and 0 < value < 10):
                break
            if seen and value == 0:
                break
            group += value
            last_small = value or -1
        elif word == "hundred" and (seen or _article_before(words, position)) and 0 <= group < 100:
            group, last_small = max(group, 1) * 100, 0
        elif word in SCALES and (seen or _article_before(words, position)):
            total += max(group, 1) * SCALES[word]
            group, last_small = 0, 0
        elif word == "and" and seen and words[position - 1] == "hundred" and _is_small(words, position + 1):
            pass
        else:
            break
        seen = True
        position += 1
    return (total + group, position) if seen else None


def english_ordinal(words: Sequence[str], start: int) -> tuple[int, int] | None:
    """The ordinal in words at `words[start:]` as (value, index after it): ``third``, ``twenty first``."""
    word = words[start]
    if word in ORDINALS:
        return ORDINALS[word], start + 1
    if word in TENS and start + 1 < len(words):
        following = words[start + 1]
        unit = 1 if following == "first" else ORDINALS.get(following, 0)
        if 0 < unit < 10:
            return SMALL_NUMERALS[word] + unit, start + 2
    return None


def chinese_cardinal(text: str) -> int | None:
    """The value of a Chinese numeral such as ``二十三``, ``一百零五``, ``两千``, ``三万五``; None where it is none.

    A run of digits without 十百千万 is read digit by digit: ``二〇一五`` is 2015, ``零三`` is 3.
    """
    if not text:
        return None
    if all(letter in _HAN_DIGITS for letter in text):
        return int("".join(str(_HAN_DIGITS[letter]) for letter in text))
    total = group = 0
    digit: int | None = None
    place = 0
    for letter in text:
        if letter in _HAN_DIGITS:
            if digit is not None and digit != 0:
                return None
            digit = _HAN_DIGITS[letter]
            if digit == 0:
                place = 0
        elif letter in chinese.TENS:
            group += (1 if digit is None else digit) * chinese.TENS[letter]
            place, digit = chinese.TENS[letter], None
        elif letter in chinese.SCALES:
            group += digit or 0
            if group == 0:
                return None
            total = (
                (total + group) * chinese.SCALES[letter]
                if letter == "亿"
                else total + group * chinese.SCALES[letter]
            )
            place, group, digit = chinese.SCALES[letter], 0, None
        else:
            return None
    if digit:
        # 三万五 is 35,000 and 一百二 is 120; after a zero, or after 十, the last digit counts as itself.
        group += digit * (place // 10 if place > 10 else 1)
    return total + group


def _article_before(words: Sequence[str], position: int) -> bool:
    return position > 0 and words[position - 1] == "a"


def _is_small(words: Sequence[str], position: int) -> bool:
    return position < len(words) and words[position] in SMALL_NUMERALS


def plain_number(value: str | int | float) -> int | float | None:
    """The number that a literal is or, as text in digits, says: ``"7137.7"``, 8; None for other text and codes ("007")."""
    if not isinstance(value, str):
        return value
    digits = value[1:] if value[:1] in {"-", "+"} else value
    whole, _, fraction = digits.partition(".")
    if not digits.isascii() or not (whole + fraction).isdigit() or (len(whole) > 1 and whole[0] == "0"):
        return None
    return float(value) if "." in value else int(value)
