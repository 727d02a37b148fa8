"""The numbering of actions, and which literals fit which column."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

from fastsql.errors import LimitError
from fastsql.grammar import ActionSpace, load_grammar
from fastsql.grammar.actions import CANDIDATE, COLUMN, END, SCHEMA_VALUE, START, STEP
from fastsql.grammar.space import can_hold_time, takes_span
from fastsql.limits import DEFAULT
from fastsql.linking import Candidate
from fastsql.schema import Constant, Schema

from ..worlds.grammar_hospitals import HOSPITAL
from .grounding import space_for
from .strategies import spaces

NUMBER = Candidate(12, "number", (0, 2), "number")
FRACTION = Candidate(2.5, "number", (3, 6), "number")
DATE = Candidate("2100-12", "date", (7, 14), "date", (), "%Y-%m")
QUOTED = Candidate("ICU", "text", (15, 18), "quoted")
NAMED = Candidate("heparin", "text", (19, 26), "dictionary", (HOSPITAL.column_index("d_items", "label"),))
TEXT = "12 2.5 2100-12 ICU heparin"
SPACE = space_for(HOSPITAL, TEXT, (NUMBER, FRACTION, DATE, QUOTED, NAMED))


def values(space: ActionSpace, type_class: str, column: int | None) -> list[object]:
    found: list[object] = []
    for action in space.literal_ids(type_class, column):
        kind, index = space.locate(int(action))
        found.append(space.candidates[index].value if kind == CANDIDATE else space.schema_values[index].value)
    return found


def column(table: str, name: str) -> tuple[str, int]:
    index = HOSPITAL.column_index(table, name)
    return HOSPITAL.columns[index].type, index


@settings(max_examples=60, deadline=None, derandomize=True)
@given(spaces())
def test_locate_inverts_flat(space: ActionSpace) -> None:
    assert space.offsets[0] == 0
    assert space.size == sum(space.sizes)
    seen = 0
    for kind, size in enumerate(space.sizes):
        for index in {0, size // 2, size - 1} & set(range(size)):
            assert space.locate(space.flat(kind, index)) == (kind, index)
            seen += 1
    assert seen > 0


def test_a_space_counts_what_can_be_pointed_at() -> None:
    tokens = len(SPACE.tokens)
    assert SPACE.sizes == (len(load_grammar().productions), 5, 21, 5, 6, tokens, tokens, DEFAULT.actions, 0)


def test_kinds_without_actions_are_passed_over() -> None:
    schema = Schema.from_dict({"t": {"x": "INT"}})
    space = space_for(schema, "")
    assert space.sizes[CANDIDATE] == space.sizes[SCHEMA_VALUE] == space.sizes[START] == space.sizes[END] == 0
    assert space.locate(space.flat(COLUMN, 0)) == (COLUMN, 0)
    assert space.locate(space.flat(STEP, 0)) == (STEP, 0)


@pytest.mark.parametrize("action", [-1, SPACE.size, SPACE.size + 7])
def test_numbers_outside_of_the_space_are_no_actions(action: int) -> None:
    with pytest.raises(IndexError):
        SPACE.locate(action)


def test_limits_too_small_for_any_query_are_refused() -> None:
    least = load_grammar().cost[0]
    assert space_for(HOSPITAL, "", limits=replace(DEFAULT, actions=least)).sizes[STEP] == least
    with pytest.raises(LimitError, match=r"Limits\.actions"):
        space_for(HOSPITAL, "", limits=replace(DEFAULT, actions=least - 1))


def test_a_span_is_text_between_tokens() -> None:
    space = space_for(HOSPITAL, "took heparin-sodium, 药物")
    words = [space.text[start:end] for start, end in space.tokens]
    assert words == ["took", "heparin", "-", "sodium", ",", "药", "物"]
    assert space.span_text(1, 3) == "heparin-sodium"
    assert space.span_text(5, 6) == "药物"


def test_values_of_a_dictionary_meet_their_own_column_only() -> None:
    assert "heparin" in values(SPACE, *column("d_items", "label"))
    assert "heparin" not in values(SPACE, *column("d_items", "unit"))
    assert "heparin" not in values(SPACE, "text", None)


def test_small_domains_meet_their_own_column_only() -> None:
    ward = values(SPACE, *column("admissions", "ward"))
    assert ward == [12, 2.5, "2100-12", "ICU", "ICU", "Emergency Room"]
    assert "m" in values(SPACE, *column("patients", "gender"))
    assert "m" not in ward


def test_numbers_meet_numbers_and_constants() -> None:
    assert values(SPACE, *column("labevents", "valuenum")) == [12, 2.5, 95, 100]
    assert values(SPACE, "number", None) == [12, 2.5, 95, 100]


def test_a_number_may_meet_text_but_not_a_time() -> None:
    assert values(SPACE, *column("patients", "name")) == [12, 2.5, "2100-12", "ICU"]
    assert values(SPACE, *column("admissions", "admittime")) == ["2100-12", "ICU"]


def test_a_constant_of_a_column_meets_that_column_only() -> None:
    age = HOSPITAL.column_index("admissions", "age")
    schema = HOSPITAL.with_constants([Constant("of_age", 18, column=age)])
    space = space_for(schema, "")
    assert values(space, "number", age) == [95, 100, 18]
    assert values(space, "number", None) == [95, 100]


def test_periods_are_counted_in_whole_numbers() -> None:
    odd = (Candidate(-1, "number", (0, 1), "number"), Candidate(10**9, "number", (0, 1), "number"))
    space = space_for(HOSPITAL, TEXT, (NUMBER, FRACTION, DATE, QUOTED, *odd))
    assert [space.candidates[space.locate(int(a))[1]].value for a in space.whole_number_ids] == [12]


def test_a_date_without_a_format_is_none() -> None:
    space = space_for(HOSPITAL, TEXT, (DATE, replace(DATE, format="")))
    assert space.date_ids.tolist() == [space.flat(CANDIDATE, 0)]


def words_at(space: ActionSpace, ids: Iterable[int], kind: int) -> list[str]:
    located = [space.locate(int(action)) for action in ids]
    assert {found for found, _ in located} <= {kind}
    return [space.span_text(index, index) for _, index in located]


def test_no_span_begins_where_a_text_candidate_does() -> None:
    space = space_for(HOSPITAL, "was ICU heparin", (replace(QUOTED, span=(4, 7)),))
    assert words_at(space, space.span_starts("text", None, partial=False), START) == ["was", "heparin"]


def test_where_the_question_names_a_known_value_of_the_column_only_parts_are_spelled_out() -> None:
    label = column("d_items", "label")
    assert words_at(SPACE, SPACE.span_starts(*label, partial=False), START) == []
    assert "2100" in words_at(SPACE, SPACE.span_starts(*label, partial=True), START)


def test_spans_begin_and_end_with_words() -> None:
    pieces = np.asarray([(0, 3), (3, 7), (7, 8), (8, 14), (15, 16), (16, 17)], dtype=np.int32)
    space = ActionSpace.for_question(HOSPITAL, "heparin-sodium 药物", pieces)
    assert words_at(space, space.span_starts("text", None, partial=False), START) == [
        "hep",
        "-",
        "sodium",
        "药",
        "物",
    ]
    assert words_at(space, space.span_ends(0, 64), END) == ["arin", "-", "sodium", "药", "物"]
    assert words_at(space, space.span_ends(3, 2), END) == ["sodium", "药"]
    assert words_at(space, space.span_ends(0, 1), END) == ["hep"]


def test_types_are_a_relation() -> None:
    assert [can_hold_time(t) for t in ("time", "text", "other", "number", "boolean")] == [True] * 3 + [
        False
    ] * 2
    assert [takes_span(t) for t in ("text", "other", "time", "number", "boolean")] == [True] * 2 + [False] * 3


def test_ids_are_flat_and_ascending() -> None:
    for ids in (
        SPACE.text_ids,
        SPACE.whole_number_ids,
        SPACE.date_ids,
        *SPACE.columns_of_table,
        *SPACE.times_of_table,
    ):
        assert ids.dtype == np.int64
        assert np.all(np.diff(ids) > 0)
