"""Whether a wording is a sentence of English, as far as its words and the names in it tell.

A reverse model writes of rows that it has not seen in sentences that it has: "How many risk factor are there?", "the student
who has the most students", "the care plan key plans". What a query's nouns name, and in which number they stand, is known;
`_BROKEN` lists what may not stand beside them.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from sqlglot import exp

from fastsql.linking.vocabulary.english import SMALL_NUMERALS
from fastsql.linking.word_match import name_words
from fastsql.linking.word_match import stem as linked_stem
from fastsql.synthesis.guard import lexicon
from fastsql.synthesis.schema.words import is_row, plural, singular

TABLE, COLUMN = "T", "C"
VALUE = "_"
"""What stands in a wording in place of each text."""
_OPENED = re.compile(r"(?:^|\s)'[^']*$")
"""A quotation without an end."""
_TOKENS = re.compile(r"[^\W_]+|[^\w\s'\"]|_")
"""Words, signs but for quotes, and gaps."""
_ARTICLE = re.compile(r"\ban (?![^\W\daeiou]{1,4}\b)[bcdfgjklmnpqrstvwxyz]|\ba (?!eu)[aei]")
"""The wrong one, as in "an corresponding"; an MRI and a European are right."""
_OWNERS = re.compile(r"(?<=s)'(?= )")
"""Behind several, "the patients' names"."""


def root(word: str) -> str:
    """What the forms of a word have in common: its singular without endings."""
    return linked_stem(singular(word)).rstrip("e")


@dataclass(frozen=True)
class Name:
    """What a table or column is called, or short for it, its words with a blank between."""

    said: str
    kind: str
    """`TABLE` or `COLUMN`."""
    label: str
    """The whole of it: "policy id" where only "id" is said."""


Names = Mapping[Name, int]
"""How often a query has what is called so."""


def called(labels: Sequence[str], short: Sequence[str], kind: str) -> set[Name]:
    """The names of one table or column: labels, and what is short for each."""
    return {
        Name(" ".join(name_words(text)), kind, " ".join(name_words(label)))
        for label, part in zip(labels, short, strict=True)
        for text in (label, part)
    }


@dataclass(frozen=True)
class Token:
    """A word, a sign, or the name of a table or column as the wording has it, in lower case."""

    text: str
    kind: str = ""
    """`TABLE`, `COLUMN`, or nothing."""
    label: str = ""
    """The whole of what it is called, however the wording has it."""
    times: int = 0
    """How often the query has what may be called so."""


def tokens(said: str, names: Names) -> list[Token]:
    """A wording in lower case, with its texts taken out, cut into tokens; of names that overlap, the longest is one.

    Words of a name may stand in another order: "claimed amount", "kind of device".
    """
    found = [Token(text) for text in _TOKENS.findall(_OWNERS.sub(" s", said))]
    said_of: dict[tuple[str, str], list[Name]] = defaultdict(list)
    for name in names:
        said_of[name.said, name.kind].append(name)
    tables = {root(words.split()[-1]) for words, kind in said_of if kind == TABLE and words}
    for (words, kind), called in sorted(said_of.items(), key=lambda one: -len(one[0][0].split())):
        label = called[0].label if len(called) == 1 else words
        times = sum(names[name] for name in called)
        for form in _forms(words.split(), tables):
            at = 0
            while at <= len(found) - len(form):
                here = found[at : at + len(form)]
                if not any(one.kind for one in here) and [root(one.text) for one in here] == form:
                    text = " ".join(one.text for one in here)
                    # "Claimed" is no form of "claims".
                    if singular(here[-1].text) in (form[-1], *map(singular, words.split())):
                        found[at : at + len(form)] = [Token(text, kind, label, times)]
                at += 1
    return found


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

    A question has a verb before its first relative clause, and two with "does". Behind "whose" and "where" a verb follows.
    No other verb is the last word. Something stands before "each" and "no". What is quoted ends.

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


_OF_QUESTIONS = frozenset(map(root, lexicon.QUESTION_WORDS))
_NUMBERS = ("id", "number", "code", "key")
_PLACES = ("year", "month", "week", "quarter", "season", "room", "ward", "building", "unit", "city", "chair")


def _tagged(wording: Sequence[Token], names: Names) -> str:
    """A wording as `_BROKEN` reads it, with a blank on both sides of each word.

    T and C stand for the name of a table and of a column, followed by 1 for a singular, 2 for a plural and 0 for what may be
    either; behind a column's name, k is for one of keys and p for one of places and times, and its number tells which
    column it is. P is a word of a name without the others, V a text, N a number above one.
    """
    labels = {one.label: number for number, one in enumerate(wording) if one.kind}
    in_names = {root(word) for name in names for word in name.said.split()} - _OF_QUESTIONS
    return f" {' '.join(_tag(one, labels, in_names) for one in wording)} "


def _tag(one: Token, labels: Mapping[str, int], in_names: Collection[str]) -> str:
    if one.kind:
        may_be_many, may_be_one = plural(one.text) == one.text, singular(one.text) == one.text
        number = 0 if may_be_many == may_be_one else 1 if may_be_one else 2
        if one.kind == TABLE:
            return f"T{number}"
        last = singular(one.text.split()[-1])
        sort = "k" if last in _NUMBERS else "p" if last in _PLACES else ""
        return f"C{number}{sort}:{labels[one.label]}"
    if one.text == VALUE:
        return "V"
    if SMALL_NUMERALS.get(one.text, 0) > 1 or (one.text.isdecimal() and int(one.text) > 1):
        return "N"
    return "P" if root(one.text) in in_names else one.text


_SHORT = {
    "<one>": r"(?:T1|C1\w?:\d+)",
    "<many>": r"(?:T2|C2\w?:\d+)",
    "<noun>": r"(?:T\d|C\d\w?:\d+)",
    "<nouns>": r"(?:(?:T\d|C\d\w?:\d+) )*",
    "<table>": r"T\d",
    "<column>": r"C\d\w?:\d+",
    "<given>": r"[VN\d]",
    "<of>": "(?:of|for|in|with|from|by|about|to|than)",
    "<is>": "(?:is|are|was|were)",
    "<does>": "(?:do|does|did)",
    "<contains>": "(?:contains|includes|starts|begins|ends|exceeds)",
    "<has>": "(?:has|is|was|does)",
    "<have>": "(?:have|are|were|do)",
    "<who>": "(?:who|that|which)",
    "<most>": "(?:most|least|fewest)",
    "<more>": "(?:more|less|greater|fewer|higher|lower|larger|smaller|above|below|over|under)",
    "<all>": "(?:how many|which are|list of|all|distinct|different|unique|these|those|N)",
    "<the>": r"(?:(?:the|these|those|all|distinct|different|unique|various|[VN\d]) )*",
    "<of the>": r"(?:(?:of|the|these|those|all|distinct|different|unique|various|[VN\d]) )*",
    "<their>": "(?:(?:the|their|its|corresponding|respective) )*",
    "<end>": r"(?! (?:T\d|C\d))",
}


def _compiled(patterns: Mapping[str, str]) -> dict[str, re.Pattern[str]]:
    def whole(pattern: str) -> str:
        for short, long in _SHORT.items():
            pattern = pattern.replace(short, long)
        return f" (?:{pattern})(?= )"

    return {example: re.compile(whole(pattern)) for example, pattern in patterns.items()}


_BROKEN = _compiled(
    {
        "how many risk factor are there": "<all> <of the><nouns><one><end>",
        "what are the status": "what are <of the><nouns><one><end>(?!.* (?:and|,) )",
        "for each customers": "(?:what is|each|every|an?) <the><nouns><many><end>",
        "how many customers has": "<all> <of the><nouns><noun> (?:has|is|was)",
        "whose details is": "whose <nouns><many> <has>|whose <nouns><one> <have>",
        "customers who has": "<many> <who> <has>|<one> <who> <have>",
        "what is address of the patient": "what <is> <one>",
        "the code of procedure which": r"<of> T1(?! (?:T|C|[VN\d]))",
        "wards for that have visits": "<of> that",
        "which of the patient": "which of the <one>",
        "the care plan key plans": "<column> (?:<noun>|who)",
        "dorms that are not F gender": "(?:V|T2) <column>",
        "tracks that are in id 3": r"(?:in|on|at) C\dk:\d+ <given>|in C\d:\d+ <given>",
        "the complaints of their compensation": "<table> of their",
        "the room to all appointments": "(?<! belong )(?<! belongs )to (?:(?:all|the|each) )?<table>",
        "the claim ids and the corresponding claim ids": r"C\d\w?:(\d+) and <their>C\d\w?:\1",
        "have a name contains": "(?:have|has) (?:an? )?<nouns><noun> (?:<contains>|<is>)|with (?:an? )?<noun> <contains>",
        "departments are less than the average": "<table> <is> <more>",
        "which building is the most departments": "<is> the <most>",
        "does the least echoes have": "<does> the <most>",
        "which cover has the least 3 patients": "(?<! at )<most> (?:of|<given>)",
        "the waiting on entry 4009": "P",
        "more than three actions on them": "(?:them|they|us|ones|done)",
        "does Harrison have": "<does> V",
        "the event types that cost two": "(?:that|who) <table>",
        "whose amount of claims has more than": "whose <nouns><noun>(?: of <their><nouns><noun>)? (?:have|has|with) <more>",
        "how many departments does the name are": r"<does> (?:(?!<who>|whose|where)\S+ )*<is>",
        "who is the urgency": "who is the <column>",
        "in descending order of the transfers": r"(?:order|sort|rank)\w* (?:of|by) <their><table><end>",
        "ordered, sorted by": r"(?:order|sort|rank|arrang)\w* (?:, )?(?:and )?(?:order|sort|rank|arrang)\w*",
    }
)
"""What is no English, by an example of each."""
_ONE_OF_MANY = _compiled(
    {
        "what is the title of the courses": "what is .*T2",
        "the title of the course": "(?:the|an?|of|for|our) T1<end>",
    }
)
"""What says that there is one, by examples that ask for all."""


_WRONG_ARTICLE, _NO_NOUN, _TOO_OFTEN = (
    "an corresponding",
    "the number of lives in",
    "the student who has the most students",
)
KINDS = frozenset((*_BROKEN, *_ONE_OF_MANY, _WRONG_ARTICLE, _NO_NOUN, _TOO_OFTEN))
"""All that `breaches` tells apart."""


def breaches(said: str, names: Names, tree: exp.Expr) -> tuple[str, ...]:
    """What is no English about the nouns of a wording, each by an example of its kind; nothing where it reads well.

    Args:
        said: in lower case, with `VALUE` for each text.
        names: what the query's tables and columns are called.
        tree: the query.
    """
    wording = tokens(said, names)
    text = _tagged(wording, names)
    meets = tree.find(exp.Where, exp.Limit, exp.Group, exp.AggFunc, exp.Join, exp.Having) is not None
    patterns = _BROKEN if meets else _BROKEN | _ONE_OF_MANY
    found = [example for example, pattern in patterns.items() if pattern.search(text)]
    if _ARTICLE.search(said):
        found.append(_WRONG_ARTICLE)
    if any(one.kind == TABLE and not is_row(singular(one.text)) for one in wording):
        found.append(_NO_NOUN)
    if _says_too_often(wording, tree):
        found.append(_TOO_OFTEN)
    return tuple(found)


def _says_too_often(wording: Sequence[Token], tree: exp.Expr) -> bool:
    """Whether things are said oftener than the query has them, as in "the student who has the most students"."""
    said = Counter(one.label for one in wording if one.kind == COLUMN)
    tables = sum(one.kind == TABLE for one in wording)
    return tables > sum(1 for _ in tree.find_all(exp.Table)) or any(
        said[one.label] > one.times for one in wording if one.kind == COLUMN
    )
