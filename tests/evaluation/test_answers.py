"""Results are compared as the EHRSQL 2024 scorer does."""

from __future__ import annotations

import random

import pytest

from fastsql.evaluation.answers import ROWS_COMPARED, answer_rows, is_void, published_form


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ([(1,)], [(1.0,)]),
        ([(1,)], [("1",)]),
        ([(0.12349,)], [(0.12301,)]),
        ([("a",), ("b",)], [("b",), ("a",)]),
        ([(" 7 ",)], [(7,)]),
        ([(None,)], [("None",)]),
        ([(b"7",)], [(7,)]),
    ],
)
def test_results_that_differ_in_form_or_order_alone_are_equal(
    one: list[tuple[object]], other: list[tuple[object]]
) -> None:
    assert answer_rows(one) == answer_rows(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ([(0.123,)], [(0.124,)]),
        ([("a",)], [("A",)]),
        ([("a",)], [("a",), ("a",)]),
        ([], [(None,)]),
        ([(0,)], [(None,)]),
        ([("a", "b")], [("b", "a")]),
        ([(True,)], [("True",)]),
    ],
)
def test_results_of_other_values_rows_or_column_order_differ(
    one: list[tuple[object, ...]], other: list[tuple[object, ...]]
) -> None:
    assert answer_rows(one) != answer_rows(other)


def test_the_first_hundred_rows_in_order_of_text_are_compared() -> None:
    rows = [(f"r{number:04}",) for number in range(1000)]
    shuffled = random.Random(1).sample(rows, len(rows))
    assert answer_rows(shuffled) == tuple(rows[:ROWS_COMPARED])
    assert answer_rows(rows[:150]) == answer_rows(rows)


def test_rows_are_read_one_by_one() -> None:
    assert len(answer_rows((number,) for number in range(200_000))) == ROWS_COMPARED


@pytest.mark.parametrize("rows", [[], [(None,)], [(0,)], [(0.0, None)]])
def test_empty_results_and_those_of_null_and_zero_alone_say_nothing(rows: list[tuple[object, ...]]) -> None:
    assert is_void(answer_rows(rows))


def test_a_result_with_a_value_says_something() -> None:
    assert not is_void(answer_rows([(0,), (1,)]))


def test_the_published_form_rounds_real_numbers_only() -> None:
    assert published_form([(2,), (1.23456,), ("0.50", None)]) == "[['0.50', 'None'], ['1.235'], ['2']]"
