from __future__ import annotations

import functools
import itertools
import json
import random
from collections.abc import Iterator, Sequence

import pytest

from fastsql.training.batches import stream
from fastsql.training.batches.batch import Batch
from fastsql.training.batches.stream import (
    BatchMaker,
    Delivery,
    Loader,
    LoaderError,
    Size,
    deliveries,
    plan_epoch,
)

SIZES = [Size("a" if i % 3 else "b", 20 + i % 50) for i in range(100)]


class CountingMaker(BatchMaker):
    """Makes no batches, but tells how many examples it was asked for."""

    def sizes(self) -> Sequence[Size]:
        return SIZES

    def make(self, numbers: Sequence[int], epoch: int) -> tuple[Batch | None, int]:
        if epoch > 1:
            raise RuntimeError("no such epoch")
        return None, len(numbers)


START = functools.partial(deliveries, CountingMaker(), 8, 400, 3)


def take(number: int, source: Iterator[Delivery]) -> list[tuple[int, int, str, int]]:
    return [
        (item.epoch, item.position, item.domain, item.left_out) for item in itertools.islice(source, number)
    ]


def test_an_epoch_has_every_example_once() -> None:
    plan = plan_epoch(SIZES, 8, 400, random.Random(0))
    assert sorted(number for batch in plan for number in batch) == list(range(100))


def test_a_weight_says_how_often_an_epoch_shows_an_example() -> None:
    sizes = [Size("a", 20, weight) for weight in (0.0, 0.25, 1.0, 2.5)]
    counts = [0] * 4
    for seed in range(400):
        for batch in plan_epoch(sizes, 8, 400, random.Random(seed)):
            for number in batch:
                counts[number] += 1
    assert counts[0] == 0
    assert 70 < counts[1] < 130
    assert counts[2] == 400
    assert 960 < counts[3] < 1040


def test_a_batch_is_small_and_of_one_domain() -> None:
    for batch in plan_epoch(SIZES, 8, 400, random.Random(0)):
        assert len({SIZES[number].domain for number in batch}) == 1
        assert len(batch) <= 8
        assert len(batch) * max(SIZES[number].length for number in batch) <= 400 * 1.4


def test_an_example_longer_than_a_batch_comes_alone() -> None:
    assert plan_epoch([Size("a", 900)], 8, 400, random.Random(0)) == [[0]]


def test_batches_that_follow_each_other_cost_alike() -> None:
    rng = random.Random(1)
    sizes = [
        Size(f"schema {number // 30}", rng.randrange(10, 120), items=rng.choice([10, 200]))
        for number in range(3_000)
    ]

    def cost(batch: Sequence[int]) -> int:
        return len(batch) * max(sizes[number].length for number in batch) + 8 * sizes[batch[0]].items

    costs = [cost(batch) for batch in plan_epoch(sizes, 8, 4_000, random.Random(2))]
    shuffled = random.Random(3).sample(costs, len(costs))

    def waited(costs: Sequence[int]) -> float:
        return sum(abs(one - other) for one, other in zip(costs[::2], costs[1::2], strict=False)) / sum(costs)

    assert waited(costs) < 0.4 * waited(shuffled)
    # Over the epoch, batches are in random order still.
    halves = sum(costs[: len(costs) // 2]), sum(costs[len(costs) // 2 :])
    assert max(halves) < 1.1 * min(halves)


def test_no_examples_are_an_error() -> None:
    with pytest.raises(ValueError, match="no examples"):
        plan_epoch([], 8, 400, random.Random(0))


def test_a_resumed_stream_goes_on_where_it_was() -> None:
    whole = take(25, START())
    epoch, position, *_ = whole[20]
    assert take(5, deliveries(CountingMaker(), 8, 400, 3, epoch, position)) == whole[20:]


@pytest.mark.parametrize("shares", [1, 2, 3])
def test_shares_read_in_turn_are_the_whole(shares: int) -> None:
    streams = [functools.partial(START, share=(k, shares)) for k in range(shares)]
    with Loader(streams, background=False) as loader:
        assert take(30, loader) == take(30, START())


@pytest.mark.parametrize("forks", [False, True])
def test_the_other_process_delivers_what_it_makes(forks: bool) -> None:
    # Classes of a test cannot be unpickled in another interpreter, so the stream is a list.
    made = list(itertools.islice(START(), 12))
    with Loader([functools.partial(iter, made)], forks=forks) as there:
        assert take(12, there) == take(12, iter(made))


def test_copies_of_this_process_are_sent_nothing() -> None:
    """What cannot be pickled has no other way to them."""
    streams = [
        lambda share=share: deliveries(CountingMaker(), 8, 400, 3, share=(share, 2)) for share in (0, 1)
    ]
    with Loader(streams, forks=True) as loader:
        assert take(20, loader) == take(20, START())


def test_a_fault_of_the_other_process_is_raised_here() -> None:
    with (
        Loader([functools.partial(json.loads, "[torn")]) as loader,
        pytest.raises(LoaderError, match="JSONDecodeError"),
    ):
        next(loader)


def test_the_end_of_the_other_process_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "POLL_SECONDS", 0.1)
    with (
        Loader([functools.partial(iter, [])]) as loader,
        pytest.raises(LoaderError, match="ended with code 0"),
    ):
        next(loader)


def test_a_loader_out_of_its_with_statement_is_an_error() -> None:
    with pytest.raises(LoaderError, match="not running"):
        next(Loader([START]))
