"""A sample stands for its data set, and is the same whenever it is drawn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from fastsql.datasets import Example
from fastsql.evaluation.sample import STATED, draw_interactions, draw_sample


def example(number: int, db_id: str = "ward", *, answerable: bool = True, **extra: Any) -> Example:
    return Example(str(number), db_id, "?", "SELECT 1" if answerable else None, extra=extra)


def ordered(count: int) -> list[Example]:
    """A data set in blocks, as they are published: by answer, by difficulty, by database."""
    return [
        example(
            number,
            "abcd"[number * 4 // count],
            answerable=number % 5 != 0,
            difficulty="easy" if number < count * 3 // 4 else "hard",
        )
        for number in range(count)
    ]


def shares(examples: Sequence[Example], of: Callable[[Example], object]) -> Counter[object]:
    return Counter(map(of, examples))


def test_every_kind_of_question_is_in_a_sample_in_its_share() -> None:
    sample = draw_sample(ordered(1000), 100, seed=3)
    assert len(sample) == 100
    assert shares(sample, lambda item: item.answerable) == {True: 80, False: 20}
    kinds = shares(sample, lambda item: (item.answerable, item.extra["difficulty"]))
    for kind, expected in {
        (True, "easy"): 60,
        (True, "hard"): 20,
        (False, "easy"): 15,
        (False, "hard"): 5,
    }.items():
        assert abs(kinds[kind] - expected) <= 1
    databases = shares(sample, lambda item: item.db_id)
    assert all(23 <= databases[name] <= 27 for name in "abcd")


def test_databases_share_a_sample_where_the_data_state_nothing_else() -> None:
    data = [example(number, "large" if number < 90 else "small") for number in range(100)]
    assert shares(draw_sample(data, 10), lambda item: item.db_id) == {"large": 9, "small": 1}


@pytest.mark.parametrize("field", STATED)
def test_a_field_that_tells_kinds_apart_counts(field: str) -> None:
    data = [example(number, **{field: "rare" if number < 100 else "common"}) for number in range(1000)]
    assert shares(draw_sample(data, 20), lambda item: item.extra[field]) == {"rare": 2, "common": 18}


def test_equal_seeds_draw_equal_samples_and_others_do_not() -> None:
    data = ordered(500)
    assert draw_sample(data, 50, seed=1) == draw_sample(data, 50, seed=1) != draw_sample(data, 50, seed=2)
    # By Python's promise for `random()`, in every version.
    assert [item.id for item in draw_sample(data, 5)] == ["79", "239", "299", "406", "460"]


def test_a_sample_keeps_the_order_of_the_data_and_repeats_nothing() -> None:
    numbers = [int(item.id) for item in draw_sample(ordered(777), 700)]
    assert numbers == sorted(set(numbers))
    assert len(numbers) == 700


@pytest.mark.parametrize("size", [10, 11, 1000])
def test_a_sample_of_all_is_all(size: int) -> None:
    assert draw_sample(ordered(10), size) == tuple(ordered(10))


def test_each_example_is_as_likely_as_any_other() -> None:
    data = ordered(40)
    drawn = Counter(item.id for seed in range(2000) for item in draw_sample(data, 7, seed))
    # 350 times each is expected, with a standard deviation of 17.
    assert len(drawn) == 40
    assert all(abs(count - 350) < 5 * 17 for count in drawn.values())


def test_conversations_are_drawn_whole() -> None:
    turns = [
        example(10 * talk + number, "abcd"[talk % 4], interaction=talk, turn=number)
        for number in range(3)
        for talk in range(40)
    ]
    sample = draw_interactions(turns, 8, seed=1)
    assert [item for item in turns if item in sample] == list(sample)
    assert set(shares(sample, lambda item: item.extra["interaction"]).values()) == {3}
    assert shares(sample, lambda item: item.db_id) == dict.fromkeys("abcd", 6)
    assert draw_interactions(turns, 8, seed=2) != sample == draw_interactions(turns, 8, seed=1)
    assert draw_interactions(turns, 40) == tuple(turns)
