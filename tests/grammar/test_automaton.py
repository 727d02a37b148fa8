"""What the automaton offers where: each test is a rule of SQL or of the grammar."""

from __future__ import annotations

import pytest

from fastsql.grammar import ActionSpace, IllegalActionError, State, load_grammar
from fastsql.grammar.actions import CANDIDATE, COLUMN, END, PRODUCTION, START, STEP, TABLE
from fastsql.grammar.bounds import MAX_SOURCES, MAX_SPAN
from fastsql.grammar.grouping import AGGREGATES
from fastsql.linking import find_candidates
from fastsql.schema import Schema

from ..worlds.grammar_hospitals import HOSPITAL
from .grounding import space_for

QUESTION = 'Which 5 patients had "icu" since 08/2100 on heparin sodium ?'
SPACE = space_for(HOSPITAL, QUESTION, find_candidates(QUESTION, HOSPITAL))


class Pen:
    """Writes actions by name: "patients" or "patients.name" for pointers, a number for a step, else a production."""

    def __init__(self, space: ActionSpace = SPACE) -> None:
        self.space = space
        self.state = State.start(space)

    def write(self, words: str) -> Pen:
        for word in words.split():
            action = self._action(word)
            legal = self.state.legal()
            assert action in legal, f"{word} is not offered"
            self.state = self.state.advance(action, decision=len(legal) > 1)
        return self

    def _action(self, word: str) -> int:
        if word.isdecimal():
            return self.space.flat(STEP, int(word))
        if word in self.space.grammar.productions:
            return self.space.flat(PRODUCTION, self.space.grammar.production(word))
        table, _, column = word.partition(".")
        if column:
            return self.space.flat(COLUMN, self.space.schema.column_index(table, column))
        return self.space.flat(TABLE, self.space.schema.table_index(table))

    def offered(self) -> set[str]:
        """Names of what may come next, in the form that `write` takes; other kinds as "@" and the kind's number."""
        names = set()
        for action in self.state.legal():
            kind, index = self.space.locate(int(action))
            if kind == PRODUCTION:
                names.add(self.space.grammar.productions[index])
            elif kind == TABLE:
                names.add(self.space.schema.tables[index].name)
            elif kind == COLUMN:
                names.add(self.space.schema.qualified_name(index))
            elif kind == STEP:
                names.add(str(index))
            else:
                names.add(f"@{kind}")
        return names


def test_a_query_opens_with_a_table_or_what_holds_queries() -> None:
    tables = {table.name for table in HOSPITAL.tables}
    assert Pen().offered() == tables | {"derived", "bare", "union", "union_all", "intersect", "except"}


def test_columns_come_from_the_sources_in_scope() -> None:
    offered = {name for name in Pen().write("patients").offered() if "." in name}
    assert offered == {"patients.subject_id", "patients.gender", "patients.dob", "patients.name"}


def test_on_links_an_earlier_source_with_the_newest() -> None:
    pen = Pen().write("patients join cost")
    assert {name.partition(".")[0] for name in pen.offered()} == {"patients"}
    assert {name.partition(".")[0] for name in pen.write("patients.name").offered()} == {"cost"}


def test_a_column_of_a_table_joined_twice_asks_for_its_source() -> None:
    pen = Pen().write("cost join cost cost.event cost.event")
    assert pen.write("cost.cost").offered() == {"0", "2"}
    assert pen.write("2").state.symbol != pen.space.grammar.symbol("which")


def test_a_column_of_a_table_joined_once_asks_for_no_source() -> None:
    pen = Pen().write("cost join patients cost.event patients.name cost.cost")
    assert "end" in pen.offered()


def test_a_subquery_sees_its_own_sources_only() -> None:
    pen = Pen().write("patients in patients.subject_id admissions eq")
    assert all(name.startswith("admissions.") for name in pen.offered() if "." in name)


def test_after_a_subquery_the_scope_is_as_it_was() -> None:
    pen = Pen().write("patients in patients.subject_id admissions admissions.subject_id end eq")
    assert all(name.startswith("patients.") for name in pen.offered() if "." in name)


def test_a_subquery_of_in_selects_one_item() -> None:
    pen = Pen().write("patients in patients.subject_id admissions admissions.subject_id")
    assert pen.offered() == {"asc", "asc_nulls_last", "desc", "desc_nulls_first", "limit", "end"}


def test_a_query_of_its_own_selects_as_many_as_it_likes() -> None:
    assert {"end", "patients.name", "count_all"} <= Pen().write("patients patients.name").offered()


def test_the_right_operand_selects_as_many_items_as_the_left() -> None:
    pen = Pen().write("union patients patients.name patients.gender end cost cost.event")
    assert "end" not in pen.offered()
    assert pen.write("cost.cost").offered() == {"end"} or pen.state.finished


def test_operands_take_neither_order_nor_limit() -> None:
    assert not {"asc", "desc", "limit"} & Pen().write("union patients patients.name").offered()


def test_conditions_of_rows_hold_no_aggregate() -> None:
    assert "count_all" not in Pen().write("patients eq").offered()
    assert "count_all" in Pen().write("admissions group admissions.ward having eq").offered()


def test_windows_are_ordered_by_aggregates_where_the_query_groups() -> None:
    window = "rank partition admissions.ward asc"
    assert "count_all" in Pen().write(f"admissions group admissions.ward {window}").offered()
    offered = Pen().write(f"admissions {window}").offered()
    assert "admissions.ward" in offered
    assert not AGGREGATES & offered


def test_no_key_of_a_window_is_made_of_aggregates_unless_the_query_groups() -> None:
    grammar = load_grammar()
    left, reached = [grammar.symbol("plain_any")], set()
    while left:
        symbol = left.pop()
        reached.add(symbol)
        for head in grammar.alternatives[symbol]:
            if "grouped" not in head.requires:
                assert head.action is None or grammar.productions[head.action] not in AGGREGATES
                left += {child for child in head.children if child >= 0} - reached


def test_grouping_ends_with_its_query() -> None:
    pen = Pen().write("derived admissions group admissions.ward admissions.ward end rank asc")
    assert not AGGREGATES & pen.offered()


def test_times_are_columns_that_can_hold_one() -> None:
    offered = Pen().write("labevents since_year").offered()
    assert offered == {"labevents.charttime"}


def test_without_a_time_in_scope_there_is_no_calendar() -> None:
    offered = Pen(space_for(Schema.from_dict({"t": {"x": "INT"}}), QUESTION)).write("t").offered()
    assert not {"since_year", "in_month", "same_day", "days_between", "year_of"} & offered


def test_without_a_date_in_the_question_none_is_compared() -> None:
    assert "date_eq" in Pen().write("labevents").offered()
    assert "date_eq" not in Pen(space_for(HOSPITAL, "how many?")).write("labevents").offered()


def test_without_words_nothing_is_contained() -> None:
    assert "contains" in Pen().write("patients").offered()
    assert "contains" not in Pen(space_for(HOSPITAL, "")).write("patients").offered()


def test_text_is_compared_with_spans_and_numbers_are_not() -> None:
    assert f"@{START}" in Pen().write("patients eq patients.name").offered()
    assert f"@{START}" not in Pen().write("patients eq patients.subject_id").offered()


def test_a_span_ends_where_it_begins_or_later() -> None:
    pen = Pen().write("patients eq patients.name")
    start = len(SPACE.tokens) - 3
    pen.state = pen.state.advance(SPACE.flat(START, start))
    assert pen.state.legal().tolist() == [SPACE.flat(END, start + k) for k in range(3)]


def test_a_span_has_a_greatest_length() -> None:
    space = space_for(HOSPITAL, "word " * (2 * MAX_SPAN))
    pen = Pen(space).write("patients eq patients.name")
    pen.state = pen.state.advance(space.flat(START, 3))
    assert len(pen.state.legal()) == MAX_SPAN


def test_a_literal_fits_what_it_is_compared_with() -> None:
    pen = Pen().write("patients eq patients.subject_id")
    kinds = {
        SPACE.candidates[i].kind for k, i in map(SPACE.locate, pen.state.legal().tolist()) if k == CANDIDATE
    }
    assert kinds == {"number"}


def test_joins_end_at_the_greatest_number_of_sources() -> None:
    pen = Pen(space_for(Schema.from_dict({"t": {"x": "INT", "y": "INT"}}), "")).write("t")
    for _ in range(MAX_SOURCES - 1):
        assert "join" in pen.offered()
        pen.write("join t t.x")
        while "t.x" not in pen.offered():  # which of the earlier sources
            pen.write(min(pen.offered()))
        pen.write("t.x")
    assert not {"join", "left_join"} & pen.offered()


def test_an_action_that_the_frontier_does_not_know_is_illegal() -> None:
    state = State.start(SPACE)
    for action in (SPACE.flat(COLUMN, 0), SPACE.flat(PRODUCTION, SPACE.grammar.production("end"))):
        with pytest.raises(IllegalActionError):
            state.advance(action)


def test_nothing_comes_after_the_end() -> None:
    state = Pen().write("patients count_all end").state
    assert state.finished
    with pytest.raises(IllegalActionError):
        state.advance(SPACE.flat(PRODUCTION, SPACE.grammar.production("end")))


def test_states_do_not_change() -> None:
    state = Pen().write("patients").state
    before = state.legal().tolist()
    for action in before:
        state.advance(action)
    assert state.legal().tolist() == before


def test_the_mask_says_the_same_as_the_list() -> None:
    state = Pen().write("patients").state
    assert state.mask().nonzero()[0].tolist() == state.legal().tolist()


def test_a_derived_table_offers_its_items_by_the_decision_that_ended_them() -> None:
    pen = Pen().write("derived patients patients.name patients.gender end")
    assert {name for name in pen.offered() if name.isdecimal()} == {"2", "3"}


def test_a_derived_set_operation_offers_the_left_items() -> None:
    pen = Pen().write("derived union patients patients.name end cost cost.event end")
    assert {name for name in pen.offered() if name.isdecimal()} == {"3"}
