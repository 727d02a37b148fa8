"""Whether a wording is a sentence of English, as far as its words and the names in it tell.

A reverse model writes of rows that it has not seen in sentences that it has: "How many risk factor are there?", "the student
who has the most students", "the care plan key plans". What is checked here is how nouns, of which the query knows what they
name, stand to the words around them.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from sqlglot import exp

from fastsql.linking.vocabulary.english import SMALL_NUMERALS
from fastsql.linking.word_match import name_words
from fastsql.linking.word_match import stem as linked_stem
from fastsql.synthesis.guard import lexicon
from fastsql.synthesis.schema.words import plural, singular

VALUE = "_"
"""What stands in a wording in place of each value."""
_OPENED = re.compile(r"(?:^|\s)'[^']*$")
"""A quotation without an end."""
_TOKENS = re.compile(r"[^\W_]+|[^\w\s'\"]|_")
"""Words, signs but for quotes, and gaps."""
TABLE, COLUMN, PART = "table", "column", "part"


def root(word: str) -> str:
    """What the forms of a word have in common: its singular without endings."""
    return linked_stem(singular(word)).rstrip("e")


@dataclass(frozen=True)
class Token:
    """A word, a sign, or the name of a table or column as the wording has it, in lower case."""

    text: str
    names: str = ""
    """`TABLE`, `COLUMN`, `PART` of what one is called, or nothing."""
    of: str = ""
    """The whole of what it is called, however the wording has it."""
    times: int = 0
    """How often the query has what may be called so."""

    @property
    def may_be_many(self) -> bool:
        """Whether it is a plural, or looks like one."""
        return plural(self.text) == self.text

    @property
    def may_be_one(self) -> bool:
        """Whether it is a singular, or looks like one."""
        return singular(self.text) == self.text

    def disagrees(self, verb: str) -> bool:
        """Whether a verb behind it, or behind "who", is of the other number; of names alone."""
        if not self.names or self.may_be_one == self.may_be_many:
            return False
        return verb in (lexicon.PLURAL_VERBS if self.may_be_one else lexicon.SINGULAR_VERBS)

    @property
    def given(self) -> bool:
        """Whether it is a value or a number."""
        return self.text == VALUE or self.text.isdigit()


@dataclass(frozen=True)
class Name:
    """What a table or column is called, or short for it."""

    said: str
    names: str
    """`TABLE` or `COLUMN`."""
    label: str
    """The whole of it: "policy id" where only "id" is said."""


Names = Mapping[Name, int]
"""How often a query has what is called so."""


_OF_QUESTIONS = frozenset(map(root, lexicon.QUESTION_WORDS))


def tokens(said: str, names: Names) -> list[Token]:
    """A wording in lower case, with its texts taken out, cut into tokens; of names that overlap, the longest is one.

    Words of a name may stand in another order: "claimed amount", "kind of device".
    """
    found = [Token(text) for text in _TOKENS.findall(said)]
    said_of: dict[tuple[str, str], list[Name]] = defaultdict(list)
    for name in names:
        said_of[" ".join(name_words(name.said)), name.names].append(name)
    tables = {root(words.split()[-1]) for words, kind in said_of if kind == TABLE and words}
    for (words, kind), called in sorted(said_of.items(), key=lambda one: -len(one[0][0].split())):
        label = called[0].label if len(called) == 1 else words
        times = sum(names[name] for name in called)
        for form in _forms(words.split(), tables):
            at = 0
            while at <= len(found) - len(form):
                here = found[at : at + len(form)]
                if not any(one.names for one in here) and [root(one.text) for one in here] == form:
                    text = " ".join(one.text for one in here)
                    # "Claimed" is no form of "claims".
                    if singular(here[-1].text) in (form[-1], *map(singular, words.split())):
                        found[at : at + len(form)] = [Token(text, kind, label, times)]
                at += 1
    in_names = {root(word) for words, _ in said_of for word in words.split()} - _OF_QUESTIONS
    return [
        replace(one, names=PART) if not one.names and root(one.text) in in_names else one for one in found
    ]


def _forms(words: Sequence[str], tables: Collection[str]) -> Iterator[list[str]]:
    """The roots of a name as it may be said; what a table's rows have, "names of regions", is two names."""
    roots = [root(word) for word in words]
    if not roots:
        return
    yield roots
    if len(roots) == 2 and (words[1].endswith("ed") or words[0] == "amount"):
        yield roots[::-1]
    if len(roots) > 1 and roots[0] not in tables:
        for between in (["of"], ["of", "the"]):
            yield [roots[-1], *between, *roots[:-1]]
            yield [*roots[1:], *between, roots[0]]


def is_sentence(said: str, words: Sequence[str], own: Sequence[str]) -> bool:
    """Whether a sentence has what its words ask for.

    A question needs a verb before its first relative clause, "does" needs another, "whose" and "where" one behind them, and
    none else is the last word. Something stands before "each" and "no". What is quoted ends.

    Args:
        said: in lower case.
        words: the same with a gap for each value and name.
        own: wordings of the grammar, whose relative clauses have verbs.
    """
    verbs = lexicon.VERBS.union(verb for one in own for verb in lexicon.RELATIVE.findall(one.casefold()))
    full = verbs - lexicon.AUXILIARIES
    if lexicon.ASKING.match(said):
        refers = (at for at, word in enumerate(words) if at and word in lexicon.REFERRING)
        main = words[: next(refers, len(words))]
        aided = [at for at, word in enumerate(main) if word in lexicon.AUXILIARIES]
        if verbs.isdisjoint(main) or (aided and full.isdisjoint(words[aided[0] :])):
            return False
    if any(word in ("whose", "where") and full.isdisjoint(words[at:]) for at, word in enumerate(words)):
        return False
    for word, wanted in (("each", lexicon.BEFORE_EACH), ("no", lexicon.BEFORE_NO)):
        if any(two == word and one not in wanted for one, two in pairwise(words)):
            return False
    hangs = not verbs.isdisjoint(words[-1:]) and lexicon.AUXILIARIES.isdisjoint(words)
    return not hangs and not _OPENED.search(said)


def reads_well(wording: Sequence[Token], tree: exp.Expr) -> bool:
    """Whether the nouns of a wording have the number, and stand in the places, that English and the query give them."""
    return not any(broken(wording, tree) for broken in _RULES)


def _wrong_number(wording: Sequence[Token], _: exp.Expr) -> bool:
    """As in "how many risk factor", "each customers", "customers who has"; "what are" may list several things one by one."""
    for at, cue in _cues(wording):
        start = at
        while start < len(wording) and (wording[start].text in lexicon.BEFORE_NOUNS or wording[start].given):
            start += 1
        noun, end = _noun(wording, start)
        if noun is None or (cue in lexicon.ONE and any(one.text == "of" for one in wording[at:start])):
            continue
        behind = (*wording, Token(""))[end].text
        if cue == "whose":
            if noun.disagrees(behind):
                return True
            continue
        listed = cue == "what are" and any(one.text in ("and", ",") for one in wording[end:])
        if not (noun.may_be_one if cue in lexicon.ONE else noun.may_be_many or listed):
            return True
        if cue not in lexicon.ONE and behind in _HAS:
            return True
    return any(two.text in _RELATIVES and one.disagrees(three.text) for one, two, three in _threes(wording))


def _noun(wording: Sequence[Token], start: int) -> tuple[Token | None, int]:
    """The last of the names that stand side by side from a place on, "client names", and the place behind it."""
    end = start
    while end < len(wording) and wording[end].names:
        end += 1
    return (wording[end - 1] if end > start else None), end


_HAS = lexicon.SINGULAR_VERBS - lexicon.AUXILIARIES
_RELATIVES = ("who", "that", "which")


def _cues(wording: Sequence[Token]) -> Iterator[tuple[int, str]]:
    """What tells the number of a noun, with the place behind it. A number above one is such a word, too."""
    for at, (token, behind) in enumerate(pairwise((*wording, Token("")))):
        for cue, width in ((token.text, 1), (f"{token.text} {behind.text}", 2)):
            if cue in lexicon.MANY or cue in lexicon.ONE or cue == "whose":
                yield at + width, cue
        if SMALL_NUMERALS.get(token.text, 0) > 1 or (token.text.isdigit() and int(token.text) > 1):
            yield at + 1, token.text


def _threes(wording: Sequence[Token]) -> Iterator[tuple[Token, Token, Token]]:
    """Each token with the two behind it, of which the last may be empty."""
    return zip(wording, wording[1:], (*wording[2:], Token("")), strict=False)


_ARE = ("is", "are", "was", "were")
_BEFORE_ONE = ("the", "a", "an", "of", "for", "our")
_EXTREMES = ("most", "least", "fewest")
_COMPARING = (
    "more",
    "less",
    "greater",
    "fewer",
    "higher",
    "lower",
    "larger",
    "smaller",
    "above",
    "below",
    "over",
    "under",
)
_CONSONANTS = "bcdfgjklmnpqrstvwxyz"
_PLACES = ("year", "month", "week", "quarter", "season", "room", "ward", "building", "unit", "city", "chair")
_AT, _NUMBERS = ("in", "on", "at", "of"), ("id", "ids", "number", "numbers", "code", "codes", "key", "keys")
_JOINING = ("the", "their", "its", "corresponding", "respective")
_HAVING, _FINITE = (
    ("have", "has", "with"),
    ("contains", "includes", "starts", "begins", "ends", "is", "are", "exceeds"),
)


def _bare(wording: Sequence[Token], _: exp.Expr) -> bool:
    """As in "what is address of", "the code of procedure which", "which of the patient" and "for that have"."""
    for at, (one, two, three) in enumerate(_threes(wording)):
        of_one = two.names == TABLE and not two.may_be_many and not (three.names or three.given)
        if one.text in lexicon.BEFORE_TABLES and (two.text == "that" or of_one):
            return True
        if one.text == "what" and two.text in _ARE and three.names and not three.may_be_many:
            return True
        chosen = (
            wording[at + 3 : at + 4] if [one.text, two.text, three.text] == ["which", "of", "the"] else ()
        )
        if any(token.names and not token.may_be_many for token in chosen):
            return True
    return False


def _misplaced(wording: Sequence[Token], _: exp.Expr) -> bool:
    """As in "care plan key plans", "albums id 3", "not F gender", "claim ids and the claim ids", "have a name contains"."""
    for one, two, three in _threes(wording):
        if one.names == COLUMN and (two.names in (TABLE, COLUMN) or two.text == "who"):
            return True
        if two.names == COLUMN and (
            one.text == VALUE or (one.names == TABLE and singular(one.text) != one.text)
        ):
            return True
        last = two.text.split()[-1]
        if (
            two.names == COLUMN
            and three.given
            and ((one.text in _AT and last in _NUMBERS) or (one.text == "in" and last not in _PLACES))
        ):
            return True
        if one.names == TABLE and [two.text, three.text] == ["of", "their"]:
            return True
        if one.text == "to" and TABLE in (
            two.names,
            three.names if two.text in ("all", "the", "each") else "",
        ):
            return True
        if (one.text == "an" and two.text[0] in _CONSONANTS) or (one.text == "a" and two.text[0] in "aei"):
            return True
    if any(one.names == TABLE and one.text.split()[-1] in lexicon.BEFORE_TABLES for one in wording):
        return True  # "lives in" is no noun
    for at, token in enumerate(wording):
        again = next((one for one in wording[at + 2 :] if one.text not in _JOINING), Token(""))
        if (
            token.names == COLUMN
            and [one.text for one in wording[at + 1 : at + 2]] == ["and"]
            and again.of == token.of
        ):
            return True
        noun, end = _noun(wording, at + 1 + (wording[at + 1 : at + 2] in ([Token("a")], [Token("an")])))
        if token.text in _HAVING and noun is not None and (*wording, Token(""))[end].text in _FINITE:
            return True
    return False


def _wrong_extreme(wording: Sequence[Token], _: exp.Expr) -> bool:
    """As in "does the least echoes have", "the least 3 patients", "most of the class", "wards are less than the average"."""
    for before, one, behind in _threes((Token(""), *wording)):
        if before.names == TABLE and one.text in _ARE and behind.text in _COMPARING:
            return True
        if before.text in _ARE and one.text == "the" and behind.text in _EXTREMES:
            return True
        counted = behind.text == "of" or behind.given or SMALL_NUMERALS.get(behind.text, 0) > 1
        if one.text in _EXTREMES and before.text != "at" and counted:
            return True
        if before.text in lexicon.AUXILIARIES and one.text == "the" and behind.text in _EXTREMES:
            return True
    return False


def _one_of_many(wording: Sequence[Token], tree: exp.Expr) -> bool:
    """As in "the title of the course" and "what is the title of the courses", where those of all courses are shown."""
    if tree.find(exp.Where, exp.Limit, exp.Group, exp.AggFunc, exp.Join, exp.Having) is not None:
        return False
    texts = [one.text for one in wording]
    of_one = texts[:2] == ["what", "is"] and any(
        token.names == TABLE and not token.may_be_one for token in wording
    )
    return of_one or any(
        one.text in _BEFORE_ONE and two.names == TABLE and not two.may_be_many and not three.names
        for one, two, three in _threes(wording)
    )


def _loose(wording: Sequence[Token], _: exp.Expr) -> bool:
    """As in "the waiting on entry 9", in "on them", where nothing was said before, and in "ordered, sorted by"."""
    sorts = sum(lexicon.ORDERED.fullmatch(one.text) is not None for one in wording)
    return sorts > 1 or any(
        one.names == PART or (not one.names and one.text in lexicon.POINTING) for one in wording
    )


def _wrong_verb(wording: Sequence[Token], _: exp.Expr) -> bool:
    """As in "does the name are", "does Li have", "who is the urgency", "types that cost", "whose amount has more than"."""
    texts = [one.text for one in wording]
    for one, two in pairwise(wording):
        if one.text in lexicon.AUXILIARIES and two.text == VALUE:
            return True
        if one.text in ("that", "who") and two.names == TABLE:
            return True
        if one.text in _HAVING and two.text in _COMPARING and "whose" in texts:
            return True
    for at, text in enumerate(texts):
        behind = texts[at + 1 :]
        clause = behind[
            : next((n for n, word in enumerate(behind) if word in (*_RELATIVES, "whose", "where")), None)
        ]
        if text in lexicon.AUXILIARIES and not {"is", "are", "was", "were"}.isdisjoint(clause):
            return True
        if [text, *behind[:2]] == ["who", "is", "the"] and any(
            one.names == COLUMN for one in wording[at + 3 : at + 4]
        ):
            return True
    return False


def _wrong_order(wording: Sequence[Token], _: exp.Expr) -> bool:
    """As in "in descending order of the transfers", where something of theirs is meant."""
    for at, (one, two) in enumerate(pairwise(wording)):
        if lexicon.ORDERED.fullmatch(one.text) and two.text in ("of", "by"):
            behind = [token for token in wording[at + 2 : at + 5] if token.text not in _JOINING]
            if behind and behind[0].names == TABLE and not (behind[1:] and behind[1].names):
                return True
    return False


def _too_often(wording: Sequence[Token], tree: exp.Expr) -> bool:
    """Whether things are said oftener than the query has them, as in "the student who has the most students"."""
    said = Counter(one.of for one in wording if one.names == COLUMN)
    tables = sum(one.names == TABLE for one in wording)
    return tables > sum(1 for _ in tree.find_all(exp.Table)) or any(
        said[one.of] > one.times for one in wording if one.names == COLUMN
    )


_RULES: tuple[Callable[[Sequence[Token], exp.Expr], bool], ...] = (
    _wrong_number,
    _bare,
    _misplaced,
    _wrong_extreme,
    _loose,
    _wrong_verb,
    _wrong_order,
    _one_of_many,
    _too_often,
)
