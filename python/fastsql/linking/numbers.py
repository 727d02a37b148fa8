"""Numbers in the question: digits, decimals, number words, ordinals and decades, English and Chinese."""

from __future__ import annotations

import re
from collections.abc import Iterator

from fastsql.linking.candidate import Candidate
from fastsql.linking.folding import has_han
from fastsql.linking.numerals import chinese_cardinal, english_cardinal, english_ordinal, plain_number
from fastsql.linking.vocabulary import chinese, english

_LARGEST_INTEGER = 2**63 - 1

_UNITS = "|".join((*english.MEASURES, *english.TIMES))
_DIGITS = re.compile(
    r"(?<![a-z0-9_])(?<![0-9][.])(?<![a-z0-9][.])(?P<sign>(?<![^\s(=<>])[-+])?"
    r"(?P<number>[0-9]{1,3}(?:,[0-9]{3})+(?![0-9,])(?:\.[0-9]+)?|[0-9]+(?:\.[0-9]+)?|\.[0-9]+)"
    rf"(?:(?P<ordinal>st|nd|rd|th)\b|(?P<decade>'?s\b)|(?P<thousand>k\b)|(?P<unit>(?:{_UNITS})(?:/[a-z]+)?\b)|(?![a-z0-9_]))"
    r"(?!\.[0-9]|-[a-z](?![a-z]))"
)
_AFTER_TOP = re.compile(r"(?:top|前|第)[-# ]?$")
_CODE_BEFORE = re.compile(r"[a-z]-$")
_TOP_DIGITS = re.compile(r"(?<=top)[0-9]+(?![a-z0-9_.])")
_SCALE = re.compile(
    rf" ?(?P<scale>{'|'.join(english.SCALES)}|hundred)\b|[多余来]?(?P<han>[{''.join(chinese.SCALES_BEHIND_DIGITS)}])"
)
_SCALE_OF_RANGE = re.compile(r"[-~至到](?P<until>[0-9]+(?:\.[0-9]+)?)(?P<han>[千万亿])(?![克米卡瓦])")
"""Behind the first number of a range, whose second one has the scale of both: 1-2万."""
_SPOKEN_SCALE = re.compile(r"(?P<han>[千万亿])(?P<next>[1-9])(?![0-9.,万千百])")
"""1万6, which is 16,000."""
_SHORT_SCALE = re.compile(r"(?<![a-z0-9_.])(?P<number>[0-9]+(?:\.[0-9]+)?) ?(?P<scale>[kw])(?![a-z0-9_])")
_SHORT_SCALES = {"k": 10**3, "w": 10**4}
_TENTHS_OF_DEGREE = re.compile(r"(?<![a-z0-9_.])(?P<whole>[0-9]{2})度(?P<tenths>[1-9])(?![0-9度])")
_ABOUT = re.compile(
    rf"(?P<low>[{chinese.ONE_TO_NINE}两])(?P<high>[{chinese.ONE_TO_NINE}])(?P<scale>[十百千万])?"
)
_SCALES = {"hundred": 100} | english.SCALES | chinese.SCALES_BEHIND_DIGITS
_MINUS_WORD = re.compile(rf"(?:\b(?:minus|negative) |{'|'.join(chinese.MINUS)})$")

_DURATION = re.compile(
    rf"(?:[ -]|个|-)*(?P<unit>{'|'.join((*english.DURATIONS, *chinese.DURATIONS))})(?![a-z])"
)
_ONE_UNIT = re.compile(rf"(?<![a-z])(?:{'|'.join(english.BEFORE_LENGTHS)}) (?P<one>an?)(?= )")
_HALF = re.compile(
    rf"\b(?:half(?: an?| of an?)? ?-?|a half[ -])(?P<unit>{'|'.join(english.HALVES)})\b"
    rf"|(?<![上下前后])半个?(?P<han>{'|'.join(chinese.HALVES)})"
)
_HALF_OF = english.HALVES | chinese.HALVES

_PERCENTAGE = re.compile(
    r"(?<![a-z])(?:percentages?|(?<![0-9] )(?<![0-9])per ?cent|proportions?|shares?(?= of))(?![a-z])|(?<=in )%"
    rf"|百分之(?:几|多少)|百分[比数率]|占比|所占比例|占多[少大]|{chinese.RATE}"
)
_WORDS = re.compile(r"[a-z]+")
_BEGINNINGS = frozenset(("hundred", *english.MULTIPLES, *english.DECADES, *english.ORDINALS)).union(
    english.SMALL_NUMERALS, english.TENS, english.SCALES
)
"""Words with which a number in words may begin."""

_HAN_NUMERAL = re.compile(
    f"[{chinese.NUMERALS}]+(?:点(?P<fraction>[零〇{chinese.ONE_TO_NINE}]+)(?![十百千万]))?"
)
_CLASSIFIER = re.compile("|".join(chinese.CLASSIFIERS))
_TENTHS = re.compile(chinese.TENTHS)
_HALF_OF_ALL = re.compile("|".join(chinese.HALF))
_IN_HUNDRED = "百分之"
_SO_MANY_PERCENT = re.compile(
    rf"(?<![a-z0-9_.])(?P<number>[0-9]+(?:\.[0-9]+)?) ?%|{_IN_HUNDRED}(?P<behind>[0-9]+(?:\.[0-9]+)?)"
)
_SPOKEN_DECIMAL = re.compile(r"(?<![a-z0-9_.])[0-9]+点[0-9]+(?![0-9分])")
_BEFORE_UNIT = re.compile(r"(?<![a-z0-9_./-])[0-9]+(?:\.[0-9]+)?(?=[a-z]{1,4}(?![a-z0-9_-]))")
_PLACED = re.compile(f"[{''.join(chinese.DIGITS)}][{''.join(chinese.TENS)}万亿]|十[{chinese.ONE_TO_NINE}]$")
"""A numeral that is one whatever stands behind it: 六十, 两万, 十五."""
_COMPARING = re.compile(f"(?:{'|'.join(chinese.COMPARING)})$")
_TIME_UNIT = re.compile(f"个?(?:{'|'.join(chinese.TIMES)})")
_DECADE_HAN = re.compile("|".join(chinese.DECADES))


def find_numbers(text: str) -> tuple[Candidate, ...]:
    """Number candidates in `text`, which is folded (see `folding.fold`).

    Digits with a leading zero (``01566167620``) and integers beyond 64 bits are codes: their value is the text itself.
    ``50s`` and ``fifties`` give 50 and 59. ``two weeks`` gives 2 and 14, for SQL that counts in days, and ``longer than a
    week`` 7; ``once a week`` does not. ``what percentage``, ``what proportion`` and ``in %`` give 100.0, which SQL
    multiplies a share by (of whole numbers it would give a whole share); ``20 percent`` does not. In Chinese, where shares
    are compared with ``百分之九十``, ``九成`` and ``一半`` as often as asked for, these give 0.9 and 100.0, too.
    """
    found = [*_digits(text), *_english(text), *_one_unit(text), *_halves(text)]
    found += [Candidate(100.0, "number", match.span(), "number") for match in _PERCENTAGE.finditer(text)]
    if has_han(text):
        found.extend(_chinese(text))
    return tuple(found)


def _digits(text: str) -> Iterator[Candidate]:
    for match in _TOP_DIGITS.finditer(text):
        yield Candidate(int(match.group()), "number", match.span(), "number")
    reached = 0
    for match in _DIGITS.finditer(text):
        before = text[max(0, match.start() - 10) : match.start()]
        if match.start() < reached or (_CODE_BEFORE.search(before) and not _AFTER_TOP.search(before)):
            continue
        for candidate in _written_number(text, match, before):
            reached = max(reached, candidate.span[1])
            yield candidate


def _written_number(text: str, match: re.Match[str], before: str) -> Iterator[Candidate]:
    written = match["number"]
    start, end = match.start("number"), match.end("number")
    if match["ordinal"]:
        if written.isdigit():
            yield Candidate(int(written), "number", (start, match.end()), "ordinal")
        return
    if match["decade"]:
        # The apostrophe of 10018081's or 2100's is a possessive; only two digits take one as a decade.
        is_short = len(written) == 2 and written.isdigit()
        if (is_short or (written.isdigit() and len(written) == 4 and match["decade"] == "s")) and written[
            -1
        ] == "0":
            yield from _decade(int(written), (start, match.end()))
            return
        if match["decade"] == "s":
            return
    if written.isdigit() and (
        (written[0] == "0" and len(written) > 1) or int(written[:20]) > _LARGEST_INTEGER
    ):
        yield Candidate(written, "text", (start, end), "number")
        return
    value: int | float = float(written.replace(",", "")) if "." in written else int(written.replace(",", ""))
    scale = _SCALE.match(text, end)
    shared, spoken = _SCALE_OF_RANGE.match(text, end), _SPOKEN_SCALE.match(text, end)
    if shared is not None and value < float(shared["until"]):
        value = _scaled(value, _SCALES[shared["han"]])
    elif spoken is not None and written.isdigit():
        of_ten = _SCALES[spoken["han"]] // 10
        value, end = (10 * int(written) + int(spoken["next"])) * of_ten, spoken.end()
    elif scale is not None and not match["unit"]:
        value, end = _scaled(value, _SCALES[scale["scale"] or scale["han"]]), scale.end()
    elif match["thousand"]:
        value, end = _scaled(value, 1000), match.end()
    if match["sign"] == "-" or _MINUS_WORD.search(before):
        value = -value
    if match["sign"] == "-":
        start = match.start()
    yield Candidate(value, "number", (start, end), "number")
    if isinstance(value, int):
        yield from _counted_in_days(text, value, (start, end))
        if value % 10 == 0 and 10 <= value <= 90 and _DECADE_HAN.match(text, end):
            yield Candidate(value + 9, "number", (start, end), "number")


def _scaled(value: int | float, scale: int) -> int | float:
    scaled = value * scale
    # 1.15 million is 1150000 exactly, whatever binary fractions say.
    return round(scaled) if abs(scaled - round(scaled)) < 1e-6 else scaled


def _decade(first: int, span: tuple[int, int]) -> Iterator[Candidate]:
    """Both ends of a decade of ages or of years; years as text too."""
    yield Candidate(first, "number", span, "number")
    yield Candidate(first + 9, "number", span, "number")
    if 1900 <= first <= 2190:
        yield Candidate(str(first), "date", span, "date", format="%Y")
        yield Candidate(str(first + 9), "date", span, "date", format="%Y")


def _counted_in_days(text: str, value: int, span: tuple[int, int]) -> Iterator[Candidate]:
    """The number in the smaller unit that SQL counts in: weeks in days, quarters in months, decades in years."""
    unit = _DURATION.match(text, span[1])
    if unit is None or not 0 < value <= 1000:
        return
    name = unit["unit"]
    if name == "季度" and "个" not in unit.group():
        return  # one of four: 三季度 is the third
    if name.startswith(("quarter", "季度")):
        factor = 3
    elif name.startswith("decade"):
        factor = 10
    else:
        factor = 14 if name.startswith("fortnight") else 7
    yield Candidate(value * factor, "number", (span[0], unit.end()), "number")


def _one_unit(text: str) -> Iterator[Candidate]:
    for match in _ONE_UNIT.finditer(text):
        yield from _counted_in_days(text, 1, match.span("one"))


def _halves(text: str) -> Iterator[Candidate]:
    for match in _HALF.finditer(text):
        yield Candidate(_HALF_OF[match["unit"] or match["han"]], "number", match.span(), "number")


def _english(text: str) -> Iterator[Candidate]:
    matches = list(_WORDS.finditer(text))
    words = [match.group() for match in matches]
    position = 0
    while position < len(words):
        word = words[position]
        if word not in _BEGINNINGS:
            position += 1
            continue
        first = matches[position]
        if word in english.MULTIPLES:
            yield Candidate(english.MULTIPLES[word], "number", first.span(), "number")
        elif word in english.DECADES:
            yield from _decade(english.DECADES[word], first.span())
        elif not _stands_alone(text, first):
            pass
        elif (ordinal := english_ordinal(words, position)) is not None and _adjoin(
            text, matches, position, ordinal[1]
        ):
            value, after = ordinal
            if not (word == "second" and position and words[position - 1] in english.SECOND_IS_TIME_AFTER):
                yield Candidate(value, "number", (first.start(), matches[after - 1].end()), "ordinal")
            position = after
            continue
        elif (cardinal := english_cardinal(words, position)) is not None:
            value, after = cardinal
            while not _adjoin(text, matches, position, after):
                value, after = english_cardinal(words[: after - 1], position) or (value, position + 1)
            span = (first.start(), matches[after - 1].end())
            if not (value == 1 and after == position + 1 and _is_pronoun(words, position)):
                yield Candidate(value, "number", span, "number")
                yield from _counted_in_days(text, value, span)
            position = after
            continue
        position += 1


def _stands_alone(text: str, match: re.Match[str]) -> bool:
    """Whether digits or an underscore touch the word, as in ``one2``."""
    start, end = match.span()
    touching = text[start - 1 : start] + text[end : end + 1]
    return not any(letter == "_" or letter.isdigit() for letter in touching)


def _adjoin(text: str, matches: list[re.Match[str]], start: int, end: int) -> bool:
    """Whether only blanks and hyphens stand between the words `start` to `end` (exclusive)."""
    return all(
        not text[matches[index].end() : matches[index + 1].start()].strip(" -")
        for index in range(start, end - 1)
    )


def _is_pronoun(words: list[str], position: int) -> bool:
    before = words[position - 1] if position else ""
    after = words[position + 1] if position + 1 < len(words) else ""
    return before in english.NOT_ONE_BEFORE or after in english.NOT_ONE_AFTER or not after


def _chinese(text: str) -> Iterator[Candidate]:
    for match in _HALF_OF_ALL.finditer(text):
        yield from _part_of_all(5, match.span())
    for match in _SO_MANY_PERCENT.finditer(text):
        yield from _percent(float(match["number"] or match["behind"]), match.span())
    for match in _SHORT_SCALE.finditer(text):
        if match["scale"] == "w" or not _DIGITS.match(text, match.start()):  # weeks, too
            scaled = _scaled(float(match["number"]), _SHORT_SCALES[match["scale"]])
            yield Candidate(scaled, "number", match.span(), "number")
    for match in _TENTHS_OF_DEGREE.finditer(text):
        yield Candidate(float(f"{match['whole']}.{match['tenths']}"), "number", match.span(), "number")
    for match in _BEFORE_UNIT.finditer(text):
        number = plain_number(match.group())
        if (
            number is not None
            and not _DIGITS.match(text, match.start())
            and not _SHORT_SCALE.match(text, match.start())
        ):
            yield Candidate(number, "number", match.span(), "number")
    for match in _SPOKEN_DECIMAL.finditer(text):
        yield Candidate(float(match.group().replace("点", ".")), "number", match.span(), "number")
    for match in _HAN_NUMERAL.finditer(text):
        start, end = match.span()
        numeral, _, fraction = match.group().partition("点")
        after_digit = text[max(0, start - 1) : start].isdigit()
        if text[end : end + 1].isdigit() or (
            after_digit and (numeral[0] in "百千万亿" or not _CLASSIFIER.match(text, end))
        ):
            continue
        before = text[max(0, start - 3) : start]
        about = _about(text, numeral, end)
        if about and not fraction:
            yield from (Candidate(one, "number", (start, end), "number") for one in about)
            continue
        value = chinese_cardinal(f"一{numeral}" if numeral in chinese.SCALES else numeral)
        if value is None or value > _LARGEST_INTEGER:
            continue
        if fraction:
            decimal = float(f"{value}.{''.join(str(chinese_cardinal(digit)) for digit in fraction)}")
            yield Candidate(decimal, "number", (start, end), "number")
            if before == _IN_HUNDRED:
                yield from _percent(decimal, (start - len(before), end))
            continue
        if not _counts(text, numeral, before, end):
            continue
        source = "ordinal" if before.endswith("第") else "number"
        yield Candidate(value, "number", (start, end), source)
        yield from _counted_in_days(text, value, (start, end))
        if value % 10 == 0 and 10 <= value <= 90 and _DECADE_HAN.match(text, end):
            yield Candidate(value + 9, "number", (start, end), "number")
        if before == _IN_HUNDRED:
            yield from _percent(value, (start - len(before), end))
        if 0 < value < 10 and (tenths := _TENTHS.match(text, end)) is not None:
            yield from _part_of_all(value, (start, tenths.end()))


def _about(text: str, numeral: str, end: int) -> tuple[int, ...]:
    """Both of two numbers that stand for about so many: 五六天, 二三十人. Empty for other numerals."""
    found = _ABOUT.fullmatch(numeral)
    if found is None or (found["scale"] is None and _CLASSIFIER.match(text, end) is None):
        return ()
    low, high = (chinese.DIGITS[found[name]] for name in ("low", "high"))
    scale = chinese.TENS.get(found["scale"]) or chinese.SCALES.get(found["scale"], 1)
    return (low * scale, high * scale) if high == low + 1 else ()


def _part_of_all(tenths: int, span: tuple[int, int]) -> Iterator[Candidate]:
    """Tenths of the whole: of a hundred, which SQL then computes a share of, and of one."""
    for value in (10 * tenths, tenths / 10, 100.0):
        yield Candidate(value, "number", span, "number")


def _percent(number: float, span: tuple[int, int]) -> Iterator[Candidate]:
    """The same of a percentage; its own number is found by itself."""
    for value in (round(number / 100, 12), 100.0):
        yield Candidate(value, "number", span, "number")


def _counts(text: str, numeral: str, before: str, end: int) -> bool:
    """Whether the numeral characters count something; 一 in 一下, 万 in 万一 and 十 in 十分 do not."""
    compared = _COMPARING.search(before) is not None
    if numeral == "一":
        return (compared and not before.endswith("第")) or _TIME_UNIT.match(text, end) is not None
    if (text.startswith("十分", end - 1) and not compared) or text.startswith("百分之", end - 1):
        return False
    if len(numeral) == 1 and numeral in "百千万亿零〇":
        return compared and numeral in "百千万亿"
    if compared or len(numeral) > 2 or _CLASSIFIER.match(text, end) is not None:
        return True
    return _PLACED.match(numeral) is not None
