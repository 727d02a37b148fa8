"""What a question offers as values: the fixtures are the specification, the properties hold for any text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fastsql.errors import SchemaError
from fastsql.linking import CANDIDATE_LIMIT, Candidate, ValueDictionary, find_candidates
from fastsql.linking.candidate import FORMATS, KINDS, SOURCES
from fastsql.schema import Schema

from ..worlds.valued_hospital import SCHEMA, VALUES

FIXTURES = Path(__file__).parents[1] / "fixtures" / "linking"
DICTIONARY = ValueDictionary.from_mapping(VALUES, SCHEMA)
FILES = ("numbers_en", "numbers_zh", "dates_en", "dates_zh", "quoted", "nothing")


def cases(name: str) -> list[Any]:
    lines = (FIXTURES / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [pytest.param(case["question"], case["expect"], id=f"{name}:{number}")
            for number, case in enumerate(map(json.loads, lines), start=1)]  # fmt: skip


def shown(question: str, candidates: tuple[Candidate, ...]) -> list[list[Any]]:
    """As the fixtures write candidates: value, what was written, source, then format and columns where there are any."""
    rows = []
    for one in candidates:
        row: list[Any] = [one.value, question[slice(*one.span)], one.source]
        row += [one.format] if one.format else []
        row += [[SCHEMA.qualified_name(column) for column in one.columns]] if one.columns else []
        rows.append(row)
    return rows


@pytest.mark.parametrize(("question", "expect"), [case for name in FILES for case in cases(name)])
def test_written_values_are_found(question: str, expect: list[Any]) -> None:
    found = shown(question, find_candidates(question, SCHEMA))
    assert found == expect
    assert [type(row[0]) for row in found] == [type(row[0]) for row in expect]


@pytest.mark.parametrize(("question", "expect"), cases("values"))
def test_known_values_are_found(question: str, expect: list[Any]) -> None:
    assert shown(question, find_candidates(question, SCHEMA, DICTIONARY)) == expect


def test_a_value_in_two_places_is_one_candidate_at_the_first() -> None:
    question = "Who took heparin in 2100 and heparin in 2101, and who in 2100?"
    found = find_candidates(question, SCHEMA, DICTIONARY)
    assert [one.span for one in found if one.value == "heparin"] == [(9, 16)]
    assert [one.span for one in found if one.value == "2100"] == [(20, 24)]


def test_numbers_inside_a_known_value_are_no_candidates() -> None:
    question = "Who took dextrose 5% on 12/05/2100?"
    assert [one.value for one in find_candidates(question, SCHEMA, DICTIONARY)] == [
        "dextrose 5%",
        "2100-12-05",
    ]
    assert [one.value for one in find_candidates(question, SCHEMA)] == [5, "2100-12-05"]


def test_the_limit_keeps_the_most_telling() -> None:
    question = (
        'Show "alpha" '
        + " ".join(str(number) for number in range(100, 160))
        + " and the second on 12/05/2100"
    )
    found = find_candidates(question, SCHEMA, limit=5)
    assert [one.value for one in found if one.kind != "number"] == ["alpha", "2100-12-05"]
    assert len(found) == 5
    assert len(find_candidates(question, SCHEMA)) == CANDIDATE_LIMIT


def test_a_dictionary_of_another_schema_is_refused() -> None:
    other = Schema.from_dict({"drugs": {"name": "TEXT"}})
    dictionary = ValueDictionary.from_mapping({("drugs", "name"): ["aspirin"]}, other)
    with pytest.raises(SchemaError, match=r"drugs\.name.*another schema.*bound_to"):
        find_candidates("Who took aspirin?", SCHEMA, dictionary)


def test_schema_values_do_not_change_what_a_dictionary_of_the_same_columns_says() -> None:
    more = SCHEMA.with_values({("samples", "specimen"): ["swab"]})
    (found,) = find_candidates("Who gave a swab?", more, DICTIONARY)
    assert (found.source, found.columns) == ("schema", (SCHEMA.column_index("samples", "specimen"),))


pieces = st.sampled_from(
    ["12", "/", "05", "2100", "-", " ", "this year", "May", "on", "第", "二十", "年", "月", "日", "'", '"', "“", "s", ".",
     ",", "0", "half a year", "five", "hundred", "and", "半", "周", "万", "点", "5th", "%", "\n", "İ", "５",
     "aspirin", "糖尿病"]
)  # fmt: skip


mixtures = st.lists(pieces, max_size=12)


@given(st.one_of(st.text(max_size=60), mixtures.map("".join), mixtures.map(" ".join)))
@example("İİİ 12/05/2100")
@example("ﬃ two ﬃ")
@example("\x00\ud800 5")
def test_whatever_the_text_candidates_are_well_formed(question: str) -> None:
    found = find_candidates(question, SCHEMA, DICTIONARY)
    assert len(found) <= CANDIDATE_LIMIT
    assert list(found) == sorted(found, key=lambda one: one.span)
    assert len({(type(one.value), one.value, one.kind, one.format) for one in found}) == len(found)
    for one in found:
        start, end = one.span
        assert 0 <= start < end <= len(question)
        assert one.kind in KINDS
        assert one.source in SOURCES
        assert (one.format in FORMATS) if one.kind == "date" else one.format == ""
        assert isinstance(one.value, str) == (one.kind != "number")
        assert bool(one.columns) == (one.source in {"dictionary", "schema"})


@pytest.mark.parametrize("text", ["1" * 4000, "'" * 4000, "12/" * 1300, "一" * 4000, "a hundred and " * 280, "“" * 4000,
                                  "2100年" * 800, "may " * 1000, "- " * 2000, "5 " * 2000, "aspirin " * 500])  # fmt: skip
def test_long_odd_questions_are_read(text: str) -> None:
    assert len(find_candidates(text, SCHEMA, DICTIONARY)) <= CANDIDATE_LIMIT
