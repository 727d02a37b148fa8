"""Other words for a comparison, or words for another one: "above 80" becomes "of 80 or more", and the program agrees.

People say "at least", ">=", "no less than", "80 or more"; "other than", "different from", "!=". A data set has a few of
these. A phrase is exchanged only where it says what the program does, and nothing else can be meant: its value stands in the
question once, and in one comparison.
"""

from __future__ import annotations

import random
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from fastsql.grammar.compared import ORDERS, SIGNS, Compared, comparisons
from fastsql.grammar.program import ColumnRef, Literal, Production, Program
from fastsql.linking.vocabulary import english

Phrases = Mapping[str, Sequence[str]]
"""Ways to say each comparison, by its name in the grammar."""


def _together(*lists: Phrases) -> Phrases:
    """The phrases of several lists by their comparisons."""
    return {sign: tuple(one for words in lists for one in words.get(sign, ())) for sign in SIGNS}


_WITH_IS: Phrases = {"ne": ("not", "anything but")}
"""These stand behind "is" alone."""
AMOUNT = _together(english.COMPARED_AMOUNTS, english.COMPARED_BY_SIGNS)
DAY = _together(english.COMPARED_TIMES, {"ge": ("from",), "le": ("up to",), "eq": ("on",), "ne": ("not on",)})
YEAR = {**DAY, "eq": ("in",), "ne": ("not in",)}
TEXT: Phrases = {sign: AMOUNT[sign] for sign in ("eq", "ne")}
VERBS: Phrases = english.COMPARED_BY_VERBS
BEHIND: Phrases = english.COMPARED_BEHIND
RANGES = (
    "between {} and {}",
    "from {} to {}",
    "from {} up to {}",
    "in the range {} to {}",
    "ranging from {} to {}",
    "between {}-{}",
    "{}-{}",
    "{} - {}",
    "{} to {}",
)
RANGE = "between"
BESIDE = 0.3
"""How often a sign stands beside its value without a blank."""
TURNED = 0.6
"""How often another comparison is asked for."""
RARE = 0.25
"""How often that may be equality, or its opposite, where more and less can be asked for."""
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_YEAR = re.compile(r"(?:19|20|21)\d\d")
_RELATIVE = re.compile(
    r"(?<!\w)(?:whose|where|who|that|with|(?<!^)(?<!in )(?<!on )(?<!for )(?<!at )which)\s[^,.;?]*$",
    re.IGNORECASE,
)
"""What the text before "is Ada" ends with where that is a condition, and not a question: "was Ada here?"."""
_IS = re.compile(r"(?<!\w)(is|are|was|were)\s+$", re.IGNORECASE)


@dataclass(frozen=True)
class Slot:
    """Where the question says a comparison: the characters of its words and its value; `verb` is the "is" before these."""

    start: int
    end: int
    value: str
    verb: str


def exchange_comparison(
    question: str, program: Program, amounts: Collection[int], rng: random.Random
) -> tuple[str, Program] | None:
    """The question with one comparison in other words, or with another one, and its program. None where there is none.

    `amounts`: columns of which more and less can be asked. Comparisons of what is computed are taken for such.
    """
    places: list[Slot | Compared] = [*_ranges(question, program), *_plain(program)]
    rng.shuffle(places)
    for place in places:
        if isinstance(place, Slot):
            text = rng.choice(RANGES).format(*place.value.split("\0"))
            return question[: place.start] + text + question[place.end :], program
        found = _exchanged(question, program, place, amounts, rng)
        if found is not None:
            return found
    return None


def _exchanged(
    question: str, program: Program, place: Compared, amounts: Collection[int], rng: random.Random
) -> tuple[str, Program] | None:
    literal = program[place.literal]
    assert isinstance(literal, Literal)
    mention = _mention(question, literal.value)
    if mention is None:
        return None
    phrases = _phrases(mention.group(), literal.value)
    if place.dated and phrases is TEXT:  # a month, a day without its year
        return None
    slot = _slot(question, mention, place.sign, phrases)
    if slot is None:
        return None
    column = program[place.place + 1]
    ordered = phrases is not TEXT and (
        place.sign in ORDERS or not isinstance(column, ColumnRef) or column.column in amounts or place.dated
    )
    sign = _drawn(place.sign, ordered, rng)
    text = _said(sign, slot, phrases, rng)
    if question[slot.start].isupper():
        text = text[:1].upper() + text[1:]
    return question[: slot.start] + text + question[slot.end :], place.turned(program, sign)


def _drawn(sign: str, ordered: bool, rng: random.Random) -> str:
    """The comparison to say: the same one, or another that can be asked in its place."""
    if rng.random() >= TURNED:
        return sign
    return rng.choice(ORDERS) if ordered and rng.random() >= RARE else rng.choice(("eq", "ne"))


def _said(sign: str, slot: Slot, phrases: Phrases, rng: random.Random) -> str:
    """A comparison in words, with its value; in place of "is" where there is one."""
    verb = f"{slot.verb} " if slot.verb else ""
    if phrases is AMOUNT and sign in BEHIND and rng.random() < 1 / 3:
        return f"{verb}{slot.value} {rng.choice(BEHIND[sign])}"
    if sign == "eq" and phrases in (AMOUNT, TEXT) and rng.random() < 1 / 2:
        return f"{verb}{slot.value}"
    if slot.verb == "is" and phrases in (AMOUNT, TEXT) and sign in VERBS and rng.random() < 1 / 4:
        return f"{rng.choice(VERBS[sign])} {slot.value}"
    phrase = rng.choice([*phrases[sign], *(_WITH_IS.get(sign, ()) if verb else ())])
    if phrase in english.COMPARED_BY_SIGNS[sign]:
        verb = verb if rng.random() < 1 / 2 else ""
        return f"{verb}{phrase}{'' if rng.random() < BESIDE else ' '}{slot.value}"
    return f"{verb}{phrase} {slot.value}"


def _slot(question: str, mention: re.Match[str], sign: str, phrases: Phrases) -> Slot | None:
    """The words that say the comparison of what is mentioned. None where others stand there, or say another one."""
    start, end = mention.span()
    while start and question[start - 1] in "'\"‘“" and question[end : end + 1] in ("'", '"', "’", "”"):
        start, end = start - 1, end + 1
    value, before = question[start:end], question[:start]
    behind = _behind(question[end:]) if phrases is AMOUNT else None
    if behind is not None:
        said, length = behind
        is_, begin = _verb(before)
        return Slot(begin, end + length, value, is_) if said == sign else None
    said_before = _before(before, phrases)
    if said_before is None:
        is_, begin = _verb(before)
        if sign != "eq" or not is_ or (phrases is TEXT and not _RELATIVE.search(before[:begin])):
            return None
        return Slot(begin, end, value, is_)
    said, begin = said_before
    is_, begin = _verb(before[:begin])
    return Slot(begin, end, value, is_) if said == sign else None


def _before(text: str, phrases: Phrases) -> tuple[str, int] | None:
    """The comparison that a text ends with, by its longest phrase, and where that begins."""
    seldom = {} if phrases is TEXT else english.COMPARED_SELDOM
    found: list[tuple[int, str]] = []
    for sign, said in _together(phrases, _WITH_IS, seldom).items():
        for phrase in said:
            if phrase in english.COMPARED_BY_SIGNS[sign]:
                pattern = rf"(?<![<>=!]){phrase}\s*$"
            else:
                pattern = rf"(?<![\w'’]){re.escape(phrase)}\s+$".replace(r"\ ", r"\s+")
            match = re.search(pattern, text, re.IGNORECASE)
            if match is not None:
                found.append((match.start(), sign))
    if not found:
        return None
    begin, sign = min(found)
    return sign, begin


def _behind(text: str) -> tuple[str, int] | None:
    for sign, said in BEHIND.items():
        for phrase in said:
            match = re.match(rf"\s+{phrase}(?!\w)(?!\s+than)", text, re.IGNORECASE)
            if match is not None:
                return sign, match.end()
    return None


def _verb(before: str) -> tuple[str, int]:
    """The "is" that a text ends with, and where that begins; an empty one and the text's length where it does not."""
    match = _IS.search(before)
    return ("", len(before)) if match is None else (match[1].lower(), match.start())


def _phrases(said: str, value: object) -> Phrases:
    if _DATE.fullmatch(said):
        return DAY
    if _YEAR.fullmatch(said):
        return YEAR
    return TEXT if isinstance(value, str) and not said.replace(".", "", 1).isdigit() else AMOUNT


def _mention(question: str, value: object) -> re.Match[str] | None:
    """The one place where a value stands as it is."""
    text = f"{value:g}" if isinstance(value, float) else str(value)
    if not text.strip():
        return None
    pattern = rf"(?<![\w.,/:-]){re.escape(text)}(?!\w|[.,/:-]\d|-\w|%)"
    found = list(re.finditer(pattern, question, re.IGNORECASE))
    return found[0] if len(found) == 1 else None


def _plain(program: Program) -> Iterator[Compared]:
    """Comparisons with one literal that is in no other place."""
    values = [item.value for item in program if isinstance(item, Literal)]
    for one in comparisons(program):
        literal = program[one.literal]
        assert isinstance(literal, Literal)
        if values.count(literal.value) == 1:
            yield one


def _ranges(question: str, program: Program) -> Iterator[Slot]:
    """Ranges of values that a question says as one; their two values are parted by a null character."""
    for number, item in enumerate(program):
        if item not in (Production(RANGE), Production(f"not_{RANGE}")):
            continue
        ends = [one for one in program[number + 1 : number + 4] if isinstance(one, Literal)]
        if len(ends) != 2:
            continue
        mentions = [_mention(question, one.value) for one in ends]
        if mentions[0] is None or mentions[1] is None:
            continue
        low, high = mentions[0], mentions[1]
        for form in sorted(RANGES, key=len, reverse=True):
            opening, middle, _ = form.split("{}")
            begin = low.start() - len(opening)
            if (
                begin >= 0
                and question[begin : high.end()].lower()
                == (opening + low.group() + middle + high.group()).lower()
                and not re.match(r"\w", question[begin - 1 : begin] or " ")
            ):
                yield Slot(begin, high.end(), f"{low.group()}\0{high.group()}", "")
                break
