"""Changes a question and its program together, so that what is learnt is the pattern and not its values.

Every change is an edit of the question plus the same exchange of literals in the program: another patient, another
drug, another date, another time filter. Nothing here needs SQL to be parsed again; an example costs well under a
millisecond. Replacement values come from the gold SQL of the training set, never from a database's rows.
"""

from __future__ import annotations

import random
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from fastsql.grammar.program import Literal, Program, Terminal
from fastsql.linking.candidate import Candidate
from fastsql.training.config import AugmentSettings
from fastsql.training.corpus.lexicon import PoolKey
from fastsql.training.variation.time_wordings import draw_year

Value = str | int | float

_DATE = re.compile(
    r"(?<![\d/])(?:(\d\d)/(\d\d)/(\d{4})(?![\d/])|(\d\d)/(\d{4})(?![\d/])|(\d\d)/(\d\d)(?=/(?:this|last) year))"
)
_PART = re.compile(r"(?<![\d/])(\d\d)(?=/(?:this|last) year)|(?<=month/)(\d\d)(?![\d/])")
_YEAR = re.compile(r"(?<![\d/.-])((?:19|20|21)\d\d)(?![\d/.-]\d|\d)")
_NUMBER = re.compile(r"(?<![\w.,/:-])\d+(?:\.\d+)?(?![\w/:]|[.,-]\d|-\w)")
_WORDS = {3: "three", 4: "four", 5: "five", 6: "six", 7: "seven", 8: "eight", 9: "nine", 10: "ten"}
_WORD_VALUES = {word: number for number, word in _WORDS.items()}
_WORD = re.compile(r"(?<![\w-])(" + "|".join(_WORD_VALUES) + r")(?![\w-])", re.IGNORECASE)
_DECADE = re.compile(r"(?<!\d)([2-9]0)(?=s\b)")
OTHER_LENGTH = 0.3
"""How often a number of few digits, a count or an age, becomes one of any length up to `COUNT_DIGITS`."""
COUNT_DIGITS = 3


@dataclass(frozen=True)
class Edit:
    """`text` takes the place of characters `[start, end)` of the question."""

    start: int
    end: int
    text: str


def apply_edits(question: str, edits: Iterable[Edit]) -> str:
    """The question with non-overlapping edits carried out."""
    pieces, position = [], 0
    for edit in sorted(edits, key=lambda item: item.start):
        pieces += [question[position : edit.start], edit.text]
        position = edit.end
    return "".join([*pieces, question[position:]])


class Draft:
    """Edits of one question and the exchange of literals that goes with them, under construction."""

    def __init__(self, question: str) -> None:
        self.question = question
        self.edits: list[Edit] = []
        self.literals: dict[Value, Value] = {}

    def free(self, start: int, end: int) -> bool:
        """True if no edit touches these characters yet."""
        return all(end <= edit.start or start >= edit.end for edit in self.edits)

    def replace(self, spans: Sequence[tuple[int, int, str]], old: Value, new: Value) -> bool:
        """Exchanges literal `old` for `new` and rewrites all its `spans`; False if one of them is taken."""
        if not spans or old in self.literals or not all(self.free(start, end) for start, end, _ in spans):
            return False
        self.edits += [Edit(start, end, text) for start, end, text in spans]
        self.literals[old] = new
        return True

    def text(self) -> str:
        """The question with all edits carried out."""
        return apply_edits(self.question, self.edits)


def change_dates(draft: Draft, literals: Collection[Value], rng: random.Random) -> None:
    """Other days, months and years in dates that both the question and the program hold."""
    for match in _DATE.finditer(draft.question):
        year, month, day = str(draw_year(rng)), f"{rng.randint(1, 12):02d}", f"{rng.randint(1, 28):02d}"
        full_m, full_d, full_y, short_m, short_y, part_m, part_d = match.groups()
        if full_y:
            old, new, text = f"{full_y}-{full_m}-{full_d}", f"{year}-{month}-{day}", f"{month}/{day}/{year}"
        elif short_y:
            old, new, text = f"{short_y}-{short_m}", f"{year}-{month}", f"{month}/{year}"
        else:
            old, new, text = f"{part_m}-{part_d}", f"{month}-{day}", f"{month}/{day}"
        _change_date(draft, literals, match, old, new, text)
    for match in _PART.finditer(draft.question):
        new = f"{rng.randint(1, 12 if match[1] else 28):02d}"
        _change_date(draft, literals, match, match[1] or match[2], new, new)
    for match in _YEAR.finditer(draft.question):
        new = str(draw_year(rng))
        _change_date(draft, literals, match, match[1], new, new)


def _change_date(
    draft: Draft, literals: Collection[Value], match: re.Match[str], old: str, new: str, text: str
) -> None:
    if old in literals and draft.question.count(match.group()) == 1:
        draft.replace([(match.start(), match.end(), text)], old, new)


def change_numbers(draft: Draft, literals: Collection[Value], rng: random.Random) -> None:
    """Other ids, thresholds, counts and decades. 0, 1 and 2 stay: the SQL may hold them for its own reasons."""
    spans: dict[float, list[tuple[int, int, bool]]] = {}
    for match in _NUMBER.finditer(draft.question):
        spans.setdefault(float(match.group()), []).append((*match.span(), False))
    for match in _WORD.finditer(draft.question):
        spans.setdefault(float(_WORD_VALUES[match.group().lower()]), []).append((*match.span(), True))
    for old in [item for item in literals if not isinstance(item, str) and item > 2]:
        places = spans.get(float(old), [])
        if not places:
            continue
        new = draw_number(old, rng)
        if any(word for *_, word in places):
            new = rng.choice(sorted(_WORDS))
        texts = [(start, end, _WORDS[int(new)] if word else str(new)) for start, end, word in places]
        draft.replace(texts, old, new)
    for match in _DECADE.finditer(draft.question):
        first, new_first = int(match[1]), 10 * rng.randint(2, 9)
        meant = first in literals and first + 9 in literals and not draft.literals.keys() & {first, first + 9}
        if meant and draft.replace([(match.start(), match.end(), str(new_first))], first, new_first):
            draft.literals[first + 9] = new_first + 9


def draw_number(old: Value, rng: random.Random) -> int | float:
    """A number of the same kind: an id stays as long as it is, a decimal keeps its decimals; a count may grow or shrink."""
    text = str(old)
    if "." in text:
        decimals = len(text.partition(".")[2])
        return round(rng.uniform(0.3, 3.0) * float(old), decimals)
    digits = len(text)
    if digits >= 6:
        # Half of the ids keep their leading digits, as ids of one hospital do.
        kept = text[:3] if rng.random() < 0.5 else str(rng.randint(1, 9))
        return int(kept + "".join(str(rng.randint(0, 9)) for _ in range(digits - len(kept))))
    if digits <= COUNT_DIGITS and rng.random() < OTHER_LENGTH:
        digits = rng.randint(1, COUNT_DIGITS)
    return rng.randint(max(3, 10 ** (digits - 1)), 10**digits - 1)


def change_values(
    draft: Draft,
    entries: Iterable[tuple[PoolKey, str]],
    pools: Mapping[PoolKey, Sequence[str]],
    rng: random.Random,
) -> None:
    """Other values of the same column, for literals that stand in the question word for word."""
    for key, old in entries:
        pool = pools.get(key)
        if pool is None or old not in pool:
            continue
        new = rng.choice(pool)
        pattern = re.compile(r"(?<!\w)" + re.escape(old) + r"(?!\w)", re.IGNORECASE)
        spans = [(*match.span(), new) for match in pattern.finditer(draft.question)]
        # Values inside one another would leave the program with a literal that the question has lost.
        if len(spans) == 1 and new != old:
            draft.replace(spans, old, new)


def change_writing(question: str, settings: AugmentSettings, rng: random.Random) -> str:
    """Letter case and final punctuation, which people leave out."""
    if rng.random() < settings.punctuation:
        question = question.rstrip(" .?!") or question
    if rng.random() < settings.case:
        question = question[:1].swapcase() + question[1:]
    return question


def drop_candidates(
    candidates: Sequence[Candidate], settings: AugmentSettings, rng: random.Random
) -> tuple[Candidate, ...]:
    """Forgets dictionary matches, so that spans are learnt for databases without a dictionary."""
    all_of_them = rng.random() < settings.no_dictionary
    return tuple(
        item
        for item in candidates
        if item.source != "dictionary" or not (all_of_them or rng.random() < settings.drop_candidate)
    )


def literal_values(program: Program) -> set[Value]:
    """The literals of a program, named constants left out."""
    return {item.value for item in program if isinstance(item, Literal) and not item.name}


def exchange_literals(program: Program, literals: Mapping[Value, Value]) -> Program:
    """The program with every literal that is a key of `literals` replaced."""
    if not literals:
        return program

    def exchange(item: Terminal) -> Terminal:
        if isinstance(item, Literal) and not item.name and item.value in literals:
            return Literal(literals[item.value], item.format)
        return item

    return tuple(exchange(item) for item in program)
