"""A question's words against its query: literals, numbers, names, and what is counted, compared, ordered and denied.

Nothing here is learnt. Values and names are taken out of the question first: words of theirs say nothing of the query.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from sqlglot import exp

from fastsql.linking.gold import tree_literals
from fastsql.linking.vocabulary.english import SMALL_NUMERALS
from fastsql.linking.word_match import name_words
from fastsql.schema import Schema
from fastsql.synthesis.guard import lexicon
from fastsql.synthesis.guard.sentence import COLUMN, TABLE, Name, Names, breaches, called, is_sentence, root

LITERAL = "a value or number of the query is not said"
NUMBER = "a number that the query lacks"
NAME = "a column or table is not said"
OTHER = "a column that the query lacks"
FOREIGN = "a word that is neither the query's nor a question's"
REPEATED = "something is said twice"
UNSAYABLE = "no sentence of English"
SAME = "two names are said to be one"
SIGNS = "what is counted, compared, ordered or denied is said otherwise"

_GAP = " _ "
_DIGITS = re.compile(r"\d+(?:\.\d+)?")
_WORDS = re.compile(r"[^\W_]+")
_TWICE = re.compile(r"\b([^\W\d_]{2,}(?: [^\W\d_]+)*)(?: (?:and|or|of|for|in))? \1\b")
_EQUATED = re.compile(r"(?:how many|which|what) _ .*?\b(?:is|are|was|were) (?:the |an? )?_")
"""Rows of one kind that are another, "How many bills are invoices?", where _ is a name."""
_VALUE = "0"
_PARTS = re.compile(r"[,;:.?!]\s|\band\b")
"""What parts a list."""
_QUOTE = '"'


@dataclass(frozen=True)
class _Sign:
    """Words that a question has if its query does something, and only then."""

    words: re.Pattern[str]
    wanted: Callable[[exp.Expr], int]


def fault(question: str, tree: exp.Expr, schema: Schema, own: Sequence[str]) -> str | None:
    """Why a question does not say what a query does, as far as words tell; None where nothing speaks against it.

    Args:
        question: in English.
        tree: the query, its columns with their tables.
        schema: with what tables and columns are called.
        own: wordings of the grammar, whose words are the query's, too.
    """
    said = " ".join(question.casefold().split())
    literals = _texts(tree, schema)
    rest = said
    for text in sorted(literals, key=len, reverse=True):
        if not text or not (_standing(text).search(said) or _in_words(text, said)):
            return LITERAL
        rest = _standing(text).sub(_GAP, rest)
    if said.count(_QUOTE) % 2:
        return LITERAL
    names = names_of(tree, schema)
    if any(not _is_said(labels, said) for labels in names.wanted):
        return NAME
    if _names_another(said, names.all, tree, schema):
        return OTHER
    known = {root(word) for label in names.all for word in name_words(label)}
    numbers = {digits for label in names.all for digits in _DIGITS.findall(label)}
    if set(_DIGITS.findall(rest)) - numbers or _counted_in_words(rest) - literals:
        return NUMBER
    words = _WORDS.findall(rest.replace("_", " "))
    of_question = {root(word) for word in lexicon.QUESTION_WORDS}
    own_words = [[root(word) for word in _WORDS.findall(_without_texts(one, literals))] for one in own]
    free = known.union(of_question, *own_words, map(root, SMALL_NUMERALS))
    squeezed = {"".join(name_words(label)) for label in names.all}
    if any(root(word) not in free and word not in squeezed and not word.isdecimal() for word in words):
        return FOREIGN
    if _says_twice([root(word) for word in words], of_question - known, own_words, names.counted):
        return REPEATED
    apart = _without(names.all, rest)
    with_numbers = _without_texts(said, {text for text in literals if not text.isdecimal()}, _GAP)
    if not is_sentence(said, apart.split(), own) or breaches(with_numbers, names.counted, tree):
        return UNSAYABLE
    if root("name") not in known and _calls_something_a_name(apart.split()):
        return FOREIGN
    if _EQUATED.fullmatch(_without(names.all, rest.replace(_GAP.strip(), _VALUE))):
        return SAME
    return None if _signs_agree(apart, tree) else SIGNS


def _texts(tree: exp.Expr, schema: Schema) -> set[str]:
    """Literals as questions write them. A LIMIT of one is a superlative."""
    found = {str(one.value).strip("%").casefold() for one in tree_literals(tree, schema)}
    limits = {str(node.expression) for node in tree.find_all(exp.Limit)}
    compared = {str(node) for node in tree.find_all(exp.Literal) if not isinstance(node.parent, exp.Limit)}
    return {
        " ".join(text.split())
        for text in found
        if not (text == "1" and limits == {"1"} and "1" not in compared)
    }


def _standing(text: str) -> re.Pattern[str]:
    """Finds a literal as a word, or words, of its own."""
    return re.compile(rf"(?<![^\W_]){re.escape(text)}(?![^\W_])(?!\.\d)")


def _without_texts(said: str, literals: set[str], gap: str = " ") -> str:
    """A wording in lower case without the query's literals."""
    rest = said.casefold()
    for text in sorted(filter(None, literals), key=len, reverse=True):
        rest = _standing(text).sub(gap, rest)
    return rest


def _in_words(text: str, said: str) -> bool:
    return text.isdecimal() and text in _counted_in_words(said)


def _counted_in_words(said: str) -> set[str]:
    """Numbers that are written in words, from two on: "one" is mostly a pronoun."""
    words = set(_WORDS.findall(said))
    return {str(number) for word, number in SMALL_NUMERALS.items() if word in words and number > 1}


@dataclass(frozen=True)
class _Names:
    """What a query's tables and columns are called: of each that must be said, and of all."""

    wanted: tuple[tuple[str, ...], ...]
    all: tuple[str, ...]
    counted: Names
    """Each, and what is short for it, with how often the query has it."""


def names_of(tree: exp.Expr, schema: Schema) -> _Names:
    """Labels and synonyms of what a query names.

    Columns that only join, that count rows, or that point at a row by a key need no word. Of a table the noun at the end is
    said, but for one between two others.
    """
    wanted: list[tuple[str, ...]] = []
    every: list[str] = []
    counted = Counter[Name]()
    for select in tree.find_all(exp.Select):
        sources = [node for node in _sources(select) if schema.find_table(node.name) is not None]
        shown = {
            node.table
            for node in select.find_all(exp.Column)
            if node.find_ancestor(exp.Select) is select and node.find_ancestor(exp.Join) is None
        }
        for node in sources:
            table = schema.tables[schema.table_index(node.name)]
            labels = tuple(label for label in (table.label, *table.synonyms) if name_words(label))
            every += labels
            heads = tuple(name_words(label)[-1] for label in labels)
            counted.update(called(labels, heads, TABLE))
            if len(sources) < 3 or node.name in shown or node is sources[0]:
                wanted.append(heads)
    for at in tree.find_all(exp.Column):
        number = schema.find_column(at.table, at.name) if at.table else None
        if number is None:
            continue
        column = schema.columns[number]
        labels = (column.label, *column.synonyms)
        every += labels
        short = tuple(_without_table(label, schema.tables[column.table].label) for label in labels)
        counted.update(called(labels, short, COLUMN))
        if not _needs_no_word(at, schema, number):
            wanted.append(short)
    return _Names(tuple(dict.fromkeys(wanted)), tuple(dict.fromkeys(every)), counted)


def _sources(select: exp.Select) -> Iterator[exp.Table]:
    """The tables of a query's own FROM."""
    for part in (select.args.get("from_"), *select.args.get("joins", ())):
        if part is not None and isinstance(part.this, exp.Table):
            yield part.this


def _needs_no_word(node: exp.Column, schema: Schema, number: int) -> bool:
    if node.find_ancestor(exp.Join) is not None:
        return True
    parent = node.parent
    if isinstance(parent, exp.In) and parent.args.get("query") is not None and parent.this is node:
        return True
    if (
        isinstance(parent, exp.EQ)
        and isinstance(parent.this, exp.Column)
        and isinstance(parent.expression, exp.Column)
    ):
        return True
    select = node.find_ancestor(exp.Select)
    if select is not None and parent is select and select.find_ancestor(exp.In) is not None:
        return True
    keys = {column for key in schema.foreign_keys for column in (*key.columns, *key.references)}
    is_key = number in keys or schema.columns[number].primary_key
    pointing = isinstance(parent, (exp.EQ, exp.Group, exp.Count)) or (
        isinstance(parent, exp.Distinct) and isinstance(parent.parent, exp.Count)
    )
    return is_key and pointing


def _without_table(label: str, table: str) -> str:
    """A column's label without its table's name in front, where something is left."""
    own, before = name_words(label), [root(word) for word in name_words(table)]
    rest = own[len(before) :] if [root(word) for word in own[: len(before)]] == before else own
    return " ".join(rest or own)


def _is_said(labels: Sequence[str], said: str) -> bool:
    """Whether one of the names stands in the question: its words side by side, inflected or not, or without blanks.

    Their order may be another ("claimed amount"), one word may stand between them ("id of insurance"), but no sign.
    """
    parts = [[root(word) for word in _WORDS.findall(part)] for part in _PARTS.split(said)]
    for label in labels:
        roots = Counter(root(word) for word in name_words(label))
        width = sum(roots.values()) + 1
        if any(roots <= Counter(part[at : at + width]) for part in parts for at in range(len(part)) if roots):
            return True
        if roots and "".join(name_words(label)) in said.split():
            return True
    return False


def _names_another(said: str, names: Sequence[str], tree: exp.Expr, schema: Schema) -> bool:
    """Whether the question has the whole name, of two words or more, of a column of these tables that the query lacks."""
    tables = {schema.find_table(node.name) for node in tree.find_all(exp.Table)}
    gapped = f" {_roots(said)} "
    own = {_roots(name) for name in names}
    for column in schema.columns:
        for label in (column.label, *column.synonyms):
            roots = _roots(" ".join(name_words(label)))
            if column.table in tables and " " in roots and roots not in own and f" {roots} " in gapped:
                return True
    return False


def _roots(text: str) -> str:
    return " ".join(map(root, _WORDS.findall(text.casefold())))


def _says_twice(
    stems: list[str], of_question: set[str], own: Sequence[Sequence[str]], counted: Names
) -> bool:
    """Whether a word stands twice in a row, on both sides of "and", or oftener than the names and the grammar ask for."""
    if _TWICE.search(" ".join(stems)):
        return True
    most = Counter[tuple[str, ...]]()
    for name, times in counted.items():
        if name.said == name.label:
            most.update({(root(word),): times for word in set(name.label.split())})
    for words in own:
        most |= _runs(words, of_question)
    return any(count > max(most[run], 1) for run, count in _runs(stems, of_question).items())


def _calls_something_a_name(words: Sequence[str]) -> bool:
    """Whether "name" is said otherwise than as what to do; a model calls whatever tells people apart their names."""
    return any(
        word in ("name", "names") and before not in lexicon.BEFORE_NAMING
        for before, word in zip(("please", *words), words, strict=False)
    )


def _runs(words: Sequence[str], of_question: set[str]) -> Counter[tuple[str, ...]]:
    """How often each word, and each two neighbours, of the schema stand in a sentence."""
    of_schema = [(word,) for word in words if word not in of_question]
    pairs = [pair for pair in pairwise(words) if of_question.isdisjoint(pair)]
    return Counter([*of_schema, *pairs])


def _without(names: Sequence[str], said: str) -> str:
    """The question's words with a gap for each name, longest first; names are told by their words' stems."""
    words = _WORDS.findall(said) if "_" not in said else re.findall(r"[^\W_]+|_", said)
    stems = [root(word) for word in words]
    for label in sorted(names, key=lambda one: -len(name_words(one))):
        parts = [root(word) for word in name_words(label)]
        start = 0
        while parts and start <= len(stems) - len(parts):
            if stems[start : start + len(parts)] == parts:
                words[start : start + len(parts)] = stems[start : start + len(parts)] = ["_"]
            start += 1
    return " ".join(words)


def _signs_agree(rest: str, tree: exp.Expr) -> bool:
    """Whether what words say of the query is what it does. Each sign that is read is taken out before the next is."""
    for sign in _SIGNS:
        said = len(sign.words.findall(rest))
        wanted = sign.wanted(tree)
        if bool(said) != bool(wanted) or said > wanted:
            return False
        rest = sign.words.sub(_GAP, rest)
    falling, rising = (len(one.findall(rest)) for one in (lexicon.FALLING, lexicon.RISING))
    rest = lexicon.RISING.sub(_GAP, lexicon.FALLING.sub(_GAP, rest))
    sorts = [node for node in tree.find_all(exp.Order) if _limit_of(node) is None]
    if sorts:
        first = sorts[0].expressions[0]
        descends = isinstance(first, exp.Ordered) and bool(first.args.get("desc"))
        if (descends and (rising or not falling)) or (not descends and falling):
            return False
        if not (falling or rising or lexicon.ORDERED.search(rest)):
            return False
    elif falling or rising or lexicon.ORDERED.search(rest):
        return False
    counted = bool(lexicon.COUNTED.search(rest))
    counts = list(tree.find_all(exp.Count))
    if (counted and not counts) or (
        not counted and any(isinstance(_shown(node), exp.Select) for node in counts)
    ):
        return False
    rest = lexicon.COUNTED.sub(_GAP, rest)
    for words, wanted in (
        (lexicon.HIGHEST, _extremes(tree, exp.Max, descending=True)),
        (lexicon.LOWEST, _extremes(tree, exp.Min, descending=False)),
        (lexicon.MEAN, len(list(tree.find_all(exp.Avg)))),
        (lexicon.SUMMED, len(list(tree.find_all(exp.Sum)))),
    ):
        said = len(words.findall(rest))
        if bool(said) != bool(wanted) or said > wanted:
            return False
    groups = [node for node in tree.find_all(exp.Group) if _is_shown(node)]
    if groups and not lexicon.BY.search(rest):
        return False
    if lexicon.EACH.search(rest) and tree.find(exp.Group) is None:
        return False
    return not (lexicon.CHOICE.search(rest) and tree.find(exp.Or, exp.In, exp.Union) is None)


def _count(*kinds: type[exp.Expr]) -> Callable[[exp.Expr], int]:
    return lambda tree: sum(1 for _ in tree.find_all(*kinds))


def _patterns(form: str) -> Callable[[exp.Expr], int]:
    """How many LIKEs have a pattern of this form: "%x%", "x%" or "%x"."""

    def wanted(tree: exp.Expr) -> int:
        texts = [str(node.expression.this) for node in tree.find_all(exp.Like)]
        return sum((text[:1] == "%", text[-1:] == "%") == (form[0] == "%", form[-1] == "%") for text in texts)

    return wanted


def _denials(tree: exp.Expr) -> int:
    return sum(1 for _ in tree.find_all(exp.Not, exp.NEQ, exp.Except)) + sum(
        1
        for node in tree.find_all(exp.Is)
        if isinstance(node.expression, exp.Null) and not isinstance(node.parent, exp.Not)
    )


_SIGNS = (
    _Sign(lexicon.AT_LEAST, _count(exp.GTE)),
    _Sign(lexicon.AT_MOST, _count(exp.LTE)),
    _Sign(lexicon.MORE, _count(exp.GT)),
    _Sign(lexicon.LESS, _count(exp.LT)),
    _Sign(lexicon.BETWEEN, _count(exp.Between)),
    _Sign(lexicon.CONTAINED, _patterns("%x%")),
    _Sign(lexicon.BEGUN, _patterns("x%")),
    _Sign(lexicon.ENDED, _patterns("%x")),
    _Sign(lexicon.DIFFERENT, _count(exp.Distinct)),
    _Sign(lexicon.DENIED, _denials),
)


def _limit_of(order: exp.Order) -> exp.Limit | None:
    parent = order.parent
    found = None if parent is None else parent.args.get("limit")
    return found if isinstance(found, exp.Limit) else None


def _shown(node: exp.Expr) -> exp.Expr | None:
    """What an aggregate is a part of: its SELECT where it is shown, or another clause."""
    return node.find_ancestor(exp.Select, exp.Having, exp.Order, exp.Where)


def _is_shown(group: exp.Group) -> bool:
    """Whether what is grouped by is shown beside what is counted."""
    select = group.parent
    if not isinstance(select, exp.Select):
        return False
    shown = [one.unalias() for one in select.expressions]
    return any(key in shown for key in group.expressions) and any(one.find(exp.AggFunc) for one in shown)


def _extremes(tree: exp.Expr, kind: type[exp.Expr], *, descending: bool) -> int:
    """How often a query asks for an extreme: aggregates, and orders that are cut off."""
    cut = 0
    for node in tree.find_all(exp.Order):
        first = node.expressions[0]
        falls = isinstance(first, exp.Ordered) and bool(first.args.get("desc"))
        cut += _limit_of(node) is not None and falls == descending
    return cut + sum(1 for _ in tree.find_all(kind))
