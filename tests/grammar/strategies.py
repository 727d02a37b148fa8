"""Schemas, questions and habits for property tests: anything that a user could give, and some that none would."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timezone

import numpy as np
from hypothesis import strategies as st

from fastsql.errors import SchemaError
from fastsql.grammar import ActionSpace
from fastsql.grammar.grounding import NO_GROUNDS, Grounds
from fastsql.grammar.matching import EVERY, Patterns
from fastsql.linking import Candidate, ValueDictionary, find_candidates
from fastsql.linking.candidate import FORMATS
from fastsql.linking.question import clean_question
from fastsql.schema import Schema

from .grounding import space_for
from .walking import HABITS, Bias

ODD_NAMES = (
    "id|Name|charttime|select|FROM|order|T1|t2|C1|c2_|group by|病人|出生日期|quo\"te|it's|a.b|[x]|`y`|--|/*|;|%|100%|1st"
    "|rowid|NULL|true|now|current_time|strftime|count|über|ÜBER|Ａ|😀|a b|values|key|abort|limit"
)
NAMES = st.one_of(
    st.sampled_from(ODD_NAMES.split("|")), st.text("abcXYZ_09éß药 \"'`].;-$", min_size=1, max_size=8)
)
TYPES = st.sampled_from(
    ["INTEGER", "REAL", "TEXT", "VARCHAR(20)", "DATE", "TIMESTAMP", "BOOLEAN", "BLOB", "", "others"]
)
PHRASES = (
    "patient 10004235|5|top five|2.5|second|-3|since 08/2100|12/29/last year|on 2100-12-05|last|heparin|foo'bar"
    '|"icu ward"|数值为3的病人|2100年12月5日|o\'clock; --|50%|m|f|a_b|😀|\\'
)
WHOLE = st.integers(-(2**63), 2**63 - 1)
FINITE = st.floats(allow_nan=False, allow_infinity=False)
QUESTIONS = st.one_of(
    st.lists(st.sampled_from(PHRASES.split("|")), min_size=0, max_size=8).map(" ".join),
    st.text(max_size=40),
)


@st.composite
def schemas(draw: st.DrawFn) -> Schema:
    """A schema of 1 to 6 tables, with values and constants."""
    tables = draw(
        st.dictionaries(NAMES, st.dictionaries(NAMES, TYPES, min_size=1, max_size=6), min_size=1, max_size=6)
    )
    try:
        schema = Schema.from_dict(tables)
    except SchemaError:  # all names were unusable
        schema = Schema.from_dict({"t": {"x": "TEXT"}})
    places = [(schema.tables[column.table].name, column.name) for column in schema.columns]
    values = draw(
        st.dictionaries(
            st.sampled_from(places),
            st.lists(
                st.one_of(st.sampled_from(["m", "f", "icu ward", "it's", ""]), WHOLE, FINITE),
                max_size=4,
            ),
            max_size=2,
        )
    )
    constants = draw(st.dictionaries(st.sampled_from(["upper", "lower"]), st.one_of(WHOLE, FINITE)))
    return schema.with_values(values).with_constants(constants)


@st.composite
def candidates(draw: st.DrawFn, text: str, schema: Schema) -> tuple[Candidate, ...]:
    """What linking finds in the question, with or without a dictionary, and candidates out of the blue."""
    column = schema.columns[0]
    place = (schema.tables[column.table].name, column.name)
    dictionary = (
        ValueDictionary.from_mapping({place: ["heparin", "icu ward", "病人"]}, schema)
        if draw(st.booleans())
        else None
    )
    found = find_candidates(text, schema, dictionary)
    spans = st.tuples(st.integers(0, len(text)), st.integers(0, len(text))).map(
        lambda ends: (min(ends), max(ends))
    )
    some_columns = st.lists(st.integers(0, len(schema.columns) - 1), max_size=2, unique=True).map(tuple)
    numbers = st.one_of(WHOLE, FINITE)
    texts = st.text(max_size=8).map(clean_question)
    invented = st.one_of(
        st.builds(Candidate, numbers, st.just("number"), spans, st.just("number")),
        st.builds(Candidate, texts, st.just("text"), spans, st.just("dictionary"), some_columns),
        spans.flatmap(lambda span: st.sampled_from(_dates(span))),
    )
    return (*found, *draw(st.lists(invented, max_size=3)))


def _dates(span: tuple[int, int]) -> list[Candidate]:
    """A date in every format."""
    moment = datetime(2100, 12, 5, 13, 30, tzinfo=timezone.utc)
    return [Candidate(moment.strftime(form), "date", span, "date", (), form) for form in FORMATS]


@st.composite
def grounds(draw: st.DrawFn, space: ActionSpace) -> Grounds:
    """Columns whose values are said to be known, and which of the question's literals they hold."""
    columns = draw(st.lists(st.integers(0, len(space.schema.columns) - 1), max_size=4, unique=True))
    if not columns:
        return NO_GROUNDS
    column = st.sampled_from(columns)

    def places(*sizes: int) -> frozenset[tuple[int, ...]]:
        if not all(sizes):
            return frozenset()
        return frozenset(
            draw(st.lists(st.tuples(column, *(st.integers(0, n - 1) for n in sizes)), max_size=4))
        )

    spans = places(len(space.tokens), len(space.tokens))
    patterns = draw(st.none() | _patterns(columns, space))
    return Grounds(
        frozenset(columns),
        places(len(space.candidates)),  # type: ignore[arg-type]
        frozenset((column, min(ends), max(ends)) for column, *ends in spans),
        places(3),  # type: ignore[arg-type]
        patterns,
    )


def _patterns(columns: list[int], space: ActionSpace) -> st.SearchStrategy[Patterns]:
    """Parts of values; no two rows of one list begin alike."""

    def rows(fixed: int, far: int, *others: int) -> st.SearchStrategy[frozenset[tuple[int, int, int]]]:
        if not fixed or not far:
            return st.just(frozenset())
        pairs = st.dictionaries(
            st.tuples(st.sampled_from([*columns, *others]), st.integers(0, fixed - 1)),
            st.integers(0, far - 1),
            max_size=6,
        )
        return pairs.map(lambda found: frozenset((*place, last) for place, last in found.items()))

    tokens = len(space.tokens)
    return st.builds(
        Patterns,
        rows(len(space.candidates), 16, EVERY),
        rows(tokens, tokens, EVERY),
        rows(tokens, tokens),
        rows(tokens, tokens, EVERY),
    )


@st.composite
def spaces(draw: st.DrawFn) -> ActionSpace:
    """The action space of some question over some schema, cut into words or into pieces of words."""
    schema = draw(schemas())
    text = clean_question(draw(QUESTIONS))
    space = space_for(schema, text, draw(candidates(text, schema)))
    length, missing = draw(st.integers(1, 4)), draw(st.integers(0, 2))
    pieces = [(at, min(at + length, end)) for start, end in space.tokens for at in range(start, end, length)]
    tokens = np.asarray(pieces[missing:], dtype=np.int32).reshape(-1, 2)
    if draw(st.booleans()):
        space = replace(space, tokens=tokens)
    return replace(space, grounds=draw(grounds(space)))


def habits() -> st.SearchStrategy[Bias]:
    """One of the known habits, or one that hypothesis makes up."""
    names = sorted({name for bias in HABITS.values() for name in bias})
    return st.one_of(
        st.sampled_from(sorted(HABITS)).map(HABITS.__getitem__),
        st.dictionaries(st.sampled_from(names), st.floats(-20, 20), max_size=12),
    )
