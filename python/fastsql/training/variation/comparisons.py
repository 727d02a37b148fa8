"""Other words for a comparison, or words for another one: "above 80" becomes "of 80 or more", and the program agrees.

People say "at least", ">=", "no less than", "80 or more"; "other than", "different from", "!=". A data set has a few of
these. A phrase is exchanged only where it says what the program does, and nothing else can be meant: its value stands in the
question once, and in one comparison.
"""

from __future__ import annotations

import random
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from fastsql.grammar.program import ColumnRef, Literal, Production, Program

Phrases = dict[str, tuple[str, ...]]
"""Ways to say each comparison; those that begin with an exclamation mark take the place of "is", too."""

AMOUNT: Phrases = {
    "gt": (
        "above",
        "over",
        "more than",
        "greater than",
        "higher than",
        "larger than",
        "in excess of",
        ">",
        "!exceeds",
    ),
    "ge": (
        "at least",
        "no less than",
        "not less than",
        "not below",
        "not under",
        "greater than or equal to",
        "more than or equal to",
        "a minimum of",
        ">=",
        "≥",
    ),
    "lt": ("below", "under", "less than", "lower than", "smaller than", "<"),
    "le": (
        "at most",
        "no more than",
        "not more than",
        "not above",
        "not over",
        "up to",
        "less than or equal to",
        "a maximum of",
        "<=",
        "≤",
        "!does not exceed",
    ),
    "eq": ("exactly", "equal to", "=", "!equals"),
    "ne": (
        "not",
        "other than",
        "different from",
        "different than",
        "not equal to",
        "anything but",
        "!=",
        "<>",
        "!differs from",
        "!does not equal",
        "!is not",
        "!isn't",
    ),
}
TIME: Phrases = {
    "gt": ("after", "later than", "past", ">"),
    "ge": ("since", "from", "on or after", "starting from", "not before", "no earlier than", ">="),
    "lt": ("before", "prior to", "earlier than", "<"),
    "le": ("until", "up to", "on or before", "no later than", "not after", "not later than", "<="),
    "eq": ("on", "="),
    "ne": ("not on", "!="),
}
YEAR: Phrases = {
    **TIME,
    "ge": ("since", "from", "in or after", "starting from", "not before", "no earlier than", ">="),
    "le": ("until", "up to", "in or before", "no later than", "not after", "<="),
    "eq": ("in", "="),
    "ne": ("not in", "!="),
}
TEXT: Phrases = {"eq": ("exactly", "equal to", "=", "!equals"), "ne": AMOUNT["ne"]}
BEHIND: Phrases = {
    "ge": ("or more", "or higher", "or above", "and above", "or over", "and more"),
    "le": ("or less", "or lower", "or below", "and below", "or under", "and less"),
}
"""What follows an amount."""
ONLY_READ: Phrases = {
    "gt": ("bigger than", "exceeding", "beyond"),
    "lt": ("fewer than",),
    "ge": ("on or later than",),
    "le": ("no higher than", "not exceeding"),
}
"""Ways that are met and understood, and not written: few nouns go with them."""
RANGES = (
    "between {} and {}",
    "from {} to {}",
    "from {} up to {}",
    "in the range {} to {}",
    "ranging from {} to {}",
)
RANGE = "between"
SYMBOL = re.compile(r"[<>=!≥≤]+")
BESIDE = 0.3
"""How often a symbol stands beside its value without a blank."""
TURNED = 0.6
"""How often another comparison is asked for."""
RARE = 0.25
"""How often that may be equality, or its opposite, where more and less can be asked for."""
_ORDER = ("gt", "ge", "lt", "le")
_ROWS = Production("count_all")
_AGGREGATES = tuple(map(Production, ("count", "count_distinct", "sum", "avg", "max", "min")))
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_YEAR = re.compile(r"(?:19|20|21)\d\d")
_RELATIVE = re.compile(
    r"(?<!\w)(?:whose|where|who|that|with|(?<!^)(?<!in )(?<!on )(?<!for )(?<!at )which)\s[^,.;?]*$",
    re.IGNORECASE,
)
"""What the text before "is Ada" ends with where that is a condition, and not a question: "was Ada here?"."""
_IS = re.compile(r"(?<!\w)(is|are|was|were)\s+$", re.IGNORECASE)


@dataclass(frozen=True)
class Comparison:
    """A comparison with a literal: where it and the literal are in the program, and what it is, "gt" of "date_gt"."""

    place: int
    literal: int
    sign: str
    dated: bool


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
    places = [*_ranges(question, program), *_comparisons(program)]
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
    question: str, program: Program, place: Comparison, amounts: Collection[int], rng: random.Random
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
        place.sign in _ORDER or not isinstance(column, ColumnRef) or column.column in amounts or place.dated
    )
    sign = _drawn(place.sign, ordered, rng)
    text = _said(sign, slot, phrases, rng)
    if question[slot.start].isupper():
        text = text[:1].upper() + text[1:]
    name = f"date_{sign}" if place.dated else sign
    turned = (*program[: place.place], Production(name), *program[place.place + 1 :])
    return question[: slot.start] + text + question[slot.end :], turned


def _drawn(sign: str, ordered: bool, rng: random.Random) -> str:
    """The comparison to say: the same one, or another that can be asked in its place."""
    if rng.random() >= TURNED:
        return sign
    return rng.choice(_ORDER) if ordered and rng.random() >= RARE else rng.choice(("eq", "ne"))


def _said(sign: str, slot: Slot, phrases: Phrases, rng: random.Random) -> str:
    """A comparison in words, with its value; in place of "is" where there is one."""
    verb = f"{slot.verb} " if slot.verb else ""
    if phrases is AMOUNT and sign in BEHIND and rng.random() < 1 / 3:
        return f"{verb}{slot.value} {rng.choice(BEHIND[sign])}"
    if sign == "eq" and phrases in (AMOUNT, TEXT) and rng.random() < 1 / 2:
        return f"{verb}{slot.value}"
    choices = [one for one in phrases[sign] if slot.verb == "is" or not _is_verb(one)]
    if not slot.verb:
        bare = ("not", "anything but")
        timed = phrases in (TIME, YEAR)
        choices = [one for one in choices if one not in bare and not (timed and SYMBOL.fullmatch(one))]
    phrase = rng.choice(choices)
    if _is_verb(phrase):
        return f"{phrase[1:]} {slot.value}"
    if SYMBOL.fullmatch(phrase):
        verb = verb if rng.random() < 1 / 2 else ""
        return f"{verb}{phrase}{'' if rng.random() < BESIDE else ' '}{slot.value}"
    return f"{verb}{phrase} {slot.value}"


def _is_verb(phrase: str) -> bool:
    return phrase[0] == "!" and phrase[1:2].isalpha()


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
    found: list[tuple[int, str]] = []
    for sign, phrase in _read(phrases):
        pattern = re.escape(phrase).replace(r"\ ", r"\s+")
        edge = "" if SYMBOL.fullmatch(phrase) else r"(?<![\w'’])"
        match = re.search(
            rf"{edge}{pattern}\s*$" if not edge else rf"{edge}{pattern}\s+$", text, re.IGNORECASE
        )
        if match is not None:
            found.append((match.start(), sign))
    if not found:
        return None
    begin, sign = min(found)
    return sign, begin


def _read(phrases: Phrases) -> Iterator[tuple[str, str]]:
    for sign, said in phrases.items():
        more = () if phrases is TEXT else ONLY_READ.get(sign, ())
        yield from ((sign, one) for one in (*said, *more) if not _is_verb(one))


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
        return TIME
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


def _comparisons(program: Program) -> list[Comparison]:
    """Comparisons of one thing with one literal that is in no other place."""
    values = [item.value for item in program if isinstance(item, Literal)]
    found = []
    for number, item in enumerate(program):
        if not isinstance(item, Literal) or item.name or values.count(item.value) > 1:
            continue
        place = _compares(program, number)
        if place is not None:
            found.append(place)
    return found


def _compares(program: Program, literal: int) -> Comparison | None:
    """What compares a column, its aggregate or a count of rows with the literal behind it."""
    place = literal - 2
    if place >= 0 and isinstance(program[literal - 1], ColumnRef) and program[place] in _AGGREGATES:
        place -= 1
    elif place < 0 or not (isinstance(program[literal - 1], ColumnRef) or program[literal - 1] == _ROWS):
        return None
    compared = program[place] if place >= 0 else None
    if not isinstance(compared, Production) or (place and program[place - 1] == Production("not")):
        return None
    sign = compared.name.removeprefix("date_")
    return Comparison(place, literal, sign, compared.name != sign) if sign in AMOUNT else None


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
        for form in RANGES:
            opening, middle, _ = form.split("{}")
            begin = low.start() - len(opening)
            if (
                begin >= 0
                and question[begin : high.end()].lower()
                == (opening + low.group() + middle + high.group()).lower()
                and not re.match(r"\w", question[begin - 1 : begin] or " ")
            ):
                yield Slot(begin, high.end(), f"{low.group()}\0{high.group()}", "")
